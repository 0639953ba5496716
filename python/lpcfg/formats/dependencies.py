"""Tags and dependencies of sentences, as parsers can use them beside the words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from sys import intern
from typing import NamedTuple

from lpcfg.errors import TreebankError
from lpcfg.treebank.escaping import escape_brackets
from lpcfg.treebank.sources import Sources, find_sources, read_chunks, source_name

__all__ = ["Dependencies", "DependencyTree", "loaded_dependencies"]

#: The columns of words, tags, heads and relations, by the number of columns of a line: words alone
#: with their annotation, or CoNLL-U.
_COLUMNS = {4: (0, 1, 2, 3), 10: (1, 4, 6, 7)}


class DependencyTree(NamedTuple):
    """The tags of a sentence, and the head of each word.

    ``tags``: a tag for each word, or None where there is none.
    ``heads``: how far to the right its head is, negative for the left, 0 for the root.
    ``relations``: its relation to its head.

    >>> DependencyTree(("PRP", "VBD"), (1, 0), ("nsubj", "root")).heads
    (1, 0)
    """

    tags: tuple[str | None, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


class Dependencies:
    r"""The tags and dependencies of sentences, which are found by their words.

    A parser that knows them takes the tags as given. A conditional random field that was trained
    with dependencies also has features of heads and relations, which tell phrases from other spans:
    see ``dependencies`` of :class:`lpcfg.CRFEstimator` and of :class:`lpcfg.Parser`. Of sentences
    with the same words, the first counts.

    >>> import io
    >>> text = b"It\tPRP\t2\tnsubj\nrained\tVBD\t0\troot\n\n"
    >>> found = Dependencies.read(io.BytesIO(text))
    >>> found.find(["It", "rained"])
    DependencyTree(tags=('PRP', 'VBD'), heads=(1, 0), relations=('nsubj', 'root'))
    >>> found.find(["It", "snowed"]) is None
    True
    """

    def __init__(self, sentences: Iterable[tuple[Sequence[str], DependencyTree]]) -> None:
        self._trees: dict[str, DependencyTree] = {}
        for words, tree in sentences:
            self._trees.setdefault(_key(words), tree)

    @classmethod
    def read(cls, sources: Sources) -> Dependencies:
        r"""Read files with a line for each word and a blank line after each sentence.

        ``sources``: files or patterns, gzipped or not, in CoNLL-U, or with four columns separated
        by tabs: the word, its tag, the number of its head (0 for the root), and its relation.

        >>> import io
        >>> Dependencies.read(io.BytesIO(b"It\tPRP\t3\tnsubj\n"))
        Traceback (most recent call last):
        lpcfg.errors.TreebankError: <stream>:1: word 1 has the head 3, but its sentence has 1 word
        """
        files = find_sources(sources)
        return cls(
            sentence
            for source in files
            for sentence in _read(b"".join(read_chunks(source)), source_name(source))
        )

    def find(self, words: Sequence[str]) -> DependencyTree | None:
        """The tags and dependencies of the sentence with these ``words``, or None.

        >>> Dependencies([]).find(["It"]) is None
        True
        """
        return self._trees.get(_key(words))

    def items(self) -> Iterator[tuple[list[str], DependencyTree]]:
        """The words of each sentence with its tags and dependencies.

        >>> list(Dependencies([(["Go"], DependencyTree(("VB",), (0,), ("root",)))]).items())
        [(['Go'], DependencyTree(tags=('VB',), heads=(0,), relations=('root',)))]
        """
        return ((words.split(" "), tree) for words, tree in self._trees.items())

    def __len__(self) -> int:
        return len(self._trees)

    def __repr__(self) -> str:
        return f"<Dependencies: {len(self)} sentences>"

    @cached_property
    def digest(self) -> str:
        """A hash of all sentences and their dependencies.

        >>> Dependencies([]).digest[:12]
        'e3b0c44298fc'
        """
        total = hashlib.sha256()
        for words, tree in self._trees.items():
            total.update(repr((words, *tree)).encode())
        return total.hexdigest()


def loaded_dependencies(
    dependencies: Dependencies | str | PathLike[str] | None,
) -> Dependencies | None:
    """Dependencies themselves, or those of a file.

    >>> loaded_dependencies(None) is None
    True
    """
    if dependencies is None or isinstance(dependencies, Dependencies):
        return dependencies
    return Dependencies.read(dependencies)


def _key(words: Sequence[str]) -> str:
    return escape_brackets(" ".join(words))


def _read(data: bytes, name: str) -> Iterator[tuple[list[str], DependencyTree]]:
    """The sentences of a file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise TreebankError("the text is not UTF-8", file=name, line=line) from None
    rows: list[tuple[str, str, int, str]] = []
    first = 1
    for number, text_line in enumerate([*text.split("\n"), ""], start=1):
        row_text = text_line.rstrip("\r")
        if not row_text.strip():
            if rows:
                yield _sentence(rows, name, first)
            rows, first = [], number + 1
        elif not row_text.startswith("#") or "\t" in row_text:
            row = _row(row_text.split("\t"), name, number)
            if row is not None:
                rows.append(row)
                first = number - len(rows) + 1


def _row(cells: list[str], name: str, line: int) -> tuple[str, str, int, str] | None:
    """The word, tag, head and relation of a line; None for what is no word in CoNLL-U."""
    columns = _COLUMNS.get(len(cells))
    if columns is None:
        message = f"expected 4 columns or the 10 of CoNLL-U, separated by tabs, found {len(cells)}"
        raise TreebankError(message, file=name, line=line)
    if len(cells) == 10 and not cells[0].isdecimal():
        return None
    word, tag, head, relation = (cells[column] for column in columns)
    if not head.isdecimal() or not relation.strip() or not word.strip():
        message = f"expected a word, the number of its head and its relation, found {cells!r}"
        raise TreebankError(message, file=name, line=line)
    return word, tag, int(head), relation


def _sentence(
    rows: list[tuple[str, str, int, str]], name: str, first: int
) -> tuple[list[str], DependencyTree]:
    words, tags, heads, relations = zip(*rows, strict=True)
    for number, head in enumerate(heads, start=1):
        if head > len(rows):
            plural = "" if len(rows) == 1 else "s"
            raise TreebankError(
                f"word {number} has the head {head}, but its sentence has {len(rows)} word{plural}",
                file=name,
                line=first + number - 1,
            )
    return list(words), DependencyTree(
        tuple(None if tag == "_" else intern(tag) for tag in tags),
        tuple(head and head - number for number, head in enumerate(heads, start=1)),
        tuple(map(intern, relations)),
    )
