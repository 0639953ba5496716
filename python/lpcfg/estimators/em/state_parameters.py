"""Parameters of an L-PCFG between two steps of EM, and maps from its states to other states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets

__all__ = ["StateMap", "StateParameters", "map_states"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class StateParameters:
    """Probabilities of an L-PCFG with dense tensors, between two steps of EM.

    ``states``: the number of states of each symbol.
    ``roots``: pi(a, h) of all symbols' states, concatenated.
    ``binary``: t(a -> b c, h2, h3 | a, h1) of all binary rules of the backbone: tensors in C order,
    concatenated.
    ``emission_ratios``: p(h | a, x) / p(h | a) as a row for each observed rule a -> x of
    :class:`~lpcfg.estimators.features.lexical_rules.LexicalRules`; the number of columns is the
    largest number of states.
    ``state_priors``: p(h | a) of all symbols' states, concatenated.
    """

    states: NDArray[np.int64]
    roots: Floats
    binary: Floats
    emission_ratios: Floats
    state_priors: NDArray[np.float64]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Symbols (rows) by states (columns): which states the symbol has.

        >>> one = np.ones(3, dtype=np.float32)
        >>> StateParameters(np.array([1, 2]), one, one, one, one).mask
        array([[ True, False],
               [ True,  True]])
        """
        mask: NDArray[np.bool_] = np.arange(self.states.max(initial=1)) < self.states[:, None]
        return mask

    def tensors(self, rules: NDArray[np.integer]) -> list[Floats]:
        """The tensor of each rule, as a view of ``binary``.

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
    """A linear map from the old states of a symbol to new states: identity, split or merge.

    ``as_parent``: new states (rows) by old ones. The rules and emissions of a new state are a
    mixture of the rules and emissions of the old states, with these weights.
    ``as_child``: old states (rows) by new ones. The probability of generating an old state is
    divided among the new states in these proportions.

    >>> StateMap.split(1).as_child
    array([[0.5, 0.5]], dtype=float32)
    """

    as_parent: Floats
    as_child: Floats

    @classmethod
    def same(cls, states: int) -> StateMap:
        """The identity.

        >>> StateMap.same(1).as_parent
        array([[1.]], dtype=float32)
        """
        return cls(np.eye(states, dtype=np.float32), np.eye(states, dtype=np.float32))

    @classmethod
    def split(cls, states: int) -> StateMap:
        """Each state becomes two equal states (Petrov et al. 2006).

        >>> StateMap.split(2).as_parent
        array([[1., 0.],
               [1., 0.],
               [0., 1.],
               [0., 1.]], dtype=float32)
        """
        same = np.eye(states, dtype=np.float32)
        return cls(np.repeat(same, 2, axis=0), np.repeat(same * np.float32(0.5), 2, axis=1))

    @classmethod
    def merge(cls, merged: NDArray[np.bool_], state_priors: NDArray[np.float64]) -> StateMap:
        """Merge each state marked in ``merged`` with the next, weighted by the state priors.

        >>> merged = StateMap.merge(np.array([True, False]), np.array([0.2, 0.6]))
        >>> merged.as_parent, merged.as_child.ravel()
        (array([[0.25, 0.75]], dtype=float32), array([1., 1.], dtype=float32))
        """
        first = np.append(True, ~merged[:-1])
        target = np.cumsum(first) - 1
        as_child = np.eye(target[-1] + 1, dtype=np.float32)[target]
        weights = as_child.T * np.maximum(state_priors, np.finfo(np.float64).tiny)
        return cls((weights / weights.sum(axis=1, keepdims=True)).astype(np.float32), as_child)


def map_states(
    parameters: StateParameters,
    maps: Sequence[StateMap],
    rules: NDArray[np.integer],
    lexical_symbols: NDArray[np.integer],
) -> StateParameters:
    """The parameters over new states, given a map for each symbol.

    ``rules``: the binary rules of the backbone.
    ``lexical_symbols``: the symbol of each row of the emission ratios.

    >>> one = np.ones(1, dtype=np.float32)
    >>> parameters = StateParameters(np.array([1]), one, one, one[:, None], one)
    >>> halves = map_states(parameters, [StateMap.split(1)], np.zeros((1, 3), int), np.array([0]))
    >>> halves.binary
    array([0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    states = np.array([len(new.as_parent) for new in maps])
    tensors = [np.empty(0, dtype=np.float32)]
    for (a, b, c), tensor in zip(rules.tolist(), parameters.tensors(rules), strict=True):
        parents = np.tensordot(maps[a].as_parent, tensor, 1)
        tensors.append((maps[b].as_child.T @ parents @ maps[c].as_child).ravel())

    def as_children(values: NDArray[np.floating]) -> NDArray[np.floating]:
        parts = np.split(values, offsets(parameters.states)[1:-1])
        return np.concatenate([part @ new.as_child for part, new in zip(parts, maps, strict=True)])

    ratios = np.ones((len(parameters.emission_ratios), states.max()), dtype=np.float32)
    order = np.argsort(lexical_symbols, kind="stable")
    bounds = np.searchsorted(lexical_symbols[order], np.arange(len(maps) + 1))
    for symbol in np.flatnonzero(np.diff(bounds)).tolist():
        rows = order[bounds[symbol] : bounds[symbol + 1]]
        old, new = parameters.states[symbol], states[symbol]
        ratios[rows, :new] = parameters.emission_ratios[rows, :old] @ maps[symbol].as_parent.T
    return StateParameters(
        states=states,
        roots=as_children(parameters.roots).astype(np.float32),
        binary=np.concatenate(tensors),
        emission_ratios=ratios,
        state_priors=as_children(parameters.state_priors).astype(np.float64),
    )
