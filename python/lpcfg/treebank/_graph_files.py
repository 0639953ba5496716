"""Files of graphs, by their style."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lpcfg.errors import TreebankError
from lpcfg.treebank._negra_export import read_negra_export
from lpcfg.treebank._tiger_xml import read_tiger_xml
from lpcfg.treebank.tree import Tree

__all__ = ["read_graphs"]


def read_graphs(
    style: str, chunks: Iterable[bytes], name: str
) -> Iterator[tuple[Tree | TreebankError | None, int]]:
    """Each sentence of a file as a tree, with the number of phrases that had gaps.

    >>> list(read_graphs("negra-export", [b"#BOS 1 0 0 0"], "example"))[0][0]
    TreebankError('a sentence without #EOS')
    """
    if style == "tiger-xml":
        return read_tiger_xml(chunks, name)
    return read_negra_export(_lines(chunks), name)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode() for line in lines)
    if rest:
        yield rest.decode()
