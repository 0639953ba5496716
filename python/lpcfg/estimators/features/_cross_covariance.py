"""Truncated SVD of the cross-covariance of two sparse feature matrices.

Narayan & Cohen (2015, equation 1), Matejovicova (2018, equation 2) and Peng (2021, equations 3.3,
3.4 and 4.3) decompose Omega = Phi' Psi / n; here the columns are centred first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import Weights, mean_rows

__all__ = ["TruncatedSVD", "decompose_cross_covariance"]

# If one side has at most this number of columns, a dense decomposition is exact and as fast.
_MAX_DENSE = 64

# Parameters of the randomised subspace iteration (Halko, Martinsson & Tropp 2011).
_OVERSAMPLING = 8
_ITERATIONS = 3

# Singular values below this fraction of the largest are lost in a Gram matrix.
_ROUNDING = 1e-6

Floats = NDArray[np.float64]


class TruncatedSVD(NamedTuple):
    """Singular vectors (columns of ``inside`` and ``outside``) and values, in descending order.

    ``scale``: an estimate of the largest singular value of the matrix before centring.
    """

    inside: Floats
    values: Floats
    outside: Floats
    scale: float

    def rank(self, tolerance: float) -> int:
        """The number of singular values above a fraction of the scale.

        Directions with smaller ones are noise or rounding errors, which dividing by the values
        would amplify.
        """
        return int(np.count_nonzero(self.values > tolerance * self.scale))


def decompose_cross_covariance(
    inside: scipy.sparse.csr_array,
    outside: scipy.sparse.csr_array,
    rank: int,
    generator: np.random.Generator,
    weights: Weights = None,
) -> TruncatedSVD:
    """The largest singular values of inside' outside / n, columns centred, with their vectors.

    ``weights``: the weight of each row (default 1); n is their sum.

    The product is formed only if it is small. Signs are chosen so that the largest entry of each
    left singular vector is positive.

    >>> inside = scipy.sparse.csr_array(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    >>> result = decompose_cross_covariance(inside, inside, 2, np.random.default_rng(0))
    >>> result.values.round(3), result.inside.shape
    (array([0.5]), (2, 1))
    """
    forwards, backwards = _product(inside, outside, weights), _product(outside, inside, weights)
    if outside.shape[1] <= _MAX_DENSE:
        left, values, right = _thin_svd(forwards(np.eye(outside.shape[1])))
    elif inside.shape[1] <= _MAX_DENSE:
        right, values, left = _thin_svd(backwards(np.eye(inside.shape[1])))
    else:
        start = generator.standard_normal((outside.shape[1], rank + _OVERSAMPLING))
        basis = _orthonormal(forwards(start))
        for _ in range(_ITERATIONS):
            basis = _orthonormal(forwards(_orthonormal(backwards(basis))))
        right, values, small = _thin_svd(backwards(basis))
        left = basis @ small
    left, values, right = left[:, :rank], values[:rank], right[:, :rank]
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    constant = _norm_of_means(inside, weights) * _norm_of_means(outside, weights)
    scale = max(float(values.max(initial=0)), constant)
    return TruncatedSVD(left * signs, values, right * signs, scale)


def _product(
    left: scipy.sparse.csr_array, right: scipy.sparse.csr_array, weights: Weights
) -> Callable[[Floats], Floats]:
    """Multiplication by left' right / n, columns centred."""
    transposed = left.T

    def multiply(directions: Floats) -> Floats:
        # Centring one factor centres the product.
        rows: Floats = right @ directions
        rows -= mean_rows(rows, weights)
        if weights is None:
            rows /= len(rows)
        else:
            rows *= weights[:, None]
            rows /= weights.sum()
        product: Floats = transposed @ rows
        return product

    return multiply


def _norm_of_means(matrix: scipy.sparse.csr_array, weights: Weights) -> float:
    if weights is None:
        values, total = matrix.data, float(matrix.shape[0])
    else:
        values = matrix.data * np.repeat(weights, np.diff(matrix.indptr))
        total = float(weights.sum())
    return float(np.linalg.norm(np.bincount(matrix.indices, weights=values)) / total)


def _orthonormal(matrix: Floats) -> Floats:
    """An orthonormal basis of the columns, without directions that are lost in rounding.

    On matrices this tall, eigenvectors of the small Gram matrix take a fraction of the time of
    Householder QR. They have half the precision, which the next iteration restores.
    """
    squares, vectors = np.linalg.eigh(matrix.T @ matrix)
    kept = _significant(squares)
    basis: Floats = matrix @ (vectors[:, kept] / np.sqrt(squares[kept]))
    return basis


def _thin_svd(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Left vectors, values and right vectors, by the Gram matrix of the shorter side."""
    if matrix.shape[0] < matrix.shape[1]:
        right, values, left = _thin_svd(matrix.T)
        return left, values, right
    squares, vectors = np.linalg.eigh(matrix.T @ matrix)
    kept = np.flatnonzero(_significant(squares))[::-1]
    values = np.sqrt(squares[kept])
    right = vectors[:, kept]
    return matrix @ (right / values), values, right


def _significant(squares: Floats) -> NDArray[np.bool_]:
    """Which squared singular values exceed the rounding error; none for a matrix of zeros."""
    significant: NDArray[np.bool_] = squares > _ROUNDING**2 * squares.max(
        initial=np.finfo(float).tiny
    )
    return significant
