"""The pivot method for the aggregate bigram model (Cohen & Collins 2014, section 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.errors import InputError
from lpcfg.estimators.pivot.anchors import decompose_by_anchors
from lpcfg.lm.aggregate_em import Factors, pair_counts

__all__ = ["PivotOptions", "pivot_start"]


@dataclass(frozen=True)
class PivotOptions:
    """Hyper-parameters of the pivot method.

    ``dimensions``: the dimensions of the representation of words, beyond the number of states;
    default 8.
    ``kappa``: added to the counts of words that scale the representation; default 50. Larger values
    give rare words less influence.
    ``anchor_share``: the smallest count of an anchor, as a fraction of the mean count of a state;
    default 0.02.
    ``smoothing``: the weight of the unigram model in P(word | state); default 0.1.
    ``backoff``: the weight of P(state) in the estimate of P(state | word), as a count of words;
    default 30. Larger values keep rare words from being fitted too closely.
    ``iterations``: the number of iterations of the concave EM over P(state | word); default 3.

    The defaults were chosen on the development part of the Brown corpus.

    >>> PivotOptions().dimensions
    8
    """

    dimensions: int = 8
    kappa: float = 50.0
    anchor_share: float = 0.02
    smoothing: float = 0.1
    backoff: float = 30.0
    iterations: int = 3

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InputError(
                f"iterations must be at least 1, but are {self.iterations}", argument="iterations"
            )
        for name in ("dimensions", "kappa", "anchor_share", "backoff"):
            if not getattr(self, name) >= 0:
                raise InputError(
                    f"{name} must not be negative, but is {getattr(self, name)}", argument=name
                )
        if not 0 <= self.smoothing < 1:
            raise InputError(
                f"smoothing must be from 0 to below 1, but is {self.smoothing}",
                argument="smoothing",
            )


def pivot_start(
    counts: scipy.sparse.csr_array, states: int, options: PivotOptions, seed: int, n_jobs: int = 1
) -> Factors:
    """Parameters by the pivot method: P(word | state) from anchors, P(state | word) by EM.

    If there are fewer anchors than states, the other states have the unigram distribution.

    >>> counts = scipy.sparse.csr_array(np.array([[0.0, 3, 1], [2, 0, 0], [1, 2, 1]]))
    >>> exact = PivotOptions(kappa=0, anchor_share=0, smoothing=0, backoff=0)
    >>> pivot_start(counts, 2, exact, seed=0).words.sum(axis=0)
    array([1., 1.], dtype=float32)
    """
    frequency = counts.sum(axis=0).astype(np.float64)
    unigram = frequency / frequency.sum()
    points = _mean_histories(counts, states + options.dimensions, options.kappa, seed)
    with one_thread():
        candidates = frequency >= max(options.anchor_share * frequency.sum() / states, 1)
        if not candidates.any():
            candidates = frequency == frequency.max()
        anchored = decompose_by_anchors(points, frequency, states, candidates, n_jobs)
    words = np.tile(unigram[:, None], states)
    prior = np.zeros(states)
    prior[: len(anchored.prior)] = anchored.prior
    given_state = anchored.posterior * unigram[:, None] / anchored.prior
    words[:, : len(anchored.prior)] *= options.smoothing
    words[:, : len(anchored.prior)] += (1 - options.smoothing) * given_state
    of_states = np.tile(prior, (len(unigram), 1)).astype(np.float32)
    of_words = words.astype(np.float32)
    pairs = pair_counts(counts, n_jobs)
    before = counts.sum(axis=1)[:, None]
    total = before + options.backoff
    weight = np.divide(before, total, out=np.zeros(before.shape), where=before > 0)
    # The objective, the likelihood with Dirichlet priors, is concave in these parameters alone, so
    # there are no local optima.
    for _ in range(options.iterations):
        of_states, _, _ = pairs.step(of_states, of_words, update_seconds=False)
        of_states = (weight * of_states + (1 - weight) * prior).astype(np.float32)
    return Factors(of_states, of_words)


def _mean_histories(
    counts: scipy.sparse.csr_array, dimensions: int, kappa: float, seed: int
) -> NDArray[np.float64]:
    """The mean representation, by canonical correlation analysis, of the words before each word."""
    pairs = counts.astype(np.float64)
    before, after = pairs.sum(axis=1), pairs.sum(axis=0)
    # The lower bound avoids infinite scales of words that never occur.
    scales = [1 / np.sqrt(np.maximum(sums + kappa, 1)) for sums in (before, after)]
    scaled = scipy.sparse.diags_array(scales[0]) @ pairs @ scipy.sparse.diags_array(scales[1])
    rank = min(dimensions + 1, counts.shape[0])
    # scikit-learn is slow to import, and only training needs it. It is imported before threads are
    # limited: a library that is loaded later would use all of them.
    from sklearn.utils.extmath import randomized_svd

    with one_thread():
        left, _, _ = randomized_svd(scaled, rank, n_iter=4, random_state=seed)
    # The first direction represents the frequencies; it is nearly constant after scaling.
    representation = left[:, 1:] * (np.sqrt(pairs.sum()) * scales[0])[:, None]
    means: NDArray[np.float64] = (pairs.T @ representation) / np.maximum(after, 1)[:, None]
    return means
