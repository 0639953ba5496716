"""L-PCFGs by clustering: the clusters, the counts, and their smoothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import lpcfg
import support.latent_trees as known
from lpcfg import ClusteringEstimator, InputError, PCFGEstimator, Treebank
from lpcfg.estimators.clustering._clusters import NodeClusters, cluster_nodes
from lpcfg.estimators.clustering._state_frequencies import StateFrequencies
from lpcfg.estimators.features.lexical_rules import LexicalRules
from lpcfg.estimators.features.node_projections import NodeProjections
from lpcfg.grammar.notation import read_rules
from lpcfg.grammar.sampling import sample_trees

BANK = Treebank.from_trees(lpcfg.embedded_trees())
BACKBONE = PCFGEstimator().fit(BANK).grammar_
WORDS = LexicalRules(BANK, BACKBONE.lexicon, rare=20)
SMALL = {"states": (4, 4), "min_count": 5, "full_count": 50}

# What comes after the slash is the state, which a tree does not show. The inside of every node
# tells it, and so does the outside.
RULES = """
S -> A/1 B/1 [0.55] | A/2 B/2 [0.45]
A/1 -> P/1 Q/1 [0.8] | Q/2 P/1 [0.2]
A/2 -> P/2 Q/2 [0.3] | Q/2 P/2 [0.7]
B/1 -> P/1 Q/2 [0.6] | Q/1 P/1 [0.4]
B/2 -> P/2 Q/1 [0.2] | Q/2 P/2 [0.8]
P/1 -> 'a' [0.5] | 'b' [0.3] | 'c' [0.2]
P/2 -> 'd' [0.5] | 'e' [0.5]
Q/1 -> 'f' [0.9] | 'g' [0.1]
Q/2 -> 'h' [0.4] | 'i' [0.6]
"""


def test_well_separated_states_are_found():
    trees = sample_trees(read_rules(RULES), 2_000, seed=1)
    refined = Treebank.from_trees(trees, cleaning=False, transform=known.TRANSFORM)
    bank = Treebank.from_trees(map(known.plain, trees), cleaning=False, transform=known.TRANSFORM)
    exact = known.estimator(states=(1, 1))
    estimator = ClusteringEstimator(
        features=exact.features, lexicon=exact.lexicon, states=(2, 2), rank=1, smoothing=0
    )
    projected = estimator.project(bank)
    most = np.full(len(bank.symbols), 2)
    found = cluster_nodes(bank.symbol, projected.projections, most, np.random.default_rng(0))
    (cluster,) = found.cluster
    for symbol, name in enumerate(bank.symbols):
        own = bank.symbol == symbol
        assert adjusted_rand_score(refined.symbol[own], cluster[own]) == 1, name
    # With the right states, trees are as likely as counting rules of refined labels makes them.
    expected = known.latent_probabilities(exact.fit(refined).grammar_, refined)
    grammar = replace(estimator, word_smoothing=0, class_smoothing=0).estimate_projected(projected)
    np.testing.assert_allclose(known.latent_probabilities(grammar, bank), expected, rtol=1e-3)


def test_the_same_seed_gives_the_same_grammar_to_the_bit_whatever_the_threads():
    grammars = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            grammars.append(ClusteringEstimator(**SMALL, restarts=2).fit(BANK).grammar_)
    first, second = (grammar.latent.arrays for grammar in grammars)
    assert first["states"].max() == 5
    for name, values in first.items():
        assert values.tobytes() == second[name].tobytes(), name
    other = ClusteringEstimator(**SMALL, restarts=2, random_state=1).fit(BANK).grammar_
    assert other.latent.binary.tobytes() != first["binary"].tobytes()


def test_one_state_is_the_pcfg():
    grammar = ClusteringEstimator(states=(1, 1)).fit(BANK).grammar_
    assert grammar.latent.states.max() == 1
    np.testing.assert_allclose(grammar.latent.binary, BACKBONE.binary_probabilities, rtol=1e-6)
    np.testing.assert_allclose(grammar.latent.emission_ratios, 1, rtol=1e-5)


def random_frequencies(seed: int, smoothing: float, choices: int) -> StateFrequencies:
    """Counts of the embedded trees with random clusters, none of them empty."""
    generator = np.random.default_rng(seed)
    cluster = np.zeros((choices, len(BANK.symbol)), dtype=np.int64)
    for symbol in range(len(BANK.symbols)):
        own = np.flatnonzero(BANK.symbol == symbol)
        first = generator.integers(3, size=len(own))
        # The choices of a node differ, or are all the same.
        several = (first + np.arange(choices)[:, None]) % 3 if len(own) > 2 else first
        cluster[:, own] = np.unique(several, return_inverse=True)[1]
    share = generator.dirichlet(np.ones(choices), size=len(BANK.symbol)).T
    for first, second in combinations(range(choices), 2):
        share[second, cluster[first] == cluster[second]] = 0
    share /= share.sum(axis=0)
    return StateFrequencies(BANK, BACKBONE, WORDS, NodeClusters(cluster, share), smoothing)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 1.0, 5.0, 1e9]), st.sampled_from([1, 2, 3]))
def test_probabilities_of_every_state_add_up_to_one(seed, smoothing, choices):
    frequencies = random_frequencies(seed, smoothing, choices)
    latent = frequencies.latent_states(2.0, 2.0)
    assert latent.roots.sum() == pytest.approx(1)
    states, starts = latent.states.astype(int), latent.state_offsets
    totals = np.zeros(starts[-1])
    dense = latent.dense(BACKBONE.binary_rules)
    begins = dense.tensor_offsets(BACKBONE.binary_rules)
    for (a, b, c), start, end in zip(BACKBONE.binary_rules, begins, begins[1:], strict=False):
        tensor = dense.binary[start:end].reshape(states[a], states[b], states[c])
        totals[starts[a] : starts[a + 1]] += tensor.sum(axis=(1, 2))
    ratio_starts = latent.ratio_offsets
    lexicon = BACKBONE.lexicon
    for symbol, p, row in zip(
        lexicon.symbols, lexicon.probabilities, latent.entry_ratios, strict=True
    ):
        ratio = latent.emission_ratios[ratio_starts[row] : ratio_starts[row + 1]]
        totals[starts[symbol] : starts[symbol + 1]] += p * ratio
    np.testing.assert_allclose(totals, 1, rtol=1e-4)


@pytest.mark.parametrize("choices", [1, 2])
@pytest.mark.parametrize("smoothing", [0.0, 2.0])
def test_tensors_are_what_counting_node_by_node_gives(smoothing, choices):
    frequencies = random_frequencies(3, smoothing, choices)
    whole, symbol = frequencies.has_backoff, BANK.symbol
    shares = [
        {state: share for state, share in zip(states, shares, strict=True) if share > 0}
        for states, shares in zip(frequencies.state.T, frequencies.responsibility.T, strict=True)
    ]
    # Where there is a state for all nodes, each of them counts for that one too.
    counted = [own | ({0: 1.0} if whole[symbol[node]] else {}) for node, own in enumerate(shares)]
    uses, totals = Counter(), Counter()
    inner = [node for node in range(len(symbol)) if BANK.right[node] >= 0]
    rules = {
        node: (symbol[node], symbol[BANK.left[node]], symbol[BANK.right[node]]) for node in inner
    }
    for node, own in enumerate(counted):
        for state, share in own.items():
            totals[symbol[node], state] += share
            if node in rules:
                uses[*rules[node], state] += share
    expected = defaultdict(float)
    for node in inner:
        rule = rules[node]
        for state, share in counted[node].items():
            n = np.sqrt(uses[*rule, state])
            weight = n / (smoothing + n)
            left, right = (
                {own: part * weight for own, part in shares[child].items()} | {0: 1 - weight}
                if whole[symbol[child]]
                else shares[child]
                for child in (BANK.left[node], BANK.right[node])
            )
            for (j, p), (k, q) in product(left.items(), right.items()):
                expected[rule, state, j, k] += share * p * q / totals[symbol[node], state]
    dense = frequencies.latent_states().dense(BACKBONE.binary_rules)
    begins = dense.tensor_offsets(BACKBONE.binary_rules)
    found = {}
    for rule, start, end in zip(BACKBONE.binary_rules, begins, begins[1:], strict=False):
        tensor = dense.binary[start:end].reshape(dense.states[rule])
        for place in zip(*np.nonzero(tensor), strict=True):
            found[tuple(rule), *place] = tensor[place]
    assert found.keys() == {key for key, value in expected.items() if value > 0}
    for key, value in found.items():
        assert value == pytest.approx(expected[key], rel=1e-5)


def test_strong_smoothing_leads_back_to_the_pcfg():
    bank = known.sample(2_000, 0)
    smooth = {"smoothing": 1e9, "word_smoothing": 1e9, "class_smoothing": 1e9}
    options = known.estimator()
    exact = {"features": options.features, "lexicon": options.lexicon}
    grammar = ClusteringEstimator(states=(3, 3), **smooth, **exact).fit(bank).grammar_
    assert grammar.latent.states.max() == 4
    pcfg = ClusteringEstimator(states=(1, 1), **exact).fit(bank).grammar_
    trees = known.aligned(known.all_trees()[0], bank)
    np.testing.assert_allclose(
        known.latent_probabilities(grammar, trees),
        known.latent_probabilities(pcfg, trees),
        rtol=1e-4,
    )


def test_clusters_are_numbered_by_size_and_no_more_than_points_differ():
    rows = np.repeat(np.array([[0], [1], [5]], dtype=np.float32), [2, 5, 4], axis=0)
    projections = NodeProjections(rows, rows, np.ones((1, 1)), *np.ones((2, 1)))
    symbol, generator = np.zeros(len(rows), dtype=int), np.random.default_rng(0)
    found = cluster_nodes(symbol, projections, np.array([8]), generator)
    assert found.cluster.tolist() == [[2] * 2 + [0] * 5 + [1] * 4]


def test_a_node_is_in_each_cluster_as_far_as_its_gaussian_says():
    generator = np.random.default_rng(1)
    # Two heaps that overlap, one twice the other, and far away a third.
    centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 15.0]], [400, 200, 100], axis=0)
    points = (centres + generator.standard_normal(centres.shape)).astype(np.float32)
    projections = NodeProjections(points[:, :1], points[:, 1:], np.ones((1, 1)), *np.ones((2, 1)))
    symbol, most = np.zeros(len(points), dtype=int), np.array([3])
    hard = cluster_nodes(symbol, projections, most, np.random.default_rng(0))
    soft = cluster_nodes(symbol, projections, most, np.random.default_rng(0), variance_scale=1.0)
    assert len(soft.responsibility) == 2  # no node is between all three
    np.testing.assert_allclose(soft.responsibility.sum(axis=0), 1)
    (cluster,) = hard.cluster
    means = np.stack([points[cluster == number].mean(axis=0) for number in range(3)])
    squares = np.square(points[:, None] - means).sum(axis=2)
    variance = squares.min(axis=1).mean() / 2
    density = np.bincount(cluster) * np.exp(-squares / (2 * variance))
    expected = density / density.sum(axis=1, keepdims=True)
    expected[expected < 0.05] = 0
    expected /= expected.sum(axis=1, keepdims=True)
    found = np.zeros_like(expected)
    for numbers, shares in zip(soft.cluster, soft.responsibility, strict=True):
        found[np.arange(len(points)), numbers] += shares
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert 10 < np.count_nonzero(soft.responsibility[1]) < 200


def test_a_grammar_parses_and_survives_a_file(tmp_path):
    grammar = ClusteringEstimator(**SMALL).fit(BANK).grammar_
    lpcfg.save(grammar, tmp_path / "clusters.lpcfg")
    loaded = lpcfg.load(tmp_path / "clusters.lpcfg")
    gold = BANK.trees()[:50]
    f1 = [
        lpcfg.evaluate_parser(lpcfg.Parser(g, n_jobs=1), gold).scores.f1
        for g in (grammar, loaded, BACKBONE)
    ]
    assert f1[0] == f1[1] >= f1[2]
    assert loaded.provenance["estimator"] == "clustering"


def soft_clusters(points, most, variance_scale):
    rows = np.asarray(points, dtype=np.float32).reshape(-1, 1)
    projections = NodeProjections(rows, rows, np.ones((1, 1)), *np.ones((2, 1)))
    symbol, generator = np.zeros(len(rows), dtype=int), np.random.default_rng(0)
    return cluster_nodes(
        symbol, projections, np.array([most]), generator, variance_scale=variance_scale
    )


@pytest.mark.parametrize("variance_scale", [0.0, 1.0, 50.0, 1e6])
@pytest.mark.parametrize("most", [2, 24])
def test_every_node_is_in_a_cluster_and_every_cluster_has_a_node(variance_scale, most):
    points = np.random.default_rng(0).normal(size=600)
    found = soft_clusters(points, most, variance_scale)
    np.testing.assert_allclose(found.responsibility.sum(axis=0), 1)
    assert 1 <= len(found.responsibility) <= 4
    used = np.unique(found.cluster[found.responsibility > 0])
    np.testing.assert_array_equal(used, np.arange(len(used)))
    # The largest come first.
    sizes = np.bincount(found.cluster.ravel(), found.responsibility.ravel())
    assert (np.diff(sizes) < 1e-6).all()


def test_points_that_hardly_differ_are_clustered():
    points = [0.0, -0.0, 1.0, 1.0 + 1e-7]
    found = soft_clusters(points, 3, 1.0)
    assert found.cluster[0, 0] == found.cluster[0, 1] != found.cluster[0, 2]


@pytest.mark.parametrize(
    "options",
    [
        {"states": (0, 1)},
        {"rank": 0},
        {"restarts": 0},
        {"min_count": 9, "full_count": 3},
        {"smoothing": -1},
        {"variance_scale": -1},
        {"variance_scale": np.inf},
    ],
)
def test_impossible_parameters_are_refused(options):
    with pytest.raises(InputError, match=f"ClusteringEstimator: {next(iter(options))} must be"):
        ClusteringEstimator(**options).fit(BANK)
