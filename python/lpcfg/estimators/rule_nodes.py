"""The nodes of each binary rule in a treebank, and the interpolation weights of rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.treebank.treebank import Treebank

__all__ = ["RuleNodes", "interpolation"]

Floats = NDArray[np.float32]


def interpolation(counts: NDArray[np.number], smoothing: float) -> Floats:
    """The weight sqrt(n) / (C + sqrt(n)) of the highest-order moment of rules seen n times.

    Lambda of Cohen et al. (2013) and Peng (2021, section 3.2.7); ``smoothing`` is C.

    >>> interpolation(np.array([1, 100]), smoothing=10)
    array([0.09090909, 0.5       ], dtype=float32)
    """
    roots = np.sqrt(counts)
    weight: Floats = (roots / (smoothing + roots)).astype(np.float32)
    return weight


class RuleNodes(NamedTuple):
    """Interminal nodes sorted by their rules; the nodes of rule r begin at ``bounds[r]``.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")] * 2)
    >>> RuleNodes.find(bank, bank.symbol[[[2, 0, 1]]])
    RuleNodes(nodes=array([2, 5]), bounds=array([0, 2]))
    """

    nodes: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def find(cls, treebank: Treebank, rules: NDArray[np.integer]) -> RuleNodes:
        """The nodes of a treebank, given all of its rules as sorted rows of symbols.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("A", "a")])
        >>> RuleNodes.find(bank, np.zeros((0, 3), dtype=int)).nodes
        array([], dtype=int64)
        """
        nodes = np.flatnonzero(treebank.right >= 0)
        shape = (len(treebank.symbols),) * 3
        columns = (nodes, treebank.left[nodes], treebank.right[nodes])
        key = np.ravel_multi_index(tuple(treebank.symbol[column] for column in columns), shape)
        wanted = np.ravel_multi_index(tuple(rules.T), shape)
        by_rule = np.argsort(key, kind="stable")
        bounds = np.searchsorted(key[by_rule], wanted)
        return cls(nodes[by_rule], np.append(bounds, len(nodes)))
