"""EM for concave objectives over distributions, until it has converged as far as data can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stopping", "maximise"]

Values = NDArray[np.floating]

#: An extrapolated value is not below this fraction of the value that EM has found, because zeros
#: would stay zeros.
_FLOOR = 0.01


class Stopping(NamedTuple):
    """When EM stops.

    ``iterations``: the largest number of steps.
    ``tolerance``: it stops when a step raises the log-likelihood of the data by less than this.
    The log-likelihood is a sum over the data, so that with more data EM comes closer to the
    maximum, and the tolerance vanishes.

    >>> Stopping(500).tolerance
    0.0
    """

    iterations: int
    tolerance: float = 0.0


def maximise(
    step: Callable[[Values], tuple[Values, float]], start: Values, stopping: Stopping
) -> Values:
    """Run EM with squared extrapolation (Varadhan & Roland 2008), which never lowers the objective.

    ``step``: one step of EM: the next values, and the objective at the given values.
    ``start``: the values before the first step: non-negative, with the sum 1 over the last axis of
    a matrix, or over a vector.

    >>> weights = np.array([3.0, 1.0])
    >>> def step(values):
    ...     return weights / weights.sum(), float(weights @ np.log(values))
    >>> maximise(step, np.array([0.5, 0.5]), Stopping(10))
    array([0.75, 0.25])
    """
    current, steps = start, 0
    while steps + 2 <= stopping.iterations:
        first, before = step(current)
        second, after = step(first)
        steps += 2
        if after - before <= stopping.tolerance:
            return second
        change = first - current
        curvature = second - first - change
        length = np.sqrt(np.sum(np.square(curvature)))
        ratio = np.sqrt(np.sum(np.square(change))) / length if length > 0 else 1.0
        current = second
        if ratio > 1 and steps < stopping.iterations:
            leap = (first - change) + 2 * ratio * change + ratio**2 * curvature
            leap = np.maximum(leap, _FLOOR * second)
            leap /= leap.sum(axis=-1, keepdims=True)
            landed, value = step(leap)
            steps += 1
            if value >= after:
                current = landed
    return current if steps == stopping.iterations else step(current)[0]
