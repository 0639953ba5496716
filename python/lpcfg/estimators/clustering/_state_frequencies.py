"""Relative frequencies in a cluster-annotated treebank (Narayan & Cohen 2015, figure 2, step 3).

The paper uses plain relative frequencies (Matejovicova 2018, equations 3 and 4). Here the tensors
are smoothed, because rules that occur a few times in a state give poor estimates of the states of
the children; the tensors stay sparse. A symbol with several clusters has a state for each cluster
and, as state 0, a *backoff state* for all of its nodes. If a rule occurs n times in a state of
the parent, each child is in the state of its cluster with probability w = sqrt(n) / (C + sqrt(n)),
the interpolation weight of Cohen et al. (2013), and otherwise in the backoff state, which expands
as the symbol does on average. Interpolation with products of marginals, as in Peng (2021, section
3.2.7), would fill the tensors.

With soft clusters, nodes are counted for several states, by their responsibilities.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import distinct_rows, offsets, sum_weights
from lpcfg.estimators.clustering._clusters import NodeClusters
from lpcfg.estimators.features.emission_ratios import EmissionLikelihoodRatios, EmissionParameters
from lpcfg.estimators.features.lexical_rules import LexicalRules
from lpcfg.estimators.rule_nodes import RuleNodes, interpolation
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates, StoredTensors, store_tensors
from lpcfg.treebank.treebank import Treebank

__all__ = ["StateFrequencies"]


class StateFrequencies:
    """Relative frequencies of rules, roots and emissions in each state.

    ``words``: the lexical rules of the treebank.
    ``clusters``: the clusters of each node; the clusters of a symbol are numbered without gaps.
    ``smoothing``: C of the interpolation weight; 0 for plain relative frequencies, without backoff
    states.

    >>> from lpcfg import PCFGEstimator, Tree
    >>> trees = [Tree.from_string(text) for text in ("(S (A a) (B b))", "(S (A c) (B d))")]
    >>> bank = Treebank.from_trees(trees)
    >>> backbone = PCFGEstimator().fit(bank).grammar_
    >>> words = LexicalRules(bank, backbone.lexicon, rare=1)
    >>> clusters = NodeClusters(np.array([[0, 0, 0, 1, 1, 0]]), np.ones((1, 6)))
    >>> plain = StateFrequencies(bank, backbone, words, clusters, smoothing=0.0)
    >>> plain.latent_states().dense(backbone.binary_rules).binary
    array([0.5, 0. , 0. , 0.5], dtype=float32)
    >>> StateFrequencies(bank, backbone, words, clusters, smoothing=1.0).states
    array([3, 3, 1])
    """

    def __init__(
        self,
        treebank: Treebank,
        backbone: Grammar,
        words: LexicalRules,
        clusters: NodeClusters,
        smoothing: float,
    ) -> None:
        self.treebank, self.backbone, self.words = treebank, backbone, words
        self.smoothing = smoothing
        numbers = np.ones(len(treebank.symbols), dtype=np.int64)
        np.maximum.at(numbers, treebank.symbol, clusters.cluster.max(axis=0) + 1)
        #: Which symbols have a backoff state.
        self.has_backoff = (numbers > 1) & (smoothing > 0)
        #: The number of states of each symbol.
        self.states = numbers + self.has_backoff
        #: The states of each node's clusters (rows), and their responsibilities.
        self.state = clusters.cluster + self.has_backoff[treebank.symbol]
        self.responsibility = clusters.responsibility
        # Pairs of a node and a state for which it is counted: its clusters and the backoff state.
        choice, node = np.nonzero(self.responsibility)
        backing_off = np.flatnonzero(self.has_backoff[treebank.symbol])
        self._node = np.append(node, backing_off)
        self._node_state = np.append(self.state[choice, node], np.zeros_like(backing_off))
        self._node_count = np.append(self.responsibility[choice, node], np.ones(len(backing_off)))
        self._weights = treebank.node_weights()
        if self._weights is not None:
            self._node_count *= self._weights[self._node]
        index = offsets(self.states)[treebank.symbol[self._node]] + self._node_state
        #: The count of each state; the states of all symbols are concatenated.
        self.counts = np.bincount(index, self._node_count, minlength=int(self.states.sum()))
        #: The contribution of each pair to a relative frequency.
        self._frequency = self._node_count / self.counts[index]

    def latent_states(
        self, word_smoothing: float = 0.0, class_smoothing: float = 0.0
    ) -> LatentStates:
        """The parameters of the L-PCFG.

        ``word_smoothing``, ``class_smoothing``: prior counts of emission likelihood ratios, see
        :class:`~lpcfg.estimators.features.emission_ratios.EmissionLikelihoodRatios`.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> backbone = PCFGEstimator().fit(bank).grammar_
        >>> words = LexicalRules(bank, backbone.lexicon, rare=1)
        >>> clusters = NodeClusters(np.array([[0, 1]]), np.ones((1, 2)))
        >>> StateFrequencies(bank, backbone, words, clusters, 1.0).latent_states().roots
        array([0.41421354, 0.29289323, 0.29289323], dtype=float32)
        """
        return LatentStates(
            kind="probabilistic",
            states=self.states.astype(np.uint32),
            roots=self._roots(),
            **self._tensors()._asdict(),
            **self._emissions(word_smoothing, class_smoothing)._asdict(),
        )

    def _tensors(self) -> StoredTensors:
        """The tensors of the binary rules."""
        bank, rules = self.treebank, self.backbone.binary_rules
        nodes, bounds = RuleNodes.find(bank, rules)
        rule_of = np.full(len(bank.symbol), -1)
        rule_of[nodes] = np.repeat(np.arange(len(rules)), np.diff(bounds))
        inner = rule_of[self._node] >= 0
        node, state = self._node[inner], self._node_state[inner]
        rule = rule_of[node]
        context = distinct_rows(rule, state)[1]
        seen = np.bincount(context, self._node_count[inner])
        weight = interpolation(seen[context], self.smoothing)
        sizes = self.states[rules]
        begins = offsets(sizes.prod(axis=1))
        parent_position = begins[rule] + state * (sizes[:, 1] * sizes[:, 2])[rule]
        positions, values = [], []
        for left_state, left_value in self._child_states(bank.left[node], weight):
            # Few nodes have more than one cluster.
            some = np.flatnonzero(left_value)
            left_position = parent_position[some] + left_state[some] * sizes[rule[some], 2]
            left_value = self._frequency[inner][some] * left_value[some]
            for right_state, right_value in self._child_states(
                bank.right[node[some]], weight[some]
            ):
                value = left_value * right_value
                kept = value > 0
                positions.append(left_position[kept] + right_state[kept])
                values.append(value[kept])
        distinct, which = np.unique(np.concatenate(positions), return_inverse=True)
        return store_tensors(distinct, np.bincount(which, np.concatenate(values)), begins)

    def _child_states(
        self, nodes: NDArray[np.integer], weight: NDArray[np.floating]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """The states that nodes may have below their parents, with their probabilities.

        ``weight``: the probability of the states of a node's clusters, if it has a backoff state.
        """
        backoff = np.where(self.has_backoff[self.treebank.symbol[nodes]], 1.0 - weight, 0.0)
        for state, responsibility in zip(self.state, self.responsibility, strict=True):
            yield state[nodes], (1 - backoff) * responsibility[nodes]
        yield np.zeros(len(nodes), dtype=np.int64), backoff

    def _roots(self) -> NDArray[np.float32]:
        roots = np.flatnonzero(self.treebank.parent < 0)
        symbol = self.treebank.symbol[roots]
        counts = np.ones(len(roots)) if self._weights is None else self._weights[roots]
        weight = interpolation(sum_weights(symbol, counts)[symbol], self.smoothing)
        begins = offsets(self.states)[symbol]
        sums = np.zeros(len(self.counts))
        for state, value in self._child_states(roots, weight):
            sums += np.bincount(begins + state, value * counts, minlength=len(sums))
        probabilities: NDArray[np.float32] = (sums / counts.sum()).astype(np.float32)
        return probabilities

    def _emissions(self, word_smoothing: float, class_smoothing: float) -> EmissionParameters:
        bank = self.treebank
        leaves = bank.left < 0
        leaf = leaves[self._node]
        node, state = self._node[leaf], self._node_state[leaf]
        vectors = np.zeros((int(leaves.sum()), int(self.states.max())), dtype=np.float32)
        # P(state | node) / P(state | symbol).
        size = sum_weights(bank.symbol, self._weights)[bank.symbol[node]]
        own = 1.0 if self._weights is None else self._weights[node]
        vectors[(np.cumsum(leaves) - 1)[node], state] = size * self._frequency[leaf] / own
        ratios = EmissionLikelihoodRatios(self.words, vectors, np.ones(vectors.shape[1]))
        return ratios.emission_parameters(
            self.states, word_smoothing, class_smoothing, normalise=True
        )
