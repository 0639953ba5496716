"""Projections of nodes in the form of the spectral estimator.

The first state of every symbol is the constant 1, and the others are singular directions of the
*centred* cross-covariance. This is the model of Peng (2021, 3.2.5) in another basis: one in which
the moments of inside and outside projections are exactly the identity, the mean projections are
the first unit vector, and what has no other states is exactly a PCFG.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.features.node_projections import NodeProjections

__all__ = ["Projections"]


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

    @classmethod
    def of(cls, symbol: NDArray[np.integer], projected: NodeProjections) -> Projections:
        """Add the constant, and divide outside projections by the singular values.

        >>> rows = np.array([[2], [-2]], dtype=np.float32)
        >>> projected = NodeProjections(rows, rows, np.full((1, 1), 4.0), np.full(1, 8.0))
        >>> result = Projections.of(np.zeros(2, int), projected)
        >>> (result.inside.T @ result.outside / 2), result.strength
        (array([[1., 0.],
               [0., 1.]], dtype=float32), array([[1. , 0.5]]))
        """
        values = np.where(projected.values > 0, projected.values, 1.0).astype(np.float32)
        constant = np.ones((len(symbol), 1), dtype=np.float32)
        strength = projected.values / projected.scale[:, None]
        return cls(
            np.hstack([constant, projected.inside]),
            np.hstack([constant, projected.outside / values[symbol]]),
            np.hstack([np.ones((len(strength), 1)), strength]),
        )

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
