"""Models as pickles: copies do what the originals do, in this process and in others."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import methodcaller

import joblib
import numpy as np
import pytest

import lpcfg
from lpcfg import (
    HMM,
    Ensemble,
    Grammar,
    ModelFileError,
    Parser,
    Reranker,
    SpectralHMM,
    Tagger,
    Transform,
    Tree,
    Treebank,
    embedded_trees,
)
from lpcfg.grammar._file import GRAMMAR_FORMAT
from lpcfg.lm import AggregateBigram
from support.grammars import embedded_grammar

TREES = embedded_trees(60)
WORDS = [tree.words() for tree in TREES[:5]]
SEQUENCES = [["a", "b", "a", "b"], ["b", "a", "b"], ["a", "a", "b", "c"]]

PARSE = methodcaller("analyze", words=WORDS[0], candidates=3)


@dataclass
class Case:
    """A model, and a method whose result shows what it has learnt."""

    model: object
    use: Callable[[object], object] = field(default=PARSE)


def treebank(**transform):
    return Treebank.from_trees(TREES, transform=Transform(**transform))


def models():
    grammar = embedded_grammar()
    spectral = lpcfg.SpectralEstimator().fit(treebank()).grammar_
    reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=4, min_count=1)
    other = lpcfg.PCFGEstimator().fit(treebank(binarize="left")).grammar_
    return {
        "grammar": Case(grammar, str),
        "latent grammar": Case(spectral, str),
        "parser": Case(Parser(grammar, decoder="viterbi", n_jobs=1)),
        "parser of several grammars": Case(Parser([spectral, spectral], combine="trees")),
        "ensemble": Case(Ensemble([grammar, other], weights=[1, 2])),
        "reranker": Case(reranker.fit(treebank())),
        "CRF parser": Case(lpcfg.CRFParser(epochs=1, bits=12).fit(treebank())),
        "tagger": Case(Tagger().fit(treebank()), methodcaller("tag", WORDS[0])),
        "HMM": Case(HMM(n_states=2).fit(SEQUENCES), methodcaller("score", SEQUENCES)),
        "spectral HMM": Case(
            SpectralHMM(n_states=2).fit(SEQUENCES), methodcaller("score", SEQUENCES)
        ),
        "language model": Case(AggregateBigram(2).fit(WORDS), methodcaller("perplexity", WORDS)),
    }


@pytest.fixture(scope="module")
def cases():
    return models()


NAMES = (
    "grammar",
    "latent grammar",
    "parser",
    "parser of several grammars",
    "ensemble",
    "reranker",
    "CRF parser",
    "tagger",
    "HMM",
    "spectral HMM",
    "language model",
)


def test_all_models_are_named(cases):
    assert tuple(cases) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_used_as_the_originals_are(cases, name):
    case = cases[name]
    expected = case.use(case.model)
    # Using a model first, since that may fill caches that cannot be pickled.
    for duplicate in (pickle.loads(pickle.dumps(case.model)), copy.deepcopy(case.model)):
        assert duplicate is not case.model
        assert type(duplicate) is type(case.model)
        assert case.use(duplicate) == expected


@pytest.fixture(scope="module")
def process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


@pytest.mark.parametrize("name", NAMES)
def test_a_spawned_process_uses_models(cases, process, name):
    case = cases[name]
    expected = case.use(case.model)
    assert process.apply(case.use, (case.model,)) == expected
    assert case.use(process.apply(copy.copy, (case.model,))) == expected


def test_joblib_uses_models(cases):
    found = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(case.use)(case.model) for case in cases.values()
    )
    assert found == [case.use(case.model) for case in cases.values()]


ESTIMATORS = {
    "pcfg": lambda: lpcfg.PCFGEstimator(),
    "spectral": lambda: lpcfg.SpectralEstimator(),
    "clustering": lambda: lpcfg.ClusteringEstimator(),
    "pivot": lambda: lpcfg.PivotEstimator(),
    "em": lambda: lpcfg.EMEstimator(iterations=2),
    "split-merge": lambda: lpcfg.SplitMergeEstimator(cycles=1),
    "crf": lambda: lpcfg.CRFEstimator(epochs=1, bits=12),
    "neural": lambda: lpcfg.NeuralEstimator(epochs=1, word_states=8),
    "transformed": lambda: lpcfg.Transformed(lpcfg.PCFGEstimator(), Transform(binarize="left")),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_copied_before_and_after_fitting(process, name):
    estimator = ESTIMATORS[name]()
    fitted = process.apply(pickle.loads(pickle.dumps(estimator)).fit, (treebank(),))
    estimator.fit(treebank())
    for duplicate in (fitted, copy.deepcopy(estimator)):
        assert vars(duplicate).keys() == vars(estimator).keys()
        parses = [
            list(Parser(own.grammar_).analyze_many(words=WORDS)) for own in (duplicate, estimator)
        ]
        assert parses[0] == parses[1]


def test_models_that_are_not_fitted_are_copied():
    for model in (Tagger(n_jobs=2), HMM(n_states=3), SpectralHMM(), AggregateBigram(4)):
        duplicate = pickle.loads(pickle.dumps(model))
        assert vars(duplicate) == vars(model)


def test_parts_that_are_shared_stay_shared(cases):
    parser = cases["CRF parser"].model
    duplicate = pickle.loads(pickle.dumps(parser))
    assert duplicate.parser_.grammar is duplicate.grammar_


def test_a_grammar_keeps_all_its_fields(cases):
    for name in ("grammar", "latent grammar"):
        grammar = cases[name].model
        assert GRAMMAR_FORMAT.to_bytes(copy.deepcopy(grammar)) == GRAMMAR_FORMAT.to_bytes(grammar)


def test_pickles_are_checked():
    grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    build, (data,) = grammar.__reduce__()
    assert build(data).labels == grammar.labels
    with pytest.raises(ModelFileError, match="<bytes>: is truncated"):
        build(data[:-1])


# Trees


@pytest.mark.parametrize("depth", [1, 300, 10_000])
def test_trees_of_any_depth_are_copied(depth):
    tree = Tree("NN", "rain")
    for level in range(depth):
        tree = Tree(f"N{level % 3}", [tree, Tree(",", ",")] if level % 2 else [tree])
    for duplicate in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert duplicate == tree


def test_odd_trees_are_copied():
    for tree in (Tree("NN", ""), Tree("S", []), Tree("S", [Tree("A", []), Tree("B", "3")])):
        duplicate = pickle.loads(pickle.dumps(tree))
        assert duplicate == tree
        assert duplicate.children == tree.children


def test_parses_are_copied(cases):
    parse = Parser(cases["grammar"].model).analyze(words=WORDS[0], candidates=2, marginals=True)
    duplicate = pickle.loads(pickle.dumps(parse))
    assert duplicate == parse
    np.testing.assert_array_equal(duplicate.marginals, parse.marginals)
