"""Inside and outside projections Y and Z of the spectral estimator (Peng 2021, section 3.2.5).

The first state of every symbol is the constant 1, and the others are singular vectors of the
*centred* cross-covariance matrix. This is Peng's model (equations 3.3 to 3.6) in another basis, in
which the cross-moment of Y and Z is exactly the identity, the mean of either is the first unit
vector, and a symbol with one state behaves exactly as in a PCFG.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.features.node_projections import NodeProjections

__all__ = ["Projections"]


@dataclass(frozen=True, eq=False)
class Projections:
    """The projections of all nodes, and the relative singular values of each symbol.

    ``inside``: Y(n) as rows, Peng (2021, equation 3.5).
    ``outside``: Z(n) as rows, Peng (2021, equation 3.6). Columns beyond the states of a node's
    symbol are zero in both.
    ``relative_singular_values``: for each symbol the singular values divided by the scale of its
    matrix, in descending order; 1 for the constant, 0 beyond the rank.
    ``relative_noise``: the noise level of each symbol, divided by the same scale.
    """

    inside: NDArray[np.float32]
    outside: NDArray[np.float32]
    relative_singular_values: NDArray[np.float64]
    relative_noise: NDArray[np.float64]

    @classmethod
    def from_nodes(cls, symbol: NDArray[np.integer], projected: NodeProjections) -> Projections:
        """Add the constant, and divide outside projections by the singular values.

        >>> rows = np.array([[2], [-2]], dtype=np.float32)
        >>> projected = NodeProjections(rows, rows, np.full((1, 1), 4.0), *np.full((2, 1), 8.0))
        >>> result = Projections.from_nodes(np.zeros(2, int), projected)
        >>> result.inside.T @ result.outside / 2
        array([[1., 0.],
               [0., 1.]], dtype=float32)
        >>> result.relative_singular_values
        array([[1. , 0.5]])
        """
        values = np.where(projected.values > 0, projected.values, 1.0).astype(np.float32)
        constant = np.ones((len(symbol), 1), dtype=np.float32)
        relative = projected.values / projected.scale[:, None]
        return cls(
            np.hstack([constant, projected.inside]),
            np.hstack([constant, projected.outside / values[symbol]]),
            np.hstack([np.ones((len(relative), 1)), relative]),
            projected.noise / projected.scale,
        )

    def shrinkage(self, ridge: float) -> NDArray[np.float32]:
        """Factors of the outside projections, between 0 and 1, for each symbol and state.

        Dividing by a small singular value amplifies noise. As in ridge regression, a state with
        the singular value s is shrunk by s^2 / (s^2 + (ridge * e)^2), where e is the noise level of
        the symbol. It falls as the square root of the number of nodes, so that shrinkage vanishes
        and estimates are consistent. The constant is not shrunk. Peng (2021) has no such term;
        ``ridge=0`` gives his estimates.

        >>> one = np.ones((1, 3), dtype=np.float32)
        >>> Projections(one, one, np.array([[1, 0.3, 0.1]]), np.array([0.2])).shrinkage(0.5)
        array([[1. , 0.9, 0.5]], dtype=float32)
        """
        squares = self.relative_singular_values**2
        noise = np.square(ridge * self.relative_noise)[:, None]
        shrinkage = squares / np.maximum(squares + noise, np.finfo(np.float64).tiny)
        shrinkage[:, 0] = 1
        return shrinkage.astype(np.float32)
