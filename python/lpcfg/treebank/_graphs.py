"""Sentences as graphs with crossing edges, and the trees that they become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lpcfg.errors import TreebankError
from lpcfg.treebank.tree import Tree

__all__ = ["GraphNode", "SentenceGraph"]

_HEAD_EDGES = ("HD", "H", "NK", "PNC", "DH")
"""The edges to heads in treebanks of German, the surest first."""

_NO_EDGE = ("", "--", "-")

_ROOTS = ("ROOT", "TOP", "VROOT")


@dataclass(slots=True, eq=False)
class GraphNode:
    """A phrase, or a token if it has a word.

    >>> GraphNode("NN", "OA", "Regen").word
    'Regen'
    """

    label: str
    edge: str = ""
    word: str | None = None
    children: list[GraphNode] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    """The positions of the tokens below it, sorted."""


class SentenceGraph:
    """A sentence whose phrases may have gaps.

    >>> graph = SentenceGraph()
    >>> graph.add_token(1, GraphNode("PRELS", "SB", "das"), 500)
    >>> graph.add_token(2, GraphNode("VVFIN", "HD", "regnet"), 500)
    >>> graph.add_phrase(500, GraphNode("S"), 0)
    >>> print(*graph.tree(0))
    (ROOT (S (PRELS das) (VVFIN regnet))) 0
    """

    def __init__(self) -> None:
        self._tokens: list[object] = []
        self._nodes: dict[object, tuple[GraphNode, object]] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def add_token(self, name: object, node: GraphNode, parent: object) -> None:
        """Add the next token of the sentence.

        >>> graph = SentenceGraph()
        >>> graph.add_token(1, GraphNode("NN", "", "Regen"), 0)
        >>> len(graph)
        1
        """
        node.tokens = [len(self._tokens)]
        self._tokens.append(name)
        self.add_phrase(name, node, parent)

    def add_phrase(self, name: object, node: GraphNode, parent: object) -> None:
        """Add a phrase.

        >>> SentenceGraph().add_phrase(500, GraphNode("NP"), 0)
        """
        if name in self._nodes:
            raise TreebankError(f"two nodes of a sentence are called {name}")
        self._nodes[name] = (node, parent)

    def tree(self, root: object) -> tuple[Tree | None, int]:
        """The tree below the root, and how many phrases had gaps.

        Punctuation at the root moves down to the lowest phrase around it. A phrase that still has
        a gap keeps the part with its head; its other children are raised to its parent.

        >>> SentenceGraph().tree(0)
        (None, 0)
        """
        top = GraphNode("ROOT")
        for node, parent in self._nodes.values():
            if parent == root:
                top.children.append(node)
            elif parent in self._nodes and self._nodes[parent][0].word is None:
                self._nodes[parent][0].children.append(node)
            else:
                raise TreebankError(f"a node has the parent {parent}, which is no phrase")
        order = list(_bottom_up(top))
        if len(order) <= len(self._nodes):
            raise TreebankError("the edges of a sentence form a cycle")
        for node in order:
            _collect(node)
        if len(top.children) == 1 and top.children[0].label in _ROOTS and not top.children[0].word:
            top.children = top.children[0].children
        _lower_punctuation(top)
        raised = 0
        for node in _bottom_up(top):
            moved: list[GraphNode] = []
            for child in node.children:
                if child.word is None and _has_gap(child):
                    raised += 1
                    moved.extend(_leave_head(child))
            node.children.extend(moved)
            _collect(node)
        return (_built(top) if top.tokens else None), raised


def _bottom_up(top: GraphNode) -> Iterator[GraphNode]:
    backwards = []
    stack = [top]
    while stack:
        node = stack.pop()
        backwards.append(node)
        stack.extend(node.children)
    return reversed(backwards)


def _collect(node: GraphNode) -> None:
    """Set the tokens of a phrase from its children, drop empty ones and sort them."""
    if node.word is None:
        node.children = [child for child in node.children if child.tokens]
        node.children.sort(key=lambda child: child.tokens[0])
        node.tokens = sorted(token for child in node.children for token in child.tokens)


def _has_gap(node: GraphNode) -> bool:
    return bool(node.tokens) and node.tokens[-1] - node.tokens[0] >= len(node.tokens)


def _is_punctuation(node: GraphNode) -> bool:
    return node.word is not None and (
        node.label.startswith("$") or not any(map(str.isalnum, node.word))
    )


def _lower_punctuation(top: GraphNode) -> None:
    """Move punctuation at the root to the lowest phrase with tokens on both sides of it."""
    lowered = [child for child in top.children if _is_punctuation(child)]
    for token in lowered:
        at = token.tokens[0]
        node = top
        while True:
            around = [
                child
                for child in node.children
                if child.word is None and child.tokens[0] < at < child.tokens[-1]
            ]
            if len(around) != 1:
                break
            node = around[0]
            # Those of the phrases on the way down are set again when gaps are closed.
            node.tokens = sorted([*node.tokens, at])
        if node is not top:
            top.children.remove(token)
            node.children.append(token)


def _leave_head(node: GraphNode) -> list[GraphNode]:
    """Take the children of a phrase that are not beside its head from it."""
    runs: list[list[GraphNode]] = []
    end = -1
    for child in sorted(node.children, key=lambda child: child.tokens[0]):
        if runs and child.tokens[0] == end:
            runs[-1].append(child)
        else:
            runs.append([child])
        end = child.tokens[-1] + 1
    kept = max(runs, key=_headedness)
    node.children = kept
    _collect(node)
    return [child for run in runs if run is not kept for child in run]


def _headedness(run: list[GraphNode]) -> tuple[int, int]:
    """Orders runs of children: with the surest head first, then by the number of tokens."""
    edges = [_HEAD_EDGES.index(child.edge) for child in run if child.edge in _HEAD_EDGES]
    best = -min(edges, default=len(_HEAD_EDGES))
    return best, sum(len(child.tokens) for child in run)


def _built(top: GraphNode) -> Tree:
    built: dict[int, Tree] = {}
    for node in _bottom_up(top):
        if node.word is not None:
            built[id(node)] = Tree(node.label, node.word)
            continue
        label = node.label if node.edge in _NO_EDGE else f"{node.label}-{node.edge}"
        built[id(node)] = Tree(label, [built.pop(id(child)) for child in node.children])
    return built[id(top)]
