"""Files with one sentence a line, as EVALB reads them and many parsers write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lpcfg._core import BracketReader
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.sources import Source, read_chunks, source_name
from lpcfg.treebank.tree import Tree

__all__ = ["read_gold_and_predicted", "read_sentence_lines"]


def read_sentence_lines(source: Source) -> Iterator[tuple[Tree, ...]]:
    r"""Read the trees on each line: usually one, none on a blank line, or several fragments.

    Line numbers align a file of parses with its gold trees even where a parser gave up and left a
    line blank, which :func:`lpcfg.treebank.reader.read_trees` cannot know. An empty tree, ``(())``,
    is no tree either. A tree over several lines belongs to its last one.

    >>> import io
    >>> for trees in read_sentence_lines(io.BytesIO(b"(NN rain)\n\n(())\n(DT a) (NN cat)\n")):
    ...     print([str(tree) for tree in trees])
    ['(NN rain)']
    []
    []
    ['(DT a)', '(NN cat)']
    """
    yield from _trees_by_line(_lines(read_chunks(source)), source_name(source))


def read_gold_and_predicted(
    gold: Source, predicted: Source
) -> tuple[list[tuple[Tree, ...]], list[tuple[Tree, ...]]]:
    r"""Read the trees of both sides of a comparison, sentence by sentence.

    Each line is a sentence if both files have one tree per line and the same number of lines.
    Otherwise each tree is a sentence, and blank lines are ignored.

    >>> import io
    >>> gold, predicted = b"(NN rain)\n(NN sun)\n", b"\n(NN sun)\n"
    >>> read_gold_and_predicted(io.BytesIO(gold), io.BytesIO(predicted))[1]
    [(), (Tree.from_string('(NN sun)'),)]
    """
    sources = (gold, predicted)
    names = [source_name(source) for source in sources]
    files = [list(_lines(read_chunks(source))) for source in sources]
    shorter = min(map(len, files))
    for lines in files:
        # Additional blank lines at the end of one file are not sentences.
        while len(lines) > shorter and not lines[-1].strip():
            lines.pop()
    by_line = len(files[0]) == len(files[1]) and not any(map(_has_multiline_trees, files))
    read = _trees_by_line if by_line else _trees_one_by_one
    gold_trees, predicted_trees = map(list, map(read, files, names))
    return gold_trees, predicted_trees


def _has_multiline_trees(lines: list[bytes]) -> bool:
    """Whether there are trees over several lines; brackets within words are always escaped."""
    return any(line.count(b"(") != line.count(b")") for line in lines)


def _trees_by_line(lines: Iterable[bytes], name: str) -> Iterator[tuple[Tree, ...]]:
    reader = BracketReader(True, False)
    for line in lines:
        forest = Forest(*reader.read(name, line))
        yield tuple(tree for tree in forest.trees() if tree is not None)
    reader.finish(name)


def _trees_one_by_one(lines: Iterable[bytes], name: str) -> Iterator[tuple[Tree, ...]]:
    reader = BracketReader(True, False)
    for line in lines:
        reader.feed(name, line)
    reader.finish(name)
    yield from (() if tree is None else (tree,) for tree in Forest(*reader.take()).trees())


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest
