"""Probabilities of states from features of nodes (Cohen & Collins 2014, figure 1 and 6.1-2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import distinct_rows
from lpcfg.estimators.em.latent_trees import Expectations
from lpcfg.estimators.features.node_features import NodeFeatures
from lpcfg.estimators.features.node_projections import nodes_by_symbol
from lpcfg.estimators.pivot._states import SymbolStates, informative_groups
from lpcfg.estimators.rule_nodes import RuleNodes
from lpcfg.treebank.treebank import Treebank

__all__ = ["NodeStates", "mix_states"]

Floats = NDArray[np.float32]

# Values of the largest temporary array: points times pairs of states.
_LARGEST = 1 << 22

# Points less likely than this under all triples of states teach nothing about them.
_IMPOSSIBLE = np.float32(1e-20)

# Points that tell enough about a rule for none of its nodes to need more than one.
_ENOUGH = 500


class _Side(NamedTuple):
    """What one side of some nodes of a symbol tells about their states.

    ``columns``: a row for each node with the numbers of its features.
    ``matrix``: for each feature a row of P(feature | state) / P(feature).
    """

    columns: NDArray[np.integer]
    matrix: Floats


class NodeStates:
    """What the features of all nodes of a treebank tell about their states.

    ``states``: those of each symbol.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
    >>> nodes = NodeStates(bank, NodeFeatures.build(bank), [SymbolStates.single(3, 3)] * 3)
    >>> nodes.expectations(RuleNodes.find(bank, bank.symbol[[[2, 0, 1]]]), iterations=1).binary
    array([1.], dtype=float32)
    """

    def __init__(
        self, treebank: Treebank, features: NodeFeatures, states: Sequence[SymbolStates]
    ) -> None:
        self.treebank, self.features = treebank, features
        self.states = [symbol.single_precision() for symbol in states]
        self._nodes = nodes_by_symbol(treebank.symbol, len(states))
        # Where the features of each node are.
        self._row = np.argsort(np.concatenate(self._nodes))
        self._groups = [
            tuple(informative_groups(matrix.columns[self._row[nodes]]) for matrix in features)
            for nodes in self._nodes
        ]

    def expectations(
        self,
        rules: RuleNodes,
        iterations: int,
        progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    ) -> Expectations:
        """How often rules and roots are expected with which states, and those of preterminals.

        Relative frequencies of these are the estimates of the pivot method.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> nodes = NodeStates(bank, NodeFeatures.build(bank), [SymbolStates.single(3, 3)])
        >>> nodes.expectations(RuleNodes.find(bank, np.zeros((0, 3), int)), iterations=1).roots
        array([1.])
        """
        starts = rules.bounds.tolist()
        tensors = [np.empty(0, dtype=np.float32)]
        for rule in progress(range(len(starts) - 1)):
            nodes = rules.nodes[starts[rule] : starts[rule + 1]]
            tensors.append(len(nodes) * self._tensor(nodes, iterations).ravel())
        roots = np.flatnonzero(self.treebank.parent < 0)
        by_symbol = nodes_by_symbol(self.treebank.symbol[roots], len(self.states))
        counts = [
            len(own) * self._roots(roots[own], iterations) if len(own) else 0 * states.prior
            for own, states in zip(by_symbol, self.states, strict=True)
        ]
        return Expectations(
            log_probabilities=np.zeros(0),
            roots=np.concatenate(counts).astype(np.float64),
            binary=np.concatenate(tensors),
            leaves=self._leaves(),
        )

    def _tensor(self, nodes: NDArray[np.integer], iterations: int) -> Floats:
        """P(states of parent, left and right child | rule), from the nodes that a rule has."""
        left, right = self.treebank.left[nodes], self.treebank.right[nodes]
        sides = (
            self._side(nodes, "outside"),
            self._side(left, "inside"),
            self._side(right, "inside"),
        )
        a, b, c = (
            self.states[self.treebank.symbol[some[0]]].prior for some in (nodes, left, right)
        )
        return _mix(sides, a[:, None, None] * b[:, None] * c, iterations)

    def _roots(self, nodes: NDArray[np.integer], iterations: int) -> Floats:
        """P(state | root) of a symbol, from the nodes of it that are roots.

        The paper reads it off an outside feature that all roots share and no others; features of
        their insides serve as well, whatever the outside features are.
        """
        silent = _silent(len(nodes), 1)
        prior = self.states[self.treebank.symbol[nodes[0]]].prior
        sides = self._side(nodes, "inside"), silent, silent
        return _mix(sides, prior[:, None, None], iterations).ravel()

    def _leaves(self) -> Floats:
        """For each preterminal node in turn, P(state | inside), as rows."""
        leaf = self.treebank.left < 0
        place = np.cumsum(leaf) - 1
        most = max(len(states.prior) for states in self.states)
        rows = np.zeros((int(leaf.sum()), most), dtype=np.float32)
        for nodes, states in zip(self._nodes, self.states, strict=True):
            own = nodes[leaf[nodes]]
            if len(own):
                columns, matrix = self._side(own, "inside")
                values = matrix[columns].mean(axis=1) * states.prior
                values /= values.sum(axis=1, keepdims=True)
                rows[place[own], : len(states.prior)] = values
        return rows

    def _side(self, nodes: NDArray[np.integer], side: str) -> _Side:
        """One side of nodes of one symbol."""
        symbol = int(self.treebank.symbol[nodes[0]])
        number = NodeFeatures._fields.index(side)
        matrix = getattr(self.states[symbol], side)
        groups = self._groups[symbol][number]
        if not groups or matrix.shape[1] == 1:
            return _silent(len(nodes), matrix.shape[1])
        return _Side(self.features[number].columns[self._row[nodes][:, None], groups], matrix)


def _silent(nodes: int, states: int) -> _Side:
    """A side that tells nothing."""
    return _Side(np.zeros((nodes, 1), dtype=np.int64), np.ones((1, states), dtype=np.float32))


def _mix(sides: tuple[_Side, _Side, _Side], start: Floats, iterations: int) -> Floats:
    """Mix states by combinations of groups of features, each a term of the objective.

    A rule with few nodes needs all of them. Where there are many nodes, each speaks through some
    of them only, in turn: sums over so many nodes stay about the same.
    """
    if start.size == 1:
        return start
    sizes = [side.columns.shape[1] for side in sides]
    nodes, choices = len(sides[0].columns), int(np.prod(sizes))
    each = min(choices, max(1, _ENOUGH // nodes))
    turns = (each * np.arange(nodes)[:, None] + np.arange(each)) % choices
    groups = np.unravel_index(turns, sizes)
    columns = (
        side.columns[np.arange(nodes)[:, None], group].ravel()
        for side, group in zip(sides, groups, strict=True)
    )
    rows, _, counts = distinct_rows(*columns)
    first, second, third = (side.matrix[row] for side, row in zip(sides, rows, strict=True))
    return mix_states(first, second, third, counts.astype(np.float32), start, iterations)


def mix_states(
    first: Floats,
    second: Floats,
    third: Floats,
    weights: Floats,
    start: Floats,
    iterations: int,
) -> Floats:
    """Probabilities of triples of states that make points likely, by EM from a start.

    Maximises the sum over points of weight * log sum over i, j, k of T[i, j, k] first[i] second[j]
    third[k], where rows of the matrices belong to points. This is concave in T.

    >>> sides = np.eye(2, dtype=np.float32)
    >>> start = np.full((2, 2, 2), 1 / 8, dtype=np.float32)
    >>> weights = np.array([3, 1], dtype=np.float32)
    >>> mix_states(sides, sides, sides, weights, start, 5)[0].round(3)
    array([[0.75, 0.  ],
           [0.  , 0.  ]], dtype=float32)
    """
    rows, columns = first.shape[1] * second.shape[1], third.shape[1]
    matrix = start.reshape(rows, columns)
    step = max(_LARGEST // rows, 1)
    for _ in range(iterations):
        expected = np.zeros_like(matrix)
        for begin in range(0, len(weights), step):
            block = slice(begin, begin + step)
            pairs = (first[block, :, None] * second[block, None, :]).reshape(-1, rows)
            likelihood = np.einsum("np,np->n", pairs, third[block] @ matrix.T)
            ratio = weights[block] / np.maximum(likelihood, _IMPOSSIBLE)
            expected += pairs.T @ (third[block] * ratio[:, None])
        moved = matrix * expected
        total = moved.sum()
        if total <= 0:
            break
        matrix = moved / total
    return matrix.reshape(start.shape)
