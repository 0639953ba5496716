"""Low-dimensional projections of inside and outside features (Peng 2021, section 3.2.5).

Step 1 of the clustering algorithm of Narayan & Cohen (2015, figure 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import Weights, mean_rows, stable_order
from lpcfg.estimators.features._cross_covariance import decompose_cross_covariance
from lpcfg.estimators.features.node_features import NodeFeatures
from lpcfg.estimators.features.noise import Noise

__all__ = ["NodeProjections", "nodes_by_symbol", "project_nodes"]

Floats = NDArray[np.float32]

# Singular values below this fraction of the scale of their matrix are rounding errors.
_ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class NodeProjections:
    """Projections of the features of all nodes onto the singular vectors of their symbols.

    ``inside``, ``outside``: a row for each node, y = U' phi and z = V' psi, where U S V' is the
    truncated SVD of the symbol's centred cross-covariance matrix (Narayan & Cohen 2015, figure 2).
    The mean over the nodes of a symbol is zero. Columns beyond the rank of the symbol are zero.
    ``values``: the singular values of each symbol in descending order, zero beyond its rank.
    ``scale``: the scale of each symbol's matrix before centring, for comparison with singular
    values.
    ``noise``: for each symbol the largest singular value that independent inside and outside
    features would have, by the number of its nodes and features.
    """

    inside: Floats
    outside: Floats
    values: NDArray[np.float64]
    scale: NDArray[np.float64]
    noise: NDArray[np.float64]

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The number of singular vectors of each symbol.

        >>> rows = np.zeros((0, 2), dtype=np.float32)
        >>> NodeProjections(rows, rows, np.array([[0.5, 0.1], [0.5, 0]]), *np.ones((2, 2))).ranks
        array([2, 1])
        """
        ranks: NDArray[np.int64] = np.count_nonzero(self.values, axis=1)
        return ranks

    def with_noise(
        self,
        symbol: NDArray[np.integer],
        noise: Noise,
        generator: np.random.Generator,
        weights: Weights = None,
    ) -> NodeProjections:
        """The projections with additive or multiplicative Gaussian noise.

        ``symbol``: the symbol of each node. ``weights``: the weight of each node (default 1).

        >>> rows = np.array([[1], [-1]], dtype=np.float32)
        >>> projections = NodeProjections(rows, rows, np.ones((1, 1)), *np.ones((2, 1)))
        >>> noise = Noise("add", 0.1)
        >>> noisy = projections.with_noise(np.zeros(2, int), noise, np.random.default_rng(0))
        >>> noisy.inside.round(2).ravel(), noisy.outside.round(2).ravel()
        (array([ 1.13, -1.13], dtype=float32), array([ 1.02, -1.02], dtype=float32))
        """
        inside, outside = self.inside.copy(), self.outside.copy()
        ranks = self.ranks
        for chosen, nodes in enumerate(nodes_by_symbol(symbol, len(ranks))):
            used = slice(0, ranks[chosen])
            for rows in (inside, outside) if ranks[chosen] else ():
                rows[nodes, used] = noise.perturb_projections(
                    rows[nodes, used], generator, None if weights is None else weights[nodes]
                )
        return replace(self, inside=inside, outside=outside)

    def aligned(self, symbol: NDArray[np.integer], weights: Weights = None) -> NodeProjections:
        """The projections rotated so that their cross-covariance is diagonal again.

        Noise makes it differ from the diagonal matrix of singular values, which the spectral
        estimator divides by. This is the second, small SVD of Narayan & Cohen (2015, section 4).

        ``symbol``: the symbol of each node. ``weights``: the weight of each node (default 1).

        >>> rows = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float32)
        >>> projections = NodeProjections(rows, rows[:, ::-1], np.ones((1, 2)), *np.ones((2, 1)))
        >>> rotated = projections.aligned(np.zeros(4, int))
        >>> rotated.inside.T @ rotated.outside / 4 == np.diag(rotated.values[0])
        array([[ True,  True],
               [ True,  True]])
        """
        inside, outside = np.zeros_like(self.inside), np.zeros_like(self.outside)
        values = np.zeros_like(self.values)
        ranks = self.ranks
        for chosen, nodes in enumerate(nodes_by_symbol(symbol, len(ranks))):
            if ranks[chosen]:
                left, right = (rows[nodes, : ranks[chosen]] for rows in (self.inside, self.outside))
                if weights is None:
                    moment = left.T @ right / len(nodes)
                else:
                    own = weights[nodes].astype(np.float32)
                    moment = left.T @ (right * own[:, None]) / own.sum()
                left_vectors, singular, right_vectors = np.linalg.svd(moment)
                rank = np.count_nonzero(singular > _ROUNDING * self.scale[chosen])
                inside[nodes, :rank] = left @ left_vectors[:, :rank]
                outside[nodes, :rank] = right @ right_vectors[:rank].T
                values[chosen, :rank] = singular[:rank]
        return replace(self, inside=inside, outside=outside, values=values)


def nodes_by_symbol(symbol: NDArray[np.integer], symbols: int) -> list[NDArray[np.int64]]:
    """The nodes of each symbol, in ascending order.

    >>> nodes_by_symbol(np.array([1, 0, 1]), 2)
    [array([1]), array([0, 2])]
    """
    order = stable_order(symbol)
    return np.split(order, np.cumsum(np.bincount(symbol, minlength=symbols))[:-1])


def project_nodes(
    symbol: NDArray[np.integer],
    features: NodeFeatures,
    ranks: NDArray[np.integer],
    generator: np.random.Generator,
    *,
    noise: Noise | None = None,
    weights: Weights = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> NodeProjections:
    """Project the features of all nodes onto the largest singular vectors of their symbols.

    ``ranks``: the number of singular vectors that each symbol may have; there are fewer if the
    cross-covariance matrix has a lower rank.
    ``noise``: the SVD uses the features after dropout; all features are projected, or with literal
    noise those that are left.
    ``weights``: the weight of each node (default 1).

    >>> from lpcfg.estimators.features.node_features import FeatureMatrix
    >>> symbol = np.zeros(4, dtype=int)
    >>> matrix = FeatureMatrix.build(symbol, [np.array([1, 1, 2, 2])], kappa=0)
    >>> features = NodeFeatures(matrix, matrix)
    >>> rows = project_nodes(symbol, features, np.array([1]), np.random.default_rng(0))
    >>> (rows.inside.T @ rows.outside / 4).round(3), rows.values.round(3)
    (array([[1.]], dtype=float32), array([[1.]]))
    """
    shape = (len(symbol), int(ranks.max(initial=0)))
    inside, outside = (np.zeros(shape, dtype=np.float32) for _ in range(2))
    values, scale = np.zeros((len(ranks), shape[1])), np.ones(len(ranks))
    level = np.zeros(len(ranks))
    nodes = nodes_by_symbol(symbol, len(ranks))
    for chosen in progress(np.flatnonzero(ranks > 0).tolist()):
        left, right = (matrix.block(chosen) for matrix in features)
        kept = (left, right)
        if noise is not None:
            kept = (noise.drop_features(left, generator), noise.drop_features(right, generator))
        own = None if weights is None else weights[nodes[chosen]]
        svd = decompose_cross_covariance(*kept, int(ranks[chosen]), generator, own)
        rank = svd.rank(_ROUNDING)
        if noise is not None and noise.literal:
            left, right = kept
        for rows, part, vectors in ((inside, left, svd.inside), (outside, right, svd.outside)):
            projected = part @ vectors[:, :rank]
            rows[nodes[chosen], :rank] = projected - mean_rows(projected, own)
        values[chosen, :rank] = svd.values[:rank]
        scale[chosen], level[chosen] = svd.scale, svd.noise
    return NodeProjections(inside, outside, values, scale, level)
