"""Features of inside and outside trees: named groups, each a function over the node table.

A group gives each node one integer key; nodes with the same key have the same feature. It may be
-1 where the group does not apply to a node, which is a feature too. Features are told apart by
the symbol of their node as well, so that a key need not repeat it. To add a group of one's own,
write such a function and put it into a :class:`FeatureSet`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lpcfg.errors import InputError
from lpcfg.estimators.features._tree_nodes import Column, TreeNodes, combine

__all__ = ["COMPACT", "FULL", "INSIDE", "OUTSIDE", "FeatureGroup", "FeatureSet"]

FeatureGroup = Callable[[TreeNodes], Column]


def _word(nodes: TreeNodes) -> Column:
    return nodes.word


def _left_child(nodes: TreeNodes) -> Column:
    return nodes.at(nodes.treebank.left, nodes.symbol)


def _right_child(nodes: TreeNodes) -> Column:
    return nodes.at(nodes.treebank.right, nodes.symbol)


def _rule(nodes: TreeNodes) -> Column:
    # Only the word group tells the words of preterminals apart.
    return np.where(nodes.treebank.left >= 0, nodes.rule, -1)


def _left_fragment(nodes: TreeNodes) -> Column:
    return combine(_rule(nodes), nodes.at(nodes.treebank.left, nodes.rule))


def _right_fragment(nodes: TreeNodes) -> Column:
    return combine(_rule(nodes), nodes.at(nodes.treebank.right, nodes.rule))


def _head_tag(nodes: TreeNodes) -> Column:
    return nodes.tag[nodes.head]


def _length(nodes: TreeNodes) -> Column:
    return (nodes.treebank.end - nodes.treebank.start).astype(np.int64)


def _parent_rule(nodes: TreeNodes) -> Column:
    return combine(nodes.at(nodes.treebank.parent, nodes.rule), nodes.side)


def _grandparent_rules(nodes: TreeNodes) -> Column:
    above = _parent_rule(nodes)
    return combine(above, nodes.at(nodes.treebank.parent, above))


def _great_grandparent_rules(nodes: TreeNodes) -> Column:
    return combine(_parent_rule(nodes), nodes.at(nodes.treebank.parent, _grandparent_rules(nodes)))


def _parent(nodes: TreeNodes) -> Column:
    return nodes.at(nodes.treebank.parent, nodes.symbol)


def _grandparent(nodes: TreeNodes) -> Column:
    parent = _parent(nodes)
    return combine(parent, nodes.at(nodes.treebank.parent, parent))


def _outside_head_tag(nodes: TreeNodes) -> Column:
    """The tag of the first head on the way up that is not the head of the node itself."""
    parent, head = nodes.treebank.parent, nodes.head
    found = np.full(len(head), -1, dtype=np.int64)
    for level in nodes.downwards():
        below = level[parent[level] >= 0]
        above = parent[below]
        same = head[above] == head[below]
        found[below] = np.where(same, found[above], nodes.tag[head[above]])
    return found


def _widths(nodes: TreeNodes) -> Column:
    return combine(nodes.left_width, nodes.right_width)


#: Groups of inside features by name.
INSIDE: Mapping[str, FeatureGroup] = {
    "word": _word,
    "left-child": _left_child,
    "right-child": _right_child,
    "rule": _rule,
    "left-fragment": _left_fragment,
    "right-fragment": _right_fragment,
    "head-tag": _head_tag,
    "length": _length,
}

#: Groups of outside features by name.
OUTSIDE: Mapping[str, FeatureGroup] = {
    "parent-rule": _parent_rule,
    "grandparent-rules": _grandparent_rules,
    "great-grandparent-rules": _great_grandparent_rules,
    "parent": _parent,
    "grandparent": _grandparent,
    "outside-head-tag": _outside_head_tag,
    "widths": _widths,
}


@dataclass(frozen=True)
class FeatureSet:
    """The feature groups of an estimator, by name from :data:`INSIDE` and :data:`OUTSIDE`.

    A function of one's own stands beside the names.

    >>> def long(nodes):
    ...     return (nodes.treebank.end - nodes.treebank.start > 10).astype(np.int64)
    >>> FeatureSet(inside=("word", "rule", long), outside=("parent",)).names["inside"]
    ['word', 'rule', 'long']
    """

    inside: tuple[str | FeatureGroup, ...]
    outside: tuple[str | FeatureGroup, ...]

    def __post_init__(self) -> None:
        for side, known in (("inside", INSIDE), ("outside", OUTSIDE)):
            if not getattr(self, side):
                raise InputError(f"a feature set needs at least one {side} group")
            for group in getattr(self, side):
                if isinstance(group, str) and group not in known:
                    raise InputError(
                        f"no {side} feature group is called {group!r}; there are {', '.join(known)}"
                    )

    @classmethod
    def named(cls, name: str | FeatureSet) -> FeatureSet:
        """The compact set of Peng (2021) or the full one of Cohen et al. (2013).

        A set of one's own is its own name.

        >>> len(FeatureSet.named("compact").outside)
        3
        """
        if isinstance(name, FeatureSet):
            return name
        try:
            return {"compact": COMPACT, "full": FULL}[name]
        except KeyError:
            raise InputError(f"features must be 'compact' or 'full', not {name!r}") from None

    @property
    def names(self) -> dict[str, list[str]]:
        """The names of the groups, for provenance.

        >>> COMPACT.names["inside"]
        ['word', 'left-fragment', 'right-fragment']
        """
        return {
            side: [group if isinstance(group, str) else group.__name__ for group in groups]
            for side, groups in (("inside", self.inside), ("outside", self.outside))
        }

    def inside_keys(self, nodes: TreeNodes) -> list[Column]:
        """The keys of each inside group.

        >>> from lpcfg import Tree, Treebank
        >>> nodes = TreeNodes(Treebank.from_trees([Tree("NN", "rain")]))
        >>> FeatureSet(("word",), ("parent",)).inside_keys(nodes)
        [array([0])]
        """
        return [_resolve(group, INSIDE)(nodes) for group in self.inside]

    def outside_keys(self, nodes: TreeNodes) -> list[Column]:
        """The keys of each outside group.

        >>> from lpcfg import Tree, Treebank
        >>> nodes = TreeNodes(Treebank.from_trees([Tree("NN", "rain")]))
        >>> FeatureSet(("word",), ("parent",)).outside_keys(nodes)
        [array([-1])]
        """
        return [_resolve(group, OUTSIDE)(nodes) for group in self.outside]


def _resolve(group: str | FeatureGroup, known: Mapping[str, FeatureGroup]) -> FeatureGroup:
    return known[group] if isinstance(group, str) else group


#: Two inside and three outside groups (Peng 2021, section 5.2), and the word of a preterminal.
COMPACT = FeatureSet(
    inside=("word", "left-fragment", "right-fragment"),
    outside=("parent-rule", "grandparent-rules", "great-grandparent-rules"),
)

#: Seven groups of either kind (Cohen et al. 2013), and the word of a preterminal.
FULL = FeatureSet(inside=tuple(INSIDE), outside=tuple(OUTSIDE))
