"""Parameters over latent states while they are being estimated, and maps between sets of states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.rule_nodes import interpolation

__all__ = ["StateMap", "StateParameters", "offsets", "remap", "smooth_rules"]

Floats = NDArray[np.float32]


def offsets(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where things of the given sizes begin if they lie one after the other, and where all end.

    >>> offsets(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class StateParameters:
    """Non-negative parameters of an L-PCFG with dense tensors, between two steps of EM.

    ``states``: how many states each symbol has.
    ``roots``: the root probabilities of all symbols' states.
    ``binary``: the tensors of all binary rules of the backbone, one after the other, in C order.
    ``words``: a profile, P(state | word) / P(state), for each own row of
    :class:`~lpcfg.estimators.features.word_rows.WordRows`; as many columns as the most states of a
    symbol.
    ``shares``: P(state | symbol) for all symbols' states.

    >>> one = np.ones(1, dtype=np.float32)
    >>> StateParameters(np.array([1]), one, one[:0], one[:, None], one).mask
    array([[ True]])
    """

    states: NDArray[np.int64]
    roots: Floats
    binary: Floats
    words: Floats
    shares: NDArray[np.float64]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which columns of a row for each symbol are states of that symbol.

        >>> one = np.ones(3, dtype=np.float32)
        >>> StateParameters(np.array([1, 2]), one, one, one, one).mask
        array([[ True, False],
               [ True,  True]])
        """
        mask: NDArray[np.bool_] = np.arange(self.states.max(initial=1)) < self.states[:, None]
        return mask

    def tensors(self, rules: NDArray[np.integer]) -> list[Floats]:
        """Views of ``binary``, one for each rule.

        >>> one = np.ones(4, dtype=np.float32)
        >>> parameters = StateParameters(np.array([2, 1]), one, one, one, one)
        >>> [tensor.shape for tensor in parameters.tensors(np.array([[0, 0, 1]]))]
        [(2, 2, 1)]
        """
        sizes = self.states[rules]
        bounds = offsets(sizes.prod(axis=1)).tolist()
        return [
            self.binary[start:end].reshape(size)
            for (start, end), size in zip(pairwise(bounds), sizes.tolist(), strict=True)
        ]


class StateMap(NamedTuple):
    """How the states of a symbol become others: splitting and merging are such maps.

    ``generates``: new states by old ones; a new state generates what these do in this proportion.
    ``generated``: old states by new ones; where an old state was generated, the new ones are, in
    this proportion.

    >>> StateMap.split(1).generated
    array([[0.5, 0.5]], dtype=float32)
    """

    generates: Floats
    generated: Floats

    @classmethod
    def same(cls, states: int) -> StateMap:
        """Nothing changes.

        >>> StateMap.same(1).generates
        array([[1.]], dtype=float32)
        """
        return cls(np.eye(states, dtype=np.float32), np.eye(states, dtype=np.float32))

    @classmethod
    def split(cls, states: int) -> StateMap:
        """Each state becomes two that are alike.

        >>> StateMap.split(2).generates
        array([[1., 0.],
               [1., 0.],
               [0., 1.],
               [0., 1.]], dtype=float32)
        """
        same = np.eye(states, dtype=np.float32)
        return cls(np.repeat(same, 2, axis=0), np.repeat(same * np.float32(0.5), 2, axis=1))

    @classmethod
    def merge(cls, merged: NDArray[np.bool_], shares: NDArray[np.float64]) -> StateMap:
        """States marked in ``merged`` become one with the next, in the proportion of ``shares``.

        >>> generates, generated = StateMap.merge(np.array([True, False]), np.array([0.2, 0.6]))
        >>> generates, generated.ravel()
        (array([[0.25, 0.75]], dtype=float32), array([1., 1.], dtype=float32))
        """
        first = np.append(True, ~merged[:-1])
        target = np.cumsum(first) - 1
        generated = np.eye(target[-1] + 1, dtype=np.float32)[target]
        weights = generated.T * np.maximum(shares, np.finfo(np.float64).tiny)
        return cls((weights / weights.sum(axis=1, keepdims=True)).astype(np.float32), generated)


def remap(
    parameters: StateParameters,
    maps: Sequence[StateMap],
    rules: NDArray[np.integer],
    word_symbols: NDArray[np.integer],
) -> StateParameters:
    """The parameters over other states, with a map for each symbol.

    >>> one = np.ones(1, dtype=np.float32)
    >>> parameters = StateParameters(np.array([1]), one, one, one[:, None], one)
    >>> halves = remap(parameters, [StateMap.split(1)], np.zeros((1, 3), int), np.array([0]))
    >>> halves.binary
    array([0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    states = np.array([len(new.generates) for new in maps])
    tensors = [np.empty(0, dtype=np.float32)]
    for (a, b, c), tensor in zip(rules.tolist(), parameters.tensors(rules), strict=True):
        parents = np.tensordot(maps[a].generates, tensor, 1)
        tensors.append((maps[b].generated.T @ parents @ maps[c].generated).ravel())

    def moved(values: NDArray[np.floating]) -> NDArray[np.floating]:
        parts = np.split(values, offsets(parameters.states)[1:-1])
        return np.concatenate([part @ new.generated for part, new in zip(parts, maps, strict=True)])

    words = np.ones((len(parameters.words), states.max()), dtype=np.float32)
    order = np.argsort(word_symbols, kind="stable")
    bounds = np.searchsorted(word_symbols[order], np.arange(len(maps) + 1))
    for symbol in np.flatnonzero(np.diff(bounds)).tolist():
        rows = order[bounds[symbol] : bounds[symbol + 1]]
        old, new = parameters.states[symbol], states[symbol]
        words[rows, :new] = parameters.words[rows, :old] @ maps[symbol].generates.T
    return StateParameters(
        states=states,
        roots=moved(parameters.roots).astype(np.float32),
        binary=np.concatenate(tensors),
        words=words,
        shares=moved(parameters.shares).astype(np.float64),
    )


def smooth_rules(
    parameters: StateParameters,
    rules: NDArray[np.integer],
    counts: NDArray[np.integer],
    probabilities: NDArray[np.float64],
    smoothing: float,
) -> Floats:
    """The tensors of rules, the less often seen the closer to independence of states.

    With w = sqrt(n) / (C + sqrt(n)) for a rule seen n times, a tensor leans with 1 - w on
    P(rule | parent's state) times P(children's states | rule); the first of these on the rule's
    probability under the backbone, the second on the product of either child's states given the
    rule, and that on the product of the states' shares. It is the interpolation of the spectral
    estimator's moments (Cohen et al. 2013), for parameters that are probabilities: rules of each
    state still add up to one.

    >>> one = np.ones(1, dtype=np.float32)
    >>> parameters = StateParameters(np.array([2]), one, one.repeat(8) / 4, one, np.full(2, 0.5))
    >>> smooth_rules(parameters, np.zeros((1, 3), int), np.array([1]), one, 1.0).sum()
    np.float32(2.0)
    """
    weights = interpolation(counts, smoothing)
    shares = [
        part.astype(np.float32)
        for part in np.split(parameters.shares, offsets(parameters.states)[1:-1])
    ]
    tensors = [np.empty(0, dtype=np.float32)]
    state_offsets = offsets(parameters.states)
    totals = np.zeros(state_offsets[-1], dtype=np.float32)
    columns = (rules.tolist(), parameters.tensors(rules), weights, probabilities)
    for (a, b, c), tensor, weight, probability in zip(*columns, strict=True):
        weight, rest = np.float32(weight), np.float32(1 - weight)
        own = tensor.sum(axis=(1, 2))
        children = np.tensordot(shares[a], tensor, 1)
        children /= max(children.sum(), np.finfo(np.float32).tiny)
        apart = np.outer(children.sum(axis=1), children.sum(axis=0))
        children = weight * children + rest * (
            weight * apart + rest * np.outer(shares[b], shares[c])
        )
        leant = weight * own + rest * np.float32(probability)
        smoothed = weight * tensor + (rest * leant)[:, None, None] * children
        totals[state_offsets[a] : state_offsets[a + 1]] += smoothed.sum(axis=(1, 2))
        tensors.append(smoothed)
    scale = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
    for rule, (a, _, _) in enumerate(rules.tolist(), start=1):
        tensors[rule] *= scale[state_offsets[a] : state_offsets[a + 1], None, None]
    return np.concatenate([tensor.ravel() for tensor in tensors])
