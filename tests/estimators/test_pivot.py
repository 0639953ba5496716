"""L-PCFGs by the pivot method: its theorem, its parts, and EM that starts from it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import lpcfg
import support.latent_trees as known
from lpcfg import EMEstimator, InputError, LexiconOptions, PCFGEstimator, PivotEstimator, Treebank
from lpcfg.estimators.em.smoothing import Smoothing
from lpcfg.estimators.features.feature_sets import COMPACT, FeatureSet
from lpcfg.estimators.pivot._rules import maximise_rule_states
from lpcfg.estimators.pivot._states import match_states
from lpcfg.estimators.pivot.concave_em import Stopping, maximise
from lpcfg.grammar.notation import Word, read_rules
from lpcfg.grammar.sampling import sample_trees

BANK = Treebank.from_trees(lpcfg.embedded_trees())
SMALL = {"states": (3, 3), "min_count": 5, "full_count": 50}

# What comes after the slash is the state. Each has pivots, which no other brings forth: words of
# tags, orders of phrases, and rules around both. All else is shared between states.
RULES = """
S -> A/1 P/1 [0.15] | A/1 P/2 [0.1] | P/1 A/2 [0.1] | P/2 A/2 [0.15]
S -> A/1 A/1 [0.1] | A/1 A/2 [0.25] | A/2 A/1 [0.05] | A/2 A/2 [0.1]
A/1 -> P/1 Q/1 [0.5] | Q/1 Q/1 [0.3] | Q/1 Q/2 [0.2]
A/2 -> Q/2 P/2 [0.6] | Q/2 Q/1 [0.1] | Q/2 Q/2 [0.3]
P/1 -> 'a' [0.7] | 'c' [0.3]
P/2 -> 'b' [0.4] | 'c' [0.6]
Q/1 -> 'd' [0.6] | 'f' [0.4]
Q/2 -> 'e' [0.5] | 'f' [0.5]
"""
UNSMOOTHED = Smoothing(rules=0.0, words=0.0, classes=0.0, rare=0)
WHOLE = FeatureSet(inside=(known.inside_tree,), outside=(known.outside_tree,))


def sample(size: int, seed: int) -> Treebank:
    trees = sample_trees(read_rules(RULES), size, seed=seed)
    return Treebank.from_trees(map(known.plain, trees), cleaning=False, transform=known.TRANSFORM)


def consistent(features: FeatureSet, **options) -> PivotEstimator:
    chosen = {
        "states": (2, 2),
        "min_pivot_frequency": 0.1,
        "tolerance": 0.0,
        "min_count": 1,
        "full_count": 10,
        **options,
    }
    lexicon = LexiconOptions.plain(rare=0)
    return PivotEstimator(features=features, smoothing=UNSMOOTHED, lexicon=lexicon, **chosen)


def named_parameters(grammar, treebank) -> dict[tuple[str, ...], float]:
    """The probabilities of all rules with states, which a pivot of each symbol tells apart."""
    names = [symbol.labels[-1] for symbol in treebank.symbols]
    latent = grammar.latent.dense(grammar.binary_rules)
    begins = latent.tensor_offsets(grammar.binary_rules)
    rules = grammar.binary_rules.tolist()
    tensors = {
        tuple(names[symbol] for symbol in rule): latent.binary[start:end].reshape(
            latent.states[rule]
        )
        for rule, start, end in zip(rules, begins, begins[1:], strict=False)
    }
    starts, words = latent.ratio_offsets, {}
    for word in treebank.words:
        emission = grammar.lexicon.emission(word, False)
        for entry in range(*grammar.lexicon.offsets[emission : emission + 2]):
            row = latent.entry_ratios[entry]
            ratio = latent.emission_ratios[starts[row] : starts[row + 1]]
            name = names[grammar.lexicon.symbols[entry]]
            words[name, word] = grammar.lexicon.probabilities[entry] * ratio
    evidence = {
        "A": tensors["A", "P", "Q"].sum(axis=(1, 2)),
        "P": words["P", "a"],
        "Q": words["Q", "d"],
        "S": np.ones(1),
    }
    states = {
        name: ["S"] if name == "S" else [f"{name}/{1 + (row != seen.argmax())}" for row in range(2)]
        for name, seen in evidence.items()
    }
    result = {}
    for (a, b, c), tensor in tensors.items():
        for i, j, k in np.ndindex(tensor.shape):
            result[states[a][i], states[b][j], states[c][k]] = float(tensor[i, j, k])
    for (name, word), vector in words.items():
        for state, probability in zip(states[name], vector.tolist(), strict=True):
            result[state, word] = probability
    return result


def largest_error(grammar, treebank) -> float:
    truth = {
        (rule.left, *(item.text if isinstance(item, Word) else item for item in rule.right)): (
            rule.probability
        )
        for rule in read_rules(RULES).rules
    }
    found = named_parameters(grammar, treebank)
    assert truth.keys() <= found.keys()
    return max(abs(value - truth.get(rule, 0.0)) for rule, value in found.items())


@pytest.mark.parametrize("features", [WHOLE, COMPACT], ids=["whole trees", "several functions"])
def test_parameters_are_recovered_up_to_a_permutation(features):
    errors = []
    for size in (500, 20_000):
        bank = sample(size, seed=1)
        errors.append(largest_error(consistent(features).fit(bank).grammar_, bank))
    assert errors[1] < 0.04
    assert errors[1] < errors[0] / 2


def test_the_default_stopping_rule_does_not_stop_convergence():
    """Parameters come closer to the truth at about the rate of sample means."""
    sizes, default = (500, 3_000, 18_000), PivotEstimator().tolerance
    errors = []
    for size in sizes:
        banks = [sample(size, seed) for seed in (3, 4)]
        errors.append(
            np.mean(
                [
                    largest_error(consistent(COMPACT, tolerance=default).fit(bank).grammar_, bank)
                    for bank in banks
                ]
            )
        )
    slope, _ = np.polyfit(np.log(sizes), np.log(errors), 1)
    assert slope < -0.3


def mixture_step(seed, components=4, points=60):
    """A step of EM for the weights of known components, and how often it was taken."""
    generator = np.random.default_rng(seed)
    likelihoods = generator.random((points, components)) ** 3
    taken = []

    def step(weights):
        taken.append(weights)
        fitted = likelihoods @ weights
        return weights * (likelihoods / fitted[:, None]).mean(axis=0), np.log(fitted).sum()

    return step, taken, np.full(components, 1 / components)


@given(st.integers(0, 10_000))
def test_extrapolation_ends_where_em_ends_in_fewer_steps(seed):
    step, taken, start = mixture_step(seed)
    found = maximise(step, start, Stopping(5_000, 1e-10))
    steps = len(taken)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    plain, objective, before = *step(start), -np.inf
    while objective - before > 1e-10:
        before = objective
        plain, objective = step(plain)
    assert step(found)[1] > objective - 1e-6
    assert steps <= 2 * (len(taken) - steps) + 5


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_extrapolation_takes_no_more_steps_than_allowed_and_never_falls(seed, iterations):
    step, taken, start = mixture_step(seed)
    found = maximise(step, start, Stopping(iterations))
    assert len(taken) <= iterations
    assert step(found)[1] >= step(start)[1] - 1e-9


def test_em_after_it_is_soon_where_em_alone_ends():
    bank = sample(5_000, seed=2)
    options = {
        "states": (2, 2), "min_count": 1, "full_count": 10,
        "smoothing": UNSMOOTHED, "lexicon": LexiconOptions.plain(rare=0),
    }  # fmt: skip
    alone = EMEstimator(iterations=150, **options).fit(bank).log_likelihoods_
    start = consistent(COMPACT).fit(bank).grammar_
    after = EMEstimator(start=start, iterations=3, **options).fit(bank).log_likelihoods_
    most = alone[-1] - alone[0]
    assert after[2] > alone[-1] - 0.02 * most
    assert alone[2] < alone[-1] - 0.5 * most


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.tuples(*[st.integers(1, 3)] * 3))
def test_mixtures_are_the_likeliest(seed, shape):
    generator = np.random.default_rng(seed)
    sides = [generator.random((40, states), np.float32) for states in shape]
    weights = generator.integers(1, 5, 40).astype(np.float32)
    start = generator.random(shape, np.float32) + np.float32(0.1)
    start /= start.sum()
    found = maximise_rule_states(*sides, weights, start, Stopping(1500))
    assert found.sum() == pytest.approx(1, abs=1e-4)
    # At the maximum over the simplex the slope is the same wherever there is weight, and no
    # greater elsewhere (Karush, Kuhn and Tucker).
    likelihood = np.einsum("ni,nj,nk,ijk->n", *sides, found)
    slope = np.einsum("ni,nj,nk,n->ijk", *sides, weights / likelihood) / weights.sum()
    assert slope.max() < 1.01
    np.testing.assert_allclose(slope[found > 0.05], 1, atol=0.02)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5))
def test_states_of_two_sides_are_matched(seed, states):
    generator = np.random.default_rng(seed)
    inside = generator.dirichlet(np.full(12, 0.5), states).T
    inside[:states], prior = np.eye(states), generator.dirichlet(np.full(states, 5.0))
    outside = generator.dirichlet(np.full(12, 0.5), states).T
    outside[:states] = np.eye(states)
    inside, outside = inside / inside.sum(axis=0), outside / outside.sum(axis=0)
    order = generator.permutation(states)
    joint = inside * prior
    pairs = scipy.sparse.csr_array(joint @ outside.T)
    given_feature = joint / joint.sum(axis=1, keepdims=True)
    found = match_states(pairs, given_feature, outside[:, order], Stopping(300))
    np.testing.assert_allclose(found[order], np.eye(states), atol=0.02)


def test_one_state_is_the_pcfg():
    grammar = PivotEstimator(states=(1, 1)).fit(BANK).grammar_
    pcfg = PCFGEstimator().fit(BANK).grammar_
    np.testing.assert_allclose(grammar.latent.binary, pcfg.binary_probabilities, rtol=1e-5)
    np.testing.assert_allclose(grammar.latent.emission_ratios, 1, rtol=1e-5)


def test_the_same_seed_gives_the_same_grammar_to_the_bit_whatever_the_threads():
    grammars = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            grammars.append(PivotEstimator(**SMALL).fit(BANK).grammar_)
    first, second = (grammar.latent.arrays for grammar in grammars)
    assert first["states"].max() == 3
    for name, values in first.items():
        assert values.tobytes() == second[name].tobytes(), name


def test_a_grammar_parses_and_survives_a_file(tmp_path):
    grammar = PivotEstimator(**SMALL).fit(BANK).grammar_
    lpcfg.save(grammar, tmp_path / "pivot.lpcfg")
    loaded = lpcfg.load(tmp_path / "pivot.lpcfg")
    assert loaded.provenance["estimator"] == "pivot"
    gold = BANK.trees()[:50]
    f1 = [
        lpcfg.evaluate_parser(lpcfg.Parser(g, n_jobs=1), gold).scores.f1
        for g in (grammar, loaded, PCFGEstimator().fit(BANK).grammar_)
    ]
    assert f1[0] == f1[1] >= f1[2]


@pytest.mark.parametrize(
    "options",
    [
        {"states": (0, 1)},
        {"dimensions": 0},
        {"tolerance": -1.0},
        {"min_count": 9, "full_count": 3},
        {"min_pivot_frequency": -1},
    ],
)
def test_impossible_parameters_are_refused(options):
    with pytest.raises(InputError, match=f"PivotEstimator: {next(iter(options))} must be"):
        PivotEstimator(**options).fit(BANK)
