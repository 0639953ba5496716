"""Observable operators: an HMM without its states (Jaeger 2000; Hsu, Kakade & Zhang 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from lpcfg._columns import distinct_rows
from lpcfg.errors import InputError

__all__ = ["ObservableOperators", "Triples"]

Floats = NDArray[np.float64]

# Singular values below this part of the largest are rounding errors, whose reciprocals would be
# anything.
_ROUNDING = 1e-9

# Entries of the matrices that are gathered at once.
_BATCH = 1 << 22


@dataclass(frozen=True)
class Triples:
    """Symbols that follow each other, one row each of first, second and third, with weights.

    >>> Triples.count(np.array([0, 4]), np.array([1, 0, 1, 0])).weights
    array([0.5, 0.5])
    """

    symbols: NDArray[np.int64]
    weights: Floats

    @classmethod
    def count(cls, offsets: NDArray[np.int64], symbols: NDArray[np.integer]) -> Triples:
        """Relative frequencies of all triples in sequences that follow each other.

        >>> Triples.count(np.array([0, 3, 4]), np.array([0, 1, 2, 0])).symbols
        array([[0, 1, 2]])
        """
        inner = np.ones(len(symbols), dtype=bool)
        ends = offsets[1:]
        inner[ends - 1] = False
        inner[np.maximum(ends - 2, offsets[:-1])] = False
        first = np.flatnonzero(inner)
        if len(first) == 0:
            raise InputError("no sequence has three symbols, which spectral learning looks at")
        rows, _, count = distinct_rows(symbols[first], symbols[first + 1], symbols[first + 2])
        return cls(np.stack(rows, axis=1), count / count.sum())


@dataclass(frozen=True)
class ObservableOperators:
    """P(x1 ... xn) = end . B(xn) ... B(x1) start, with an operator B for each symbol.

    >>> one = np.ones(1)
    >>> model = ObservableOperators(one, np.array([[[0.25]], [[0.75]]]), one)
    >>> model.log_probabilities(np.array([0, 2]), np.array([0, 1])).round(3)
    array([-1.674])
    """

    start: Floats
    operators: Floats
    end: Floats

    @classmethod
    def learn(
        cls, first: Floats, triples: Triples, n_states: int, random_state: int
    ) -> ObservableOperators:
        """Spectral learning from the probabilities of first symbols and of triples of symbols.

        Hsu et al. look at the first three symbols of each sequence. Triples from everywhere in the
        sequences have the same operators, whatever the distribution of states where they begin, as
        long as pairs and single symbols are taken from the triples.

        >>> triples = Triples(np.array([[0, 1, 0], [1, 0, 1]]), np.array([0.5, 0.5]))
        >>> model = ObservableOperators.learn(np.array([1.0, 0.0]), triples, 2, random_state=0)
        >>> np.exp(model.log_probabilities(np.array([0, 3]), np.array([0, 1, 0]))).round(6)
        array([1.])
        """
        size = len(first)
        one, two, three = triples.symbols.T
        pairs = sparse.coo_array((triples.weights, (two, one)), shape=(size, size)).tocsr()
        rank = min(n_states, size)
        basis, values, _ = randomized_svd(pairs, rank, random_state=random_state)
        basis = basis[:, values > _ROUNDING * values[0]]
        inverse = np.linalg.pinv((pairs.T @ basis).T)
        operators = np.zeros((size, basis.shape[1], basis.shape[1]))
        step = max(_BATCH // operators[0].size, 1)
        order = np.argsort(two, kind="stable")
        for place in range(0, len(order), step):
            rows = order[place : place + step]
            products = basis[three[rows], :, None] * inverse[one[rows], None, :]
            products *= triples.weights[rows, None, None]
            begins = np.flatnonzero(np.diff(two[rows], prepend=-1))
            operators[two[rows][begins]] += np.add.reduceat(products, begins, axis=0)
        return cls(start=basis.T @ first, operators=operators, end=inverse.T @ pairs.sum(axis=0))

    @cached_property
    def with_unknown(self) -> Floats:
        """The operators with one more, for a symbol of which nothing is known: the sum of all.

        >>> ObservableOperators(np.ones(1), np.full((2, 1, 1), 0.5), np.ones(1)).with_unknown[2]
        array([[1.]])
        """
        return np.concatenate([self.operators, self.operators.sum(axis=0, keepdims=True)])

    def histories(
        self, offsets: NDArray[np.int64], symbols: NDArray[np.integer]
    ) -> tuple[Floats, Floats]:
        """B(xn) ... B(x1) start for each sequence, scaled, and the logarithms of the scales.

        >>> model = ObservableOperators(np.ones(1), np.array([[[0.5]]]), np.ones(1))
        >>> model.histories(np.array([0, 3]), np.zeros(3, dtype=int))
        (array([[1.]]), array([-2.07944154]))
        """
        lengths = np.diff(offsets)
        vectors = np.tile(self.start, (len(lengths), 1))
        logs = np.zeros(len(lengths))
        # All sequences take a step at once; the longest come first, so that others drop out.
        order = np.argsort(-lengths, kind="stable")
        for time in range(int(lengths.max(initial=0))):
            running = order[: np.searchsorted(-lengths[order], -time)]
            chosen = self.with_unknown[symbols[offsets[running] + time]]
            moved = np.einsum("sij,sj->si", chosen, vectors[running])
            scales = np.abs(moved).max(axis=1)
            positive = scales > 0
            vectors[running] = np.divide(moved, scales[:, None], out=moved, where=positive[:, None])
            with np.errstate(divide="ignore"):
                logs[running] += np.log(scales)
        return vectors, logs

    def log_probabilities(self, offsets: NDArray[np.int64], symbols: NDArray[np.integer]) -> Floats:
        """The logarithm of the estimate for each sequence, minus infinity if it is not positive.

        >>> model = ObservableOperators(np.ones(1), np.array([[[-0.5]]]), np.ones(1))
        >>> model.log_probabilities(np.array([0, 1, 3]), np.zeros(3, dtype=int)).round(3)
        array([  -inf, -1.386])
        """
        vectors, logs = self.histories(offsets, symbols)
        estimates = vectors @ self.end
        with np.errstate(divide="ignore"):
            found: Floats = np.log(np.maximum(estimates, 0.0)) + logs
        return found

    def next_probabilities(
        self, offsets: NDArray[np.int64], symbols: NDArray[np.integer]
    ) -> Floats:
        """The distribution of the symbol (column) after each sequence (row).

        What is estimated to be negative is taken to be zero, and the rest normalised.

        >>> model = ObservableOperators(np.ones(1), np.array([[[0.25]], [[0.75]]]), np.ones(1))
        >>> model.next_probabilities(np.array([0, 1]), np.array([1]))
        array([[0.25, 0.75]])
        """
        vectors, _ = self.histories(offsets, symbols)
        estimates = np.einsum("i,xij,sj->sx", self.end, self.operators, vectors, optimize=True)
        # The sign of the whole history does not matter to what follows it.
        estimates = np.maximum(estimates * np.sign(vectors @ self.end)[:, None], 0.0)
        sums = estimates.sum(axis=1, keepdims=True)
        even = np.full_like(estimates, 1.0 / estimates.shape[1])
        rows: Floats = np.divide(estimates, sums, out=even, where=sums > 0)
        return rows
