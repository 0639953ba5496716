"""Tests whether the F1 of two parsers on the same sentences differs by more than chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg._options import check_positive
from lpcfg.errors import InputError

__all__ = ["Significance", "compare_counts"]

#: Random samples that are drawn at a time, so that memory does not grow with their number.
_BATCH = 250

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Significance:
    """The difference in F1 between two parsers, and how likely chance alone would give it.

    >>> print(Significance(1.25, (0.5, 2.0), 0.004, 0.003))
    +1.25 [+0.50, +2.00], p = 0.004 (bootstrap), 0.003 (randomization)
    """

    difference: float
    """F1 of the second parser minus F1 of the first, in points."""
    interval: tuple[float, float]
    """The 95 % confidence interval of the difference, by the paired bootstrap."""
    bootstrap: float
    """The two-sided p-value of the paired bootstrap (Efron & Tibshirani 1993)."""
    randomization: float
    """The two-sided p-value of approximate randomization (Noreen 1989; Yeh 2000)."""

    def to_dict(self) -> dict[str, object]:
        """All figures, ready for JSON.

        >>> Significance(1.25, (0.5, 2.0), 0.004, 0.003).to_dict()["interval"]
        (0.5, 2.0)
        """
        return asdict(self)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.difference:+.2f} [{low:+.2f}, {high:+.2f}], p = {self.bootstrap:.2g} "
            f"(bootstrap), {self.randomization:.2g} (randomization)"
        )


def compare_counts(
    first: Counts, second: Counts, *, samples: int = 10_000, seed: int = 0
) -> Significance:
    """Compare two parsers by their counts on each sentence.

    - ``first``, ``second``: a row for each sentence: matched, gold and predicted brackets.
    - ``samples``: the number of random samples of each test. No p-value is below
      1 / (samples + 1).
    - ``seed``: the seed of random numbers (default 0).

    The bootstrap draws as many sentences as there are, with replacement, and asks how often the
    difference is as far from the observed one as the observed one is from zero. Randomization
    exchanges the two parses of each sentence with probability 1/2, as it may if the parsers do not
    differ, and asks how often the difference is as large as the observed one.

    >>> good, bad = np.array([[3, 3, 3]] * 20), np.array([[1, 3, 3]] * 20)
    >>> result = compare_counts(bad, good, samples=999)
    >>> round(result.difference, 2), result.randomization
    (66.67, 0.001)
    """
    check_positive("samples", samples)
    if first.shape != second.shape or first.ndim != 2 or first.shape[1] != 3 or not len(first):
        raise InputError(
            "counts of both parsers must be rows of three numbers for the same sentences, "
            f"not of the shapes {first.shape} and {second.shape}",
            argument="second",
        )
    observed = float(_f1(second.sum(axis=0)) - _f1(first.sum(axis=0)))
    random = np.random.default_rng(seed)
    both = np.concatenate([first, second], axis=1)
    swap = np.concatenate([second - first, first - second], axis=1)
    resampled, exchanged = [], []
    for start in range(0, samples, _BATCH):
        size = (min(_BATCH, samples - start), len(both))
        resampled.append(_difference(both[random.integers(len(both), size=size)].sum(axis=1)))
        exchanged.append(_difference(both.sum(axis=0) + random.integers(2, size=size) @ swap))
    bootstrap, randomization = np.concatenate(resampled), np.concatenate(exchanged)
    low, high = np.quantile(bootstrap, (0.025, 0.975)).tolist()
    return Significance(
        observed,
        (low, high),
        _p_value(bootstrap - observed, observed),
        _p_value(randomization, observed),
    )


def _f1(counts: Counts) -> NDArray[np.float64]:
    """F1 in percent of counts of matched, gold and predicted brackets in the last axis."""
    matched, gold, predicted = np.moveaxis(counts, -1, 0)
    f1: NDArray[np.float64] = 200.0 * matched / np.maximum(gold + predicted, 1)
    return f1


def _difference(both: Counts) -> NDArray[np.float64]:
    return _f1(both[..., 3:]) - _f1(both[..., :3])


def _p_value(differences: NDArray[np.float64], observed: float) -> float:
    """The share of differences at least as large as the observed one, which counts as a sample."""
    # Rounding must not make an equal difference a smaller one.
    extreme = np.abs(differences) >= abs(observed) - 1e-9
    return float((extreme.sum() + 1) / (len(differences) + 1))
