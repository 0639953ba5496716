"""Matrix decomposition by anchors (Cohen & Collins 2014, section 5.2; Arora et al. 2013).

In p(f, g) = sum over h of p(h) p(f | h) p(g | h), the mean representation of g given f,
v_f = E[phi(g) | f], is a convex combination of the vectors w_h = E[phi(g) | h] with the weights
p(h | f). A pivot (an anchor in Arora et al.) is a value f that only one state generates: its v_f is
a vertex of the convex hull of all v_f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._core import nearest_mixtures
from lpcfg._threads import thread_count
from lpcfg.errors import InputError

__all__ = ["AnchorStates", "decompose_by_anchors", "find_anchors", "mixing_weights"]

Floats = NDArray[np.float64]


def find_anchors(points: Floats, count: int, tolerance: float = 1e-6) -> NDArray[np.int64]:
    """Vertices of the convex hull of points (rows), found greedily (section 5.2, step 3).

    As in FastAnchorWords (Arora et al. 2012), the first is the point farthest from the mean, and
    each other is the point farthest from the affine span of the previous ones. There are fewer than
    ``count`` if all points are nearer to the span than ``tolerance`` times the largest coordinate.

    >>> corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    >>> points = np.vstack([corners.mean(axis=0), corners, 0.6 * corners + 0.4])
    >>> find_anchors(points, 3)
    array([2, 3, 1])
    >>> find_anchors(points, 5)
    array([2, 3, 1])
    """
    if points.ndim != 2 or not len(points):
        raise InputError(
            f"points must be rows of a matrix, not of shape {points.shape}", argument="points"
        )
    if count < 1:
        raise InputError(f"count must be at least 1, not {count}", argument="count")
    first = int(np.square(points - points.mean(axis=0)).sum(axis=1).argmax())
    wanted = min(count - 1, points.shape[1])
    if wanted == 0:
        return np.array([first])
    # QR decomposition with column pivoting selects the farthest remaining point in each step.
    triangle, order = scipy.linalg.qr((points - points[first]).T, mode="r", pivoting=True)
    distances = np.abs(np.diagonal(triangle))[:wanted]
    others = np.count_nonzero(distances > tolerance * np.abs(points).max())
    return np.append(first, order[:others])


def mixing_weights(points: Floats, anchors: Floats, n_jobs: int = 1) -> Floats:
    """The convex combination of anchors nearest to each point (section 5.2, step 4).

    Least squares over the probability simplex: row i of the result has the weights gamma that
    minimise the distance of gamma anchors from point i.

    >>> anchors = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> mixing_weights(np.array([[0.25, 0.5], [-1.0, 2.0]]), anchors).round(3)
    array([[0.25, 0.25, 0.5 ],
           [0.  , 0.  , 1.  ]])
    """
    if points.ndim != 2 or anchors.ndim != 2 or points.shape[1] != anchors.shape[1]:
        raise InputError(
            f"points and anchors must have the same number of columns, not the shapes"
            f" {points.shape} and {anchors.shape}",
            argument="points",
        )
    if not len(anchors):
        raise InputError("there must be at least one anchor", argument="anchors")
    # The weights do not depend on the origin; rounding errors are smallest near the anchors.
    centre = anchors.mean(axis=0)
    anchors, points = anchors - centre, points - centre
    if not (np.isfinite(anchors).all() and np.isfinite(points).all()):
        raise InputError("points and anchors must be finite numbers", argument="points")
    return nearest_mixtures(anchors @ anchors.T, points @ anchors.T, thread_count(n_jobs))


@dataclass(frozen=True, eq=False)
class AnchorStates:
    """Latent states from a decomposition by anchors.

    ``anchors``: the anchor of each state, as the index of a value.
    ``prior``: p(h), the estimate pi(h) of the paper.
    ``posterior``: p(h | f), the estimate q(h | f) of the paper, as a row for each value.
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
    """Find states by anchors (section 5.2, steps 3 and 4).

    ``points``: v_f, the mean representation given each value f, as rows.
    ``counts``: the count of each value.
    ``states``: the largest number of states.
    ``candidates``: the values that may become anchors; the mean representations of rare values are
    unreliable and often vertices by chance. All values by default.

    >>> points = np.array([[0.0], [1.0], [0.25]])
    >>> states = decompose_by_anchors(points, np.array([4, 4, 8]), states=2)
    >>> states.anchors, states.prior.round(3), states.posterior[2].round(3)
    (array([1, 0]), array([0.375, 0.625]), array([0.25, 0.75]))
    """
    allowed = np.arange(len(points)) if candidates is None else np.flatnonzero(candidates)
    anchors = allowed[find_anchors(points[allowed], states)]
    posterior = mixing_weights(points, points[anchors], n_jobs)
    return AnchorStates(anchors, counts @ posterior / counts.sum(), posterior)
