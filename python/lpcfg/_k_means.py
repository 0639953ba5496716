"""Weighted k-means in matrix products, with greedy seeding (Arthur & Vassilvitskii 2007).

In low-dimensional projections of nodes, the initial centres decide the quality: Lloyd's algorithm
changes little after a few iterations. So the seeding compares many candidates for each centre, and
a few runs reach the inertia of ten runs with the usual number of candidates. The matrix products
use the BLAS of NumPy alone, no OpenMP.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["improve_centres", "k_means", "nearest_centres", "squared_distances"]

Floats = NDArray[np.float32]

#: The number of candidates for each initial centre.
_CANDIDATES = 32
#: Iterations end when the inertia decreases by a smaller fraction, or after this number of them.
_TOLERANCE = 1e-4
_MAX_ITERATIONS = 300
#: The number of points whose distances are computed at once.
_BLOCK = 4096


def k_means(
    points: Floats,
    weight: NDArray[np.number],
    clusters: int,
    generator: np.random.Generator,
    restarts: int,
) -> Floats:
    """The centres of the clusters: of several runs, those with the smallest inertia.

    The inertia is the sum of the weighted squared distances of the points from the closest centres.

    ``points``: the rows; centred around zero, so that single precision is enough.
    ``clusters``: at most the number of points. A cluster may be left without points.
    ``restarts``: the number of runs from different initial centres.

    >>> points = np.array([[-2], [-1.5], [1], [2.5]], dtype=np.float32)
    >>> np.sort(k_means(points, np.array([1, 1, 2, 1]), 2, np.random.default_rng(0), 1), axis=0)
    array([[-1.75],
           [ 1.5 ]], dtype=float32)
    """
    weighted = _WeightedPoints(points, weight.astype(np.float32))
    runs = (weighted.run(weighted.seeds(clusters, generator)) for _ in range(restarts))
    return min(runs, key=lambda run: run[1])[0]


def improve_centres(points: Floats, weight: NDArray[np.number], centres: Floats) -> Floats:
    """The centres after Lloyd's algorithm, which starts from the given ones.

    >>> points = np.array([[-2], [-1.5], [1], [2.5]], dtype=np.float32)
    >>> improve_centres(points, np.array([1, 1, 2, 1]), points[:2])
    array([[-1.75],
           [ 1.5 ]], dtype=float32)
    """
    return _WeightedPoints(points, weight.astype(np.float32)).run(centres)[0]


def nearest_centres(points: Floats, centres: Floats) -> NDArray[np.int64]:
    """The number of the closest centre of each point; of equally close ones the first.

    >>> nearest_centres(np.float32([[0, 0], [3, 4]]), np.float32([[0, 1], [3, 0]]))
    array([0, 1])
    """
    norms = np.square(centres).sum(axis=1)
    blocks = (points[begin : begin + _BLOCK] for begin in range(0, len(points), _BLOCK))
    nearest = [np.argmin(norms - 2 * (block @ centres.T), axis=1) for block in blocks]
    return np.concatenate(nearest or [np.zeros(0, dtype=np.int64)])


def squared_distances(points: Floats, centres: Floats) -> NDArray[np.float64]:
    """The squared distances of the points (rows) from the centres (columns).

    >>> squared_distances(np.float32([[0, 0], [3, 4]]), np.float32([[0, 0], [3, 0]]))
    array([[ 0.,  9.],
           [25., 16.]])
    """
    rows, columns = points.astype(np.float64), centres.astype(np.float64)
    norms = np.square(rows).sum(axis=1)[:, None] + np.square(columns).sum(axis=1)
    # Rounding may make distances of equal points negative.
    squares: NDArray[np.float64] = np.maximum(norms - 2 * (rows @ columns.T), 0)
    return squares


class _WeightedPoints:
    """Points with what all runs need: one matrix product gives squared distances.

    ||x - c||^2 is the product of the rows (x, 1, ||x||^2) and (-2 c, ||c||^2, 1).
    """

    def __init__(self, points: Floats, weight: Floats) -> None:
        self.points, self.weight = points, weight
        norms = np.square(points).sum(axis=1, keepdims=True)
        self._extended = np.hstack([points, np.ones_like(norms), norms])
        self._row_starts = np.arange(len(points) + 1)

    def _squares(self, centres: Floats) -> Floats:
        """The squared distances from the centres (rows), negative where rounding made them so."""
        norms = np.square(centres).sum(axis=1, keepdims=True)
        extended = np.hstack([-2 * centres, norms, np.ones_like(norms)])
        squares: Floats = extended @ self._extended.T
        return squares

    def seeds(self, clusters: int, generator: np.random.Generator) -> Floats:
        """Initial centres, one after the other.

        Candidates are drawn with probabilities proportional to their weighted squared distances
        from the closest centre so far; the one that decreases the inertia most is used.
        """
        chosen = np.zeros(clusters, dtype=np.int64)
        closest = np.ones_like(self.weight)
        for number in range(clusters):
            sums = np.cumsum(closest * self.weight, dtype=np.float64)
            draws = generator.random(_CANDIDATES if number else 1) * sums[-1]
            # If all points are centres, the sums are zero, and the last point is drawn.
            drawn = np.minimum(np.searchsorted(sums, draws, side="right"), len(sums) - 1)
            squares = self._squares(self.points[drawn])
            if number:
                np.minimum(squares, closest, out=squares)
            best = np.argmin(squares @ self.weight)
            chosen[number] = drawn[best]
            closest = np.maximum(squares[best], 0)
            closest[drawn[best]] = 0
        return self.points[chosen]

    def run(self, centres: Floats) -> tuple[Floats, float]:
        """Lloyd's algorithm: the centres at the end, and the inertia of those one step before."""
        inertia = np.inf
        for _ in range(_MAX_ITERATIONS):
            squares = self._squares(centres)
            label = squares.argmin(axis=0)
            before, inertia = inertia, float(np.maximum(squares.min(axis=0), 0) @ self.weight)
            centres = self._means(label, centres)
            if before - inertia <= _TOLERANCE * inertia:
                break
        return centres, inertia

    def _means(self, label: NDArray[np.int64], centres: Floats) -> Floats:
        """The means of the clusters; the centre of a cluster without points stays."""
        shape = (len(label), len(centres))
        members = scipy.sparse.csr_array((self.weight, label, self._row_starts), shape=shape)
        size = np.bincount(label, self.weight, len(centres))[:, None]
        sums = members.T @ self.points
        means: Floats = np.divide(sums, size, out=centres.astype(np.float64), where=size > 0)
        return means.astype(np.float32)
