"""Features of inside and outside trees: named feature groups, each a function over the node table.

A group gives each node one integer key; nodes with the same key have the same feature. The key is
-1 where the group does not apply to a node, which is a feature too. Features of different symbols
are always different, so a key need not repeat the symbol of its node. To add a custom group, write
such a function and put it into a :class:`FeatureSet`.

The groups were defined by Cohen et al. (2013), as listed by Narayan & Cohen (2015, section 3). The
feature functions of Peng (2021, section 5.2) are a selection of them, and so are most of
Matejovicova (2018, section 3.1). Features of word clusters, which are learnt from text, are ours.

Names have a stable meaning. The definition of a named group never changes, and neither do the
lists of groups that ``"compact"``, ``"full"`` and ``"four"`` stand for: a new or better group gets
a new name, and a new selection of groups becomes a new feature set. Models store the names of their
groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lpcfg.errors import InputError
from lpcfg.estimators.features._tree_nodes import Column, TreeNodes, hash_rows

__all__ = [
    "COMPACT",
    "FEATURE_SETS",
    "FOUR",
    "FULL",
    "INSIDE_GROUPS",
    "OUTSIDE_GROUPS",
    "FeatureGroup",
    "FeatureSet",
]

FeatureGroup = Callable[[TreeNodes], Column]


def _word(nodes: TreeNodes) -> Column:
    """The word of a preterminal, in lower case."""
    return nodes.word


def _left_child(nodes: TreeNodes) -> Column:
    """The pair (a, b) for a rule a -> b c at the root of the inside tree."""
    return nodes.at(nodes.treebank.left, nodes.symbol)


def _right_child(nodes: TreeNodes) -> Column:
    """The pair (a, c)."""
    return nodes.at(nodes.treebank.right, nodes.symbol)


def _rule(nodes: TreeNodes) -> Column:
    """The rule a -> b c."""
    # Only the word group distinguishes the words of preterminals.
    return np.where(nodes.treebank.left >= 0, nodes.rule, -1)


def _left_fragment(nodes: TreeNodes) -> Column:
    """The rule a -> b c with the rule at the node b."""
    return hash_rows(_rule(nodes), nodes.at(nodes.treebank.left, nodes.rule))


def _right_fragment(nodes: TreeNodes) -> Column:
    """The rule a -> b c with the rule at the node c."""
    return hash_rows(_rule(nodes), nodes.at(nodes.treebank.right, nodes.rule))


def _head_tag(nodes: TreeNodes) -> Column:
    """The part-of-speech tag of the inside tree's head."""
    return nodes.tag[nodes.head]


def _length(nodes: TreeNodes) -> Column:
    """The number of words that the inside tree dominates."""
    return (nodes.treebank.end - nodes.treebank.start).astype(np.int64)


def _head_cluster(nodes: TreeNodes) -> Column:
    """The cluster of the word that is the inside tree's head."""
    return nodes.cluster[nodes.head]


def _parent_rule(nodes: TreeNodes) -> Column:
    """The rule above the foot node of the outside tree."""
    return hash_rows(nodes.at(nodes.treebank.parent, nodes.rule), nodes.side)


def _grandparent_rules(nodes: TreeNodes) -> Column:
    """The two-level rule fragment above the foot node."""
    above = _parent_rule(nodes)
    return hash_rows(above, nodes.at(nodes.treebank.parent, above))


def _grandparent_rule(nodes: TreeNodes) -> Column:
    """The rule above the parent of the foot node."""
    return nodes.at(nodes.treebank.parent, _parent_rule(nodes))


def _great_grandparent_rules(nodes: TreeNodes) -> Column:
    """The three-level rule fragment above the foot node."""
    return hash_rows(
        _parent_rule(nodes), nodes.at(nodes.treebank.parent, _grandparent_rules(nodes))
    )


def _parent(nodes: TreeNodes) -> Column:
    """The labels of the foot node and its parent."""
    return nodes.at(nodes.treebank.parent, nodes.symbol)


def _grandparent(nodes: TreeNodes) -> Column:
    """The labels of the foot node, its parent and its grandparent."""
    parent = _parent(nodes)
    return hash_rows(parent, nodes.at(nodes.treebank.parent, parent))


def _outside_head_tag(nodes: TreeNodes) -> Column:
    """The tag of the first head on the path to the root that is not the head of the foot node."""
    parent, head = nodes.treebank.parent, nodes.head
    tags = np.full(len(head), -1, dtype=np.int64)
    for level in nodes.downwards():
        below = level[parent[level] >= 0]
        above = parent[below]
        same = head[above] == head[below]
        tags[below] = np.where(same, tags[above], nodes.tag[head[above]])
    return tags


def _widths(nodes: TreeNodes) -> Column:
    """The widths of the spans to the left and to the right of the foot node."""
    return hash_rows(nodes.left_width, nodes.right_width)


def _preceding_cluster(nodes: TreeNodes) -> Column:
    """The cluster of the word before the foot node."""
    return nodes.at(nodes.preceding, nodes.cluster)


def _following_cluster(nodes: TreeNodes) -> Column:
    """The cluster of the word after the foot node."""
    return nodes.at(nodes.following, nodes.cluster)


#: Groups of inside features by name.
INSIDE_GROUPS: Mapping[str, FeatureGroup] = {
    "word": _word,
    "left-child": _left_child,
    "right-child": _right_child,
    "rule": _rule,
    "left-fragment": _left_fragment,
    "right-fragment": _right_fragment,
    "head-tag": _head_tag,
    "length": _length,
    "head-cluster": _head_cluster,
}

#: Groups of outside features by name.
OUTSIDE_GROUPS: Mapping[str, FeatureGroup] = {
    "parent-rule": _parent_rule,
    "grandparent-rule": _grandparent_rule,
    "grandparent-rules": _grandparent_rules,
    "great-grandparent-rules": _great_grandparent_rules,
    "parent": _parent,
    "grandparent": _grandparent,
    "outside-head-tag": _outside_head_tag,
    "widths": _widths,
    "preceding-cluster": _preceding_cluster,
    "following-cluster": _following_cluster,
}


@dataclass(frozen=True)
class FeatureSet:
    """The inside and outside feature groups of an estimator: names of groups, or functions.

    ``inside``: groups of :data:`INSIDE_GROUPS`, the features phi of inside trees.
    ``outside``: groups of :data:`OUTSIDE_GROUPS`, the features psi of outside trees.
    ``scaled``: whether rare features have larger values than frequent ones (default); otherwise all
    values are 1, and ``kappa`` has no effect.

    >>> def long(nodes):
    ...     return (nodes.treebank.end - nodes.treebank.start > 10).astype(np.int64)
    >>> FeatureSet(inside=("word", "rule", long), outside=("parent",)).provenance["inside"]
    ['word', 'rule', 'long']
    """

    inside: tuple[str | FeatureGroup, ...]
    outside: tuple[str | FeatureGroup, ...]
    scaled: bool = True

    def __post_init__(self) -> None:
        for side, named in (("inside", INSIDE_GROUPS), ("outside", OUTSIDE_GROUPS)):
            if not getattr(self, side):
                raise InputError(f"a feature set needs at least one {side} group", argument=side)
            for group in getattr(self, side):
                if isinstance(group, str) and group not in named:
                    raise InputError(
                        f"no {side} feature group is called {group!r}; there are "
                        f"{', '.join(named)}",
                        argument=side,
                    )

    @classmethod
    def named(cls, name: str | FeatureSet) -> FeatureSet:
        """The feature set of a name in :data:`FEATURE_SETS`; a feature set is returned as it is.

        >>> FeatureSet.named("compact").outside
        ('parent-rule', 'grandparent-rules', 'great-grandparent-rules')
        """
        if isinstance(name, FeatureSet):
            return name
        try:
            return FEATURE_SETS[name]
        except KeyError:
            choices = " or ".join(map(repr, FEATURE_SETS))
            raise InputError(
                f"features must be {choices}, not {name!r}", argument="features"
            ) from None

    def with_clusters(self) -> FeatureSet:
        """The same with features of word clusters: of the head, and of the words around the node.

        >>> FeatureSet(("word",), ("parent",)).with_clusters()
        FeatureSet(inside=('word', 'head-cluster'),
                   outside=('parent', 'preceding-cluster', 'following-cluster'), scaled=True)
        """
        return replace(
            self,
            inside=(*self.inside, "head-cluster"),
            outside=(*self.outside, "preceding-cluster", "following-cluster"),
        )

    @property
    def provenance(self) -> dict[str, Any]:
        """The record in a model file: the name of the set and the names of all groups.

        Sets other than the named ones are called ``"custom"``.

        >>> COMPACT.provenance
        {'set': 'compact',
         'inside': ['word', 'left-fragment', 'right-fragment'],
         'outside': ['parent-rule', 'grandparent-rules', 'great-grandparent-rules']}
        """
        names = {
            side: [group if isinstance(group, str) else group.__name__ for group in groups]
            for side, groups in (("inside", self.inside), ("outside", self.outside))
        }
        set_names = (name for name, features in FEATURE_SETS.items() if features == self)
        record = {"set": next(set_names, "custom"), **names}
        return record if self.scaled else {**record, "scaled": False}

    def inside_keys(self, nodes: TreeNodes) -> list[Column]:
        """The keys that each inside group gives the nodes.

        >>> from lpcfg import Tree, Treebank
        >>> nodes = TreeNodes(Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "Rain")]))
        >>> FeatureSet(("word",), ("parent",)).inside_keys(nodes)
        [array([0, 0])]
        """
        return [_resolve(group, INSIDE_GROUPS)(nodes) for group in self.inside]

    def outside_keys(self, nodes: TreeNodes) -> list[Column]:
        """The keys that each outside group gives the nodes.

        >>> from lpcfg import Tree, Treebank
        >>> nodes = TreeNodes(Treebank.from_trees([Tree("NN", "rain")]))
        >>> FeatureSet(("word",), ("parent",)).outside_keys(nodes)  # the root has no parent
        [array([-1])]
        """
        return [_resolve(group, OUTSIDE_GROUPS)(nodes) for group in self.outside]


def _resolve(group: str | FeatureGroup, named: Mapping[str, FeatureGroup]) -> FeatureGroup:
    return named[group] if isinstance(group, str) else group


#: Two inside and three outside groups (Peng 2021, section 5.2), and the word of a preterminal.
COMPACT = FeatureSet(
    inside=("word", "left-fragment", "right-fragment"),
    outside=("parent-rule", "grandparent-rules", "great-grandparent-rules"),
)

#: Seven groups of either kind (Cohen et al. 2013; Narayan & Cohen 2015, section 3), and the word.
FULL = FeatureSet(
    inside=(
        "word",
        "left-child",
        "right-child",
        "rule",
        "left-fragment",
        "right-fragment",
        "head-tag",
        "length",
    ),
    outside=(
        "parent-rule",
        "grandparent-rules",
        "great-grandparent-rules",
        "parent",
        "grandparent",
        "outside-head-tag",
        "widths",
    ),
)

#: Four groups of either kind, not scaled (Matejovicova 2018, section 3.1). The rule of a
#: preterminal is its word.
FOUR = FeatureSet(
    inside=("word", "rule", "left-child", "right-child", "length"),
    outside=("parent", "grandparent", "parent-rule", "grandparent-rule"),
    scaled=False,
)

#: The feature sets that estimators know by name.
FEATURE_SETS: Mapping[str, FeatureSet] = {"compact": COMPACT, "full": FULL, "four": FOUR}
