"""Operations on whole columns, with a weight for each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "IntegerColumn",
    "Weights",
    "distinct_rows",
    "mean_rows",
    "offsets",
    "stable_order",
    "sum_weights",
]

#: A column of integers or of Booleans.
IntegerColumn = NDArray[np.integer] | NDArray[np.bool_]

#: The weight of each row; None for weights of 1.
Weights = NDArray[np.float64] | None


def offsets(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where blocks of the given sizes begin in a flat array, and where the last one ends.

    >>> offsets(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def stable_order(column: NDArray[np.integer]) -> NDArray[np.int64]:
    """The order in which a column is sorted; equal integers stay in order. None may be negative.

    >>> stable_order(np.array([3, 1, 3, 0]))
    array([3, 1, 0, 2])
    """
    if column.max(initial=0) <= np.iinfo(np.uint16).max:
        # NumPy sorts short integers by their digits, which is many times faster.
        column = column.astype(np.uint16)
    return np.argsort(column, kind="stable")


def sum_weights(
    column: NDArray[np.integer], weights: Weights, minlength: int = 0
) -> NDArray[np.float64]:
    """The number of rows that have each integer from 0 on; with weights, the sum of their weights.

    >>> sum_weights(np.array([1, 0, 1]), None, minlength=3)
    array([1., 2., 0.])
    >>> sum_weights(np.array([1, 0, 1]), np.array([0.5, 2, 1]))
    array([2. , 1.5])
    """
    return np.bincount(column, weights, minlength).astype(np.float64)


def mean_rows(rows: NDArray[np.floating], weights: Weights) -> NDArray[np.floating]:
    """The mean of the rows of a matrix, in its precision.

    >>> mean_rows(np.array([[0.0, 3.0], [3.0, 0.0]]), np.array([2.0, 1.0]))
    array([1., 2.])
    """
    if weights is None:
        unweighted: NDArray[np.floating] = rows.mean(axis=0)
        return unweighted
    factors = weights.astype(rows.dtype)
    mean: NDArray[np.floating] = (rows * factors[:, None]).sum(axis=0) / factors.sum()
    return mean


def distinct_rows(
    *columns: IntegerColumn,
) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of columns, sorted; the index of each row among them; their counts.

    The integers must not be negative.

    >>> rows, index, count = distinct_rows(np.array([2, 1, 2]), np.array([0, 5, 0]))
    >>> rows
    (array([1, 2]), array([5, 0]))
    >>> index, count
    (array([1, 0, 1]), array([1, 2]))
    """
    shape = tuple(int(column.max(initial=0)) + 1 for column in columns)
    # Sorting one integer per row is many times faster than sorting rows.
    keys = np.ravel_multi_index([column.astype(np.int64) for column in columns], shape)
    distinct, index, count = np.unique(keys, return_inverse=True, return_counts=True)
    return np.unravel_index(distinct, shape), index, count
