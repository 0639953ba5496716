"""Log-linear (MaxEnt) models of k-best lists, with weights that maximise the expected gain.

The probability of a candidate is proportional to the exponential of its score, which is linear in
its features. The objective is the expected gain (here in F1) under these probabilities, rather than
the likelihood of the best candidate. It is optimised by L-BFGS.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError

__all__ = ["KBestLists", "fit_weights"]


@dataclass(frozen=True, eq=False)
class KBestLists:
    """The k-best lists of sentences: features and gain of every candidate.

    Candidates are rows, one sentence after another: the candidates of sentence ``s`` are the rows
    from ``offsets[s]`` to ``offsets[s + 1]``. ``gains`` are the gains of choosing each candidate.

    >>> features = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> lists = KBestLists(features, np.array([0, 2]), np.array([3.0, 1.0]))
    >>> lists.loss(np.zeros(2), penalty=0.0)
    (-2.0, array([-0.5,  0.5]))
    """

    features: scipy.sparse.csr_array
    offsets: NDArray[np.int64]
    gains: NDArray[np.float64]

    def __post_init__(self) -> None:
        sizes = np.diff(self.offsets)
        if not len(sizes) or sizes.min() < 1:
            raise InputError(
                "there must be sentences, and each must have at least one candidate",
                argument="offsets",
            )
        if not np.isfinite(self.gains).all():
            raise InputError("gains must be finite", argument="gains")

    def loss(
        self, weights: NDArray[np.float64], penalty: float
    ) -> tuple[float, NDArray[np.float64]]:
        """Minus the expected gain, plus an L2 penalty on the weights; and its gradient.

        >>> features = scipy.sparse.csr_array([[2.0], [0.0]])
        >>> lists = KBestLists(features, np.array([0, 2]), np.array([1.0, 0.0]))
        >>> lists.loss(np.zeros(1), penalty=1.0)[1]
        array([-0.5])
        """
        starts, sizes = self.offsets[:-1], np.diff(self.offsets)
        scores = self.features @ weights
        probabilities = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        probabilities /= np.repeat(np.add.reduceat(probabilities, starts), sizes)
        expected = np.add.reduceat(probabilities * self.gains, starts)
        advantages = probabilities * (self.gains - np.repeat(expected, sizes))
        loss = float(0.5 * penalty * weights @ weights - expected.sum())
        return loss, penalty * weights - self.features.T @ advantages

    def best_rows(self, weights: NDArray[np.float64]) -> list[int]:
        """The row with the highest score of each sentence, the first if several are equal.

        >>> features = scipy.sparse.csr_array([[2.0], [0.0]])
        >>> lists = KBestLists(features, np.array([0, 2]), np.array([1.0, 0.0]))
        >>> lists.best_rows(np.array([-1.0]))
        [1]
        """
        scores = self.features @ weights
        pairs = itertools.pairwise(self.offsets.tolist())
        return [start + int(scores[start:end].argmax()) for start, end in pairs]


def fit_weights(lists: KBestLists, penalty: float, iterations: int) -> NDArray[np.float64]:
    """Weights at a local minimum of the penalised loss, found by L-BFGS from zero weights.

    - ``lists``: the k-best lists to train on.
    - ``penalty``: the weight of the L2 penalty; the larger it is, the smaller the weights.
    - ``iterations``: the largest number of L-BFGS iterations.

    >>> features = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> lists = KBestLists(features, np.array([0, 2]), np.array([1.0, 0.0]))
    >>> fit_weights(lists, penalty=0.1, iterations=50).round(2)
    array([ 1.02, -1.02])
    """
    result = scipy.optimize.minimize(
        lists.loss,
        np.zeros(lists.features.shape[1]),
        args=(penalty,),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations},
    )
    weights: NDArray[np.float64] = result.x
    return weights
