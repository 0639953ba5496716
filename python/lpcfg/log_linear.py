"""Log-linear choice among candidates: its likelihood, and its weights by L-BFGS."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError

__all__ = ["Choices", "fit_weights"]


@dataclass(frozen=True, eq=False)
class Choices:
    """What was to be chosen from: a row of features for each candidate, one sentence after another.

    ``offsets`` are the rows at which sentences begin, and their number at the end. ``right`` marks
    the candidates that should have been chosen, one or more in each sentence.

    >>> features = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> choices = Choices(features, np.array([0, 2]), np.array([True, False]))
    >>> loss, gradient = choices.loss(np.zeros(2), penalty=0.0)
    >>> round(float(np.exp(-loss)), 3), gradient
    (0.5, array([-0.5,  0.5]))
    """

    features: scipy.sparse.csr_array
    offsets: NDArray[np.int64]
    right: NDArray[np.bool_]

    def __post_init__(self) -> None:
        sizes = np.diff(self.offsets)
        if not len(sizes) or sizes.min() < 1:
            raise InputError("there must be sentences, and each must have a candidate or more")
        if not np.add.reduceat(self.right, self.offsets[:-1], dtype=np.int64).all():
            raise InputError("each sentence must have a right candidate")

    def loss(
        self, weights: NDArray[np.float64], penalty: float
    ) -> tuple[float, NDArray[np.float64]]:
        """Minus the log-likelihood of the right candidates, with a quadratic penalty; its gradient.

        The likelihood of a sentence is the probability that one of its right candidates is chosen.

        >>> features = scipy.sparse.csr_array([[2.0], [0.0]])
        >>> choices = Choices(features, np.array([0, 2]), np.array([1, 0]))
        >>> choices.loss(np.zeros(1), penalty=1.0)[1]
        array([-1.])
        """
        scores = self.features @ weights
        log_all, every = self._normalise(scores)
        log_right, right = self._normalise(np.where(self.right, scores, -np.inf))
        loss = float((log_all - log_right).sum() + 0.5 * penalty * weights @ weights)
        return loss, self.features.T @ (every - right) + penalty * weights

    def _normalise(
        self, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each sentence the log of the sum of exponentials; for each row its share of it."""
        starts, sizes = self.offsets[:-1], np.diff(self.offsets)
        largest = np.maximum.reduceat(scores, starts)
        shares = np.exp(scores - np.repeat(largest, sizes))
        sums = np.add.reduceat(shares, starts)
        return largest + np.log(sums), shares / np.repeat(sums, sizes)

    def chosen(self, weights: NDArray[np.float64]) -> list[int]:
        """The row with the best score of each sentence, the first of equals.

        >>> features = scipy.sparse.csr_array([[2.0], [0.0]])
        >>> choices = Choices(features, np.array([0, 2]), np.array([1, 0]))
        >>> choices.chosen(np.array([-1.0]))
        [1]
        """
        scores = self.features @ weights
        pairs = itertools.pairwise(self.offsets.tolist())
        return [start + int(scores[start:end].argmax()) for start, end in pairs]


def fit_weights(choices: Choices, penalty: float, iterations: int) -> NDArray[np.float64]:
    """The weights that make the penalised loss least; the same choices give the same weights.

    >>> features = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> choices = Choices(features, np.array([0, 2]), np.array([True, False]))
    >>> fit_weights(choices, penalty=0.1, iterations=50).round(2)
    array([ 1.06, -1.06])
    """
    found = scipy.optimize.minimize(
        choices.loss,
        np.zeros(choices.features.shape[1]),
        args=(penalty,),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations},
    )
    weights: NDArray[np.float64] = found.x
    return weights
