"""What all estimators share: declared parameters, fit and score, scikit-learn, the registry."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

import lpcfg
from lpcfg import (
    CRFParser,
    EMEstimator,
    Estimator,
    InputError,
    LexiconOptions,
    Noise,
    NoisyModels,
    PCFGEstimator,
    SpectralEstimator,
    Transform,
    Transformed,
    Tree,
    Treebank,
    make_estimator,
)
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.registry import DEFAULT_ESTIMATOR, ESTIMATORS, estimator_class
from lpcfg.treebank.head_rules import HeadRules

TREES = lpcfg.embedded_trees()
TRAIN, TEST = TREES[:300], TREES[300:]

#: Parameters with which each estimator learns from a few trees in no time.
QUICK = {
    "pcfg": {},
    "spectral": {"states": (2, 2)},
    "clustering": {"states": (2, 2), "restarts": 1, "min_count": 5, "full_count": 50},
    "pivot": {"states": (2, 2)},
    "em": {"states": (2, 2), "iterations": 2, "n_jobs": 1},
    "split-merge": {"cycles": 1, "n_jobs": 1},
    "crf": {"epochs": 1, "bits": 12, "n_jobs": 1},
    "neural": {"epochs": 8, "word_states": 24, "learning_rate": 0.02, "batch_size": 8, "n_jobs": 1},
}

#: A value other than the default for each parameter that a model file must record.
OTHER = {
    "lexicon": LexiconOptions(rare=3),
    "features": FeatureSet(inside=("word",), outside=("parent",)),
    "noise": Noise("add", 0.1),
    "head_rules": HeadRules(default="right"),
    "smoothing": lpcfg.Smoothing(words=1.0),
    "loss": "independent",
    "epochs": 3,
    "prune": None,
    "states": (3, 2),
    "start": PCFGEstimator().fit(TRAIN).grammar_,
    "monitor": lambda grammar: 0.0,
    "word_clusters": lpcfg.WordClusters((1, 1, 1), dimensions=1, min_count=1).fit([["a", "b"]]),
    "dependencies": lpcfg.Dependencies([]),
    "latent": SpectralEstimator(),
}


def other_value(name, declared):
    if isinstance(declared.default, (int, float)):
        return type(declared.default)(declared.default / 2 if declared.default else 1)
    return OTHER[name]


@pytest.fixture(params=list(ESTIMATORS))
def estimator(request):
    return make_estimator(request.param, **QUICK.get(request.param, {}))


def test_all_estimators_share_a_base_class_and_a_name():
    assert list(QUICK) == list(ESTIMATORS)
    for name, kind in ESTIMATORS.items():
        assert issubclass(kind, Estimator)
        assert kind.name == name
        assert repr(kind()) == f"{kind.__name__}()"
        for parameter, declared in kind.parameters().items():
            assert declared.help
            assert declared.constraint.allows(declared.default), parameter
            assert f"``{parameter}``: " in kind.__doc__
    assert DEFAULT_ESTIMATOR == "spectral"


def test_fields_are_parameters_or_results():
    for kind in (*ESTIMATORS.values(), CRFParser, Transformed, NoisyModels):
        names = {field.name for field in fields(kind) if not field.name.endswith("_")}
        assert names == set(kind.parameters())


def test_estimators_by_name():
    assert make_estimator("em", states=(4, 2), lexicon__rare=3).lexicon.rare == 3
    with pytest.raises(InputError, match="there is no estimator 'magic'; there are pcfg, spectral"):
        estimator_class("magic")
    with pytest.raises(InputError, match="PCFGEstimator has no parameter 'states'; it has lexicon"):
        make_estimator("pcfg", states=(2, 2))


def test_a_short_repr_shows_what_is_not_the_default():
    estimator = SpectralEstimator(ridge=0.2, lexicon=LexiconOptions(rare=3), cutoff=1)
    assert repr(estimator) == "SpectralEstimator(ridge=0.2, lexicon=LexiconOptions(rare=3))"
    left = Transformed(estimator, Transform(binarize="left"))
    assert (
        repr(left) == f"Transformed(estimator={estimator!r}, transform=Transform(binarize='left'))"
    )


def test_parameters_are_read_and_set_with_their_parts(estimator):
    parameters = estimator.get_params(deep=False)
    assert list(parameters) == list(estimator.parameters())
    assert estimator.get_params()["lexicon__rare"] == 20
    shared = estimator.lexicon
    assert estimator.set_params(lexicon__rare=3, lexicon__classes="english") is estimator
    assert (estimator.lexicon.rare, estimator.lexicon.classes, shared.rare) == (3, "english", 20)
    same = type(estimator)(**estimator.get_params(deep=False))
    assert same.get_params() == estimator.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"colour": 1}, "has no parameter 'colour'"),
        ({"states__first": 1}, "has no parameter 'states__first'"),
        ({"lexicon__colour": 1}, "lexicon is LexiconOptions.*, which has no 'colour'"),
        ({"noise__sigma": 1}, "noise is None, which has no 'sigma'"),
    ],
)
def test_parameters_that_are_not_there_cannot_be_set(parameters, message):
    with pytest.raises(InputError, match=message):
        SpectralEstimator().set_params(**parameters)


def test_parts_of_a_nested_estimator_are_set_in_a_copy():
    inner = PCFGEstimator()
    left = Transformed(inner, Transform(binarize="left"))
    left.set_params(estimator__lexicon__rare=3, transform__vertical=0)
    assert (left.estimator.lexicon.rare, inner.lexicon.rare) == (3, 20)
    assert left.transform == Transform(binarize="left", vertical=0)
    family = NoisyModels(SpectralEstimator()).set_params(estimator__states=(3, 3), models=2)
    assert family.get_params()["estimator__states"] == (3, 3)


def test_init_only_stores_and_fit_checks():
    estimator = EMEstimator(states="many")
    assert estimator.states == "many"
    with pytest.raises(InputError, match=r"EMEstimator: states must be a pair, .* not 'many'"):
        estimator.fit(TRAIN)
    with pytest.raises(InputError, match="SpectralEstimator: ridge must be a number"):
        Transformed(SpectralEstimator(ridge=-1), Transform()).fit(TRAIN)


def test_model_files_record_all_parameters_that_change_the_result(estimator):
    bank, estimator = Treebank.from_trees(TRAIN[:2]), type(estimator)()
    before = estimator.provenance(bank)
    assert before == json.loads(json.dumps(before))
    left_out = {"n_jobs", "progress", "each_cycle"}
    assert set(estimator.parameters()) - left_out <= set(before)
    assert not left_out & set(before)
    for name, declared in estimator.parameters().items():
        if name in left_out:
            continue
        value = other_value(name, declared)
        if name == "start":
            value = replace(value, provenance={"estimator": "pivot"})
        changed = estimator.with_params(**{name: value}).provenance(bank)
        assert [key for key in before if changed[key] != before[key]] == [name]


def test_fitted_grammars_have_that_provenance(estimator):
    bank = Treebank.from_trees(TRAIN, transform=estimator.default_transform)
    provenance = dict(estimator.fit(bank).grammar_.provenance)
    for measured in ("iterations_run", "learnt_from", "too_large"):
        provenance.pop(measured, None)
    assert provenance == estimator.provenance(bank)


def test_treebanks_trees_and_files_give_the_same_grammar(estimator, tmp_path):
    few = TRAIN[:60]
    bank = Treebank.from_trees(few, transform=estimator.default_transform)
    for number, part in enumerate((few[:40], few[40:])):
        (tmp_path / f"{number}.mrg").write_text("".join(f"{tree}\n" for tree in part))
    paths = [tmp_path / "0.mrg", str(tmp_path / "1.mrg")]
    first, *others = (
        estimator.fit(trees).grammar_
        for trees in (bank, few, iter(few), np.array(few, dtype=object), tmp_path, paths)
    )
    assert estimator.fit(few, None).grammar_.transform == estimator.default_transform
    for other in others:
        assert other.provenance["treebank"] == first.provenance["treebank"]
        np.testing.assert_array_equal(other.binary_probabilities, first.binary_probabilities)
        if first.latent is not None:
            np.testing.assert_array_equal(other.latent.binary, first.latent.binary)


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (3, "expected a treebank, trees, or paths of files of trees, not 3"),
        ([1, 2], "not 1 among others"),
        (b"dev.mrg", "not b'dev.mrg'"),
        ("", "a path must not be empty"),
        ([Tree("NN", "rain"), "a.mrg"], "expected trees or paths, not both"),
    ],
)
def test_other_inputs_are_refused(trees, message):
    with pytest.raises(InputError, match=message):
        PCFGEstimator().fit(trees)


def test_the_score_is_f1_as_a_fraction(estimator, tmp_path):
    estimator.fit(TRAIN)
    expected = lpcfg.evaluate_parser(lpcfg.Parser(estimator.grammar_), TEST).scores.f1 / 100
    assert 0.5 < estimator.score(TEST) == expected < 1
    (tmp_path / "test.mrg").write_text("".join(f"{tree}\n" for tree in TEST))
    assert estimator.score(tmp_path / "test.mrg") == expected
    assert estimator.score(Treebank.from_trees(TEST)) == expected


def test_gold_trees_are_cleaned_as_those_that_were_learnt_from(tmp_path):
    bare = [str(tree).replace("(ROOT ", "( ").replace("(NP ", "(NP-SBJ ") for tree in TREES]
    (tmp_path / "bare.mrg").write_text("\n".join(bare))
    estimator = PCFGEstimator().fit(tmp_path / "bare.mrg")
    assert estimator.score(tmp_path / "bare.mrg") == estimator.score(TREES) > 0.7


@pytest.mark.parametrize(
    "learner", [PCFGEstimator(), CRFParser(), NoisyModels(SpectralEstimator())], ids=repr
)
def test_scores_need_a_fit(learner):
    with pytest.raises(InputError, match=f"{type(learner).__name__}: call fit first"):
        learner.score(TEST)


def test_estimators_are_cloned(estimator):
    copy = clone(estimator.fit(TRAIN[:20]))
    assert type(copy) is type(estimator)
    assert repr(copy) == repr(estimator)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "grammar_")
    assert not get_tags(copy).target_tags.required


def test_nested_estimators_are_cloned():
    family = NoisyModels(SpectralEstimator(states=(2, 2)), transforms=[Transform()], models=2)
    copy = clone(family)
    assert copy.get_params() == family.get_params()
    assert copy.estimator is not family.estimator


def test_cross_validation_of_every_estimator(estimator):
    scores = cross_val_score(estimator, TREES, cv=2)
    assert scores.shape == (2,)
    assert np.all((scores > 0.5) & (scores < 1))


def test_grid_search_over_parameters_and_their_parts():
    search = GridSearchCV(
        SpectralEstimator(min_count=2, full_count=20),
        {"states": [(1, 1), (4, 4)], "lexicon__rare": [5, 20]},
        cv=2,
    )
    search.fit(TREES)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_params_["states"] == (4, 4)
    assert search.best_estimator_.grammar_.provenance["states"] == [4, 4]
    assert search.score(TEST) == search.best_estimator_.score(TEST)


def test_families_and_transformed_estimators_fit_and_score():
    family = NoisyModels(SpectralEstimator(states=(2, 2)), models=2, n_jobs=1)
    left = Transformed(SpectralEstimator(states=(2, 2)), Transform(binarize="left"))
    for learner in (family, left, CRFParser(epochs=1, bits=12, n_jobs=1, decoder="viterbi")):
        assert 0.7 < cross_val_score(learner, TREES, cv=2).mean() < 1
    assert left.fit(TRAIN).grammar_.provenance["transform"]["binarize"] == "left"


def test_importing_estimators_does_not_import_scikit_learn():
    code = (
        "import sys, lpcfg; lpcfg.SpectralEstimator().fit(lpcfg.embedded_trees()[:5]);"
        "sys.exit('sklearn' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_grammar_among_the_parameters_is_shown_in_short():
    start = PCFGEstimator().fit(TRAIN).grammar_
    shown = repr(EMEstimator(start=start, iterations=3))
    assert shown == f"EMEstimator(start={start!r}, iterations=3)"


def test_an_error_names_its_parameter():
    with pytest.raises(InputError) as caught:
        SpectralEstimator(ridge=-1).fit(TRAIN)
    assert caught.value.argument == "ridge"
    assert str(caught.value) == "SpectralEstimator: ridge must be a number from 0, not -1"


def test_parameters_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        SpectralEstimator((4, 4))
