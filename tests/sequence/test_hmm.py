"""Hidden Markov models against formulas in logarithms, known models, and scikit-learn's customs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import lpcfg
from lpcfg import HMM, InputError, Parser
from lpcfg.sequence._hmm_parameters import HMMParameters
from support.hidden_markov_models import KNOWN, SYMBOLS, known, known_with_end


@st.composite
def models_and_sequences(draw):
    n_states, n_symbols = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    mean_length = draw(st.none() | st.floats(1.5, 20))
    parameters = HMMParameters.random(n_states, np.ones(n_symbols), mean_length, random)
    hmm = HMM.from_parameters(**vars(parameters))
    sequence = st.lists(st.integers(0, n_symbols - 1), min_size=1, max_size=12)
    return hmm, draw(st.lists(sequence, min_size=1, max_size=4))


def logsumexp(array, axis=None):
    # Faster on small arrays than scipy's function of that name.
    return np.logaddexp.reduce(array, axis=axis)


def log_passes(hmm, sequence):
    """The formulas of del Canto (2021), part 1, with a probability of the end if there is one."""
    parameters = hmm.parameters_
    with np.errstate(divide="ignore"):
        transitions, emissions = np.log(parameters.transitions), np.log(parameters.emissions)
        forward = [np.log(parameters.initial) + emissions[:, sequence[0]]]
        ends = 0.0 if parameters.ends is None else np.log(parameters.ends)
    for symbol in sequence[1:]:
        forward.append(emissions[:, symbol] + logsumexp(forward[-1][:, None] + transitions, axis=0))
    backward = [np.zeros(parameters.n_states) + ends]
    for symbol in sequence[:0:-1]:
        backward.append(logsumexp(transitions + emissions[:, symbol] + backward[-1], axis=1))
    return np.array(forward), np.array(backward[::-1])


@given(models_and_sequences())
def test_passes_agree_with_logarithms(case):
    hmm, sequences = case
    for sequence, score, posteriors in zip(
        sequences, hmm.score_samples(sequences), hmm.predict_proba(sequences), strict=True
    ):
        forward, backward = log_passes(hmm, sequence)
        total = logsumexp(forward[-1] + backward[-1])
        np.testing.assert_allclose(hmm.forward(sequence), forward, atol=1e-8)
        np.testing.assert_allclose(hmm.backward(sequence), backward, atol=1e-8)
        np.testing.assert_allclose(score, total, atol=1e-8)
        np.testing.assert_allclose(posteriors, np.exp(forward + backward - total), atol=1e-8)


@given(models_and_sequences())
def test_counts_are_those_of_posteriors(case):
    hmm, sequences = case
    hmm.set_params(count_transitions=True)
    counts = hmm.transform(sequences)
    states = hmm.parameters_.n_states
    for row, sequence, posteriors in zip(
        counts, sequences, hmm.predict_proba(sequences), strict=True
    ):
        np.testing.assert_allclose(row[:states], posteriors.sum(axis=0))
        steps = row[states:].reshape(states, states)
        np.testing.assert_allclose(steps.sum(axis=1), posteriors[:-1].sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(steps.sum(axis=0), posteriors[1:].sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(row.sum(), 2 * len(sequence) - 1)
    assert len(hmm.get_feature_names_out()) == counts.shape[1]


@given(models_and_sequences(), st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 0.3]))
def test_the_objective_never_falls(case, n_states, model_end, pseudocount):
    """Without pseudo-counts that is the likelihood, with them the posterior of the parameters."""
    _, sequences = case
    options = {"n_states": n_states, "model_end": model_end, "pseudocount": pseudocount}
    hmm = HMM(max_iter=1, warm_start=True, n_jobs=1, **options)
    objectives = []
    for _ in range(10):
        hmm.fit(sequences)
        prior = 0.0
        if pseudocount:
            parameters = hmm.parameters_
            rows = [parameters.initial, parameters.transitions, parameters.emissions]
            rows += [parameters.ends] if model_end else []
            prior = pseudocount * sum(np.log(row).sum() for row in rows)
        objectives.append(hmm.score_samples(sequences).sum() + prior)
    assert np.all(np.diff(objectives) > -1e-7)


@pytest.mark.parametrize("truth", [known(), known_with_end()], ids=["length given", "end"])
def test_a_known_model_is_recovered(truth):
    sequences, _ = truth.sample(800, length=30, random_state=3)
    if truth.parameters_.ends is None:
        assert {len(sequence) for sequence in sequences} == {30}
    hmm = HMM(n_states=3, n_init=2, model_end=truth.model_end, max_iter=200, tol=1e-6)
    hmm.fit(sequences)
    assert hmm.score(sequences) >= truth.score(sequences)
    found, expected = hmm.parameters_, truth.parameters_
    distance = np.abs(expected.emissions[:, None] - found.emissions).sum(axis=2)
    order = linear_sum_assignment(distance)[1]
    np.testing.assert_allclose(found.emissions[order], expected.emissions, atol=0.04)
    np.testing.assert_allclose(
        found.transitions[np.ix_(order, order)], expected.transitions, atol=0.04
    )
    np.testing.assert_allclose(found.initial[order], expected.initial, atol=0.06)
    if expected.ends is not None:
        np.testing.assert_allclose(found.ends[order], expected.ends, atol=0.04)


@pytest.mark.parametrize("model_end", [False, True])
def test_states_that_are_given_are_counted(model_end):
    sequences = [["the", "dog", "barks"], ["the", "barks"]]
    states = [["D", "N", "V"], ["D", "N"]]
    hmm = HMM(model_end=model_end).fit(sequences, states)
    assert hmm.states_ == ("D", "N", "V")
    assert hmm.symbols_ == ("barks", "dog", "the")
    parameters = hmm.parameters_
    np.testing.assert_array_equal(parameters.initial, [1, 0, 0])
    np.testing.assert_array_equal(parameters.transitions[0], [0, 1, 0])
    np.testing.assert_array_equal(parameters.transitions[1], [0, 0, 0.5 if model_end else 1])
    np.testing.assert_array_equal(parameters.emissions, [[0, 0, 1], [0.5, 0.5, 0], [1, 0, 0]])
    if model_end:
        np.testing.assert_array_equal(parameters.ends, [0, 0.5, 1])


def test_states_of_a_sample_are_counted_and_decoded():
    truth = known(states=["X", "Y", "Z"])
    sequences, states = truth.sample(400, length=50)
    hmm = HMM().fit(sequences, states)
    np.testing.assert_allclose(hmm.parameters_.transitions, KNOWN[1], atol=0.03)
    np.testing.assert_allclose(hmm.parameters_.emissions, KNOWN[2], atol=0.03)

    def right(decoder):
        predicted = hmm.set_params(decoder=decoder).predict(sequences)
        pairs = zip(itertools.chain(*predicted), itertools.chain(*states), strict=True)
        return np.mean([first == second for first, second in pairs])

    # The most probable states one by one are right most often; chance is a half.
    assert 0.75 < right("viterbi") <= right("posterior")


def test_viterbi_finds_the_best_path():
    hmm = known(states=["X", "Y", "Z"])
    sequence = ["a", "c", "d", "b"]
    parameters = hmm.parameters_

    def joint(path):
        probability = parameters.initial[path[0]]
        for time, (state, symbol) in enumerate(zip(path, sequence, strict=True)):
            probability *= parameters.emissions[state, SYMBOLS.index(symbol)]
            if time:
                probability *= parameters.transitions[path[time - 1], state]
        return probability

    best = max(itertools.product(range(3), repeat=4), key=joint)
    assert hmm.predict([sequence]) == [["XYZ"[state] for state in best]]


def test_a_bigram_model_is_an_hmm():
    random = np.random.default_rng(0)
    initial, conditional = random.dirichlet(np.ones(5)), random.dirichlet(np.ones(5), size=5)
    hmm = HMM.from_bigrams(initial, conditional)
    sequences, states = hmm.sample(20, length=7)
    assert sequences == states
    assert hmm.predict(sequences) == states
    expected = [
        np.log(initial[s[0]]) + sum(np.log(conditional[pair]) for pair in itertools.pairwise(s))
        for s in sequences
    ]
    np.testing.assert_allclose(hmm.score_samples(sequences), expected)
    # What maximises the likelihood of bigrams is their counts (part 1d).
    counted = HMM().fit(sequences, sequences)
    learnt = hmm.set_params(warm_start=True, max_iter=3).fit(sequences)
    np.testing.assert_allclose(learnt.parameters_.transitions, counted.parameters_.transitions)


def test_samples_follow_the_model():
    hmm = known_with_end()
    sequences, states = hmm.sample(4000, random_state=1)
    assert [len(s) for s in sequences] == [len(s) for s in states]
    transitions, ends = hmm.parameters_.transitions, hmm.parameters_.ends
    visits = np.linalg.solve(np.eye(3) - transitions.T, hmm.parameters_.initial)
    np.testing.assert_allclose(np.mean([len(s) for s in sequences]), visits.sum(), rtol=0.05)
    last = np.bincount([path[-1] for path in states]) / len(states)
    np.testing.assert_allclose(last, visits * ends, atol=0.03)
    assert hmm.sample(3, random_state=5) == hmm.sample(3, random_state=5)
    assert hmm.sample(3, random_state=5) != hmm.sample(3, random_state=6)
    assert max(len(s) for s in hmm.sample(500, length=4)[0]) == 4


def test_the_seed_decides_and_threads_do_not():
    sequences, _ = known().sample(900, length=30)

    def parameters(**options):
        return HMM(n_states=4, max_iter=5, n_init=2, **options).fit(sequences).parameters_

    first = parameters(n_jobs=1)
    for other, equal in (
        (parameters(n_jobs=1), True),
        (parameters(n_jobs=3), True),
        (parameters(n_jobs=1, random_state=1), False),
    ):
        assert np.array_equal(first.emissions, other.emissions) == equal
        assert np.array_equal(first.transitions, other.transitions) == equal


def test_the_best_start_is_kept():
    sequences, _ = known().sample(60, length=20)
    options = {"n_states": 3, "max_iter": 200}
    many = HMM(n_init=6, **options).fit(sequences)
    few = HMM(n_init=1, **options).fit(sequences)
    assert many.log_likelihoods_[-1] >= few.log_likelihoods_[-1]
    assert many.converged_
    assert not HMM(n_states=3, max_iter=2).fit(sequences).converged_


def test_a_warm_start_goes_on():
    sequences, _ = known().sample(60, length=20)
    hmm = HMM(n_states=3, max_iter=4, tol=0, warm_start=True).fit(sequences)
    before = hmm.score(sequences)
    hmm.fit(sequences)
    np.testing.assert_allclose(hmm.log_likelihoods_[0], before * len(sequences))
    at_once = HMM(n_states=3, max_iter=8, tol=0).fit(sequences)
    np.testing.assert_allclose(hmm.parameters_.emissions, at_once.parameters_.emissions)


def test_ten_thousand_symbols_do_not_underflow():
    hmm = known()
    sequences, _ = hmm.sample(1, length=10_000)
    score = hmm.score(sequences)
    forward, _ = log_passes(hmm, [SYMBOLS.index(symbol) for symbol in sequences[0]])
    np.testing.assert_allclose(score, logsumexp(forward[-1]))
    np.testing.assert_allclose(hmm.predict_proba(sequences)[0].sum(axis=1), 1.0)
    assert len(hmm.predict(sequences)[0]) == 10_000
    learnt = HMM(n_states=3, max_iter=5).fit(sequences)
    assert np.all(np.diff(learnt.log_likelihoods_) > 0)


def test_unknown_symbols_tell_nothing():
    hmm = known()
    with pytest.raises(InputError, match="sequence 2, position 1: 'x' was never seen"):
        hmm.predict([["a"], ["x"]])
    hmm.set_params(unknown="ignore")
    np.testing.assert_allclose(hmm.score([["x"]]), 0.0, atol=1e-12)
    summed = logsumexp(hmm.score_samples([["a", symbol, "c"] for symbol in SYMBOLS]))
    np.testing.assert_allclose(hmm.score([["a", "x", "c"]]), summed)
    np.testing.assert_allclose(hmm.predict_proba([["x"]])[0], [KNOWN[0]])


def test_a_vocabulary_may_be_larger_than_the_data_or_smaller():
    sequences = [["a", "b", "a"], ["b", "x"]]
    options = {"n_states": 2, "pseudocount": 0.1, "unknown": "ignore"}
    hmm = HMM(vocabulary=["b", "a", "z"], **options).fit(sequences)
    assert hmm.symbols_ == ("b", "a", "z")
    np.testing.assert_allclose(hmm.parameters_.emissions.sum(axis=1), 1.0)
    assert np.all(hmm.parameters_.emissions[:, 2] > 0)
    states = [[0, 1, 0], [1, 1]]
    counted = HMM(vocabulary=["b", "a"], unknown="ignore").fit(sequences, states)
    np.testing.assert_array_equal(counted.parameters_.emissions, [[0, 1], [1, 0]])


def test_numbers_in_arrays():
    sequences = [np.array([3, 1, 3]), [1, 1]]
    hmm = HMM(n_states=2).fit(sequences)
    assert hmm.symbols_ == (1, 3)
    assert [len(path) for path in hmm.predict(sequences)] == [3, 2]


# As a grammar


@given(models_and_sequences(), st.booleans())
def test_the_parser_agrees(case, ignore):
    """Through the inside algorithm of L-PCFGs, whose parameters are in single precision."""
    hmm, sequences = case
    hmm.set_params(unknown="ignore" if ignore else "error")
    if ignore:
        sequences = [[*sequence, 99] for sequence in sequences]
    parser = Parser(hmm.to_grammar(), n_jobs=1)
    words = [[str(symbol) for symbol in sequence] for sequence in sequences]
    for parse, score in zip(
        parser.analyze_many(words=words), hmm.score_samples(sequences), strict=True
    ):
        assert parse.status == "parsed"
        assert parse.log_probability == pytest.approx(score, abs=1e-3)
        assert parse.sentence_log_probability == pytest.approx(score, abs=1e-3)


def test_the_grammar_of_a_model_with_an_end_is_a_proper_one(tmp_path):
    grammar = known_with_end().to_grammar()
    latent = grammar.latent.dense(grammar.binary_rules)
    tensors = latent.binary.reshape(2, 3, 3, 3)
    np.testing.assert_allclose(latent.roots.sum(), 1, rtol=1e-6)
    np.testing.assert_allclose(tensors.sum(axis=(0, 2, 3)), 1, rtol=1e-6)
    np.testing.assert_allclose(grammar.binary_probabilities.sum(), 1)
    lpcfg.save(grammar, tmp_path / "model.lpcfg")
    words = ["a", "d", "c", "a"]
    parses = [
        Parser(g).analyze(words=words) for g in (grammar, lpcfg.load(tmp_path / "model.lpcfg"))
    ]
    assert parses[0] == parses[1]
    # Words of one tree, of which all sentences of a length have one, have all the probability.
    lengths = np.zeros(3)
    for length in range(3):
        sentences = itertools.product("abcd", repeat=length + 1)
        parses = Parser(grammar).analyze_many(words=map(list, sentences))
        lengths[length] = np.exp([parse.sentence_log_probability for parse in parses]).sum()
    parameters, state = known_with_end().parameters_, known_with_end().parameters_.initial
    for length in range(3):
        assert lengths[length] == pytest.approx(state @ parameters.ends, rel=1e-5)
        state = state @ parameters.transitions


# As scikit-learn has it


def test_a_pipeline_with_a_classifier():
    """Two kinds of sequences that differ in the order of symbols alone."""
    swaps = HMM.from_bigrams([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], symbols=["up", "down"])
    stays = HMM.from_bigrams([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], symbols=["up", "down"])
    sequences = swaps.sample(60, length=12)[0] + stays.sample(60, length=12)[0]
    labels = ["swaps"] * 60 + ["stays"] * 60
    hmm = HMM(n_states=4, count_transitions=True, n_init=2, unknown="ignore")
    pipeline = make_pipeline(hmm, LogisticRegression())
    scores = cross_val_score(pipeline, sequences, labels, cv=3)
    assert scores.mean() > 0.9
    assert list(pipeline.fit(sequences, labels).predict([["up", "down"] * 5])) == ["swaps"]
