"""Decompose a distribution over pairs by its anchors (Arora et al. 2013; Cohen & Collins 2014).

In p(f, g) = sum over h of p(h) p(f | h) p(g | h), the mean representation of g given f is the
mixture, with weights p(h | f), of those given h. A value of f that only one state brings forth, an
anchor or pivot, is a vertex of the convex hull of all of them, so that geometry finds the states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.estimators.pivot._simplex import mixing_weights

__all__ = ["AnchorStates", "decompose_by_anchors", "find_anchors"]

Floats = NDArray[np.float64]


def find_anchors(points: Floats, count: int, tolerance: float = 1e-6) -> NDArray[np.int64]:
    """Up to ``count`` rows, each as far as possible from the affine span of those before it.

    The first is the one farthest from the mean. There are fewer once no point is farther from the
    span than ``tolerance`` times the largest coordinate.

    >>> corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    >>> points = np.vstack([corners.mean(axis=0), corners, 0.6 * corners + 0.4])
    >>> find_anchors(points, 3)
    array([2, 3, 1])
    >>> find_anchors(points, 5)
    array([2, 3, 1])
    """
    if points.ndim != 2 or not len(points):
        raise InputError(f"points must be rows of a matrix, not of shape {points.shape}")
    if count < 1:
        raise InputError(f"the number of anchors must be at least 1, not {count}")
    first = int(np.square(points - points.mean(axis=0)).sum(axis=1).argmax())
    wanted = min(count - 1, points.shape[1])
    if wanted == 0:
        return np.array([first])
    # Orthogonalisation with pivots does as it says: each takes the farthest of all that are left.
    triangle, order = scipy.linalg.qr((points - points[first]).T, mode="r", pivoting=True)
    distances = np.abs(np.diagonal(triangle))[:wanted]
    found = np.count_nonzero(distances > tolerance * np.abs(points).max())
    return np.append(first, order[:found])


@dataclass(frozen=True, eq=False)
class AnchorStates:
    """States found by anchors: which, how likely each is, and p(state | value) as rows.

    >>> AnchorStates(np.array([0]), np.ones(1), np.ones((2, 1))).prior
    array([1.])
    """

    anchors: NDArray[np.int64]
    prior: Floats
    posterior: Floats


def decompose_by_anchors(
    points: Floats,
    counts: NDArray[np.number],
    states: int,
    candidates: NDArray[np.bool_] | None = None,
    n_jobs: int = 1,
) -> AnchorStates:
    """Find states from the mean representation of each value (row) and how often it was seen.

    Only ``candidates`` become anchors: what was seen rarely is far out by chance.

    >>> points = np.array([[0.0], [1.0], [0.25]])
    >>> found = decompose_by_anchors(points, np.array([4, 4, 8]), states=2)
    >>> found.anchors, found.prior.round(3), found.posterior[2].round(3)
    (array([1, 0]), array([0.375, 0.625]), array([0.25, 0.75]))
    """
    allowed = np.arange(len(points)) if candidates is None else np.flatnonzero(candidates)
    anchors = allowed[find_anchors(points[allowed], states)]
    posterior = mixing_weights(points, points[anchors], n_jobs)
    return AnchorStates(anchors, counts @ posterior / counts.sum(), posterior)
