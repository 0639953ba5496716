"""The export format of NEGRA, versions 3 and 4."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lpcfg.errors import TreebankError
from lpcfg.treebank._graphs import GraphNode, SentenceGraph
from lpcfg.treebank.tree import Tree

__all__ = ["read_negra_export"]

_NODE = re.compile(r"#(\d{3,})")


def read_negra_export(
    lines: Iterable[str], name: str
) -> Iterator[tuple[Tree | TreebankError | None, int]]:
    r"""Each sentence as a tree, with the number of phrases that had gaps.

    A malformed sentence is the error that says where.

    >>> lines = ["#BOS 1 0 0 0", "Es\tPPER\t--\tSB\t500", "regnet\tVVFIN\t--\tHD\t500",
    ...          "#500\tS\t--\t--\t0", "#EOS 1"]
    >>> for tree, raised in read_negra_export(lines, "example"):
    ...     print(tree, raised)
    (ROOT (S (PPER Es) (VVFIN regnet))) 0
    """
    columns = 5
    graph: SentenceGraph | None = None
    error: TreebankError | None = None
    start = number = 0
    table = False
    for number, line in enumerate(lines, start=1):
        fields = line.split("%%")[0].split() if not line.startswith("%%") else []
        if not fields:
            continue
        first = fields[0]
        if first == "#FORMAT":
            columns = 6 if fields[1:] == ["4"] else 5
        elif first == "#BOT":
            table = True
        elif first == "#EOT":
            table = False
        elif first == "#BOS":
            if graph is not None:
                yield TreebankError("a sentence without #EOS", file=name, line=start), 0
            graph, error, start = SentenceGraph(), None, number
        elif first == "#EOS":
            if graph is None:
                yield TreebankError("#EOS without #BOS", file=name, line=number), 0
                continue
            yield _tree(graph, name, start) if error is None else (error, 0)
            graph = None
        elif graph is not None and error is None:
            error = _add(graph, fields, columns, name, number)
        elif graph is None and not table:
            yield TreebankError("a line outside sentences", file=name, line=number), 0
    if graph is not None:
        yield TreebankError("a sentence without #EOS", file=name, line=start), 0


def _add(
    graph: SentenceGraph, fields: list[str], columns: int, name: str, number: int
) -> TreebankError | None:
    """Add the node of a line, or return what is wrong with it."""
    if len(fields) < columns or (len(fields) - columns) % 2 or not fields[columns - 1].isdecimal():
        expected = "word, lemma, tag" if columns == 6 else "word, tag"
        return TreebankError(
            f"expected {expected}, morphology, edge and the number of the parent",
            file=name,
            line=number,
        )
    label, edge, parent = fields[columns - 4], fields[columns - 2], int(fields[columns - 1])
    node = _NODE.fullmatch(fields[0])
    try:
        if node is None:
            graph.add_token(-1 - len(graph), GraphNode(label, edge, fields[0]), parent)
        else:
            graph.add_phrase(int(node[1]), GraphNode(label, edge), parent)
    except TreebankError as error:
        return TreebankError(error.args[0], file=name, line=number)
    return None


def _tree(graph: SentenceGraph, name: str, start: int) -> tuple[Tree | TreebankError | None, int]:
    try:
        return graph.tree(0)
    except TreebankError as error:
        return TreebankError(error.args[0], file=name, line=start), 0
