import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from lpcfg.cli.main import main
from lpcfg.errors import InputError, ModelFileError
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import save
from lpcfg.lm import AggregateBigram, PivotOptions, Vocabulary
from lpcfg.lm.aggregate_em import Stopping, random_start, refine
from lpcfg.lm.aggregate_pivot import pivot_start

SENTENCE = "the dog saw the cat and the cat saw the bird and the bird sang"
TEXT = SENTENCE.split()
EXACT = PivotOptions(kappa=0, anchor_share=0.05, smoothing=0, backoff=0, iterations=100)


def true_model(states, words):
    """Distributions in which every state has a word of its own, as the pivot method assumes."""
    generator = np.random.default_rng(7)
    of_states = generator.dirichlet(np.full(states, 0.4), size=words)
    of_words = generator.dirichlet(np.full(words, 0.5), size=states).T
    of_words[:states] = 0.1 * np.eye(states)
    return of_states, of_words / of_words.sum(axis=0)


def sample(size, seed, states=3, words=20):
    """Counts of pairs whose first words are all as frequent, and the true P(second | first)."""
    of_states, of_words = true_model(states, words)
    truth = of_states @ of_words.T
    generator = np.random.default_rng(seed)
    pairs = generator.multinomial(size // words, truth)
    return scipy.sparse.csr_array(pairs.astype(np.float32)), truth


def distance(factors, truth):
    """Mean total variation distance between the rows of conditional probabilities."""
    return np.abs(factors.states @ factors.words.T - truth).sum(axis=1).mean() / 2


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(0, 1000), st.floats(0.01, 100))
def test_likelihood_never_falls_and_distributions_stay_so(states, seed, symmetry_breaking):
    counts, _ = sample(500, seed)
    start = random_start(counts, states, symmetry_breaking, np.random.default_rng(seed))
    found = refine(counts, start, Stopping(25, tolerance=-np.inf))
    assert len(found.log_likelihoods) == found.iterations == 25
    assert np.diff(found.log_likelihoods).min() > -1e-5
    np.testing.assert_allclose(found.factors.states.sum(axis=1), 1, rtol=1e-4)
    np.testing.assert_allclose(found.factors.words.sum(axis=0), 1, rtol=1e-4)


def test_likelihood_is_that_of_the_probabilities():
    model = AggregateBigram(3, min_count=1).fit([TEXT, ["the", "cat"]])
    pairs = [*pairwise(TEXT), ("the", "cat")]
    logs = [np.log(model.probabilities([a], [b]).item()) for a, b in pairs]
    assert model.score([TEXT, ["the", "cat"]]) == pytest.approx(np.mean(logs), abs=1e-5)
    assert model.perplexity([TEXT]) == pytest.approx(np.exp(-np.mean(logs[:-1])), rel=1e-5)


def test_em_recovers_the_model_that_words_were_drawn_from():
    distances = []
    for size in (4_000, 400_000):
        counts, truth = sample(size, seed=1)
        starts = [random_start(counts, 3, 1.0, np.random.default_rng(seed)) for seed in range(3)]
        runs = [refine(counts, start, Stopping(400, tolerance=1e-7)) for start in starts]
        distances.append(distance(max(runs, key=lambda run: run.score).factors, truth))
    assert distances[1] < 0.01
    assert distances[1] < distances[0] / 4


def test_pivot_recovers_parameters_up_to_a_permutation():
    of_states, of_words = true_model(3, 20)
    errors = []
    for size in (20_000, 2_000_000):
        counts, _ = sample(size, seed=2)
        found = pivot_start(counts, 3, EXACT, seed=0)
        # The word of its own that each state has tells which state it is.
        order = found.words[:3].argmax(axis=0)
        assert sorted(order) == [0, 1, 2]
        errors.append(
            np.abs(found.words - of_words[:, order]).sum(axis=0).mean()
            + np.abs(found.states - of_states[:, order]).sum(axis=1).mean()
        )
    assert errors[1] < 0.06
    assert errors[1] < errors[0] / 4


def test_strong_backoff_makes_all_words_alike():
    counts, _ = sample(20_000, seed=2)
    found = pivot_start(counts, 3, replace(EXACT, backoff=1e9), seed=0)
    np.testing.assert_allclose(found.states, np.tile(found.states[0], (20, 1)), atol=1e-4)
    loose = pivot_start(counts, 3, EXACT, seed=0)
    assert np.ptp(loose.states, axis=0).min() > 0.5


def test_pivot_saves_em_iterations():
    counts, truth = sample(400_000, seed=3)
    stopping = Stopping(5000, tolerance=1e-6)
    start = pivot_start(counts, 3, replace(EXACT, iterations=20), seed=0)
    after_pivot = refine(counts, start, stopping)
    alone = refine(counts, random_start(counts, 3, 1.0, np.random.default_rng(0)), stopping)
    assert after_pivot.iterations < alone.iterations / 2
    assert distance(after_pivot.factors, truth) < 0.01


def test_with_held_out_words_the_best_iteration_counts():
    counts, _ = sample(600, seed=0)
    held_out, _ = sample(600, seed=1)
    start = random_start(counts, 6, 1.0, np.random.default_rng(0))
    found = refine(counts, start, Stopping(200, patience=4), held_out)
    assert found.iterations == int(np.argmax(found.held_out))
    assert found.score == max(found.held_out)
    assert len(found.held_out) == found.iterations + 5
    again = refine(counts, start, Stopping(found.iterations, tolerance=-np.inf))
    np.testing.assert_array_equal(again.factors.words, found.factors.words)


def test_restarts_keep_the_best():
    one = AggregateBigram(4, min_count=1).fit([TEXT])
    many = AggregateBigram(4, min_count=1, restarts=5).fit([TEXT])
    assert many.score([TEXT]) >= one.score([TEXT])


@pytest.mark.parametrize("method", ["em", "pivot", "pivot+em"])
def test_the_seed_decides_and_the_number_of_threads_does_not(method):
    first, second = (
        AggregateBigram(3, n_jobs=n_jobs).fit([TEXT], method).factors_ for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(first.states, second.states)
    np.testing.assert_array_equal(first.words, second.words)


@pytest.mark.parametrize("method", ["em", "pivot", "pivot+em"])
@pytest.mark.parametrize("states", [1, 2, 40])
def test_any_number_of_states_will_do(method, states):
    model = AggregateBigram(states, min_count=1).fit([TEXT], method)
    assert model.factors_.states.shape == (len(set(TEXT)) + 1, states)
    assert np.isfinite(model.perplexity([TEXT]))
    if states == 1:
        following = model.probabilities(["sang"], sorted(set(TEXT)))
        counts = [TEXT[1:].count(word) for word in sorted(set(TEXT))]
        np.testing.assert_allclose(following[0], np.array(counts) / sum(counts), rtol=1e-5)


def test_unknown_words_are_one_word_before_others_and_left_out_after_them():
    model = AggregateBigram(2).fit([TEXT])
    assert "sang" not in model.vocabulary_.words
    np.testing.assert_array_equal(
        model.probabilities(["sang"], ["the"]), model.probabilities(["flew"], ["the"])
    )
    assert model.score([["flew", "the", "flew"]]) == model.score([["sang", "the"]])
    with pytest.raises(InputError, match="no known word"):
        model.score([["the", "sang"]])


def test_bigrams_do_not_reach_over_the_ends_of_stretches():
    vocabulary = Vocabulary.from_corpus([TEXT])
    joined, apart = (vocabulary.count_bigrams(c) for c in ([TEXT], [TEXT[:4], TEXT[4:], [], ["a"]]))
    assert joined.sum() == len(TEXT) - 1 == apart.sum() + 1


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {"method": "spectral"}, "method must be one of"),
        ({"n_states": 0}, {}, "n_states: must be an integer from 1"),
        ({"restarts": 0}, {}, "restarts: must be an integer from 1"),
        ({}, {"corpus": [["alone"]]}, "corpus: there are no bigrams"),
        ({}, {"corpus": ["not a list"]}, "not one string"),
    ],
)
def test_wrong_arguments_are_explained(options, arguments, message):
    with pytest.raises(InputError, match=message):
        AggregateBigram(**{"n_states": 2, **options}).fit(**{"corpus": [TEXT], **arguments})


@pytest.mark.parametrize("option", ["dimensions", "iterations", "kappa", "anchor_share", "backoff"])
def test_wrong_choices_of_the_pivot_method_are_explained(option):
    with pytest.raises(InputError, match=option):
        PivotOptions(**{option: -1})


def test_files_hold_the_model(tmp_path):
    model = AggregateBigram(2).fit([TEXT])
    model.save(tmp_path / "model.lpcfg")
    loaded = AggregateBigram.load(tmp_path / "model.lpcfg")
    assert loaded.n_states == 2
    assert loaded.score([TEXT]) == model.score([TEXT])


def test_files_of_other_models_are_refused(tmp_path):
    save(Grammar.from_string("S -> 'go'"), tmp_path / "grammar.lpcfg")
    with pytest.raises(ModelFileError, match="holds a grammar, not an aggregate bigram model"):
        AggregateBigram.load(tmp_path / "grammar.lpcfg")


def test_probabilities_in_files_are_checked(tmp_path):
    model = AggregateBigram(2).fit([TEXT])
    model.factors_.words[0, 0] = np.nan
    model.save(tmp_path / "model.lpcfg")
    with pytest.raises(ModelFileError, match="probabilities"):
        AggregateBigram.load(tmp_path / "model.lpcfg")


def test_the_command_line_trains_and_scores(tmp_path, capsys):
    text, model = tmp_path / "text.txt", tmp_path / "model.lpcfg"
    text.write_text("\n".join([" ".join(TEXT[:5]), " ".join(TEXT[5:])]))
    train = ["lm", "train", str(text), "-o", str(model), "--states", "3"]
    assert main([*train, "--held-out", str(text), "--min-count", "1"]) == 0
    assert "3 states" in capsys.readouterr().err
    assert main(["lm", "perplexity", str(model), str(text), "--json"]) == 0
    expected = AggregateBigram.load(model).perplexity([TEXT])
    assert json.loads(capsys.readouterr().out) == {"perplexity": expected}
    assert main(["lm", "perplexity", str(model), str(tmp_path / "missing.txt")]) == 1
