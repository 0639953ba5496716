"""Truncated singular value decomposition of the cross-covariance of two sparse matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["Decomposition", "decompose"]

# Where the shorter side is no longer than this, a dense decomposition is exact and as fast.
_DENSE = 64

# Directions beyond the rank, and rounds of subspace iteration (Halko, Martinsson & Tropp 2011).
_OVERSAMPLING = 8
_ROUNDS = 3

# Singular values below this part of the largest are lost when a matrix is squared.
_ROUNDING = 1e-6

Floats = NDArray[np.float64]


class Decomposition(NamedTuple):
    """Singular vectors (columns) and values, and the size of the matrix before centring.

    >>> Decomposition(np.eye(2), np.ones(2), np.eye(2), 1.0).values
    array([1., 1.])
    """

    inside: NDArray[np.float64]
    values: NDArray[np.float64]
    outside: NDArray[np.float64]
    scale: float

    def rank(self, tolerance: float) -> int:
        """How many singular values are above a part of the scale.

        Directions below it are noise, or rounding errors; dividing by their values would blow
        them up.

        >>> Decomposition(np.eye(2), np.array([1.0, 1e-9]), np.eye(2), 1.0).rank(0.01)
        1
        """
        return int(np.count_nonzero(self.values > tolerance * self.scale))


def decompose(
    inside: scipy.sparse.csr_array,
    outside: scipy.sparse.csr_array,
    rank: int,
    generator: np.random.Generator,
) -> Decomposition:
    """The largest singular triples of inside' outside / n, columns centred.

    The product is never formed unless it is small. Signs are fixed by making the largest entry of
    each left vector positive.

    >>> inside = scipy.sparse.csr_array(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    >>> result = decompose(inside, inside, 2, np.random.default_rng(0))
    >>> result.values.round(3), result.inside.shape
    (array([0.5]), (2, 1))
    """
    forwards, backwards = _product(inside, outside), _product(outside, inside)
    if outside.shape[1] <= _DENSE:
        left, values, right = _thin_svd(forwards(np.eye(outside.shape[1])))
    elif inside.shape[1] <= _DENSE:
        right, values, left = _thin_svd(backwards(np.eye(inside.shape[1])))
    else:
        start = generator.standard_normal((outside.shape[1], rank + _OVERSAMPLING))
        basis = _orthonormal(forwards(start))
        for _ in range(_ROUNDS):
            basis = _orthonormal(forwards(_orthonormal(backwards(basis))))
        right, values, small = _thin_svd(backwards(basis))
        left = basis @ small
    left, values, right = left[:, :rank], values[:rank], right[:, :rank]
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    constant = _norm_of_means(inside) * _norm_of_means(outside)
    scale = max(float(values.max(initial=0)), constant)
    return Decomposition(left * signs, values, right * signs, scale)


def _product(
    left: scipy.sparse.csr_array, right: scipy.sparse.csr_array
) -> Callable[[Floats], Floats]:
    """Multiplication by left' right / n, columns centred."""
    transposed = left.T

    def multiply(directions: Floats) -> Floats:
        rows = right @ directions
        # Where one factor is centred, the other need not be.
        rows -= rows.mean(axis=0)
        rows /= len(rows)
        product: Floats = transposed @ rows
        return product

    return multiply


def _norm_of_means(matrix: scipy.sparse.csr_array) -> float:
    sums = np.bincount(matrix.indices, weights=matrix.data)
    return float(np.linalg.norm(sums) / matrix.shape[0])


def _orthonormal(matrix: Floats) -> Floats:
    """An orthonormal basis of the columns, short of directions that are lost in rounding.

    The eigenvectors of the small Gram matrix take a fraction of the time of Householder's QR on
    matrices this tall. They are exact to half the digits, and the next round makes up for it.
    """
    squares, vectors = np.linalg.eigh(matrix.T @ matrix)
    kept = _lasting(squares)
    basis: Floats = matrix @ (vectors[:, kept] / np.sqrt(squares[kept]))
    return basis


def _thin_svd(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Left vectors, values and right vectors, by the Gram matrix of the shorter side."""
    if matrix.shape[0] < matrix.shape[1]:
        right, values, left = _thin_svd(matrix.T)
        return left, values, right
    squares, vectors = np.linalg.eigh(matrix.T @ matrix)
    kept = np.flatnonzero(_lasting(squares))[::-1]
    values = np.sqrt(squares[kept])
    right = vectors[:, kept]
    return matrix @ (right / values), values, right


def _lasting(squares: Floats) -> NDArray[np.bool_]:
    """Which squares of singular values are not lost in rounding; of a matrix of zeros, none."""
    lasting: NDArray[np.bool_] = squares > _ROUNDING**2 * squares.max(initial=np.finfo(float).tiny)
    return lasting
