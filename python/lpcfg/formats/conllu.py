"""CoNLL-U: the words and tags of sentences, and their trees in a comment.

A tree is the comment ``# constituency = (ROOT ...)``, as Stanza writes it. Everything else of a
sentence that was read is kept: its comments, multiword tokens, empty nodes and columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from lpcfg.errors import TreebankError
from lpcfg.text.segmentation import TextSentence
from lpcfg.treebank.escaping import unescape_brackets
from lpcfg.treebank.sources import Source, Sources, find_sources, read_chunks, source_name
from lpcfg.treebank.tree import Tree

__all__ = [
    "TAG_COLUMNS",
    "ConlluReader",
    "ConlluSentence",
    "TagColumn",
    "read_conllu",
    "read_groups",
]

TagColumn: TypeAlias = Literal["xpos", "upos"]
"""The tags of the language or treebank (``xpos``), or the universal ones (``upos``)."""

#: The columns of tags by their names.
TAG_COLUMNS: dict[str, int] = {"xpos": 4, "upos": 3}

_COLUMNS = 10
_FORM = 1
_CONSTITUENCY = "# constituency ="


@dataclass(frozen=True, slots=True)
class ConlluSentence:
    """A sentence of a CoNLL-U file.

    ``comments``: the lines before the tokens, each with its ``#``.
    ``rows``: the ten columns of each line; multiword tokens and empty nodes have rows of their own.
    ``line``: the number of its first line in the file, from 1.

    >>> sentence = ConlluSentence.from_tree(Tree.from_string("(S (PRP it) (VBD rained))"))
    >>> sentence.words, sentence.tags("xpos")
    (['it', 'rained'], ['PRP', 'VBD'])
    >>> print(sentence.tree)
    (S (PRP it) (VBD rained))
    """

    comments: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    line: int = 1

    @classmethod
    def from_tree(
        cls, tree: Tree, *, number: int = 1, sentence: TextSentence | None = None
    ) -> ConlluSentence:
        """The words and tags of a tree as rows, and the tree as a comment.

        ``number``: the number of the sentence, its ``sent_id`` (default 1).
        ``sentence``: the running text and its tokens (default: the words of the tree, separated by
        spaces). Tokens that no space follows get ``SpaceAfter=No``.

        >>> print(ConlluSentence.from_tree(Tree.from_string("(S (PRP it) (VBD rained))")))
        # sent_id = 1
        # text = it rained
        # constituency = (S (PRP it) (VBD rained))
        1	it	_	_	PRP	_	_	_	_	_
        2	rained	_	_	VBD	_	_	_	_	_
        <BLANKLINE>
        """
        if sentence is None:
            words = [_cell(unescape_brackets(word)) for word in tree.words()]
            text, spaces = " ".join(words), [True] * len(words)
        else:
            tokens = sentence.tokens
            text, words = _cell(sentence.text), [_cell(token.text) for token in tokens]
            pairs = itertools.pairwise(tokens)
            spaces = [*(one.end < other.start for one, other in pairs), True]
        columns = zip(words, tree.tags(), spaces, strict=True)
        rows = tuple(
            (str(place), word, "_", "_", _cell(tag), *["_"] * 4, "_" if space else "SpaceAfter=No")
            for place, (word, tag, space) in enumerate(columns, start=1)
        )
        comments = (f"# sent_id = {number}", f"# text = {text}")
        return cls(comments, rows).with_tree(tree)

    def with_tree(self, tree: Tree) -> ConlluSentence:
        """The sentence with another tree in its comments, and tags where it had no ``xpos``.

        >>> sentence = ConlluSentence.from_tree(Tree.from_string("(X (A a))"))
        >>> print(sentence.with_tree(Tree.from_string("(Y (A a))")).tree)
        (Y (A a))
        """
        others = [text for text in self.comments if not text.startswith(_CONSTITUENCY)]
        tags = iter(tree.tags())
        rows = []
        for row in self.rows:
            if _is_word(row):
                tag = _cell(next(tags))
                row = (*row[:4], tag if row[4] == "_" else row[4], *row[5:])
            rows.append(row)
        return replace(self, comments=(*others, f"{_CONSTITUENCY} {tree}"), rows=tuple(rows))

    @property
    def words(self) -> list[str]:
        """The syntactic words, as treebanks of trees have them: *don't* is *do* and *n't*.

        >>> ConlluSentence.from_tree(Tree("-LRB-", "-LRB-")).words
        ['(']
        """
        return [row[_FORM] for row in self.rows if _is_word(row)]

    def tags(self, column: TagColumn = "xpos") -> list[str | None]:
        """The tags of the words; None where the column has none.

        ``column``: ``xpos`` (default), the tags of the treebank, or ``upos``, universal tags.

        >>> ConlluSentence.from_tree(Tree("NN", "rain")).tags("upos")
        [None]
        """
        place = TAG_COLUMNS[column]
        return [None if row[place] == "_" else row[place] for row in self.rows if _is_word(row)]

    @property
    def identity(self) -> str | None:
        """The ``sent_id`` of the sentence, if it has one.

        >>> ConlluSentence.from_tree(Tree("NN", "rain"), number=7).identity
        '7'
        """
        return self._comment("# sent_id =")

    @property
    def tree(self) -> Tree | None:
        """The tree in the comments of the sentence, if there is one.

        >>> ConlluSentence((), ()).tree is None
        True
        """
        text = self._comment(_CONSTITUENCY)
        return None if text is None else Tree.from_string(text)

    def _comment(self, start: str) -> str | None:
        found = (text.removeprefix(start) for text in self.comments if text.startswith(start))
        text = next(found, None)
        return None if text is None else text.strip()

    def __str__(self) -> str:
        lines = [*self.comments, *("\t".join(row) for row in self.rows)]
        return "".join(f"{line}\n" for line in lines)


def _is_word(row: tuple[str, ...]) -> bool:
    """Whether a row is a word, not a multiword token (1-2) or an empty node (1.1)."""
    return row[0].isdecimal()


def _cell(text: str) -> str:
    """A text without the characters that separate columns and lines."""
    return " ".join(text.split()) or "_"


class ConlluReader:
    r"""Reads CoNLL-U in pieces, as they arrive.

    ``name``: the name of the source in errors.

    >>> reader = ConlluReader("<stdin>")
    >>> [sentence.words for sentence in reader.feed(b"1\tGo\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tNo")]
    [['Go']]
    >>> reader.finish()
    Traceback (most recent call last):
    lpcfg.errors.TreebankError: <stdin>:3: expected 10 columns separated by tabs, found 2
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest: list[bytes] = []
        self._line = 0
        self._first = 1
        self._comments: list[str] = []
        self._rows: list[tuple[str, ...]] = []

    def feed(self, data: bytes) -> list[ConlluSentence]:
        """The sentences that are complete with this piece."""
        head, end, rest = data.rpartition(b"\n")
        if not end:
            self._rest.append(data)
            return []
        lines = b"".join([*self._rest, head]).split(b"\n")
        self._rest = [rest]
        return [sentence for line in lines for sentence in self._take(line)]

    def finish(self) -> list[ConlluSentence]:
        """The last sentence, if no blank line follows it."""
        last = b"".join(self._rest)
        self._rest = []
        sentences = [sentence for line in ([last] if last else []) for sentence in self._take(line)]
        return sentences + self._complete()

    def _take(self, line: bytes) -> list[ConlluSentence]:
        self._line += 1
        try:
            text = line.decode("utf-8-sig" if self._line == 1 else "utf-8").rstrip("\r")
        except UnicodeDecodeError:
            raise self._error(
                "the text is not UTF-8; convert it first, for example with iconv -t UTF-8"
            ) from None
        if not text.strip():
            return self._complete()
        if not self._comments and not self._rows:
            self._first = self._line
        if text.startswith("#"):
            self._comments.append(text)
            return []
        row = tuple(text.split("\t"))
        if len(row) != _COLUMNS:
            raise self._error(f"expected {_COLUMNS} columns separated by tabs, found {len(row)}")
        expected = 1 + sum(map(_is_word, self._rows))
        if _is_word(row) and int(row[0]) != expected:
            raise self._error(f"expected the word {expected} of its sentence, found {row[0]}")
        if _is_word(row) and not row[_FORM].strip():
            raise self._error(f"the word {expected} of its sentence is empty")
        self._rows.append(row)
        return []

    def _complete(self) -> list[ConlluSentence]:
        comments, self._comments = tuple(self._comments), []
        rows, self._rows = tuple(self._rows), []
        # Comments without tokens are no sentence.
        return [ConlluSentence(comments, rows, self._first)] if any(map(_is_word, rows)) else []

    def _error(self, message: str) -> TreebankError:
        return TreebankError(message, file=self._name, line=self._line)


def read_conllu(sources: Sources) -> Iterator[ConlluSentence]:
    r"""The sentences of CoNLL-U files, lazily and in their order.

    ``sources``: a path, a folder, a pattern, ``"-"`` for standard input, an open binary file, or
    several of them; files may be gzipped.

    A file that is not CoNLL-U raises a :class:`~lpcfg.TreebankError` with the line.

    >>> import io
    >>> text = b"# sent_id = a\n1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\trained\train\tVERB"
    >>> text += b"\tVBD\t_\t0\troot\t_\t_\n\n"
    >>> for sentence in read_conllu(io.BytesIO(text)):
    ...     print(sentence.identity, sentence.words, sentence.tags("upos"))
    a ['It', 'rained'] ['PRON', 'VERB']
    """
    for source in find_sources(sources):
        for group in read_groups(source):
            yield from group


def read_groups(source: Source) -> Iterable[list[ConlluSentence]]:
    r"""The sentences of a source in the groups in which they arrive.

    >>> import io
    >>> list(read_groups(io.BytesIO(b"# no sentence\n")))
    []
    """
    reader = ConlluReader(source_name(source))
    for chunk in read_chunks(source):
        if sentences := reader.feed(chunk):
            yield sentences
    if sentences := reader.finish():
        yield sentences
