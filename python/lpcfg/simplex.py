"""Least squares over the probability simplex, for many points at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError

__all__ = ["mixing_weights", "project_on_simplex"]

Floats = NDArray[np.float64]

# Points worked on at once, so that what belongs to them stays in the cache.
_BLOCK = 2048

# Steps from one look at the gaps to the next; a look costs about as much as a step.
_LOOK = 8


def project_on_simplex(rows: Floats) -> Floats:
    """The nearest distribution to each row: max(row - threshold, 0), which adds up to one.

    The threshold follows from the largest values in turn (Held, Wolfe & Crowder 1974).

    >>> project_on_simplex(np.array([[0.5, 0.5], [2.0, 0.0], [0.9, 0.5]])).round(3)
    array([[0.5, 0.5],
           [1. , 0. ],
           [0.7, 0.3]])
    """
    falling = -np.sort(-rows, axis=1)
    thresholds = (np.cumsum(falling, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = np.count_nonzero(falling > thresholds, axis=1, keepdims=True) - 1
    nearest: Floats = np.maximum(rows - np.take_along_axis(thresholds, last, axis=1), 0)
    return nearest


def mixing_weights(
    points: Floats, anchors: Floats, tolerance: float = 1e-6, max_iterations: int = 10_000
) -> Floats:
    """Distributions over anchors (rows) whose mixtures are as near as possible to each point.

    Accelerated projected gradients (Beck & Teboulle 2009), restarted where they overshoot
    (O'Donoghue & Candes 2015). A point is done once its duality gap, which bounds how far half the
    squared distance is above the least possible one, is below ``tolerance`` times the largest
    squared distance between anchors.

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
    anchors = anchors - centre
    gram = anchors @ anchors.T
    squares = np.diagonal(gram)
    enough = tolerance * float((squares[:, None] + squares - 2 * gram).max())
    weights = np.empty((len(points), len(anchors)))
    for start in range(0, len(points), _BLOCK):
        block = slice(start, start + _BLOCK)
        weights[block] = _descend(
            (points[block] - centre) @ anchors.T, gram, enough, max_iterations
        )
    return weights


def _descend(products: Floats, gram: Floats, enough: float, max_iterations: int) -> Floats:
    """Minimise w gram w / 2 - w products for each row of products."""
    steepest = float(np.linalg.eigvalsh(gram)[-1])
    # Where all anchors are one, any weights will do.
    step = 1 / steepest if steepest > 0 else 0.0
    found = np.empty_like(products)
    going = np.arange(len(products))
    current = project_on_simplex(products * step)
    ahead, momentum = current, np.ones((len(products), 1))
    for iteration in range(max_iterations):
        if iteration % _LOOK == 0:
            slope = current @ gram - products
            gaps = np.einsum("ij,ij->i", current, slope) - slope.min(axis=1)
            done = gaps <= enough
            found[going[done]] = current[done]
            going, products, current = going[~done], products[~done], current[~done]
            ahead, momentum = ahead[~done], momentum[~done]
            if not len(going):
                break
        following = project_on_simplex(ahead - step * (ahead @ gram - products))
        move = following - current
        overshot = np.einsum("ij,ij->i", ahead - following, move)[:, None] > 0
        larger = np.where(overshot, 1, (1 + np.sqrt(1 + 4 * momentum**2)) / 2)
        ahead = following + np.where(overshot, 0, (momentum - 1) / larger) * move
        current, momentum = following, larger
    found[going] = current
    return found
