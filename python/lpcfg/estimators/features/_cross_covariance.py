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

from lpcfg._columns import Weights, offsets

__all__ = ["TruncatedSVD", "decompose_cross_covariance"]

# If one side has at most this number of columns, a dense decomposition is exact and as fast.
_MAX_DENSE = 64

# The columns of a block of the Lanczos iteration: wide enough for products at full speed. Wider
# blocks need more products in all.
_BLOCK = 8

# The iteration ends when the residual of each singular triple, |A' A v - s^2 v|, is at most this
# fraction of s^2. Values are then exact to its square. A smaller fraction costs time and changes no
# F1: sampling errors of the vectors are far larger.
_TOLERANCE = 1e-3

# Whether the iteration has converged is tested when the basis has this number of columns for each
# singular value that is wanted, and then again after some blocks: a test costs as much as a block.
_FIRST_TEST = 5
_BLOCKS_BETWEEN_TESTS = 3

# A block whose smallest direction is below this fraction of the matrix is orthogonalised twice.
_SMALL_DIRECTION = 1e-4

# Singular values below this fraction of the largest are lost in a Gram matrix.
_ROUNDING = 1e-6

Floats = NDArray[np.float64]


class TruncatedSVD(NamedTuple):
    """Singular vectors (columns of ``inside`` and ``outside``) and values, in descending order.

    ``scale``: an estimate of the largest singular value of the matrix before centring.
    ``noise``: the largest singular value to expect if the two sides were independent.
    """

    inside: Floats
    values: Floats
    outside: Floats
    scale: float
    noise: float

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
    factors = (_without_constants(inside), _without_constants(outside))
    forwards, backwards = _product(*factors, weights), _product(*factors[::-1], weights)
    if outside.shape[1] <= _MAX_DENSE:
        left, values, right = _thin_svd(forwards(np.eye(outside.shape[1])))
    elif inside.shape[1] <= _MAX_DENSE:
        right, values, left = _thin_svd(backwards(np.eye(inside.shape[1])))
    elif inside.shape[1] < outside.shape[1]:
        right, values, left = _largest_triples(
            backwards, forwards, inside.shape[1], rank, generator
        )
    else:
        left, values, right = _largest_triples(
            forwards, backwards, outside.shape[1], rank, generator
        )
    left, values, right = left[:, :rank], values[:rank], right[:, :rank]
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    constant = _norm_of_means(inside, weights) * _norm_of_means(outside, weights)
    scale = max(float(values.max(initial=0)), constant)
    noise = _noise_level(inside, outside, weights)
    return TruncatedSVD(left * signs, values, right * signs, scale, noise)


def _without_constants(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """The matrix without the entries of columns that are the same in all rows: centred, they are 0.

    All nodes of a tag, for example, have all features of rules in common: that there is no rule.
    """
    rows, columns = matrix.shape
    constant = np.bincount(matrix.indices, minlength=columns) == rows
    first = np.zeros(columns)
    first[matrix.indices[: matrix.indptr[1]]] = matrix.data[: matrix.indptr[1]]
    constant[matrix.indices[matrix.data != first[matrix.indices]]] = False
    if not constant.any():
        return matrix
    kept = ~constant[matrix.indices]
    return scipy.sparse.csr_array(
        (matrix.data[kept], matrix.indices[kept], offsets(kept)[matrix.indptr]), shape=matrix.shape
    )


def _product(
    left: scipy.sparse.csr_array, right: scipy.sparse.csr_array, weights: Weights
) -> Callable[[Floats], Floats]:
    """Multiplication by left' right / n, columns centred."""
    total = _total_weight(left, weights)
    left_mean, right_mean = (
        _column_sums(side, side.data, weights) / total for side in (left, right)
    )
    shares = np.full(left.shape[0], 1 / total) if weights is None else weights / total
    data = left.data * np.repeat(shares, np.diff(left.indptr))
    transposed = scipy.sparse.csr_array((data, left.indices, left.indptr), shape=left.shape).T

    def multiply(directions: Floats) -> Floats:
        product: Floats = transposed @ (right @ directions)
        product -= left_mean[:, None] * (right_mean @ directions)
        return product

    return multiply


def _noise_level(
    inside: scipy.sparse.csr_array, outside: scipy.sparse.csr_array, weights: Weights
) -> float:
    """The spectral norm of the cross-covariance of n independent pairs of rows, up to a constant.

    It is sqrt((|S| tr T + |T| tr S) / n) for the covariance matrices S and T of the two sides: it
    falls with n, and rises with the number of features. As each row has one feature of each group,
    |S| is at most the number of groups times the largest mean square of a feature.
    """
    total = _total_weight(inside, weights)
    norms, traces = [], []
    for side in (inside, outside):
        squares = _column_sums(side, side.data**2, weights) / total
        groups = _column_sums(side, np.ones_like(side.data), weights).sum() / total
        norms.append(groups * squares.max(initial=0))
        traces.append(max(squares.sum() - _norm_of_means(side, weights) ** 2, 0.0))
    return float(np.sqrt((norms[0] * traces[1] + norms[1] * traces[0]) / total))


def _norm_of_means(matrix: scipy.sparse.csr_array, weights: Weights) -> float:
    sums = _column_sums(matrix, matrix.data, weights)
    return float(np.linalg.norm(sums) / _total_weight(matrix, weights))


def _total_weight(matrix: scipy.sparse.csr_array, weights: Weights) -> float:
    return float(matrix.shape[0] if weights is None else weights.sum())


def _column_sums(matrix: scipy.sparse.csr_array, values: Floats, weights: Weights) -> Floats:
    """The sums of the columns of a matrix with these values in the places of its own."""
    if weights is not None:
        values = values * np.repeat(weights, np.diff(matrix.indptr))
    sums = np.bincount(matrix.indices, weights=values, minlength=matrix.shape[1])
    return np.asarray(sums, dtype=np.float64)


def _largest_triples(
    multiply: Callable[[Floats], Floats],
    transposed: Callable[[Floats], Floats],
    width: int,
    rank: int,
    generator: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Left vectors, values and right vectors of a matrix A by block Lanczos iteration for A' A.

    Every block is orthogonalised against all earlier ones, and the singular vectors are the best in
    the space of all blocks. The result does not depend on the random start, up to ``_TOLERANCE``.

    ``multiply``, ``transposed``: multiplication by A, which has ``width`` columns, and by A'.
    """
    block, _ = np.linalg.qr(generator.standard_normal((width, min(_BLOCK, width))))
    size = 16 * _BLOCK
    # Stored column by column, so that the part in use is contiguous.
    basis = np.empty((width, size), order="F")
    # The lower half of V' A' A V, where V is the basis.
    projected = np.zeros((size, size))
    used, next_test, norm = 0, _FIRST_TEST * rank, 0.0
    while True:
        before, used = used, used + block.shape[1]
        if used > size:
            basis = np.asfortranarray(np.hstack([basis, np.empty_like(basis)]))
            projected = np.pad(projected, (0, size))
            size *= 2
        basis[:, before:used] = block
        known = basis[:, :used]
        following = transposed(multiply(block))
        columns = known.T @ following
        projected[before:used, :used] = columns.T
        norm = max(norm, np.abs(columns).max())
        following -= known @ columns
        block, sizes, directions = _orthogonalised(following)
        if sizes.min() < _SMALL_DIRECTION * norm:
            # What is left of a small direction may be rounding errors along earlier blocks.
            block, triangle = np.linalg.qr(following - known @ (known.T @ following))
            rotation, sizes, directions = np.linalg.svd(triangle)
            block, directions = block @ rotation, directions.T
        new = min(np.count_nonzero(sizes > _ROUNDING**2 * norm), width - used)
        if used >= next_test or not new:
            next_test = used + _BLOCKS_BETWEEN_TESTS * _BLOCK
            # It reads the lower half alone.
            squares, vectors = np.linalg.eigh(projected[:used, :used])
            squares, vectors = squares[::-1][:rank], vectors[:, ::-1][:, :rank]
            significant = _significant(squares)
            residuals = np.linalg.norm((sizes * directions).T @ vectors[before:], axis=0)
            enough = len(squares) == rank and (residuals <= _TOLERANCE * squares)[significant].all()
            if enough or not new:
                chosen = known @ vectors[:, significant]
                left, values, small = _thin_svd(multiply(chosen))
                return left, values, chosen @ small
        # Sparse products need contiguous rows.
        block = np.ascontiguousarray(block[:, :new])


def _orthogonalised(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Left singular vectors, singular values and right singular vectors of a few columns.

    By their Gram matrix, which is far faster than a QR decomposition, and accurate unless the last
    value, the smallest, is tiny.
    """
    squares, directions = np.linalg.eigh(matrix.T @ matrix)
    squares, directions = np.maximum(squares[::-1], 0), directions[:, ::-1]
    sizes = np.sqrt(squares)
    return matrix @ (directions / np.maximum(sizes, np.finfo(float).tiny)), sizes, directions


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
