"""Sparse matrices of scaled features, a block for each symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.estimators.features._tree_nodes import Column, combine

__all__ = ["FeatureMatrix"]

# Keys of features are hashes from 0 or -1, so this one is free.
_INFREQUENT = -2


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """Feature values of the nodes of each symbol, as rows of a sparse block of its own.

    A feature that ``count`` of the ``size`` nodes of a symbol have is worth
    sqrt(size / (count + kappa)) (Peng 2021, 3.2.4). Rows are in the order of nodes sorted by
    symbol; every row has as many features as there are groups.

    >>> symbol = np.array([0, 1, 0])
    >>> matrix = FeatureMatrix.build(symbol, [np.array([7, 7, -1])], kappa=0)
    >>> matrix.block(0).toarray().round(3)
    array([[0.   , 1.414],
           [1.414, 0.   ]])
    """

    values: NDArray[np.float64]  # rows x groups
    columns: NDArray[np.int32]  # rows x groups, counted from the first of the symbol
    row_offsets: NDArray[np.int64]  # by symbol
    widths: NDArray[np.int64]  # columns of each symbol

    @classmethod
    def build(
        cls,
        symbol: NDArray[np.integer],
        keys: Sequence[Column],
        *,
        kappa: float = 5.0,
        cutoff: int = 1,
    ) -> FeatureMatrix:
        """Encode the keys of some groups; features of a symbol below the cutoff become one.

        >>> symbol = np.zeros(4, dtype=int)
        >>> keys = [np.array([1, 2, 3, 3])]
        >>> FeatureMatrix.build(symbol, keys, cutoff=2).widths
        array([2])
        """
        sizes = np.bincount(symbol)
        order = np.argsort(symbol, kind="stable")
        rows = symbol[order].astype(np.int64)
        encoded: list[Column] = []
        owners: list[Column] = []
        counts: list[Column] = []
        width = 0
        for key in keys:
            column, count = _encode(rows, key[order])
            if cutoff > 1:
                frequent = np.where(count[column] < cutoff, _INFREQUENT, key[order])
                column, count = _encode(rows, frequent)
            owner = np.empty(len(count), dtype=np.int64)
            owner[column] = rows
            encoded.append(column + width)
            width += len(count)
            owners.append(owner)
            counts.append(count)
        count, owner = np.concatenate(counts), np.concatenate(owners)
        widths = np.bincount(owner, minlength=len(sizes))
        by_owner = np.argsort(owner, kind="stable")
        place = np.empty(len(owner), dtype=np.int32)
        place[by_owner] = np.arange(len(owner)) - np.repeat(np.cumsum(widths) - widths, widths)
        value = np.sqrt(sizes[owner] / (count + kappa))
        columns = np.stack(encoded, axis=1)
        return cls(
            values=value[columns],
            columns=place[columns],
            row_offsets=np.concatenate([[0], np.cumsum(sizes)]),
            widths=widths,
        )

    def block(self, symbol: int) -> scipy.sparse.csr_array:
        """The rows of a symbol.

        >>> FeatureMatrix.build(np.array([0, 0]), [np.array([1, 1])]).block(0).shape
        (2, 1)
        """
        rows = slice(*self.row_offsets[symbol : symbol + 2])
        groups = self.columns.shape[1]
        size = rows.stop - rows.start
        return scipy.sparse.csr_array(
            (
                self.values[rows].ravel(),
                self.columns[rows].ravel(),
                np.arange(0, size * groups + 1, groups, dtype=np.int32),
            ),
            shape=(size, int(self.widths[symbol])),
        )


def _encode(symbol: Column, key: Column) -> tuple[Column, Column]:
    """Number the distinct pairs of symbol and key, and count them."""
    # Keys may be negative, which for `combine` means missing.
    pairs = combine(symbol, key - np.int64(_INFREQUENT))
    _, column, count = np.unique(pairs, return_inverse=True, return_counts=True)
    return column, count
