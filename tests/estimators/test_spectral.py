import numpy as np
import pytest
import scipy

from lpcfg import LexiconOptions, Noise, Transform, Tree, Treebank, embedded_trees
from lpcfg.errors import InputError
from lpcfg.estimators.features._cross_covariance import decompose_cross_covariance
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.features.node_features import FeatureMatrix
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.spectral.estimator import SpectralEstimator
from lpcfg.estimators.state_numbers import states_by_frequency
from support.latent_trees import (
    TRANSFORM,
    aligned,
    all_trees,
    estimator,
    inside_tree,
    latent_probabilities,
    outside_tree,
    sample,
    span_distance,
    tree_distance,
)


def distance(size, seed, **options):
    treebank = sample(size, seed)
    return tree_distance(estimator(**options).fit(treebank).grammar_, treebank)


def test_estimates_converge_to_the_true_tree_probabilities():
    few = np.mean([distance(2_000, seed) for seed in range(3)])
    many = np.mean([distance(100_000, seed) for seed in range(2)])
    assert many < 0.015
    assert many < few / 5


def test_the_defaults_converge_at_the_rate_of_sample_means():
    features = FeatureSet(inside=(inside_tree,), outside=(outside_tree,))
    sizes = (1_000, 5_000, 25_000)
    distances = [
        np.mean(
            [
                tree_distance(SpectralEstimator(features=features).fit(bank).grammar_, bank)
                for bank in (sample(size, seed) for seed in range(3))
            ]
        )
        for size in sizes
    ]
    slope, _ = np.polyfit(np.log(sizes), np.log(distances), 1)
    assert slope < -0.35
    assert distances[-1] < 0.03


def test_singular_vectors_do_not_depend_on_the_seed():
    rows = np.random.default_rng(5)
    inside, outside = (
        scipy.sparse.csr_array(
            (
                np.ones(1_200),
                (np.repeat(np.arange(400), 3), rows.integers(0, 90, 1_200)),
            ),
            shape=(400, 90),
        )
        for _ in range(2)
    )
    first, second = (
        decompose_cross_covariance(inside, outside, 5, np.random.default_rng(seed))
        for seed in range(2)
    )
    centred = inside.toarray() - inside.mean(axis=0)
    left, values, _ = np.linalg.svd(centred.T @ outside.toarray() / 400)
    np.testing.assert_allclose(first.values, values[:5], rtol=1e-6)
    cosines = np.linalg.svd(first.inside.T @ left[:, :5])[1]
    assert cosines.min() > 0.9999
    np.testing.assert_allclose(first.inside, second.inside, atol=1e-2)


def test_estimates_converge_to_the_true_span_probabilities():
    few, many = (
        np.mean(
            [span_distance(estimator().fit(sample(size, seed, True)).grammar_) for seed in range(2)]
        )
        for size in (1_000, 50_000)
    )
    assert many < 0.015
    assert many < few / 3


def test_one_state_is_not_enough_for_the_true_probabilities():
    assert distance(20_000, 0, states=(1, 1)) > 0.1
    grammar = estimator(states=(1, 1)).fit(sample(20_000, 0, ambiguous=True)).grammar_
    assert span_distance(grammar) > 0.1


def test_one_state_a_symbol_is_the_pcfg():
    treebank = Treebank.from_trees(embedded_trees(), transform=TRANSFORM)
    grammar = SpectralEstimator(states=(1, 1)).fit(treebank).grammar_
    pcfg = PCFGEstimator().fit(treebank).grammar_
    assert grammar.latent.states.max() == 1
    np.testing.assert_allclose(grammar.latent.binary, pcfg.binary_probabilities, rtol=1e-6)
    np.testing.assert_allclose(grammar.latent.emission_ratios, 1, rtol=1e-6)
    np.testing.assert_allclose(grammar.latent.roots, pcfg.roots, rtol=1e-6)


def test_unary_rules_are_refused():
    treebank = Treebank.from_trees(embedded_trees(), transform=Transform(collapse_root=False))
    with pytest.raises(InputError, match="collapse unary chains"):
        SpectralEstimator().fit(treebank)


def test_strong_smoothing_leads_back_to_the_pcfg():
    treebank = sample(2_000, 0)
    smooth = {"smoothing": 1e9, "word_smoothing": 1e9, "class_smoothing": 1e9}
    grammar = estimator(**smooth).fit(treebank).grammar_
    bank = aligned(all_trees()[0], treebank)
    pcfg = estimator(states=(1, 1)).fit(treebank).grammar_
    np.testing.assert_allclose(
        latent_probabilities(grammar, bank), latent_probabilities(pcfg, bank), rtol=1e-4
    )


def test_the_same_seed_gives_the_same_grammar_to_the_bit():
    treebank = Treebank.from_trees(embedded_trees())
    several = SpectralEstimator(min_count=2, full_count=10)
    first, second = (several.fit(treebank).grammar_.latent for _ in range(2))
    assert first.states.max() > 1
    for name, array in first.arrays.items():
        assert array.tobytes() == second.arrays[name].tobytes()


def test_directions_that_are_only_rounding_errors_are_dropped():
    def parity(nodes):
        return nodes.word % 2

    features = FeatureSet(inside=(inside_tree, inside_tree, parity), outside=(parity, parity))
    treebank = sample(2_000, 1)
    fine = estimator(features=features, states=(16, 16), tolerance=1e-9)
    latent = fine.fit(treebank).grammar_.latent
    # The words of a preterminal have two parities; other nodes have none.
    assert sorted(latent.states.tolist()) == [1, 1, 1, 2, 2]
    assert np.abs(latent.binary).max() < 100


def test_grammars_of_a_decomposition_equal_fits_with_as_many_states():
    treebank = sample(2_000, 2)
    decomposition = estimator().decompose(treebank, states=(2, 2))
    bank = aligned(all_trees()[0], treebank)
    np.testing.assert_allclose(
        latent_probabilities(decomposition.grammar(states=(2, 1)), bank),
        latent_probabilities(estimator(states=(2, 1)).fit(treebank).grammar_, bank),
        rtol=1e-3,
        atol=1e-6,
    )


def test_rare_words_may_all_be_replaced_by_their_classes():
    treebank = Treebank.from_trees(embedded_trees())
    lexicon = LexiconOptions.plain(rare=10**6)
    latent = SpectralEstimator(lexicon=lexicon).fit(treebank).grammar_.latent
    assert np.isfinite(latent.emission_ratios).all()


def test_tag_emissions_are_sums_over_words():
    grammar = (
        SpectralEstimator(min_count=2, full_count=10)
        .fit(Treebank.from_trees(embedded_trees()))
        .grammar_
    )
    latent, lexicon = grammar.latent, grammar.lexicon
    starts, places = latent.ratio_offsets, latent.state_offsets
    for symbol in np.unique(lexicon.symbols).tolist():
        entries = np.flatnonzero(lexicon.symbols == symbol)
        rows = latent.entry_ratios[entries]
        assert set(latent.ratio_symbols[rows].tolist()) == {symbol}
        vectors = (latent.emission_ratios[starts[row] : starts[row + 1]] for row in rows)
        total = sum(map(np.multiply, lexicon.probabilities[entries], vectors))
        own = latent.tag_emissions[places[symbol] : places[symbol + 1]]
        np.testing.assert_allclose(own, total, atol=1e-5)


def test_tensors_are_the_interpolated_moments_of_their_nodes():
    treebank = sample(500, 3)
    decomposition = estimator().decompose(treebank)
    grammar = decomposition.grammar(smoothing=3.0, ridge=0.1)
    projections = decomposition.projections
    inside = projections.inside
    outside = projections.outside * projections.shrinkage(0.1)[treebank.symbol]
    offsets = grammar.latent.tensor_offsets(grammar.binary_rules)
    for row, rule in enumerate(grammar.binary_rules):
        own = treebank.right >= 0
        for column, symbol in zip((None, treebank.left, treebank.right), rule, strict=True):
            own &= treebank.symbol[... if column is None else column] == symbol
        nodes = np.flatnonzero(own)
        a, b, c = grammar.latent.states[rule]
        z = outside[nodes, :a]
        y, x = inside[treebank.left[nodes], :b], inside[treebank.right[nodes], :c]
        mean_z, mean_y, mean_x = z.mean(0), y.mean(0), x.mean(0)
        n = len(nodes)
        third = np.einsum("ni,nj,nk->ijk", z, y, x) / n
        second = (
            np.einsum("ni,nj,k->ijk", z, y, mean_x)
            + np.einsum("ni,j,nk->ijk", z, mean_y, x)
            + np.einsum("i,nj,nk->ijk", mean_z, y, x)
        ) / (3 * n)
        first = np.einsum("i,j,k->ijk", mean_z, mean_y, mean_x)
        none = np.zeros_like(first)
        none[0, 0, 0] = 1
        w = np.sqrt(n) / (3.0 + np.sqrt(n))
        moment = w * third + (1 - w) * (w * second + (1 - w) * (w * first + (1 - w) * none))
        found = grammar.latent.binary[offsets[row] : offsets[row + 1]].reshape(a, b, c)
        expected = grammar.binary_probabilities[row] * moment
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_states_grow_with_frequency():
    counts = np.array([1, 10, 11, 55, 99, 100, 10_000])
    states = states_by_frequency(counts, np.full(7, 16))
    assert states[0] == states[1] == 1
    assert states[-1] == states[-2] == 16
    assert np.all(np.diff(states) >= 0)


def test_features_are_scaled_by_their_frequency_in_the_symbol():
    symbol = np.array([0, 0, 1, 0, 1])
    matrix = FeatureMatrix.build(symbol, [np.array([5, 5, 5, 9, 5])], kappa=1)
    first, second = matrix.block(0).toarray(), matrix.block(1).toarray()
    assert sorted(first.sum(axis=1)) == pytest.approx([1, 1, np.sqrt(3 / 2)])
    assert second.tolist() == pytest.approx([np.sqrt(2 / 3)] * 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": (0, 4)}, r"states must be a pair, each an integer from 1 .*, not \(0, 4\)"),
        ({"min_count": 9, "full_count": 3}, "min_count must be at most full_count, 3, not 9"),
        ({"smoothing": -1}, "smoothing must be a number from 0, not -1"),
        ({"ridge": "high"}, "ridge must be a number from 0, not 'high'"),
        ({"tolerance": float("nan")}, "tolerance must be a number from 0, not nan"),
    ],
)
def test_impossible_parameters_are_refused_by_fit_and_by_a_decomposition(options, message):
    treebank = Treebank.from_trees([Tree("NN", "rain")])
    with pytest.raises(InputError, match=f"^SpectralEstimator: {message}"):
        SpectralEstimator(**options).fit(treebank)
    with pytest.raises(InputError, match=f"^SpectralEstimator: {message}"):
        SpectralEstimator().decompose(treebank).grammar(**options)


def test_a_decomposition_makes_grammars_with_other_hyperparameters_only():
    decomposition = SpectralEstimator(ridge=0.3).decompose(Treebank.from_trees(embedded_trees()))
    grammar = decomposition.grammar(states=(4, 4))
    assert grammar.provenance["ridge"] == 0.3
    assert grammar.provenance["states"] == [4, 4]
    with pytest.raises(InputError, match="features cannot be changed after the decomposition"):
        decomposition.grammar(features="full")
    with pytest.raises(InputError, match="a decomposition has no noise"):
        SpectralEstimator(noise=Noise("add", 0.1)).decompose(decomposition.projected.treebank)


def test_unknown_feature_groups_are_named():
    with pytest.raises(InputError, match="'colour'"):
        FeatureSet(inside=("colour",), outside=("parent",))
    with pytest.raises(InputError, match="'tiny'"):
        SpectralEstimator(features="tiny").fit(Treebank.from_trees([Tree("NN", "rain")]))
