"""EM for the aggregate bigram model (Saul & Pereira 1997)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._core import PairCounts
from lpcfg._threads import thread_count

__all__ = ["Factors", "Refinement", "Stopping", "pair_counts", "random_start", "refine"]

Floats = NDArray[np.float32]


class Factors(NamedTuple):
    """The parameters, with a row for each word: P(state | word) and P(next word | state).

    Rows of ``states`` and columns of ``words`` add up to one.

    >>> Factors(np.ones((2, 1)), np.full((2, 1), 0.5)).words.sum(axis=0)
    array([1.])
    """

    states: Floats
    words: Floats


def pair_counts(counts: scipy.sparse.csr_array, n_jobs: int) -> PairCounts:
    """Counts of pairs as an object of the core.

    >>> counts = scipy.sparse.csr_array(np.ones((1, 1)))
    >>> pair_counts(counts, n_jobs=1).log_likelihood(*(np.ones((1, 1), np.float32),) * 2)
    0.0
    """
    return PairCounts(
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.uint32),
        counts.data.astype(np.float32),
        counts.shape[1],
        thread_count(n_jobs),
    )


def random_start(
    counts: scipy.sparse.csr_array,
    states: int,
    symmetry_breaking: float,
    generator: np.random.Generator,
) -> Factors:
    """The parameters of the unigram model, each times 1 + ``symmetry_breaking`` * random.

    >>> counts = scipy.sparse.csr_array(np.array([[0.0, 3], [1, 0]]))
    >>> random_start(counts, 1, 0.5, np.random.default_rng(0)).words.round(2)
    array([[0.25],
           [0.75]], dtype=float32)
    """
    shape = (counts.shape[0], states)
    of_states, of_words = (1 + symmetry_breaking * generator.random(shape) for _ in range(2))
    of_words *= counts.sum(axis=0)[:, None]
    of_states /= of_states.sum(axis=1, keepdims=True)
    of_words /= of_words.sum(axis=0)
    return Factors(of_states.astype(np.float32), of_words.astype(np.float32))


@dataclass(frozen=True)
class Stopping:
    """The stopping criteria of EM.

    ``max_iterations``: the largest number of iterations.
    ``tolerance``: without held-out words, EM stops when an iteration improves the log-likelihood
    per word by less.
    ``patience``: with held-out words, EM stops after this number of iterations without a new best.

    >>> Stopping(max_iterations=5).patience
    3
    """

    max_iterations: int
    tolerance: float = 1e-4
    patience: int = 3


@dataclass(eq=False)
class Refinement:
    """The result of EM, and its history.

    ``log_likelihoods``: of the training words, on average, before each iteration.
    ``held_out``: the same for held-out words, before the first and after each iteration.
    ``factors``: the parameters after ``iterations``: the last, or the best on held-out words.

    >>> one = np.ones((1, 1), np.float32)
    >>> Refinement(Factors(one, one)).score
    -inf
    """

    factors: Factors
    iterations: int = 0
    log_likelihoods: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The best log-likelihood, for the comparison of random starts.

        >>> one = np.ones((1, 1), np.float32)
        >>> Refinement(Factors(one, one), held_out=[-3.0, -2.0, -4.0]).score
        -2.0
        """
        return max(self.held_out or self.log_likelihoods, default=-math.inf)


def refine(
    counts: scipy.sparse.csr_array,
    start: Factors,
    stopping: Stopping,
    held_out: scipy.sparse.csr_array | None = None,
    n_jobs: int = 1,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Refinement:
    """Run EM from initial parameters; with held-out words, keep the iteration best on them.

    >>> counts = scipy.sparse.csr_array(np.array([[0.0, 3], [1, 0]]))
    >>> start = random_start(counts, 2, 1.0, np.random.default_rng(0))
    >>> refined = refine(counts, start, Stopping(200, tolerance=1e-9))
    >>> (refined.factors.states @ refined.factors.words.T).round(2)
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    pairs, size = pair_counts(counts, n_jobs), float(counts.sum())
    result = Refinement(start)
    current = start
    score = _scorer(held_out, n_jobs)
    if score is not None:
        result.held_out.append(score(current))
    for iteration in progress(range(1, stopping.max_iterations + 1)):
        states, words, log_likelihood = pairs.step(*current, update_seconds=True)
        assert words is not None
        current = Factors(states, words)
        result.log_likelihoods.append(log_likelihood / size)
        if score is None:
            result.factors, result.iterations = current, iteration
            gains = np.diff(result.log_likelihoods[-2:])
            if len(gains) and gains[0] < stopping.tolerance:
                break
        else:
            result.held_out.append(score(current))
            if result.held_out[-1] > max(result.held_out[:-1]):
                result.factors, result.iterations = current, iteration
            elif iteration >= result.iterations + stopping.patience:
                break
    return result


def _scorer(
    counts: scipy.sparse.csr_array | None, n_jobs: int
) -> Callable[[Factors], float] | None:
    if counts is None:
        return None
    pairs, size = pair_counts(counts, n_jobs), float(counts.sum())
    return lambda factors: pairs.log_likelihood(*factors) / size
