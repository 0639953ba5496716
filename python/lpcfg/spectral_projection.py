"""Project the inside and outside features of each node onto its symbol's latent states.

The first state of every symbol is the constant 1, and the others are singular directions of the
*centred* cross-covariance. This is the model of Peng (2021, 3.2.5) in another basis: one in which
the moments of inside and outside projections are exactly the identity, the mean projections are
the first unit vector, and what has no other states is exactly a PCFG.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg.cross_covariance import decompose
from lpcfg.feature_matrix import FeatureMatrix

__all__ = ["Projections", "project", "states_by_frequency"]


def states_by_frequency(
    counts: NDArray[np.integer], most: NDArray[np.integer], few: int = 10, many: int = 100
) -> NDArray[np.int64]:
    """How many states symbols deserve: one up to ``few`` nodes, all from ``many``, a line between.

    >>> states_by_frequency(np.array([10, 55, 100, 1000]), np.full(4, 13))
    array([ 1,  7, 13, 13])
    """
    part = np.clip((counts - few) / max(many - few, 1), 0.0, 1.0)
    return (1 + np.floor(part * (most - 1))).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Projections:
    """The projections of all nodes, and how much each symbol's directions can be trusted.

    Rows of ``inside`` and ``outside`` are nodes. Columns beyond the states of a node's symbol are
    zero. ``strength`` has, for each symbol, the singular value of each state relative to the size
    of its matrix, falling; that of the constant is 1, that of what is not there 0.
    """

    inside: NDArray[np.float32]
    outside: NDArray[np.float32]
    strength: NDArray[np.float64]

    def trust(self, ridge: float) -> NDArray[np.float32]:
        """How much the outside projection on each state of each symbol counts, between 0 and 1.

        Dividing by small singular values makes noise large; a ridge keeps it small. The constant
        counts in full.

        >>> one = np.ones((1, 3), dtype=np.float32)
        >>> Projections(one, one, np.array([[1, 0.3, 0.1]])).trust(0.1)
        array([[1. , 0.9, 0.5]], dtype=float32)
        """
        squares = self.strength**2
        trust = squares / np.maximum(squares + ridge**2, np.finfo(np.float64).tiny)
        trust[:, 0] = 1
        return trust.astype(np.float32)


def project(
    symbol: NDArray[np.integer],
    inside: FeatureMatrix,
    outside: FeatureMatrix,
    states: NDArray[np.int64],
    generator: np.random.Generator,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Projections:
    """Decompose the cross-covariance of each symbol that deserves more than one state.

    >>> symbol = np.zeros(4, dtype=int)
    >>> matrix = FeatureMatrix.build(symbol, [np.array([1, 1, 2, 2])], kappa=0)
    >>> result = project(symbol, matrix, matrix, np.array([2]), np.random.default_rng(0))
    >>> (result.inside.T @ result.outside / 4).round(3)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    most = int(states.max())
    shape = (len(symbol), most)
    inside_rows, outside_rows = (np.zeros(shape, dtype=np.float32) for _ in range(2))
    inside_rows[:, 0] = outside_rows[:, 0] = 1
    strength = np.zeros((len(states), most))
    strength[:, 0] = 1
    order = np.argsort(symbol, kind="stable")
    for chosen in progress(np.flatnonzero(states > 1).tolist()):
        left, right = inside.block(chosen), outside.block(chosen)
        found = decompose(left, right, int(states[chosen]) - 1, generator)
        # Rounding errors are no directions, whatever tolerance is asked for later.
        rank = found.rank(1e-7)
        nodes = order[slice(*inside.row_offsets[chosen : chosen + 2])]
        for rows, features, vectors in (
            (inside_rows, left, found.inside[:, :rank]),
            (outside_rows, right, found.outside[:, :rank] / found.values[:rank]),
        ):
            projected = features @ vectors
            rows[nodes, 1 : rank + 1] = projected - projected.mean(axis=0)
        strength[chosen, 1 : rank + 1] = found.values[:rank] / found.scale
    return Projections(inside_rows, outside_rows, strength)
