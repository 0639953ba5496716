"""TIGER-XML."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from lpcfg.errors import TreebankError
from lpcfg.treebank._graphs import GraphNode, SentenceGraph
from lpcfg.treebank.tree import Tree

__all__ = ["read_tiger_xml"]


def read_tiger_xml(
    chunks: Iterable[bytes], name: str
) -> Iterator[tuple[Tree | TreebankError | None, int]]:
    """Each sentence as a tree, with the number of phrases that had gaps.

    A malformed sentence is an error. Text that is no XML raises one.

    >>> text = b'<corpus><body><s id="s1"><graph root="n1"><terminals><t id="t1" word="Es" '
    >>> text += b'pos="PPER"/></terminals><nonterminals><nt id="n1" cat="NP"><edge idref="t1" '
    >>> text += b'label="NK"/></nt></nonterminals></graph></s></body></corpus>'
    >>> for tree, raised in read_tiger_xml([text], "example"):
    ...     print(tree, raised)
    (ROOT (NP (PPER Es))) 0
    """
    stream = io.BufferedReader(_Chunks(chunks))
    try:
        for _, element in ElementTree.iterparse(stream, events=("end",)):
            if element.tag.rpartition("}")[2] == "s":
                yield _sentence(element, name)
                element.clear()
    except ElementTree.ParseError as error:
        line, column = error.position
        reason = str(error).split(":")[0]
        raise TreebankError(
            f"this is not well-formed XML ({reason})", file=name, line=line, column=column + 1
        ) from error


class _Chunks(io.RawIOBase):
    """Chunks of bytes as a file."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _sentence(element: ElementTree.Element, name: str) -> tuple[Tree | TreebankError | None, int]:
    try:
        return _graph(element).tree(None)
    except TreebankError as error:
        which = element.get("id", "without an id")
        return TreebankError(f"sentence {which}: {error.args[0]}", file=name), 0


def _graph(sentence: ElementTree.Element) -> SentenceGraph:
    tokens, phrases = list(sentence.iterfind(".//{*}t")), list(sentence.iterfind(".//{*}nt"))
    parents: dict[str, tuple[str | None, str]] = {}
    for phrase in phrases:
        for edge in phrase.iterfind("{*}edge"):
            child = _attribute(edge, "idref")
            if child in parents:
                raise TreebankError(f"two edges lead to the node {child}")
            parents[child] = (_attribute(phrase, "id"), edge.get("label", ""))
    graph = SentenceGraph()
    for token in tokens:
        identifier = _attribute(token, "id")
        parent, edge_label = parents.pop(identifier, (None, ""))
        node = GraphNode(_attribute(token, "pos"), edge_label, _attribute(token, "word"))
        graph.add_token(identifier, node, parent)
    for phrase in phrases:
        identifier, label = _attribute(phrase, "id"), _attribute(phrase, "cat")
        parent, edge_label = parents.pop(identifier, (None, ""))
        graph.add_phrase(identifier, GraphNode(label, edge_label), parent)
    if parents:
        raise TreebankError(f"an edge leads to {min(parents)}, which is no node")
    return graph


def _attribute(element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if not value:
        kind = element.tag.rpartition("}")[2]
        raise TreebankError(f"<{kind}> without the attribute {name}")
    return value
