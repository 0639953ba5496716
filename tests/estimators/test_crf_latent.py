"""Conditional random fields over the chart of a grammar with latent states."""

import argparse
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from tests.estimators.test_crf import attachments

from lpcfg import (
    ClusteringEstimator,
    CRFEstimator,
    CRFParser,
    Ensemble,
    GrammarError,
    InputError,
    LexiconOptions,
    NeuralEstimator,
    Parser,
    PCFGEstimator,
    SpectralEstimator,
    SplitMergeEstimator,
    Tree,
    Treebank,
    embedded_trees,
    evaluate,
    load,
    save,
)
from lpcfg.cli._estimators import add_estimator_options, build_estimator, parse_estimator
from lpcfg.cli.main import main
from lpcfg.estimators.crf._training_charts import cross_fitting_folds
from lpcfg.estimators.registry import ESTIMATORS, LATENT_ESTIMATORS
from lpcfg.experiments.learning import count_parameters
from lpcfg.grammar.backbone import same_backbone
from lpcfg.tuning import SearchSpace

WORDS = ["The", "dog", "saw", "the", "old", "man", "in", "the", "park", "."]


def small(**options):
    return CRFEstimator(
        **{
            "latent": SpectralEstimator(),
            "bits": 16,
            "epochs": 2,
            "latent_folds": 3,
            "n_jobs": 1,
            **options,
        }
    )


@pytest.fixture(scope="module")
def treebank():
    return Treebank.from_trees(embedded_trees())


@pytest.fixture(scope="module")
def model(treebank):
    return small().fit(treebank).grammar_


def test_recovers_a_rule_of_attachment():
    # Neither the PCFG nor latent states can know it: each noun is seen with both.
    training, gold = attachments() * 4, attachments(["cat", "yak"])
    estimator = small(epochs=8, learning_rate=0.1).fit(training)
    found = list(Parser(estimator.grammar_).parse_many(words=[tree.words() for tree in gold]))
    assert evaluate(gold, found).f1 == 100


def test_the_grammar_has_latent_states_and_weights(model, treebank):
    alone = SpectralEstimator().fit(treebank).grammar_
    assert np.array_equal(model.latent.binary, alone.latent.binary)
    assert np.count_nonzero(model.crf_weights.weights)
    assert "latent parameters" in str(model)
    assert "feature weights" in str(model)


def test_without_features_posteriors_are_those_of_the_latent_grammar(treebank):
    model = small(epochs=0, latent_weight=1.0).fit(treebank).grammar_
    alone = Parser(replace(model, crf_weights=None))
    with_weights = Parser(model)
    for tree in embedded_trees(20):
        parses = [
            next(parser.analyze_many(words=[tree.words()], marginals=True))
            for parser in (alone, with_weights)
        ]
        tables = [
            {tuple(row)[:3]: row["probability"] for row in parse.marginals} for parse in parses
        ]
        if parses[0].status == "parsed":
            # Posteriors of linear models may leave the range of probabilities.
            assert tables[1] == pytest.approx(tables[0], abs=0.05)


def test_probabilities_of_all_trees_sum_to_one(model):
    for decoder in ("viterbi", "max-f1", "max-recall", "max-rule"):
        parser = Parser(model, decoder=decoder)
        parse = parser.analyze(words=WORDS[:5], candidates=1000)
        assert parse.sentence_log_probability == 0
        total = sum(np.exp(log_probability) for _, log_probability in parse.candidates)
        assert total == pytest.approx(1, abs=1e-4)


def test_same_seed_same_model_on_any_number_of_threads(treebank, model):
    again = small(n_jobs=3).fit(treebank).grammar_
    assert np.array_equal(model.crf_weights.weights, again.crf_weights.weights)
    other = small(random_state=1).fit(treebank).grammar_
    assert not np.array_equal(model.crf_weights.weights, other.crf_weights.weights)


def test_save_load_and_pickle(model, tmp_path):
    save(model, tmp_path / "model.lpcfg")
    parse = Parser(model).analyze(words=WORDS)
    for again in (load(tmp_path / "model.lpcfg"), pickle.loads(pickle.dumps(model))):
        assert Parser(again).analyze(words=WORDS) == parse


@pytest.mark.parametrize(("trees", "folds"), [(2, 5), (7, 3), (400, 5), (10_000, 5)])
def test_each_tree_is_held_out_once(trees, folds):
    parts = cross_fitting_folds(trees, folds)
    assert len(parts) == min(trees, folds)
    assert sorted(np.concatenate([held_out for _, held_out in parts])) == list(range(trees))
    for others, held_out in parts:
        assert np.array_equal(np.sort(np.concatenate([others, held_out])), np.arange(trees))


def test_folds_are_alike_where_trees_of_different_origin_follow_one_another():
    # As in self-training: some gold trees, then many of a teacher.
    for _, held_out in cross_fitting_folds(100_000, 5):
        assert 1_800 <= np.count_nonzero(held_out < 10_000) <= 2_200


def test_parameters_of_the_estimator_of_latent_states(treebank):
    estimator = small(latent=SpectralEstimator(states=(2, 2)))
    assert estimator.get_params()["latent__states"] == (2, 2)
    assert clone(estimator).latent.states == (2, 2)
    record = estimator.provenance(treebank)["latent"]
    assert (record["estimator"], record["states"]) == ("spectral", [2, 2])
    latent = ClusteringEstimator(states=(2, 2))
    grammar = small(latent=latent, epochs=1).fit(treebank).grammar_
    assert np.array_equal(grammar.latent.states, latent.fit(treebank).grammar_.latent.states)


def test_an_estimator_on_the_command_line():
    parser = argparse.ArgumentParser()
    add_estimator_options(parser, "crf")
    common = argparse.Namespace(estimator="crf", seed=3, jobs=2, quiet=True)
    options = parser.parse_args(["--latent", "split-merge", "--epochs", "1"], common)
    estimator = build_estimator(options, lexicon=LexiconOptions(rare=3))
    latent = estimator.latent
    assert isinstance(latent, SplitMergeEstimator)
    assert (latent.random_state, latent.n_jobs, latent.lexicon.rare) == (3, 2, 3)
    name, values = parse_estimator("crf:latent=spectral:epochs=1")
    assert (name, values["latent"], values["epochs"]) == ("crf", SpectralEstimator(), 1)
    with pytest.raises(InputError, match="expected 'spectral' or"):
        parse_estimator("crf:latent=pcfg")


def test_the_named_estimators_are_those_of_latent_states(treebank):
    few = treebank.subset(np.arange(40))
    for name, kind in ESTIMATORS.items():
        if name in ("crf", "neural"):
            continue
        has_states = kind().fit(few).grammar_.latent is not None
        assert has_states == (name in LATENT_ESTIMATORS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"latent": "spectral"}, "latent must be an Estimator or None, not 'spectral'"),
        ({"latent": PCFGEstimator()}, "latent must estimate latent states, not PCFGEstimator"),
        ({"latent": NeuralEstimator()}, "latent must estimate latent states, not NeuralEst"),
        ({"loss": "independent"}, "latent must be None with the loss independent"),
        ({"latent_folds": 1}, "latent_folds must be an integer from 2"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        small(**options).fit(attachments()[:4])


def test_it_shares_no_chart_with_other_grammars(model, treebank):
    alone = replace(model, crf_weights=None)
    assert same_backbone(alone, alone)
    assert not same_backbone(alone, model)
    with pytest.raises(InputError, match="conditional random field"):
        Parser([model, alone])
    ensemble = Ensemble([Parser(model), Parser(alone)])
    assert ensemble.parse(words=WORDS).words() == WORDS


def test_unary_rules_are_refused(model):
    with pytest.raises(GrammarError, match="a CRF needs a grammar without unary rules"):
        replace(
            model,
            unary_rules=np.array([[0, 1]], dtype=np.uint32),
            unary_probabilities=np.array([0.5]),
        )


def test_progress_counts_folds_and_epochs(treebank):
    seen = []

    def watched(steps):
        for step in steps:
            seen.append(step)
            yield step

    small(progress=watched).fit(treebank.subset(np.arange(60)))
    assert seen == list(range(5))


def test_hard_sentences(model):
    parser = Parser(model)
    for words in (["of"] * 30, ["zzz"], WORDS * 10, ["of", "of", "dog", "saw"]):
        assert parser.parse(words=words).words() == words
    late = Parser(model, timeout=1e-9).analyze(words=WORDS * 4)
    assert late.status == "timeout"
    assert late.tree.words() == WORDS * 4
    little = Parser(model, memory=50_000).analyze(words=WORDS * 4)
    assert little.tree.words() == WORDS * 4


def test_command_line(tmp_path, capsys):
    trees, path = tmp_path / "trees.mrg", tmp_path / "crf.lpcfg"
    trees.write_text("\n".join(map(str, embedded_trees())))
    command = ["train", "--estimator", "crf", "--latent", "spectral", "--epochs", "1"]
    assert main([*command, str(trees), "-o", str(path), "-q"]) == 0
    assert main(["show", str(path)]) == 0
    assert "latent parameters" in capsys.readouterr().out
    assert main(["eval", str(path), str(trees)]) == 0
    assert "F1" in capsys.readouterr().out


def test_tuning_searches_what_has_an_effect():
    with_states = SearchSpace.of(small())
    assert "latent_weight" in with_states.values
    assert "prior_weight" not in with_states.values
    plain = SearchSpace.of(CRFEstimator())
    assert "prior_weight" in plain.values
    assert "latent_weight" not in plain.values
    # The first trial is the default model.
    assert with_states.defaults()["latent_weight"] == 0.5


def test_the_command_that_tuning_prints_names_the_latent_states(tmp_path, capsys):
    trees = tmp_path / "trees.mrg"
    trees.write_text("\n".join(map(str, embedded_trees(60))))
    command = ["tune", str(trees), str(trees), "--estimator", "crf", "--latent", "spectral"]
    assert main([*command, "--epochs", "1", "--trials", "1", "-o", str(tmp_path / "tuned")]) == 0
    assert "--latent spectral" in capsys.readouterr().out


def test_a_crf_parser_has_latent_states_too(treebank):
    options = {
        "latent": SpectralEstimator(),
        "latent_folds": 2,
        "epochs": 1,
        "bits": 14,
        "n_jobs": 1,
    }
    parser = CRFParser(**options).fit(treebank)
    plain = Parser(CRFEstimator(**options).fit(treebank).grammar_)
    assert parser.parse(words=WORDS) == plain.parse(words=WORDS)


@pytest.mark.parametrize("count", [1, 2])
def test_few_trees(count):
    grammar = small(latent_folds=5).fit(attachments()[:count]).grammar_
    words = attachments()[0].words()
    assert Parser(grammar).parse(words=words).words() == words


@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_the_number_of_epochs_does_not_depend_on_that_of_folds(count):
    assert len(small(latent_folds=5).fit(attachments()[:count]).log_likelihoods_) == 2


def test_a_given_estimator_stays_as_it_is(treebank):
    inner = SplitMergeEstimator(cycles=1, n_jobs=1)
    small(latent=inner, epochs=1, latent_folds=2).fit(treebank.subset(np.arange(60)))
    assert not hasattr(inner, "grammar_")
    assert not hasattr(inner, "log_likelihoods_")


def test_weights_of_trees_count(treebank):
    weighted = treebank.weighted(np.where(np.arange(len(treebank)) < 100, 3.0, 1.0))
    heavy, plain = (
        small(epochs=1).fit(each).grammar_.crf_weights.weights for each in (weighted, treebank)
    )
    assert not np.array_equal(heavy, plain)


def test_parameters_are_those_of_both(model):
    weights = np.count_nonzero(model.crf_weights.weights)
    assert count_parameters(model) == model.latent.size + weights


def test_given_tags_are_heeded(model):
    words, tags = ["they", "saw", "her"], ["PRP", "VBD", "PRP"]
    assert Parser(model).parse(tags, words=words).tags() == tags


def test_a_tree_that_no_other_tree_helps_to_derive_is_left_out():
    trees = [*attachments(), Tree.from_string("(X (Y one) (Z two))")]
    grammar = small().fit(trees).grammar_
    assert grammar.provenance["learnt_from"] <= len(trees)
    assert Parser(grammar).parse(words=["one", "two"]).words() == ["one", "two"]
