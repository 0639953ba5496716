"""Parameters over states from feature likelihoods (Cohen & Collins 2014, figure 1, steps 2 and 3).

With several feature groups, the objective is defined in section 6.2. The root and emission
parameters are defined in section 6.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import Weights, distinct_rows, sum_weights
from lpcfg.estimators.em.latent_trees import Expectations
from lpcfg.estimators.features.node_features import NodeFeatures
from lpcfg.estimators.features.node_projections import nodes_by_symbol
from lpcfg.estimators.pivot._states import SymbolStates, informative_groups
from lpcfg.estimators.pivot.concave_em import Stopping, maximise
from lpcfg.estimators.rule_nodes import RuleNodes
from lpcfg.treebank.treebank import Treebank

__all__ = ["NodeStates", "maximise_rule_states"]

Floats = NDArray[np.float32]

# The number of values of the largest temporary array: feature triples times pairs of states.
_MAX_VALUES = 1 << 22

# A lower bound of the likelihood of feature triples, to divide by.
_MIN_LIKELIHOOD = np.float32(1e-20)

# Rules with more nodes than this use one combination of feature groups per node.
_MAX_TRIPLES = 500


class _FeatureLikelihoods(NamedTuple):
    """Inside or outside features of some nodes of a symbol, and their likelihood ratios.

    ``columns``: the feature of each node (row) in each group.
    ``ratios``: p(feature | state) / p(feature), features by states.
    """

    columns: NDArray[np.integer]
    ratios: Floats


_Triple = tuple[_FeatureLikelihoods, _FeatureLikelihoods, _FeatureLikelihoods]


class NodeStates:
    """Estimates of state counts from the features of the nodes of a treebank.

    ``features``: the features of all nodes.
    ``states``: the states of each symbol, with the likelihood ratios of its features.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
    >>> nodes = NodeStates(bank, NodeFeatures.build(bank), [SymbolStates.single(3, 3)] * 3)
    >>> rules = RuleNodes.find(bank, bank.symbol[[[2, 0, 1]]])
    >>> nodes.expectations(rules, Stopping(1)).binary
    array([1.], dtype=float32)
    """

    def __init__(
        self, treebank: Treebank, features: NodeFeatures, states: Sequence[SymbolStates]
    ) -> None:
        self.treebank, self.features = treebank, features
        self.states = [symbol.single_precision() for symbol in states]
        self._weights = treebank.node_weights()
        self._nodes = nodes_by_symbol(treebank.symbol, len(states))
        # The row of each node in the feature matrices.
        self._row = np.argsort(np.concatenate(self._nodes))
        self._groups = [
            tuple(informative_groups(matrix.columns[self._row[nodes]]) for matrix in features)
            for nodes in self._nodes
        ]

    def expectations(
        self,
        rules: RuleNodes,
        stopping: Stopping,
        progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    ) -> Expectations:
        """Expected counts of rules and roots with their states, and states of preterminal nodes.

        Their relative frequencies are the parameters t, pi and q (figure 1, step 3; section 6.1),
        which :meth:`.LatentTrees.maximise` computes, as it does in an M-step of EM.

        ``stopping``: of :func:`maximise_rule_states` for each rule.
        """
        starts = rules.bounds.tolist()
        tensors = [np.empty(0, dtype=np.float32)]
        for rule in progress(range(len(starts) - 1)):
            nodes = rules.nodes[starts[rule] : starts[rule + 1]]
            tensors.append(self._count(nodes) * self._tensor(nodes, stopping).ravel())
        roots = np.flatnonzero(self.treebank.parent < 0)
        by_symbol = nodes_by_symbol(self.treebank.symbol[roots], len(self.states))
        counts = [
            self._count(roots[nodes]) * self._roots(roots[nodes], stopping)
            if len(nodes)
            else 0 * states.prior
            for nodes, states in zip(by_symbol, self.states, strict=True)
        ]
        return Expectations(
            log_probabilities=np.zeros(0),
            roots=np.concatenate(counts).astype(np.float64),
            binary=np.concatenate(tensors),
            leaves=self._leaves(),
        )

    def _tensor(self, nodes: NDArray[np.integer], stopping: Stopping) -> Floats:
        """t(h1, h2, h3 | a -> b c) from the nodes of a rule (figure 1, step 2)."""
        left, right = self.treebank.left[nodes], self.treebank.right[nodes]
        sides = (
            self._likelihoods(nodes, "outside"),
            self._likelihoods(left, "inside"),
            self._likelihoods(right, "inside"),
        )
        a, b, c = (
            self.states[self.treebank.symbol[some[0]]].prior for some in (nodes, left, right)
        )
        start = a[:, None, None] * b[:, None] * c
        return _maximise_over_groups(sides, start, stopping, self._weights_of(nodes))

    def _roots(self, nodes: NDArray[np.integer], stopping: Stopping) -> Floats:
        """p(h | root, a) from the nodes of a symbol that are roots.

        Section 6.1 derives it from an outside feature that all roots and no other nodes have. Here
        the inside features of the roots are used, so that no such outside feature is needed.
        """
        none = _uninformative(len(nodes), 1)
        prior = self.states[self.treebank.symbol[nodes[0]]].prior
        sides = self._likelihoods(nodes, "inside"), none, none
        weights = self._weights_of(nodes)
        return _maximise_over_groups(sides, prior[:, None, None], stopping, weights).ravel()

    def _weights_of(self, nodes: NDArray[np.integer]) -> Weights:
        return None if self._weights is None else self._weights[nodes]

    def _count(self, nodes: NDArray[np.integer]) -> np.float32:
        """The weight of nodes."""
        weights = self._weights_of(nodes)
        return np.float32(len(nodes) if weights is None else weights.sum())

    def _leaves(self) -> Floats:
        """p(h | inside features) of each preterminal node, as rows."""
        leaf = self.treebank.left < 0
        row = np.cumsum(leaf) - 1
        width = max(len(states.prior) for states in self.states)
        rows = np.zeros((int(leaf.sum()), width), dtype=np.float32)
        for nodes, states in zip(self._nodes, self.states, strict=True):
            leaves = nodes[leaf[nodes]]
            if len(leaves):
                columns, ratios = self._likelihoods(leaves, "inside")
                values = ratios[columns].mean(axis=1) * states.prior
                values /= values.sum(axis=1, keepdims=True)
                rows[row[leaves], : len(states.prior)] = values
        return rows

    def _likelihoods(self, nodes: NDArray[np.integer], side: str) -> _FeatureLikelihoods:
        """The inside or outside features of nodes of one symbol."""
        symbol = int(self.treebank.symbol[nodes[0]])
        number = NodeFeatures._fields.index(side)
        ratios = getattr(self.states[symbol], side)
        groups = self._groups[symbol][number]
        if not groups or ratios.shape[1] == 1:
            return _uninformative(len(nodes), ratios.shape[1])
        columns = self.features[number].columns[self._row[nodes][:, None], groups]
        return _FeatureLikelihoods(columns, ratios)


def _uninformative(nodes: int, states: int) -> _FeatureLikelihoods:
    """A feature that all nodes have, whatever their states."""
    columns = np.zeros((nodes, 1), dtype=np.int64)
    return _FeatureLikelihoods(columns, np.ones((1, states), dtype=np.float32))


def _maximise_over_groups(
    sides: _Triple, start: Floats, stopping: Stopping, weights: Weights
) -> Floats:
    """Maximise the objective of section 6.2: a term for each combination of feature groups.

    Rules with few nodes use all combinations at each node. Rules with many nodes use a few at each
    node, in turn, which changes the sums over the nodes little and saves time.
    """
    if start.size == 1:
        return start
    sizes = [side.columns.shape[1] for side in sides]
    nodes, choices = len(sides[0].columns), int(np.prod(sizes))
    each = min(choices, max(1, _MAX_TRIPLES // nodes))
    turns = (each * np.arange(nodes)[:, None] + np.arange(each)) % choices
    groups = np.unravel_index(turns, sizes)
    columns = (
        side.columns[np.arange(nodes)[:, None], group].ravel()
        for side, group in zip(sides, groups, strict=True)
    )
    rows, index, _ = distinct_rows(*columns)
    counts = sum_weights(index, None if weights is None else np.repeat(weights, each))
    first, second, third = (side.ratios[row] for side, row in zip(sides, rows, strict=True))
    # Several combinations of a node's features together count as one node.
    scaled = (counts / each).astype(np.float32)
    return maximise_rule_states(first, second, third, scaled, start, stopping)


def maximise_rule_states(
    first: Floats,
    second: Floats,
    third: Floats,
    weights: Floats,
    start: Floats,
    stopping: Stopping,
) -> Floats:
    """t(h1, h2, h3 | a -> b c) by EM: the maximum of equation 1, which is concave in t.

    The objective is the sum over feature triples of
    weight * log (sum over h1, h2, h3 of t[h1, h2, h3] first[h1] second[h2] third[h3]).

    ``first``, ``second``, ``third``: the likelihoods s(g | h1), r(f2 | h2) and r(f3 | h3) of the
    triples' features, up to factors that do not depend on the states, as rows.
    ``weights``: the counts of the triples.
    ``start``: the tensor before the first iteration.

    >>> likelihoods = np.eye(2, dtype=np.float32)
    >>> weights = np.array([3, 1], dtype=np.float32)
    >>> start = np.full((2, 2, 2), 1 / 8, dtype=np.float32)
    >>> maximise_rule_states(*[likelihoods] * 3, weights, start, Stopping(5))[0].round(3)
    array([[0.75, 0.  ],
           [0.  , 0.  ]], dtype=float32)
    """
    rows, columns = first.shape[1] * second.shape[1], third.shape[1]
    size = max(_MAX_VALUES // rows, 1)

    def step(values: NDArray[np.floating]) -> tuple[NDArray[np.floating], float]:
        matrix = values.reshape(rows, columns)
        expected = np.zeros_like(matrix)
        objective = 0.0
        for begin in range(0, len(weights), size):
            block = slice(begin, begin + size)
            pairs = (first[block, :, None] * second[block, None, :]).reshape(-1, rows)
            likelihood = np.einsum("np,np->n", pairs, third[block] @ matrix.T)
            likelihood = np.maximum(likelihood, _MIN_LIKELIHOOD)
            objective += float(weights[block] @ np.log(likelihood.astype(np.float64)))
            ratio = weights[block] / likelihood
            expected += pairs.T @ (third[block] * ratio[:, None])
        updated = matrix * expected
        total = updated.sum()
        return (values if total <= 0 else (updated / total).ravel()), objective

    return maximise(step, start.ravel(), stopping).reshape(start.shape).astype(np.float32)
