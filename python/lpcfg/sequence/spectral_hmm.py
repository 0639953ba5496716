"""Spectral learning of hidden Markov models by observable operators.

Hsu, Kakade & Zhang (2012), with the observable operators of Jaeger (2000).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted

from lpcfg._columns import distinct_rows
from lpcfg._threads import one_thread
from lpcfg.errors import InputError
from lpcfg.io import load, save
from lpcfg.parameters.common import RANDOM_STATE
from lpcfg.parameters.constraints import Interval
from lpcfg.parameters.parameterized import Parameterized, parameter
from lpcfg.sequence._symbols import (
    UNKNOWN,
    FlatSequences,
    Item,
    Sequences,
    SymbolTable,
    Unknown,
)

__all__ = ["ObservableOperators", "SpectralHMM", "Triples"]

Floats = NDArray[np.float64]

# Singular values below this fraction of the largest are rounding errors.
_ROUNDING = 1e-9

# The number of matrix entries that are computed at once.
_BATCH = 1 << 22


@dataclass(frozen=True)
class Triples:
    """Triples of adjacent symbols as rows, with their relative frequencies as weights.

    >>> Triples.count(np.array([0, 4]), np.array([1, 0, 1, 0])).weights
    array([0.5, 0.5])
    """

    symbols: NDArray[np.int64]
    weights: Floats

    @classmethod
    def count(cls, offsets: NDArray[np.int64], symbols: NDArray[np.integer]) -> Triples:
        """Relative frequencies of all triples of adjacent symbols in concatenated sequences.

        >>> Triples.count(np.array([0, 3, 4]), np.array([0, 1, 2, 0])).symbols
        array([[0, 1, 2]])
        """
        inner = np.ones(len(symbols), dtype=bool)
        ends = offsets[1:]
        inner[ends - 1] = False
        inner[np.maximum(ends - 2, offsets[:-1])] = False
        first = np.flatnonzero(inner)
        if len(first) == 0:
            raise InputError(
                "no sequence has three symbols, which spectral learning needs", argument="sequences"
            )
        rows, _, count = distinct_rows(symbols[first], symbols[first + 1], symbols[first + 2])
        return cls(np.stack(rows, axis=1), count / count.sum())


@dataclass(frozen=True)
class ObservableOperators:
    """An observable operator model: P(x1 ... xn) = end . B(xn) ... B(x1) start.

    There is an operator B for each symbol.

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

        Hsu et al. use the first three symbols of each sequence. Triples from all positions of the
        sequences give the same operators, whatever the distribution of states at their beginning,
        as long as pairs and single symbols are taken from the triples.

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
        for begin in range(0, len(order), step):
            rows = order[begin : begin + step]
            products = basis[three[rows], :, None] * inverse[one[rows], None, :]
            products *= triples.weights[rows, None, None]
            begins = np.flatnonzero(np.diff(two[rows], prepend=-1))
            operators[two[rows][begins]] += np.add.reduceat(products, begins, axis=0)
        return cls(start=basis.T @ first, operators=operators, end=inverse.T @ pairs.sum(axis=0))

    @cached_property
    def with_unknown(self) -> Floats:
        """The operators, and one more for unknown symbols, which is the sum of all.

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
        # All sequences advance together, the longest first; sequences that have ended are dropped.
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
            log_probabilities: Floats = np.log(np.maximum(estimates, 0.0)) + logs
        return log_probabilities

    def next_probabilities(
        self, offsets: NDArray[np.int64], symbols: NDArray[np.integer]
    ) -> Floats:
        """The distribution of the symbol (column) after each sequence (row).

        Negative estimates become zero, and the other ones are normalised.

        >>> model = ObservableOperators(np.ones(1), np.array([[[0.25]], [[0.75]]]), np.ones(1))
        >>> model.next_probabilities(np.array([0, 1]), np.array([1]))
        array([[0.25, 0.75]])
        """
        vectors, _ = self.histories(offsets, symbols)
        estimates = np.einsum("i,xij,sj->sx", self.end, self.operators, vectors, optimize=True)
        # The sign of the history cancels out in the conditional distribution.
        estimates = np.maximum(estimates * np.sign(vectors @ self.end)[:, None], 0.0)
        sums = estimates.sum(axis=1, keepdims=True)
        even = np.full_like(estimates, 1.0 / estimates.shape[1])
        rows: Floats = np.divide(estimates, sums, out=even, where=sums > 0)
        return rows


@dataclass(eq=False, repr=False)
class SpectralHMM(Parameterized):
    """A hidden Markov model by spectral learning: one step, without local optima.

    It has an operator for each symbol instead of states. The probabilities of sequences and of next
    symbols converge to the true ones if the emission and transition distributions of the states are
    linearly independent. Estimates from few sequences may be negative.

    After :meth:`fit`, ``operators_`` has the operators and ``symbols_`` the symbols they belong to.

    >>> from lpcfg import HMM
    >>> truth = HMM.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]])
    >>> fitted = SpectralHMM(n_states=2).fit(truth.sample(1000, length=50)[0])
    >>> np.exp(truth.score([[0, 0, 1]])).round(2), np.exp(fitted.score([[0, 0, 1]])).round(2)
    (np.float64(0.09), np.float64(0.09))
    """

    n_states: int = field(
        default=2,
        metadata=parameter(
            Interval(int, 1),
            "the number of states, at most the number of symbols; more states fit more structure "
            "and need more data",
        ),
    )
    unknown: Unknown = field(default="error", metadata=UNKNOWN)
    random_state: int = field(default=0, metadata=RANDOM_STATE)

    operators_: ObservableOperators = field(init=False)
    symbols_: tuple[Item, ...] = field(init=False)

    def fit(self, sequences: Sequences, labels: object = None) -> Self:
        """Fit the model to sequences, at least one with three symbols; ``labels`` are not used.

        >>> SpectralHMM(n_states=1).fit([["a", "b", "a"]]).symbols_
        ('a', 'b')
        """
        self.validate()
        flat = FlatSequences.of(sequences)
        table = SymbolTable.chosen(None, flat)
        symbols = table.encode(flat)
        first = np.bincount(symbols[flat.offsets[:-1]], minlength=len(table.symbols))
        triples = Triples.count(flat.offsets, symbols)
        with one_thread():
            self.operators_ = ObservableOperators.learn(
                first / first.sum(), triples, self.n_states, self.random_state
            )
        self.symbols_ = table.symbols
        return self

    def score_samples(self, sequences: Sequences) -> NDArray[np.float64]:
        """The log-probability of each sequence; minus infinity if the estimate is not positive.

        ``sequences``: lists of symbols.

        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> np.exp(hmm.score_samples([["a"], ["a", "b"], ["a", "a"]])).round(3)
        array([0.5, 0.5, 0. ])
        """
        offsets, symbols = self._encode(sequences)
        return self.operators_.log_probabilities(offsets, symbols)

    def score(self, sequences: Sequences, labels: object = None) -> float:
        """The mean log-probability of a sequence; ``labels`` are not used.

        ``sequences``: lists of symbols.

        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> round(float(np.exp(hmm.score([["a"], ["b"]]))), 3)
        0.5
        """
        return float(self.score_samples(sequences).mean())

    def predict_next(self, sequences: Sequences) -> NDArray[np.float64]:
        """The probabilities of the next symbol (columns, as in ``symbols_``) after each sequence.

        ``sequences``: lists of symbols, the beginnings of sequences.

        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> hmm.predict_next([["a", "b", "a"]]).round(3)
        array([[0., 1.]])
        """
        offsets, symbols = self._encode(sequences)
        return self.operators_.next_probabilities(offsets, symbols)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file; :meth:`load` reads it.

        >>> import tempfile, pathlib
        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "model.lpcfg")
        ...     hmm.save(path)
        ...     SpectralHMM.load(path).predict_next([["a"]]).round(3)
        array([[0., 1.]])
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SpectralHMM:
        """Load a model that :meth:`save` has written to ``path``.

        >>> SpectralHMM.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        return load(path, SpectralHMM)

    def _encode(self, sequences: Sequences) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        check_is_fitted(self, "operators_")
        flat = FlatSequences.of(sequences)
        return flat.offsets, SymbolTable(self.symbols_).encode(flat, self.unknown)
