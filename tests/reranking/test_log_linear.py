"""The log-linear model of rerankers: its loss, its gradient and its weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse

from lpcfg import InputError
from lpcfg.reranking._log_linear import KBestLists, fit_weights


def random_lists(seed: int, sentences: int = 6, features: int = 4) -> KBestLists:
    random = np.random.default_rng(seed)
    offsets = np.cumsum([0, *random.integers(1, 6, size=sentences)])
    gains = random.normal(size=offsets[-1])
    matrix = sparse.random_array((offsets[-1], features), density=0.6, rng=random, format="csr")
    return KBestLists(matrix, offsets, gains)


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_the_loss(seed: int) -> None:
    lists = random_lists(seed)
    weights = np.random.default_rng(seed).normal(size=4)
    numeric = optimize.approx_fprime(weights, lambda point: lists.loss(point, 0.7)[0], 1e-6)
    np.testing.assert_allclose(lists.loss(weights, 0.7)[1], numeric, atol=1e-4)


def test_the_loss_is_minus_the_mean_gain_of_random_lists() -> None:
    lists = random_lists(3)
    weights = np.array([0.5, -1.0, 2.0, 0.1])
    odds = np.exp(lists.features @ weights)
    bounds = zip(lists.offsets[:-1], lists.offsets[1:], strict=True)
    expected = sum(np.average(lists.gains[a:b], weights=odds[a:b]) for a, b in bounds)
    assert np.isclose(lists.loss(weights, 0.0)[0], -expected)


def test_scores_far_apart_do_not_overflow() -> None:
    lists = KBestLists(sparse.csr_array([[1e4], [-1e4]]), np.array([0, 2]), np.array([0.0, 1.0]))
    loss, gradient = lists.loss(np.ones(1), 0.0)
    assert loss == 0.0
    assert np.isfinite(gradient).all()


def test_the_direction_of_known_weights_is_recovered() -> None:
    random = np.random.default_rng(0)
    truth = np.array([1.0, -2.0, 0.5, 0.0])
    sentences, size = 4000, 5
    features = random.normal(size=(sentences * size, len(truth)))
    # The largest of scores with Gumbel noise is a draw from the log-linear model.
    noisy = features @ truth + random.gumbel(size=len(features))
    chosen = noisy.reshape(sentences, size).argmax(axis=1) + np.arange(sentences) * size
    gains = np.zeros(len(features))
    gains[chosen] = 1
    lists = KBestLists(sparse.csr_array(features), np.arange(sentences + 1) * size, gains)
    # To gain most, one chooses the likeliest every time, whatever its odds: only signs and
    # proportions of weights matter.
    found = fit_weights(lists, 1.0, 100)
    cosine = found @ truth / np.linalg.norm(found) / np.linalg.norm(truth)
    assert cosine > 0.998
    best = (features @ truth).reshape(sentences, size).argmax(axis=1) + np.arange(sentences) * size
    assert np.mean(np.array(lists.best_rows(found)) == best) > 0.95


@pytest.mark.parametrize(
    ("offsets", "gains", "message"),
    [
        ([0], [], "must be sentences"),
        ([0, 0, 1], [1.0], "at least one candidate"),
        ([0, 1], [np.inf], "finite"),
    ],
)
def test_choices_that_make_no_sense_are_refused(
    offsets: list[int], gains: list[float], message: str
) -> None:
    features = sparse.csr_array((len(gains), 2))
    with pytest.raises(InputError, match=message):
        KBestLists(features, np.array(offsets), np.array(gains))
