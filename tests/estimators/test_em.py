"""EM over the latent states of trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lpcfg
import support.latent_trees as known
from lpcfg import EMEstimator, PCFGEstimator, Smoothing
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import smooth_rules
from lpcfg.estimators.em.state_parameters import StateMap, StateParameters, map_states

BANK = lpcfg.Treebank.from_trees(lpcfg.embedded_trees())
BACKBONE = PCFGEstimator().fit(BANK).grammar_
TREES = LatentTrees(BANK, BACKBONE, Smoothing.none())


def fit(bank=BANK, **options):
    chosen = {"states": (2, 2), "iterations": 8, "min_count": 1, "full_count": 10, **options}
    return EMEstimator(**chosen).fit(bank)


def random_parameters(seed: int) -> StateParameters:
    """Parameters over random numbers of states, as after some EM."""
    generator = np.random.default_rng(seed)
    states = generator.integers(1, 4, len(BANK.symbols))
    maps = [
        StateMap(generator.random((m, 1), np.float32), np.full((1, m), 1 / m, np.float32))
        for m in states.tolist()
    ]
    drawn = map_states(TREES.one_state(), maps, BACKBONE.binary_rules, TREES.lexical_rules.symbols)
    noise = generator.random(len(drawn.binary), np.float32)
    return replace(drawn, binary=drawn.binary * noise)


def test_one_state_has_the_likelihood_of_the_pcfg():
    expectations = TREES.expect(TREES.one_state())
    latent = TREES.grammar(TREES.one_state())
    expected = known.latent_probabilities(latent, BANK)
    np.testing.assert_allclose(expectations.log_probabilities, np.log(expected), rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_start_is_a_distribution(seed):
    estimator = EMEstimator(states=(3, 2), min_count=1, full_count=10)
    start = estimator.initial_parameters(TREES, BANK, np.random.default_rng(seed))
    again = TREES.normalised(start)
    for name in ("roots", "binary", "emission_ratios"):
        np.testing.assert_allclose(getattr(again, name), getattr(start, name), rtol=1e-4)
    assert start.roots.sum() == pytest.approx(1, rel=1e-5)
    # All derivations of a tree with states have less probability than one.
    assert np.all(TREES.expect(start).log_probabilities < 0)
    rules = TREES.backbone.binary_rules
    sums = np.zeros(len(start.states))
    for rule, tensor in zip(rules.tolist(), start.tensors(rules), strict=True):
        sums[rule[0]] += tensor[-1].sum()
    shares = np.bincount(rules[:, 0], TREES.backbone.binary_probabilities, len(sums))
    np.testing.assert_allclose(sums, shares, rtol=1e-4)


def test_the_likelihood_never_falls():
    likelihoods = fit(smoothing=Smoothing.none(), iterations=25).log_likelihoods_
    gains = np.diff(likelihoods)
    assert gains.min() > -1e-3
    assert gains.sum() > 1.0


def test_trees_have_the_probabilities_that_em_says():
    estimator = fit(smoothing=Smoothing.none(), iterations=40)
    final = np.log(known.latent_probabilities(estimator.grammar_, BANK)).sum()
    # The grammar is the one after the last iteration, whose likelihood is no lower.
    assert final >= estimator.log_likelihoods_[-1] - 1e-2


@pytest.mark.slow
def test_em_finds_the_true_probabilities_of_trees():
    distances = []
    for size in (300, 10_000):
        bank = known.sample(size, seed=1)
        smoothing = Smoothing(rules=0.0, words=0.0, classes=0.0, rare=0)
        options = {"lexicon": lpcfg.LexiconOptions.plain(rare=0), "smoothing": smoothing}
        # One start may end in a local optimum; the likeliest of a few does not.
        fits = [fit(bank, iterations=120, random_state=seed, **options) for seed in range(3)]
        best = max(fits, key=lambda estimator: estimator.log_likelihoods_[-1])
        distances.append(known.tree_distance(best.grammar_, bank))
    assert distances[1] < 0.5 * distances[0]
    assert distances[1] < 0.03


def test_the_result_depends_on_the_seed_and_not_on_threads():
    first, again = (fit(n_jobs=jobs).grammar_.latent.arrays for jobs in (1, 3))
    other = fit(random_state=1).grammar_.latent.arrays
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name])
    assert not np.array_equal(first["binary"], other["binary"])


def test_training_goes_on_from_a_saved_grammar(tmp_path):
    smoothing = Smoothing.none()
    lpcfg.save(fit(iterations=5, smoothing=smoothing).grammar_, tmp_path / "five.lpcfg")
    start = lpcfg.load(tmp_path / "five.lpcfg")
    rest = fit(iterations=5, start=start, smoothing=smoothing)
    whole = fit(iterations=10, smoothing=smoothing)
    # The words of a saved grammar were counted once more, so that it is a little ahead.
    assert rest.log_likelihoods_[0] > whole.log_likelihoods_[5]
    assert rest.log_likelihoods_[0] < whole.log_likelihoods_[6]
    assert rest.grammar_.provenance["start"]["estimator"] == "em"


def test_grammars_without_probabilities_or_of_other_trees_are_no_start():
    spectral = lpcfg.SpectralEstimator().fit(BANK).grammar_
    with pytest.raises(lpcfg.GrammarError, match="EM needs probabilities to start from"):
        fit(start=spectral)
    other = PCFGEstimator().fit(known.sample(20, seed=0)).grammar_
    with pytest.raises(lpcfg.GrammarError, match="same transform"):
        fit(start=other)
    lacking = replace(BACKBONE, binary_rules=BACKBONE.binary_rules[1:])
    with pytest.raises(lpcfg.GrammarError, match="lacks rules"):
        fit(start=lacking)


def test_crf_models_are_no_start():
    crf = lpcfg.CRFEstimator(epochs=0, bits=8).fit(BANK).grammar_
    with pytest.raises(lpcfg.InputError, match="weights of features"):
        fit(start=crf)


def test_neural_models_are_no_start():
    # Its grammar would be trained, but the network would parse in place of it.
    sizes = {"word_size": 4, "character_states": 2, "word_states": 4, "span_size": 4}
    neural = lpcfg.NeuralEstimator(epochs=0, n_jobs=1, **sizes).fit(BANK).grammar_
    with pytest.raises(lpcfg.InputError, match="a neural model has a network"):
        fit(start=neural)


def test_training_stops_when_held_out_trees_become_no_likelier():
    estimator = fit(held_out=0.3, iterations=600, patience=2)
    scores = estimator.scores_
    assert len(scores) < 600
    assert len(scores) - 1 - np.argmax(scores) == 2
    assert np.isfinite(scores).all()


def test_a_monitor_chooses_the_iteration():
    seen = []

    def monitor(grammar):
        seen.append(grammar)
        return -abs(len(seen) - 3)

    estimator = fit(monitor=monitor, patience=2, iterations=50)
    assert estimator.scores_ == [-2, -1, 0, -1, -2]
    chosen, third = estimator.grammar_.latent.arrays, seen[2].latent.arrays
    np.testing.assert_array_equal(chosen["binary"], third["binary"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": (0, 1)}, "states must be a pair"),
        ({"held_out": 1.0}, "held_out must be a number from 0 to below 1, not 1.0"),
        ({"iterations": -1}, "iterations must be an integer from 0"),
        ({"symmetry_breaking": 1.5}, "symmetry_breaking must be a number from 0 to below 1"),
        ({"held_out": 0.1, "monitor": lambda grammar: 0.0}, "monitor must be None"),
        ({"start": "model.lpcfg"}, "start must be a Grammar or None"),
        ({"min_count": 11}, "min_count must be at most full_count, 10, not 11"),
    ],
)
def test_impossible_parameters_are_refused(options, message):
    with pytest.raises(lpcfg.InputError, match=f"EMEstimator: {message}"):
        fit(**options)


def test_words_and_rules_of_each_state_add_up_to_one():
    grammar = fit(smoothing=Smoothing()).grammar_
    latent, rules = grammar.latent, grammar.binary_rules
    starts = latent.state_offsets
    totals = latent.tag_emissions.astype(float)
    parameters = StateParameters(
        latent.states.astype(np.int64), latent.roots, latent.dense(rules).binary, *[np.ones(1)] * 2
    )
    for rule, tensor in zip(rules, parameters.tensors(rules), strict=True):
        totals[starts[rule[0]] : starts[rule[0] + 1]] += tensor.sum(axis=(1, 2))
    np.testing.assert_allclose(totals, 1, atol=1e-4)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_splitting_changes_no_probability_and_merging_undoes_it(seed):
    parameters = random_parameters(seed)
    rules, symbols = BACKBONE.binary_rules, TREES.lexical_rules.symbols
    split = map_states(parameters, [StateMap.split(m) for m in parameters.states], rules, symbols)
    before, after = (TREES.expect(each).log_probabilities for each in (parameters, split))
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)
    losses = TREES.merge_losses(split)
    np.testing.assert_allclose(losses, 0, atol=1e-3)
    maps = [
        StateMap.merge(np.tile([True, False], m), np.full(2 * m, 0.5 / m))
        for m in parameters.states.tolist()
    ]
    merged = map_states(split, maps, rules, symbols)
    np.testing.assert_array_equal(merged.states, parameters.states)
    for name in ("roots", "binary", "emission_ratios"):
        np.testing.assert_allclose(
            getattr(merged, name), getattr(parameters, name), rtol=1e-4, atol=1e-6
        )


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000), smoothing=st.floats(0, 1e6))
def test_smoothed_rules_keep_their_sums(seed, smoothing):
    parameters = TREES.maximise(
        TREES.expect(random_parameters(seed)), random_parameters(seed).states
    )
    rules = BACKBONE.binary_rules
    counts = np.full(len(rules), 4)
    binary = smooth_rules(parameters, rules, counts, BACKBONE.binary_probabilities, smoothing)
    smoothed = replace(parameters, binary=binary)
    sums = np.zeros(parameters.states.sum())
    starts = np.concatenate([[0], np.cumsum(parameters.states)])
    for rule, tensor in zip(rules, smoothed.tensors(rules), strict=True):
        sums[starts[rule[0]] : starts[rule[0] + 1]] += tensor.sum(axis=(1, 2))
    used = np.repeat(np.isin(np.arange(len(BANK.symbols)), rules[:, 0]), parameters.states)
    np.testing.assert_allclose(sums[used], 1, atol=1e-3)
    if smoothing == 0:
        np.testing.assert_allclose(binary, parameters.binary, rtol=1e-3, atol=1e-6)
