"""The CRF with word clusters: words that no tree has are known by their clusters."""

import numpy as np
import pytest

from lpcfg import (
    CRFEstimator,
    InputError,
    Parser,
    Tree,
    Treebank,
    WordClusters,
    evaluate,
    load,
    save,
)

NOUN = "(S (NP (PRP we)) (VP (VBD saw) (NP (NP (DT the) (NN {})) (PP (IN with) (NP (NNS {}))))))"
VERB = "(S (NP (PRP we)) (VP (VBD saw) (NP (DT the) (NN {})) (PP (IN with) (NP (NNS {})))))"
ANIMALS = ("cat", "dog", "fox", "owl", "cow", "pig")
#: What is said in text about marks and tools; only the first of each are in the trees.
MARKS, TOOLS = ("spots", "stripes", "freckles"), ("forks", "knives", "hammers")


def trees(mark, tool, animals=ANIMALS):
    pairs = [(NOUN, mark), (VERB, tool)]
    return [Tree.from_string(text.format(a, thing)) for a in animals for text, thing in pairs]


def text():
    for words, sentence in ((MARKS, "her skin has {} all over"), (TOOLS, "he sells {} in a shop")):
        for _ in range(5):
            yield from (sentence.format(word).split() for word in words)


@pytest.fixture(scope="module")
def clusters():
    return WordClusters((8, 10, 12), dimensions=12, min_count=1).fit(text())


def fit(clusters, **options):
    options = {"bits": 16, "epochs": 8, "learning_rate": 0.1, "n_jobs": 1, **options}
    estimator = CRFEstimator(word_clusters=clusters, **options)
    return estimator.fit(Treebank.from_trees(trees("spots", "forks"))).grammar_


def f1(grammar):
    gold = [tree for pair in zip(MARKS, TOOLS, strict=True) for tree in trees(*pair)]
    found = list(Parser(grammar).parse_many(words=[tree.words() for tree in gold]))
    return evaluate(gold, found).f1


def test_unknown_words_are_known_by_their_clusters(clusters):
    assert f1(fit(clusters)) == 100
    assert f1(fit(None)) < 100


def test_a_path_and_any_number_of_threads(clusters, tmp_path):
    path = tmp_path / "words.lpcfg"
    save(clusters, path)
    first = fit(clusters, epochs=2)
    for same in (fit(path, epochs=2), fit(str(path), epochs=2, n_jobs=3)):
        assert np.array_equal(first.crf_weights.weights, same.crf_weights.weights)
    assert first.provenance["word_clusters"]["n_clusters"] == [8, 10, 12]


def test_the_model_file_has_the_clusters(clusters, tmp_path):
    grammar = fit(clusters)
    save(grammar, tmp_path / "crf.lpcfg")
    again = load(tmp_path / "crf.lpcfg")
    words = trees("stripes", "knives")[0].words()
    assert Parser(again).analyze(words=words) == Parser(grammar).analyze(words=words)
    assert f1(again) == 100


def test_clusters_must_be_fitted():
    with pytest.raises(InputError, match="word_clusters: they are not fitted; call fit first"):
        fit(WordClusters())
