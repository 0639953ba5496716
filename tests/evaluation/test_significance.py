"""Significance tests against exact values by enumeration, and on data without a difference."""

from itertools import product

import numpy as np
import pytest

from lpcfg.errors import InputError
from lpcfg.evaluation.significance import compare_counts

FIRST = np.array([[1, 4, 4], [3, 5, 4], [2, 2, 3], [0, 3, 3], [2, 4, 4], [5, 6, 6]])
SECOND = np.array([[2, 4, 4], [4, 5, 5], [2, 2, 2], [1, 3, 3], [1, 4, 3], [6, 6, 6]])


def f1(counts):
    matched, gold, predicted = counts.sum(axis=0)
    return 200 * matched / (gold + predicted)


def share(differences, observed):
    return np.mean([abs(value) >= abs(observed) - 1e-9 for value in differences])


def test_randomization_is_the_share_of_all_exchanges():
    observed = f1(SECOND) - f1(FIRST)
    exchanges = [np.array(choice)[:, None] == 1 for choice in product((0, 1), repeat=len(FIRST))]
    exact = share(
        [f1(np.where(e, FIRST, SECOND)) - f1(np.where(e, SECOND, FIRST)) for e in exchanges],
        observed,
    )
    found = compare_counts(FIRST, SECOND, samples=40_000)
    assert found.difference == pytest.approx(observed)
    assert found.randomization == pytest.approx(exact, abs=0.01)


def test_bootstrap_is_the_share_of_all_samples_of_sentences():
    observed = f1(SECOND) - f1(FIRST)
    samples = [list(rows) for rows in product(range(len(FIRST)), repeat=len(FIRST))]
    differences = np.array([f1(SECOND[rows]) - f1(FIRST[rows]) for rows in samples])
    found = compare_counts(FIRST, SECOND, samples=40_000)
    assert found.bootstrap == pytest.approx(share(differences - observed, observed), abs=0.01)
    assert found.interval == pytest.approx(np.quantile(differences, (0.025, 0.975)), abs=0.6)


def test_equal_parsers_do_not_differ():
    found = compare_counts(FIRST, FIRST, samples=100)
    assert (found.difference, found.interval) == (0, (0, 0))
    assert (found.bootstrap, found.randomization) == (1, 1)


def test_p_values_without_a_difference_are_spread_evenly():
    random = np.random.default_rng(5)
    p_values = []
    for seed in range(60):
        matched = random.integers(0, 9, (2, 50))
        counts = [np.stack([row, np.full(50, 8), np.full(50, 8)], axis=1) for row in matched]
        p_values.append(compare_counts(*counts, samples=200, seed=seed).randomization)
    assert 0.35 < np.mean(p_values) < 0.65
    assert np.mean(np.array(p_values) < 0.1) < 0.25


def test_same_seed_same_result():
    assert compare_counts(FIRST, SECOND, seed=3) == compare_counts(FIRST, SECOND, seed=3)
    assert compare_counts(FIRST, SECOND, seed=3) != compare_counts(FIRST, SECOND, seed=4)


@pytest.mark.parametrize(
    ("second", "samples", "message"),
    [
        (SECOND[:3], 100, "same sentences"),
        (SECOND[:, :2], 100, "same sentences"),
        (SECOND, 0, "samples: must be an integer from 1"),
    ],
)
def test_wrong_arguments(second, samples, message):
    with pytest.raises(InputError, match=message):
        compare_counts(FIRST, second, samples=samples)
