"""Columns derived from a node table, each computed when first used."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import stable_order
from lpcfg.errors import InputError
from lpcfg.lexicon.word_clusters import WordClusters
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.treebank import Treebank

__all__ = ["Column", "TreeNodes", "depths", "hash_rows", "levels"]

Column = NDArray[np.int64]

#: The level of word clusters that features see: neither the coarsest nor the finest.
_CLUSTER_LEVEL = 1


def hash_rows(*columns: NDArray[np.integer]) -> Column:
    """A hash of each row of integer columns, -1 where any of the integers is negative.

    Hashes have 63 bits, so that collisions within a treebank are practically impossible, and no
    table of the rows has to be kept.

    >>> keys = hash_rows(np.array([1, 1, 2, 1]), np.array([5, 5, 5, -1]))
    >>> keys[0] == keys[1], keys[0] == keys[2], keys[3]
    (np.True_, np.False_, np.int64(-1))
    """
    return _core.hash_rows([np.ascontiguousarray(column, dtype=np.int64) for column in columns])


def depths(parent: NDArray[np.integer]) -> Column:
    """The depth of each node: the number of its ancestors, by pointer doubling.

    >>> depths(np.array([2, 2, 4, 4, -1]))
    array([2, 2, 1, 1, 0])
    """
    depth = (parent >= 0).astype(np.int64)
    above = parent.astype(np.int64)
    while np.any(above >= 0):
        has = above >= 0
        depth[has] += depth[above[has]]
        above[has] = above[above[has]]
    return depth


def levels(parent: NDArray[np.integer]) -> list[Column]:
    """The nodes of each depth, roots first.

    >>> levels(np.array([2, 2, 4, 4, -1]))
    [array([4]), array([2, 3]), array([0, 1])]
    """
    depth = depths(parent)
    order = stable_order(depth)
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])


class TreeNodes:
    """A treebank with the columns from which features are built: rules, sides, heads, words.

    Columns have a value for each node, -1 where a node has none.

    >>> from lpcfg import Tree
    >>> tree = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> nodes = TreeNodes(Treebank.from_trees([tree]))
    >>> nodes.side, nodes.left_width, nodes.right_width
    (array([ 0,  1, -1]), array([0, 1, 0]), array([1, 0, 0]))
    """

    def __init__(
        self,
        treebank: Treebank,
        head_rules: HeadRules | None = None,
        word_clusters: WordClusters | None = None,
    ) -> None:
        self.treebank = treebank
        self.head_rules = head_rules or HeadRules()
        self.word_clusters = word_clusters

    @cached_property
    def symbol(self) -> Column:
        """The symbol of each node."""
        return self.treebank.symbol.astype(np.int64)

    def at(self, nodes: NDArray[np.integer], column: Column) -> Column:
        """The values of a column at other nodes, such as the left children; -1 at node -1.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> nodes = TreeNodes(bank)
        >>> nodes.at(bank.left, nodes.symbol).tolist() == [-1, -1, bank.symbol[0]]
        True
        """
        # Index -1 reads the last value of the padded column.
        values: Column = np.append(column, -1)[nodes]
        return values

    @cached_property
    def word(self) -> Column:
        """The id of each preterminal's word in lower case."""
        ids: dict[str, int] = {}
        lowered = [ids.setdefault(word.lower(), len(ids)) for word in self.treebank.words]
        return self.at(self.treebank.word, np.array(lowered, dtype=np.int64))

    @cached_property
    def cluster(self) -> Column:
        """The cluster of each preterminal's word, -1 if its word has none."""
        if self.word_clusters is None:
            raise InputError("features of word clusters need word_clusters", argument="features")
        found = map(self.word_clusters.clusters, self.treebank.words)
        known = [-1 if clusters is None else clusters[_CLUSTER_LEVEL] for clusters in found]
        return self.at(self.treebank.word, np.array(known, dtype=np.int64))

    @cached_property
    def preceding(self) -> Column:
        """The preterminal node of the word before each node."""
        return self._preterminal(self.treebank.start.astype(np.int64) - 1)

    @cached_property
    def following(self) -> Column:
        """The preterminal node of the word after each node."""
        return self._preterminal(self.treebank.end.astype(np.int64))

    def _preterminal(self, position: Column) -> Column:
        """The preterminal node at a position of the sentence of each node."""
        bank = self.treebank
        preterminals = np.flatnonzero(bank.word >= 0)
        bounds = np.searchsorted(preterminals, bank.tree_offsets)
        sizes = np.diff(bank.tree_offsets)
        first, end = np.repeat(bounds[:-1], sizes), np.repeat(bounds[1:], sizes)
        place = first + position
        found = preterminals[np.clip(place, 0, len(preterminals) - 1)]
        return np.where((place >= first) & (place < end), found, -1)

    @cached_property
    def rule(self) -> Column:
        """A hash of the rule at each node, binary or lexical."""
        left = self.at(self.treebank.left, self.symbol)
        right = self.at(self.treebank.right, self.symbol)
        return hash_rows(self.symbol, left + 1, right + 1, self.word + 1)

    @cached_property
    def side(self) -> Column:
        """0 for a left or only child, 1 for a right one."""
        side = np.full(len(self.symbol), -1, dtype=np.int64)
        for value, child in enumerate((self.treebank.left, self.treebank.right)):
            side[child[child >= 0]] = value
        return side

    @cached_property
    def left_width(self) -> Column:
        """The number of words of the sentence to the left of each node."""
        return self.treebank.start.astype(np.int64)

    @cached_property
    def right_width(self) -> Column:
        """The number of words of the sentence to the right of each node."""
        offsets = self.treebank.tree_offsets
        lengths = self.treebank.end[offsets[1:] - 1].astype(np.int64)
        return np.repeat(lengths, np.diff(offsets)) - self.treebank.end

    @cached_property
    def head(self) -> Column:
        """The preterminal node that is the lexical head of each node."""
        bank = self.treebank
        child = self.head_rules.head_children(bank, self._levels)
        head = np.arange(len(self.symbol))
        for nodes in self.upwards():
            inner = nodes[bank.left[nodes] >= 0]
            head[inner] = head[child[inner]]
        return head

    @cached_property
    def tag(self) -> Column:
        """The id of each preterminal's tag."""
        ids: dict[str, int] = {}
        tags = [ids.setdefault(s.labels[-1], len(ids)) for s in self.treebank.symbols]
        return np.where(self.treebank.word >= 0, np.array(tags)[self.symbol], -1)

    @cached_property
    def _levels(self) -> list[Column]:
        return levels(self.treebank.parent)

    def upwards(self) -> Iterator[Column]:
        """The nodes of each depth, the deepest first.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> [nodes.tolist() for nodes in TreeNodes(bank).upwards()]
        [[0, 1], [2]]
        """
        return reversed(self._levels)

    def downwards(self) -> Iterator[Column]:
        """The nodes of each depth, roots first.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> [nodes.tolist() for nodes in TreeNodes(bank).downwards()]
        [[2], [0, 1]]
        """
        return iter(self._levels)
