"""Least squares over the probability simplex, for many points at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpcfg._core import nearest_mixtures
from lpcfg._threads import thread_count
from lpcfg.errors import InputError

__all__ = ["mixing_weights"]

Floats = NDArray[np.float64]


def mixing_weights(points: Floats, anchors: Floats, n_jobs: int = 1) -> Floats:
    """Distributions over anchors (rows) whose mixtures are as near as possible to each point.

    >>> anchors = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> mixing_weights(np.array([[0.25, 0.5], [-1.0, 2.0]]), anchors).round(3)
    array([[0.25, 0.25, 0.5 ],
           [0.  , 0.  , 1.  ]])
    """
    if points.ndim != 2 or anchors.ndim != 2 or points.shape[1] != anchors.shape[1]:
        raise InputError(
            f"points and anchors must be rows of as many coordinates, not of shapes {points.shape}"
            f" and {anchors.shape}"
        )
    if not len(anchors):
        raise InputError("there must be at least one anchor")
    # Mixtures stay the same wherever the origin is; numbers are smallest about the anchors.
    centre = anchors.mean(axis=0)
    anchors, points = anchors - centre, points - centre
    if not (np.isfinite(anchors).all() and np.isfinite(points).all()):
        raise InputError("points and anchors must be finite numbers")
    return nearest_mixtures(anchors @ anchors.T, points @ anchors.T, thread_count(n_jobs))
