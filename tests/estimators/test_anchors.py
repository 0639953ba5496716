import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from lpcfg.errors import InputError
from lpcfg.estimators.pivot.anchors import decompose_by_anchors, find_anchors, mixing_weights

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)


def gaps(points, anchors, weights):
    """How much a step towards the best single anchor would gain: zero at the optimum."""
    slope = (weights @ anchors - points) @ anchors.T
    return (weights * slope).sum(axis=1) - slope.min(axis=1)


@given(seeds, sizes, sizes)
def test_weights_are_optimal(seed, count, dimensions):
    generator = np.random.default_rng(seed)
    anchors = generator.standard_normal((count, dimensions))
    points = 2 * generator.standard_normal((20, dimensions))
    weights = mixing_weights(points, anchors)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert weights.min() >= 0
    spread = np.square(anchors[:, None] - anchors).sum(axis=2).max()
    assert gaps(points, anchors, weights).max() <= 1e-10 * max(spread, 1)


@pytest.mark.parametrize("seed", range(4))
def test_weights_agree_with_a_general_optimiser(seed):
    generator = np.random.default_rng(seed)
    anchors = generator.standard_normal((4, 5))
    points = generator.standard_normal((5, 5))
    weights = mixing_weights(points, anchors)
    for point, found in zip(points, weights, strict=True):
        expected = minimize(
            lambda weight, point=point: np.square(weight @ anchors - point).sum(),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda weight: weight.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        np.testing.assert_allclose(found, expected.x, atol=1e-5)


@pytest.mark.parametrize("origin", [0.0, 1e4])
def test_weights_of_mixtures_are_what_they_were_mixed_with(origin):
    generator = np.random.default_rng(0)
    anchors = generator.standard_normal((6, 8)) + origin
    weights = generator.dirichlet(np.full(6, 0.3), size=5000)
    found = mixing_weights(weights @ anchors, anchors)
    np.testing.assert_allclose(found, weights, atol=1e-6)


def test_weights_over_anchors_that_are_all_one():
    weights = mixing_weights(np.array([[3.0], [-1.0]]), np.ones((2, 1)))
    np.testing.assert_allclose(weights.sum(axis=1), 1)


def test_weights_need_points_and_anchors_of_one_kind():
    with pytest.raises(InputError, match="the same number of columns"):
        mixing_weights(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(InputError, match="at least one anchor"):
        mixing_weights(np.ones((2, 3)), np.ones((0, 3)))
    with pytest.raises(InputError, match="finite"):
        mixing_weights(np.full((2, 3), np.nan), np.ones((1, 3)))


def test_the_number_of_threads_changes_nothing():
    generator = np.random.default_rng(0)
    points, anchors = generator.standard_normal((50, 4)), generator.standard_normal((6, 4))
    one, three = (mixing_weights(points, anchors, n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one, three)


def separable(generator, count, dimensions, others=50):
    """Corners, mixtures of them, and the rows that the corners are in after shuffling."""
    corners = generator.standard_normal((count, dimensions))
    mixed = generator.dirichlet(np.ones(count), size=others) @ corners
    order = generator.permutation(count + others)
    points = np.empty((len(order), dimensions))
    points[order] = np.vstack([corners, mixed])
    return points, order[:count]


@given(seeds, st.integers(2, 6), st.integers(0, 3))
def test_anchors_are_the_corners(seed, count, more):
    points, corners = separable(np.random.default_rng(seed), count, count + more)
    assert set(find_anchors(points, count)) == set(corners)
    # Beyond the corners there is nothing to find.
    assert set(find_anchors(points, count + 3)) == set(corners)


def test_each_anchor_is_the_farthest_from_the_span_of_those_before():
    points = np.random.default_rng(1).standard_normal((30, 4))
    anchors = find_anchors(points, 5)
    for step in range(1, 5):
        origin, *others = points[anchors[:step]]
        basis = np.linalg.qr((np.array(others).reshape(-1, 4) - origin).T)[0]
        away = points - origin
        distances = np.linalg.norm(away - away @ basis @ basis.T, axis=1)
        assert distances.argmax() == anchors[step]


def test_points_that_are_all_one_have_one_anchor():
    assert find_anchors(np.ones((4, 2)), 3).tolist() == [0]
    assert find_anchors(np.ones((4, 0)), 3).tolist() == [0]


@pytest.mark.parametrize(("points", "count"), [(np.ones((0, 2)), 1), (np.ones((2, 2)), 0)])
def test_anchors_need_points_and_a_number(points, count):
    with pytest.raises(InputError):
        find_anchors(points, count)


@given(seeds, st.integers(2, 5))
def test_separable_pairs_are_decomposed(seed, states):
    """The theorem behind it all, with probabilities instead of a sample."""
    generator = np.random.default_rng(seed)
    prior = generator.dirichlet(np.full(states, 3.0))
    first = np.vstack([np.eye(states), generator.random((10, states))])
    first /= first.sum(axis=0)
    second = generator.dirichlet(np.ones(9), size=states)
    pairs = first * prior @ second
    marginal = pairs.sum(axis=1)
    found = decompose_by_anchors(pairs / marginal[:, None], marginal, states)
    order = found.anchors  # the anchor of state h is row h
    assert sorted(order) == list(range(states))
    np.testing.assert_allclose(found.prior, prior[order], atol=1e-6)
    expected = (first * prior / marginal[:, None])[:, order]
    np.testing.assert_allclose(found.posterior, expected, atol=1e-6)


def test_only_candidates_become_anchors():
    points = np.array([[9.0], [0.0], [1.0], [0.5]])
    candidates = np.array([False, True, True, True])
    found = decompose_by_anchors(points, np.ones(4), 2, candidates)
    assert sorted(found.anchors) == [1, 2]
    np.testing.assert_allclose(found.posterior[0], points[found.anchors, 0], atol=1e-6)
