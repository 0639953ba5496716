"""How often a grammar with latent states is expected to use each state, rule and word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.inspection.annotation import probabilistic_states

__all__ = ["StateUses"]

Floats = NDArray[np.float64]

# Trees that a grammar makes are seldom deeper, and what is below is not seen in print.
_DEPTH = 1000
_PRECISION = 1e-6


@dataclass(frozen=True, eq=False)
class StateUses:
    """Expected numbers of uses in the trees that a grammar makes.

    States of all symbols are numbered one after the other, as in
    :attr:`~lpcfg.grammar.latent_states.LatentStates.roots`.

    >>> from lpcfg import ClusteringEstimator, Treebank, embedded_trees
    >>> bank = Treebank.from_trees(embedded_trees())
    >>> uses = StateUses(ClusteringEstimator(states=(1, 1)).fit(bank).grammar_)
    >>> np.allclose(uses.visits, np.bincount(bank.symbol) / len(bank), rtol=1e-3)
    True
    """

    grammar: Grammar

    @cached_property
    def latent(self) -> LatentStates:
        """The latent states of the grammar.

        >>> from lpcfg import ClusteringEstimator, Tree, Treebank
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> uses = StateUses(ClusteringEstimator().fit(bank).grammar_)
        >>> uses.latent.states
        array([1, 1, 1], dtype=uint32)
        """
        return probabilistic_states(self.grammar)

    @cached_property
    def rules(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """All rules over states: the number of the binary rule, rows of three states, values.

        >>> from lpcfg import ClusteringEstimator, Tree, Treebank
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> uses = StateUses(ClusteringEstimator().fit(bank).grammar_)
        >>> uses.rules
        (array([0]), array([[2, 0, 1]]), array([1.]))
        """
        rules = self.grammar.binary_rules
        begins, states = self.latent.tensor_offsets(rules), self.latent.state_offsets
        values = self.latent.dense(rules).binary
        places = np.flatnonzero(values)
        rule = np.searchsorted(begins, places, side="right") - 1
        sizes = self.latent.states.astype(np.int64)[rules[rule]]
        rest, right = np.divmod(places - begins[rule], sizes[:, 2])
        parent, left = np.divmod(rest, sizes[:, 1])
        rows = np.stack([parent, left, right], axis=1) + states[rules[rule]]
        return rule, rows, values[places].astype(np.float64)

    @cached_property
    def _below(self) -> scipy.sparse.csr_array:
        """How often each state (column) brings forth each other (row) in one step."""
        _, (parent, left, right), values = self.rules[0], self.rules[1].T, self.rules[2]
        size = int(self.latent.states.sum())
        rows, columns = np.append(left, right), np.append(parent, parent)
        return scipy.sparse.csr_array((np.append(values, values), (rows, columns)), (size, size))

    def expected(self, start: Floats) -> Floats:
        """How often each state is used at and below some states, given how often these are.

        >>> from lpcfg import ClusteringEstimator, Tree, Treebank
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> uses = StateUses(ClusteringEstimator().fit(bank).grammar_)
        >>> uses.expected(np.array([0.0, 0.0, 3.0]))
        array([3., 3., 3.])
        """
        total, level = start.copy(), start
        for _ in range(_DEPTH):
            level = self._below @ level
            total += level
            if level.sum() <= _PRECISION * total.sum():
                break
        return total

    @cached_property
    def visits(self) -> Floats:
        """How often each state is used in a tree.

        >>> from lpcfg import ClusteringEstimator, Tree, Treebank
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> uses = StateUses(ClusteringEstimator().fit(bank).grammar_)
        >>> uses.visits
        array([1., 1., 1.])
        """
        return self.expected(self.latent.roots.astype(np.float64))

    def words(self, visits: Floats) -> Floats:
        """How often each emission of the lexicon is expected where states are used so often.

        >>> from lpcfg import ClusteringEstimator, Tree, Treebank
        >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
        >>> uses = StateUses(ClusteringEstimator().fit(bank).grammar_)
        >>> uses.grammar.lexicon.words, uses.words(np.array([1.0, 0.0, 0.0]))[:2].round(2)
        (('a', 'b'), array([0.43, 0.07]))
        """
        latent, lexicon = self.latent, self.grammar.lexicon
        sizes = latent.states.astype(np.int64)[latent.ratio_symbols]
        begins = latent.ratio_offsets
        place = np.arange(begins[-1]) + np.repeat(
            latent.state_offsets[latent.ratio_symbols] - begins[:-1], sizes
        )
        uses = np.add.reduceat(visits[place] * latent.emission_ratios, begins[:-1])
        entries = lexicon.probabilities * uses[latent.entry_ratios]
        # Emissions may be without entries, so differences of sums, not sums of parts.
        sums: Floats = np.diff(np.append(0.0, np.cumsum(entries))[lexicon.offsets])
        return sums
