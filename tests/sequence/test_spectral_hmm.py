"""Spectral learning of HMMs, by its theory: exact from exact moments, and consistent."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from lpcfg import HMM, InputError, ModelFileError, SpectralHMM
from lpcfg.io.model_file import ModelFile, read_document, write_model_file
from lpcfg.sequence._hmm_parameters import HMMParameters
from lpcfg.sequence.spectral_hmm import ObservableOperators, Triples

STATES, SYMBOLS = 3, 5


@pytest.fixture(scope="module")
def truth():
    random = np.random.default_rng(5)
    parameters = HMMParameters.random(STATES, np.ones(SYMBOLS), None, random)
    emissions = random.dirichlet(np.full(SYMBOLS, 0.3), size=STATES)
    transitions = 0.6 * np.eye(STATES) + 0.4 * parameters.transitions
    return HMM.from_parameters(parameters.initial, transitions, emissions)


def all_sequences(length):
    return [list(sequence) for sequence in itertools.product(range(SYMBOLS), repeat=length)]


def exact_operators(truth, n_states=STATES):
    """What is learnt from the true probabilities of triples, begun in any distribution."""
    parameters = truth.parameters_
    elsewhere = HMM.from_parameters([0.2, 0.5, 0.3], parameters.transitions, parameters.emissions)
    sequences = all_sequences(3)
    triples = Triples(np.array(sequences), np.exp(elsewhere.score_samples(sequences)))
    first = parameters.initial @ parameters.emissions
    return ObservableOperators.learn(first, triples, n_states, random_state=0)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_exact_moments_give_exact_probabilities(truth, length):
    sequences = all_sequences(length)
    offsets = np.arange(len(sequences) + 1) * length
    found = exact_operators(truth).log_probabilities(offsets, np.concatenate(sequences))
    np.testing.assert_allclose(found, truth.score_samples(sequences), atol=1e-6)


def test_more_states_than_there_are_change_nothing(truth):
    operators = exact_operators(truth, n_states=SYMBOLS)
    assert operators.start.shape == (STATES,)


def test_exact_moments_give_exact_conditional_probabilities(truth):
    histories = [[0], [1, 2], [4, 4, 3, 0]]
    flat = np.concatenate(histories)
    found = exact_operators(truth).next_probabilities(np.array([0, 1, 3, 7]), flat)
    for row, history in zip(found, histories, strict=True):
        joint = truth.score_samples([[*history, symbol] for symbol in range(SYMBOLS)])
        np.testing.assert_allclose(row, np.exp(joint - truth.score([history])), atol=1e-7)


def test_estimates_converge(truth):
    """The distance to the true distribution of sequences falls as the root of their number."""
    sequences = all_sequences(4)
    true = np.exp(truth.score_samples(sequences))
    distances = []
    for number in (100, 1600, 25600):
        sample, _ = truth.sample(number, length=12, random_state=2)
        learnt = SpectralHMM(n_states=STATES).fit(sample)
        distances.append(np.abs(np.exp(learnt.score_samples(sequences)) - true).sum())
    assert distances[2] < 0.05
    # Sixteen times the data should halve the distance twice.
    assert distances[0] > 2 * distances[1] > 4 * distances[2]


def test_long_sequences_do_not_underflow(truth):
    sample, _ = truth.sample(2000, length=20)
    learnt = SpectralHMM(n_states=STATES).fit(sample)
    sequences, _ = truth.sample(1, length=10_000, random_state=9)
    assert learnt.score(sequences) == pytest.approx(truth.score(sequences), rel=0.01)


def test_sequences_of_different_lengths_do_not_disturb_each_other(truth):
    sample, _ = truth.sample(500, length=10)
    learnt = SpectralHMM(n_states=STATES).fit([*sample, [0], [1, 2]])
    mixed = [[0, 1, 2], [3], [0, 1], [4, 4, 4, 4]]
    one_by_one = [learnt.score([sequence]) for sequence in mixed]
    np.testing.assert_allclose(learnt.score_samples(mixed), one_by_one)


def test_unknown_symbols(truth):
    sample, _ = truth.sample(3000, length=10)
    learnt = SpectralHMM(n_states=STATES, unknown="ignore").fit(sample)
    summed = np.exp(learnt.score_samples([[0, symbol, 1] for symbol in range(SYMBOLS)])).sum()
    np.testing.assert_allclose(np.exp(learnt.score([[0, 99, 1]])), summed)
    with pytest.raises(InputError, match="99 was never seen"):
        SpectralHMM(n_states=STATES).fit(sample).score([[99]])


def test_probabilities_of_what_comes_next_are_a_distribution(truth):
    """However few sequences there are, and negative their estimates."""
    sample, _ = truth.sample(4, length=6)
    learnt = SpectralHMM(n_states=STATES).fit(sample)
    rows = learnt.predict_next([sequence[:3] for sequence in sample])
    assert np.all(rows >= 0)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)


def test_customs_and_mistakes():
    assert clone(SpectralHMM(n_states=7)).n_states == 7
    with pytest.raises(NotFittedError):
        SpectralHMM().score([["a"]])
    with pytest.raises(InputError, match="SpectralHMM: n_states must be an integer from 1"):
        SpectralHMM(n_states=0).fit([["a"] * 3])
    with pytest.raises(InputError, match="no sequence has three symbols"):
        SpectralHMM().fit([["a", "b"], ["c"]])
    with pytest.raises(InputError, match="no sequences"):
        SpectralHMM().fit([])


@pytest.mark.parametrize("names", [("a", "b", "c", "d"), (3, 5, 8, 9)])
def test_what_is_saved_is_loaded(names, tmp_path):
    sequences = [[names[i % 4] for i in range(n)] for n in range(3, 9)]
    learnt = SpectralHMM(n_states=3, unknown="ignore").fit(sequences)
    learnt.save(tmp_path / "model")
    loaded = SpectralHMM.load(tmp_path / "model")
    assert (loaded.n_states, loaded.unknown, loaded.symbols_) == (3, "ignore", names)
    np.testing.assert_array_equal(loaded.predict_next(sequences), learnt.predict_next(sequences))


@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        ("end", lambda end: end[:-1], "end"),
        ("operators", lambda operators: operators + np.nan, "finite"),
        ("operators", lambda operators: operators[:1], "operators"),
    ],
)
def test_damaged_files_are_refused(array, change, message, tmp_path):
    path = tmp_path / "model"
    SpectralHMM().fit([["a", "b", "a", "a"]]).save(path)
    file = ModelFile(path)
    arrays = {name: file.array(name).copy() for name in file.names()}
    write_model_file(path, arrays | {array: change(arrays[array])}, read_document(file, {}))
    with pytest.raises(ModelFileError, match=message):
        SpectralHMM.load(path)


def test_other_models_are_refused(tmp_path):
    HMM(n_states=2).fit([["a", "b", "a"]]).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="hidden Markov model"):
        SpectralHMM.load(tmp_path / "model")
