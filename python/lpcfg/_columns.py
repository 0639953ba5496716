"""Operations on whole columns of integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["IntegerColumn", "distinct_rows", "offsets"]

#: A column of integers or of Booleans.
IntegerColumn = NDArray[np.integer] | NDArray[np.bool_]


def offsets(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where blocks of the given sizes begin in a flat array, and where the last one ends.

    >>> offsets(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


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
