"""Trees with crossing branches, as export and discbracket files have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from lpcfg.errors import TreebankError
from lpcfg.treebank.tree import Tree

__all__ = ["ROOT", "CrossingTree"]

#: The number of the virtual root.
ROOT = 0

#: The label that it gets, as in cleaned treebanks.
_ROOT_LABEL = "ROOT"


@dataclass
class CrossingTree:
    """A tree whose nodes may cover words that are not adjacent.

    ``words``, ``tags``, ``word_parents``: a column for each property of words, in their order.
    ``labels``, ``parents``: the label and the parent of each node by its number; the virtual root,
    number 0, is not among them.

    >>> crossing = CrossingTree(["a", "b"], ["A", "B"], [500, 0], {500: "X"}, {500: 0})
    >>> print(crossing.tree(attach_higher=False))
    (ROOT (X (A a)) (B b))
    """

    words: Sequence[str]
    tags: Sequence[str]
    word_parents: Sequence[int]
    labels: dict[int, str] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)

    def tree(self, *, attach_higher: bool) -> Tree:
        """The tree without crossing branches.

        ``attach_higher``: whether the parts of a node with gaps, except the longest, become
        children of its parent. Without it, such a node is a :class:`~lpcfg.TreebankError`.
        """
        # Each part of a node is a start, an end and a tree.
        parts: defaultdict[int, list[tuple[int, int, Tree]]] = defaultdict(list)
        leaves = zip(self.words, self.tags, self.word_parents, strict=True)
        for place, (word, tag, parent) in enumerate(leaves):
            if parent != ROOT and parent not in self.labels:
                raise TreebankError(f"the word {word!r} belongs to the missing node {parent}")
            parts[parent].append((place, place + 1, Tree(tag, word)))
        for node in self._children_first():
            own = sorted(parts.pop(node, ()), key=lambda part: part[0])
            if not own:
                raise TreebankError(f"the node {node} ({self.labels[node]}) has no words")
            blocks = _blocks(own)
            if len(blocks) > 1 and not attach_higher:
                raise TreebankError(
                    f"the node {node} ({self.labels[node]}) covers words that are not adjacent; "
                    "attach_higher=True (--attach-higher) moves all but the longest part to its "
                    "parent"
                )
            kept = max(blocks, key=lambda block: block[-1][1] - block[0][0])
            tree = Tree(self.labels[node], [part for _, _, part in kept])
            above = parts[self.parents[node]]
            above.append((kept[0][0], kept[-1][1], tree))
            above += [part for block in blocks if block is not kept for part in block]
        top = sorted(parts[ROOT], key=lambda part: part[0])
        if not top:
            raise TreebankError("there are no words")
        return Tree(_ROOT_LABEL, [part for _, _, part in top])

    def _children_first(self) -> list[int]:
        """The nodes, each after its children."""
        below: defaultdict[int, list[int]] = defaultdict(list)
        for node, parent in self.parents.items():
            if parent != ROOT and parent not in self.labels:
                raise TreebankError(f"the node {node} belongs to the missing node {parent}")
            below[parent].append(node)
        order = [ROOT]
        for node in order:
            order += below[node]
        if len(order) <= len(self.parents):
            circle = min(self.parents.keys() - set(order))
            raise TreebankError(f"the node {circle} is its own ancestor")
        return order[:0:-1]


def _blocks(parts: list[tuple[int, int, Tree]]) -> list[list[tuple[int, int, Tree]]]:
    """Sorted parts in groups without gaps."""
    blocks = [[parts[0]]]
    for part in parts[1:]:
        if part[0] == blocks[-1][-1][1]:
            blocks[-1].append(part)
        else:
            blocks.append([part])
    return blocks
