"""L-PCFGs by relative frequency in a treebank whose nodes have known states.

A state that has been seen with a rule a few times tells little about the states of the children.
Tensors are therefore smoothed, and stay sparse: a symbol with several clusters of nodes has one
state for each, and before these a state that stands for *all* of its nodes. Where a rule has been
seen n times in the state of a parent, each child is in the state of its own cluster with weight
w = sqrt(n) / (C + sqrt(n)), and otherwise in the one for all nodes of its symbol, which goes on as
the symbol does on average. All values that this adds are products of single states with that one,
while a mixture of tensors with products of their margins would fill them.

A node may also be in several clusters, each with a share; its shares add up to 1, and n is the sum
of shares.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import distinct_rows
from lpcfg.estimators.clustering._clusters import NodeClusters
from lpcfg.estimators.em.state_parameters import offsets
from lpcfg.estimators.features.emission_ratios import EmissionVectors, StateProfiles
from lpcfg.estimators.features.word_rows import WordRows
from lpcfg.estimators.rule_nodes import RuleNodes, interpolation
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates, StoredTensors, store_tensors
from lpcfg.treebank.treebank import Treebank

__all__ = ["StateFrequencies"]


class StateFrequencies:
    """Relative frequencies of what nodes do in each state.

    ``clusters``: those of each node among those of its symbol; no number is left out.
    ``smoothing``: C; where it is zero, the only states are clusters, and nothing is smoothed.

    >>> from lpcfg import PCFGEstimator, Tree
    >>> trees = [Tree.from_string(text) for text in ("(S (A a) (B b))", "(S (A c) (B d))")]
    >>> bank = Treebank.from_trees(trees)
    >>> backbone = PCFGEstimator().fit(bank).grammar_
    >>> words = WordRows(bank, backbone.lexicon, rare=1)
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
        words: WordRows,
        clusters: NodeClusters,
        smoothing: float,
    ) -> None:
        self.treebank, self.backbone, self.words = treebank, backbone, words
        self.smoothing = smoothing
        numbers = np.ones(len(treebank.symbols), dtype=np.int64)
        np.maximum.at(numbers, treebank.symbol, clusters.cluster.max(axis=0) + 1)
        #: Which symbols have a state for all of their nodes.
        self.has_whole = (numbers > 1) & (smoothing > 0)
        #: How many states each symbol has; the states of each node's clusters, with its shares.
        self.states = numbers + self.has_whole
        self.state = clusters.cluster + self.has_whole[treebank.symbol]
        self.share = clusters.share
        # A node counts for its own states, and for that of all nodes if there is one.
        choice, own = np.nonzero(self.share)
        both = np.flatnonzero(self.has_whole[treebank.symbol])
        self._node = np.append(own, both)
        self._node_state = np.append(self.state[choice, own], np.zeros_like(both))
        self._node_share = np.append(self.share[choice, own], np.ones(len(both)))
        place = offsets(self.states)[treebank.symbol[self._node]] + self._node_state
        #: How many nodes count for each state of all symbols.
        self.counts = np.bincount(place, self._node_share, minlength=int(self.states.sum()))
        #: What a node adds to the frequencies of a state.
        self._part = self._node_share / self.counts[place]

    def latent_states(
        self, word_smoothing: float = 0.0, class_smoothing: float = 0.0
    ) -> LatentStates:
        """The parameters of the L-PCFG; strengths of priors for words are in tokens.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> backbone = PCFGEstimator().fit(bank).grammar_
        >>> words = WordRows(bank, backbone.lexicon, rare=1)
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
        bank, rules = self.treebank, self.backbone.binary_rules
        nodes, bounds = RuleNodes.find(bank, rules)
        rule_of = np.full(len(bank.symbol), -1)
        rule_of[nodes] = np.repeat(np.arange(len(rules)), np.diff(bounds))
        inner = rule_of[self._node] >= 0
        node, state = self._node[inner], self._node_state[inner]
        rule = rule_of[node]
        context = distinct_rows(rule, state)[1]
        seen = np.bincount(context, self._node_share[inner])
        weight = interpolation(seen[context], self.smoothing)
        sizes = self.states[rules]
        begins = offsets(sizes.prod(axis=1))
        parent_place = begins[rule] + state * (sizes[:, 1] * sizes[:, 2])[rule]
        places, values = [], []
        for left_state, left_value in self._choices(bank.left[node], weight):
            # Few nodes are in more than one cluster.
            some = np.flatnonzero(left_value)
            left_place = parent_place[some] + left_state[some] * sizes[rule[some], 2]
            left_value = self._part[inner][some] * left_value[some]
            for right_state, right_value in self._choices(bank.right[node[some]], weight[some]):
                value = left_value * right_value
                kept = value > 0
                places.append(left_place[kept] + right_state[kept])
                values.append(value[kept])
        distinct, which = np.unique(np.concatenate(places), return_inverse=True)
        return store_tensors(distinct, np.bincount(which, np.concatenate(values)), begins)

    def _choices(
        self, nodes: NDArray[np.integer], weight: NDArray[np.floating]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """The states of nodes' clusters, then those for all nodes; each with their weights."""
        whole = np.where(self.has_whole[self.treebank.symbol[nodes]], 1.0 - weight, 0.0)
        for state, share in zip(self.state, self.share, strict=True):
            yield state[nodes], (1 - whole) * share[nodes]
        yield np.zeros(len(nodes), dtype=np.int64), whole

    def _roots(self) -> NDArray[np.float32]:
        roots = np.flatnonzero(self.treebank.parent < 0)
        symbol = self.treebank.symbol[roots]
        weight = interpolation(np.bincount(symbol)[symbol], self.smoothing)
        begins = offsets(self.states)[symbol]
        sums = np.zeros(len(self.counts))
        for state, value in self._choices(roots, weight):
            sums += np.bincount(begins + state, value, minlength=len(sums))
        return (sums / len(roots)).astype(np.float32)

    def _emissions(self, word_smoothing: float, class_smoothing: float) -> EmissionVectors:
        bank = self.treebank
        leaves = bank.left < 0
        leaf = leaves[self._node]
        node, state = self._node[leaf], self._node_state[leaf]
        vectors = np.zeros((int(leaves.sum()), int(self.states.max())), dtype=np.float32)
        # P(state | node) / P(state | symbol).
        size = np.bincount(bank.symbol)[bank.symbol[node]]
        vectors[(np.cumsum(leaves) - 1)[node], state] = size * self._part[leaf]
        profiles = StateProfiles(self.words, vectors, np.ones(vectors.shape[1]))
        return profiles.emission_vectors(
            self.states, word_smoothing, class_smoothing, normalise=True
        )
