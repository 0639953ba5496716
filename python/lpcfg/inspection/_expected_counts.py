"""Expected counts of states, rules and emissions in the trees that an L-PCFG generates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.inspection.annotation import probabilistic_states

__all__ = ["ExpectedCounts"]

Floats = NDArray[np.float64]

# Levels of trees below this depth, or with a smaller fraction of all counts, are left out.
_MAX_DEPTH = 1000
_PRECISION = 1e-6


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected counts per tree under a probabilistic grammar.

    The states of all symbols are numbered consecutively, as in
    :attr:`~lpcfg.grammar.latent_states.LatentStates.roots`.
    """

    grammar: Grammar

    @cached_property
    def latent(self) -> LatentStates:
        """The latent states of the grammar."""
        return probabilistic_states(self.grammar)

    @cached_property
    def rules(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """All rules a(h1) -> b(h2) c(h3): the binary rule, the three states, the probability."""
        rules = self.grammar.binary_rules
        begins, states = self.latent.tensor_offsets(rules), self.latent.state_offsets
        values = self.latent.dense(rules).binary
        positions = np.flatnonzero(values)
        rule = np.searchsorted(begins, positions, side="right") - 1
        sizes = self.latent.states.astype(np.int64)[rules[rule]]
        rest, right = np.divmod(positions - begins[rule], sizes[:, 2])
        parent, left = np.divmod(rest, sizes[:, 1])
        rows = np.stack([parent, left, right], axis=1) + states[rules[rule]]
        return rule, rows, values[positions].astype(np.float64)

    @cached_property
    def _children(self) -> scipy.sparse.csr_array:
        """The expected number of children in each state (row) of a node in each state (column)."""
        _, (parent, left, right), values = self.rules[0], self.rules[1].T, self.rules[2]
        size = int(self.latent.states.sum())
        rows, columns = np.append(left, right), np.append(parent, parent)
        return scipy.sparse.csr_array((np.append(values, values), (rows, columns)), (size, size))

    def subtree_states(self, roots: Floats) -> Floats:
        """The expected count of each state in subtrees, given the counts of their root states."""
        total, level = roots.copy(), roots
        for _ in range(_MAX_DEPTH):
            level = self._children @ level
            total += level
            if level.sum() <= _PRECISION * total.sum():
                break
        return total

    @cached_property
    def states(self) -> Floats:
        """The expected count of each state in a tree."""
        return self.subtree_states(self.latent.roots.astype(np.float64))

    def emissions(self, states: Floats) -> Floats:
        """The expected count of each emission of the lexicon, given the counts of states."""
        latent, lexicon = self.latent, self.grammar.lexicon
        sizes = latent.states.astype(np.int64)[latent.ratio_symbols]
        begins = latent.ratio_offsets
        index = np.arange(begins[-1]) + np.repeat(
            latent.state_offsets[latent.ratio_symbols] - begins[:-1], sizes
        )
        ratios = np.add.reduceat(states[index] * latent.emission_ratios, begins[:-1])
        entries = lexicon.probabilities * ratios[latent.entry_ratios]
        # Emissions may have no entries, for which `reduceat` would not give zero.
        sums: Floats = np.diff(np.append(0.0, np.cumsum(entries))[lexicon.offsets])
        return sums
