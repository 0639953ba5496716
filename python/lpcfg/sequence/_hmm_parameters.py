"""The parameters of hidden Markov models: checked, drawn at random, or estimated from counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpcfg import _core
from lpcfg.errors import InputError

__all__ = ["HMMParameters", "count_states"]

# How far the sum of probabilities may be from one.
_ROUNDING = 1e-6

# The largest relative difference between two random initial transitions.
_SYMMETRY_BREAKING = 0.1


@dataclass(frozen=True, eq=False)
class HMMParameters:
    """The probabilities of a hidden Markov model.

    ``initial``: P(state) at the beginning of a sequence.
    ``transitions``: P(next state | state), with a row for each state.
    ``emissions``: P(symbol | state), with a row for each state.
    ``ends``: P(the sequence ends | state), or None if the end is not modelled; the transitions of a
    state sum to 1 minus this.

    >>> parameters = HMMParameters.checked([1.0], [[0.5]], [[0.9, 0.1]], ends=[0.5])
    >>> parameters.n_states, parameters.n_symbols
    (1, 2)
    """

    initial: NDArray[np.float64]
    transitions: NDArray[np.float64]
    emissions: NDArray[np.float64]
    ends: NDArray[np.float64] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # The object of the core is built again from the arrays.
        return {name: value for name, value in vars(self).items() if name != "core"}

    @classmethod
    def checked(
        cls,
        initial: ArrayLike,
        transitions: ArrayLike,
        emissions: ArrayLike,
        ends: ArrayLike | None = None,
    ) -> HMMParameters:
        """Parameters from arrays, after checking their shapes and sums.

        >>> HMMParameters.checked([0.5, 0.4], np.eye(2), np.eye(2))
        Traceback (most recent call last):
        lpcfg.errors.InputError: initial must sum to 1, not to 0.9
        """
        parameters = cls(
            initial=np.array(initial, dtype=np.float64),
            transitions=np.array(transitions, dtype=np.float64, order="C"),
            emissions=np.array(emissions, dtype=np.float64, order="C"),
            ends=None if ends is None else np.array(ends, dtype=np.float64),
        )
        parameters._check()
        return parameters

    def _check(self) -> None:
        states = self.initial.shape[0] if self.initial.ndim == 1 else 0
        shapes: dict[str, tuple[int, ...]] = {
            "transitions": (states, states),
            "emissions": (states, self.n_symbols),
        }
        if self.ends is not None:
            shapes["ends"] = (states,)
        if states == 0:
            raise InputError("initial must have a probability for each state", argument="initial")
        for name, shape in shapes.items():
            actual = getattr(self, name).shape
            if actual != shape:
                raise InputError(f"{name} must have shape {shape}, not {actual}", argument=name)
        for name in ("initial", *shapes):
            if not np.all(getattr(self, name) >= 0):
                raise InputError(f"{name} must have no negative numbers", argument=name)
        ends = 0.0 if self.ends is None else self.ends
        # A sum that overflows is not 1 either.
        with np.errstate(over="ignore"):
            leaving = self.transitions.sum(axis=1) + ends
            sums = {
                "initial": self.initial.sum(),
                "transitions" if self.ends is None else "transitions and ends": leaving,
                "emissions": self.emissions.sum(axis=1),
            }
        for name, sum_ in sums.items():
            wrong = np.atleast_1d(sum_)[np.abs(np.atleast_1d(sum_) - 1) > _ROUNDING]
            if len(wrong):
                raise InputError(f"{name} must sum to 1, not to {wrong[0]:.6g}", argument=name)

    @property
    def n_states(self) -> int:
        """The number of states.

        >>> HMMParameters.checked([0.5, 0.5], np.eye(2), np.eye(2)).n_states
        2
        """
        return len(self.initial)

    @property
    def n_symbols(self) -> int:
        """The number of symbols.

        >>> HMMParameters.checked([1.0], [[1.0]], [[0.2, 0.8]]).n_symbols
        2
        """
        return int(self.emissions.shape[-1])

    @classmethod
    def random(
        cls,
        n_states: int,
        frequencies: NDArray[np.float64],
        mean_length: float | None,
        random: np.random.Generator,
    ) -> HMMParameters:
        """Random parameters for EM to start from.

        Emissions are drawn around the frequencies of symbols. Transitions are nearly uniform,
        because random transitions lead to poor local optima more often. The end of sequences is
        modelled if their mean length is not None.

        >>> random = np.random.default_rng(0)
        >>> HMMParameters.random(2, np.array([0.9, 0.1]), None, random).emissions.sum(axis=1)
        array([1., 1.])
        """
        shape = (n_states, len(frequencies))
        counts = {
            "initial": 1 + _SYMMETRY_BREAKING * random.random(n_states),
            "transitions": 1 + _SYMMETRY_BREAKING * random.random((n_states, n_states)),
            "emissions": random.standard_exponential(shape) * frequencies,
        }
        if mean_length is not None:
            rest = max(mean_length - 1, 0.0)
            leaving = counts["transitions"].sum(axis=1)
            counts["ends"] = leaving / rest if rest else leaving
            counts["transitions"] *= rest > 0
        return cls.from_counts(counts, model_end=mean_length is not None)

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, Any], *, model_end: bool, pseudocount: float = 0.0
    ) -> HMMParameters:
        """Relative frequencies of counts; states without any have uniform distributions.

        >>> counts = {"initial": np.ones(1), "transitions": np.array([[3.0]]),
        ...     "ends": np.ones(1), "emissions": np.array([[2.0, 2.0]])}
        >>> HMMParameters.from_counts(counts, model_end=True).transitions
        array([[0.75]])
        """
        leaving = counts["transitions"]
        if model_end:
            leaving = np.column_stack([leaving, counts["ends"]])
        leaving = _normalized(leaving + pseudocount)
        n_states = len(leaving)
        return cls(
            initial=_normalized(counts["initial"] + pseudocount),
            transitions=np.ascontiguousarray(leaving[:, :n_states]),
            emissions=_normalized(counts["emissions"] + pseudocount),
            ends=leaving[:, n_states].copy() if model_end else None,
        )

    @cached_property
    def core(self) -> _core.HiddenMarkovModel:
        """The parameters for the core, with a symbol for unknown ones, which all states emit.

        >>> HMMParameters.checked([1.0], [[1.0]], [[1.0]]).core
        <lpcfg._core.HiddenMarkovModel object at ...>
        """
        unknown = np.ones((self.n_states, 1))
        return _core.HiddenMarkovModel(
            initial=self.initial,
            transitions=self.transitions,
            ends=np.ones(self.n_states) if self.ends is None else self.ends,
            emissions=np.hstack([self.emissions, unknown]),
        )

    def sample(
        self, n_sequences: int, length: int | None, random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Sample sequences: the length of each, and the states and symbols of all of them.

        >>> parameters = HMMParameters.checked([1.0], [[1.0]], [[0.0, 1.0]])
        >>> parameters.sample(2, 2, np.random.default_rng(0))
        (array([2, 2]), array([0, 0, 0, 0]), array([1, 1, 1, 1]))
        """
        ends = np.zeros(self.n_states) if self.ends is None else self.ends
        leaving = _bounds(np.column_stack([ends, self.transitions]))
        emissions = _bounds(self.emissions)
        running = np.arange(n_sequences)
        states = _draw(_bounds(self.initial[None]), np.zeros_like(running), random)
        rows: list[NDArray[np.int64]] = []
        # All sequences advance together; sequences that have ended are dropped.
        while len(running) and (length is None or len(rows) < length):
            symbols = _draw(emissions, states, random)
            rows.append(np.stack([running, states, symbols]))
            step = _draw(leaving, states, random) - 1
            running, states = running[step >= 0], step[step >= 0]
        table = np.concatenate(rows, axis=1)
        owner, states, symbols = table[:, np.argsort(table[0], kind="stable")]
        return np.bincount(owner, minlength=n_sequences), states, symbols


def count_states(
    offsets: NDArray[np.int64],
    symbols: NDArray[np.integer],
    states: NDArray[np.integer],
    n_symbols: int,
) -> dict[str, NDArray[np.float64]]:
    """Counts of sequences whose states are known, for :meth:`HMMParameters.from_counts`.

    >>> counts = count_states(np.array([0, 3]), np.array([0, 1, 1]), np.array([0, 1, 1]), 2)
    >>> counts["transitions"]
    array([[0., 1.],
           [0., 1.]])
    """
    n_states = int(states.max()) + 1
    last = offsets[1:] - 1
    inner = np.delete(np.arange(len(states)), last)

    def table(
        rows: NDArray[np.integer], columns: NDArray[np.integer], width: int
    ) -> NDArray[np.int64]:
        pairs = rows.astype(np.int64) * width + columns
        return np.bincount(pairs, minlength=n_states * width).reshape(n_states, width)

    counts = {
        "initial": np.bincount(states[offsets[:-1]], minlength=n_states),
        "transitions": table(states[inner], states[inner + 1], n_states),
        "ends": np.bincount(states[last], minlength=n_states),
        # The last column is for symbols that are not in the vocabulary.
        "emissions": table(states, symbols, n_symbols + 1)[:, :-1],
    }
    return {name: array.astype(np.float64) for name, array in counts.items()}


def _normalized(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = counts.sum(axis=-1, keepdims=True)
    # The distribution of a state that never occurs is arbitrary.
    even = np.full_like(counts, 1.0 / counts.shape[-1])
    rows: NDArray[np.float64] = np.divide(counts, sums, out=even, where=sums > 0)
    return rows


def _bounds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cumulative probabilities of each row, plus the number of the row."""
    bounds = np.cumsum(probabilities, axis=1)
    shifted: NDArray[np.float64] = bounds / bounds[:, -1:] + np.arange(len(bounds))[:, None]
    return shifted


def _draw(
    bounds: NDArray[np.float64], rows: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """Sample a column for each of ``rows``, which may have repetitions."""
    columns = bounds.shape[1]
    positions = np.searchsorted(bounds.ravel(), rows + random.random(len(rows)), side="right")
    drawn: NDArray[np.int64] = np.minimum(positions - rows * columns, columns - 1)
    return drawn
