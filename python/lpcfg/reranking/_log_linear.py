"""Log-linear choice among candidates: what it may expect to gain, and its weights by L-BFGS."""

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

    ``offsets`` are the rows at which sentences begin, and their number at the end. ``gains`` tell
    how good it is to choose each candidate.

    >>> features = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> choices = Choices(features, np.array([0, 2]), np.array([3.0, 1.0]))
    >>> choices.loss(np.zeros(2), penalty=0.0)
    (-2.0, array([-0.5,  0.5]))
    """

    features: scipy.sparse.csr_array
    offsets: NDArray[np.int64]
    gains: NDArray[np.float64]

    def __post_init__(self) -> None:
        sizes = np.diff(self.offsets)
        if not len(sizes) or sizes.min() < 1:
            raise InputError("there must be sentences, and each must have a candidate or more")
        if not np.isfinite(self.gains).all():
            raise InputError("gains must be finite")

    def loss(
        self, weights: NDArray[np.float64], penalty: float
    ) -> tuple[float, NDArray[np.float64]]:
        """Minus what may be expected to be gained, with a quadratic penalty; its gradient.

        The probability of a candidate to be chosen is proportional to the exponential of its score.

        >>> features = scipy.sparse.csr_array([[2.0], [0.0]])
        >>> choices = Choices(features, np.array([0, 2]), np.array([1.0, 0.0]))
        >>> choices.loss(np.zeros(1), penalty=1.0)[1]
        array([-0.5])
        """
        starts, sizes = self.offsets[:-1], np.diff(self.offsets)
        scores = self.features @ weights
        shares = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        shares /= np.repeat(np.add.reduceat(shares, starts), sizes)
        expected = np.add.reduceat(shares * self.gains, starts)
        advantages = shares * (self.gains - np.repeat(expected, sizes))
        loss = float(0.5 * penalty * weights @ weights - expected.sum())
        return loss, penalty * weights - self.features.T @ advantages

    def chosen(self, weights: NDArray[np.float64]) -> list[int]:
        """The row with the best score of each sentence, the first of equals.

        >>> features = scipy.sparse.csr_array([[2.0], [0.0]])
        >>> choices = Choices(features, np.array([0, 2]), np.array([1.0, 0.0]))
        >>> choices.chosen(np.array([-1.0]))
        [1]
        """
        scores = self.features @ weights
        pairs = itertools.pairwise(self.offsets.tolist())
        return [start + int(scores[start:end].argmax()) for start, end in pairs]


def fit_weights(choices: Choices, penalty: float, iterations: int) -> NDArray[np.float64]:
    """Weights with little penalised loss; the same choices give the same weights.

    The search starts from zeros, and ends where no small change does better.

    >>> features = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> choices = Choices(features, np.array([0, 2]), np.array([1.0, 0.0]))
    >>> fit_weights(choices, penalty=0.1, iterations=50).round(2)
    array([ 1.02, -1.02])
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
