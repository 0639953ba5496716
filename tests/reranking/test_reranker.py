"""Rerankers: what they learn, k-best lists by cross-fitting, and files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import ClassVar

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import lpcfg
from lpcfg import InputError, ModelFileError, Reranker, Tree, Treebank, _core
from lpcfg.cli.main import main
from lpcfg.io.model_file import ModelFile, read_document, write_model_file
from lpcfg.reranking._features import extract_features
from lpcfg.reranking._model import RerankerSamples
from lpcfg.reranking.candidates import SCORES, merge_candidates

# Enough of them for every grammar of a fold to parse all sentences of the others.
TREES = lpcfg.embedded_trees(150)


def test_folds_as_jobs_give_the_same_reranker() -> None:
    """Also if an estimator occurs twice, and progress bars cannot travel."""
    pcfg = lpcfg.PCFGEstimator()
    em = lpcfg.EMEstimator(states=(2, 2), iterations=1, progress=lambda steps: iter(steps))
    reranker = Reranker([(pcfg, em), pcfg], folds=2, candidates=4, min_count=1)
    here = reranker.fit(TREES[:80]).model_
    with joblib.parallel_config("threading", n_jobs=2):
        elsewhere = reranker.fit(TREES[:80]).model_
    for name in ("score_weights", "keys", "weights"):
        np.testing.assert_array_equal(getattr(here, name), getattr(elsewhere, name))


def test_a_preference_is_learnt_from_the_words() -> None:
    """ "with forks" belongs to the verb, "with cheese" to the noun; no parser knows."""
    high = "(S (NP (PRP {0})) (VP (VBP eat) (NP (NNS {1})) (PP (IN with) (NP (NN {2})))))"
    low = "(S (NP (PRP {0})) (VP (VBP eat) (NP (NP (NNS {1})) (PP (IN with) (NP (NN {2}))))))"
    samples = RerankerSamples()
    sentences = [
        (subject, noun, thing)
        for subject in ("we", "they", "you")
        for noun in ("rolls", "eggs", "beans")
        for thing in ("forks", "cheese")
    ]
    parser = lpcfg.Parser(
        lpcfg.PCFGEstimator()
        .fit(
            Treebank.from_trees(
                (
                    Tree.from_string(frame.format(*words))
                    for words in sentences
                    for frame in (high, low)
                ),
                cleaning=False,
            )
        )
        .grammar_
    )

    def proposed(words: tuple[str, str, str]) -> lpcfg.Candidates:
        subject, noun, thing = words
        sentence = [subject, "eat", noun, "with", thing]
        parses = parser.analyze_many(words=[sentence], candidates=10, marginals=True)
        return merge_candidates(list(parses))

    def right(words: tuple[str, str, str]) -> Tree:
        return Tree.from_string((high if words[2] == "forks" else low).format(*words))

    samples.add([proposed(words) for words in sentences], [right(words) for words in sentences])
    model = samples.fit(penalty=1.0, min_count=2, iterations=100)
    for words in [("we", "leaves", "forks"), ("I", "rolls", "cheese")]:
        (scores,) = model.scores([proposed(words)])
        assert proposed(words).trees[int(scores.argmax())] == right(words)


class Watcher(lpcfg.PCFGEstimator):
    """A PCFG estimator that remembers which trees it has seen."""

    seen: ClassVar[list[list[Tree]]] = []

    def estimate(self, treebank: Treebank) -> lpcfg.Grammar:
        self.seen.append(treebank.trees())
        return super().estimate(treebank)


def test_grammars_do_not_parse_the_trees_that_they_know() -> None:
    trees = TREES
    Reranker([Watcher()], folds=3, candidates=3, min_count=1).fit(Treebank.from_trees(trees))
    everything, *folds = Watcher.seen
    assert everything == trees
    left_out = [str(tree) for known in folds for tree in trees if tree not in known]
    assert sorted(left_out) == sorted({str(tree) for tree in trees})
    assert all(len(known) < len(trees) for known in folds)


@pytest.fixture(scope="module")
def fitted() -> Reranker:
    treebank = Treebank.from_trees(TREES)
    estimators = [lpcfg.PCFGEstimator(), lpcfg.PCFGEstimator(lexicon=lpcfg.LexiconOptions(rare=1))]
    return Reranker(estimators, folds=3, candidates=6, min_count=1, n_jobs=1).fit(treebank)


def test_a_reranker_is_used_as_a_parser_is(fitted: Reranker) -> None:
    trees = TREES
    assert lpcfg.evaluate_parser(fitted, trees).scores.coverage == 100.0
    words = trees[0].words()
    parse = fitted.analyze(words=words, candidates=4)
    assert len(parse.candidates) == len({tree for tree, _ in parse.candidates}) == 4
    assert parse.tree == parse.candidates[0][0] == fitted.parse(words=words)
    assert [span[:3] for span in parse.spans] == parse.tree.spans(preterminals=True)
    assert all(0 <= span.probability <= 1 + 1e-9 for span in parse.spans)


def test_candidates_of_all_parsers_are_there_once(fitted: Reranker) -> None:
    (candidates,) = fitted.propose(words=[["The", "dog", "saw", "him", "."]])
    assert len(set(candidates.trees)) == len(candidates)
    assert candidates.scores.shape == (len(candidates), 2 * len(SCORES))
    for parser in fitted.parsers_:
        parse = parser.analyze(words=["The", "dog", "saw", "him", "."], candidates=6)
        assert {tree for tree, _ in parse.candidates} <= set(candidates.trees)


def test_members_of_an_ensemble_have_a_say_too(tmp_path: Path) -> None:
    treebank = Treebank.from_trees(TREES)
    pcfg = lpcfg.PCFGEstimator()
    left = lpcfg.Transformed(pcfg, lpcfg.Transform(binarize="left"))
    reranker = Reranker([(pcfg, left), pcfg], folds=2, candidates=3, min_count=1, n_jobs=1)
    reranker.fit(treebank)
    words = ["The", "dog", "saw", "him", "with", "them", "."]
    (candidates,) = reranker.propose(words=[words])
    assert candidates.scores.shape == (len(candidates), 4 * len(SCORES))
    ensemble = reranker.parsers_[0]
    assert isinstance(ensemble, lpcfg.Ensemble)
    assert candidates.trees[0] == ensemble.parse(words=words)
    for member in ensemble.members:
        own = member.analyze(words=words, candidates=3).candidates
        assert {tree for tree, _ in own} <= set(candidates.trees)
    reranker.save(tmp_path / "model")
    assert Reranker.load(tmp_path / "model").parse(words=words) == reranker.parse(words=words)


def test_forms_of_trees_may_happen_to_be_the_same_in_a_fold() -> None:
    # Where no rule is long, trees that branch to the left and to the right are the same.
    long = "(S (NP (PRP we)) (VP (VBP eat) (NP (NN {0})) (PP (IN with) (NP (NN {1})))))"
    short = "(S (NP (PRP we)) (VP (VBP eat) (NP (NP (NN {0})) (PP (IN with) (NP (NN {1}))))))"
    nouns = ("eggs", "forks", "beans", "cheese")
    pairs = [(first, second) for first in nouns for second in nouns]
    trees = [Tree.from_string(long.format(*own)) for own in pairs[:5]]
    trees += [Tree.from_string(short.format(*own)) for own in pairs]
    right, left = (
        lpcfg.Transformed(lpcfg.ClusteringEstimator(states=(1, 1)), lpcfg.Transform(binarize=side))
        for side in ("right", "left")
    )
    # The first of three folds has all trees with long rules.
    reranker = Reranker([(right, left)], folds=3, candidates=3, min_count=1, n_jobs=1)
    reranker.fit(Treebank.from_trees(trees))
    assert isinstance(reranker.parsers_[0], lpcfg.Ensemble)
    reranker.parse(words=["we", "eat", "eggs", "with", "forks"])


def test_the_probability_of_a_sentence_is_that_of_whole_parsers() -> None:
    treebank = Treebank.from_trees(TREES)
    pcfg = lpcfg.PCFGEstimator()
    left = lpcfg.Transformed(pcfg, lpcfg.Transform(binarize="left"))
    reranker = Reranker([(pcfg, left, left)], folds=2, candidates=3, min_count=1, n_jobs=1)
    reranker.fit(treebank)
    words = ["The", "dog", "saw", "him", "."]
    found = reranker.analyze(words=words).sentence_log_probability
    whole = reranker.parsers_[0].analyze(words=words, candidates=3).sentence_log_probability
    assert found == pytest.approx(whole)


@pytest.mark.slow
def test_the_same_trees_give_the_same_model_whatever_the_threads(fitted: Reranker) -> None:
    treebank = Treebank.from_trees(TREES)
    again = Reranker(fitted.estimators, folds=3, candidates=6, min_count=1, n_jobs=2).fit(treebank)
    for name in ("keys", "weights", "score_weights"):
        np.testing.assert_array_equal(getattr(again.model_, name), getattr(fitted.model_, name))


def test_a_saved_reranker_chooses_the_same(fitted: Reranker, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    loaded = Reranker.load(tmp_path / "model")
    words = [tree.words() for tree in TREES][:20]
    found = loaded.analyze_many(words=words, candidates=3)
    for mine, theirs in zip(fitted.analyze_many(words=words, candidates=3), found, strict=True):
        assert mine == theirs


def test_damaged_rerankers_are_refused(fitted: Reranker, tmp_path: Path) -> None:
    fitted.save(tmp_path)
    path = tmp_path / "reranker.lpcfg"
    model = fitted.model_
    names = [["1-1.lpcfg"], ["2-1.lpcfg"]]
    arrays = {"keys": model.keys, "weights": model.weights, "score_weights": model.score_weights}
    document = {"kind": "reranker", "parsers": names, "options": {}, "template_version": 1}
    write_model_file(path, arrays, document)
    assert Reranker.load(tmp_path).model_.keys.tolist() == model.keys.tolist()
    for changes, message in [
        ({"keys": model.keys[::-1].copy()}, "ascend"),
        ({"weights": model.weights[1:]}, "weights"),
        ({"score_weights": model.score_weights[1:]}, "score_weights"),
        ({"score_weights": np.full_like(model.score_weights, np.nan)}, "must be finite"),
        ({"weights": np.full_like(model.weights, np.inf)}, "must be finite"),
    ]:
        write_model_file(path, arrays | changes, document)
        with pytest.raises(ModelFileError, match=message):
            Reranker.load(tmp_path)
    for changed, message in [
        ({"kind": "grammar"}, "not a reranker"),
        ({"parsers": [["../1-1.lpcfg"], ["2-1.lpcfg"]]}, "names of files"),
        ({"parsers": [["\0"], ["2-1.lpcfg"]]}, "names of files"),
        ({"parsers": []}, "names of files"),
        ({"options": {"wrong": 1}}, "wrong"),
        ({"options": {"memory": 1}}, "memory"),
        ({"options": {"candidates": "x"}}, "candidates"),
        ({"options": {"penalty": None}}, "penalty"),
        ({"options": {"decoder": []}}, "decoder"),
        ({"options": {"prune": 1}}, "Pruning"),
        ({"options": {"prune": {"fine": "x"}}}, "fine"),
    ]:
        write_model_file(path, arrays, document | changed)
        with pytest.raises(ModelFileError, match=message):
            Reranker.load(tmp_path)


def test_the_command_line_trains_and_uses_rerankers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    treebank, model = tmp_path / "trees.mrg", str(tmp_path / "model")
    trees = TREES
    treebank.write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
    train = ["train", str(treebank), "-o", model, "--rerank", "--folds", "2", "--candidates", "4"]
    assert main(train) == 0
    _, chosen, saved = capsys.readouterr().err.splitlines()
    assert chosen.startswith("reranker with")
    assert saved.endswith(" MB")
    assert main(train) == 1
    assert "name a folder to make" in capsys.readouterr().err
    assert main([*train, "-o", str(tmp_path / "missing" / "model")]) == 1
    assert "there is no folder" in capsys.readouterr().err
    assert main(["eval", model, str(treebank), "--limit", "5", "--json"]) == 0
    expected = lpcfg.evaluate_parser(Reranker.load(model), trees[:5]).scores
    assert json.loads(capsys.readouterr().out)["f1"] == expected.f1
    assert main(["show", model]) == 0
    assert "over 4 candidates" in capsys.readouterr().out
    assert main(["eval", model, str(treebank), "--decoder", "viterbi"]) == 1
    assert "leave out decoder" in capsys.readouterr().err


def test_nothing_is_learnt_where_there_is_no_choice() -> None:
    trees = [Tree.from_string("(S (NN rain))")] * 4
    with pytest.raises(InputError, match="more trees"):
        Reranker([lpcfg.PCFGEstimator()], folds=2).fit(Treebank.from_trees(trees))


def test_fragments_have_a_tree_too(fitted: Reranker) -> None:
    parse = fitted.analyze(["."] * 3)
    assert parse.tree.tags() == ["."] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds"),
        ({"folds": 10**6}, "folds"),
        ({"penalty": 0.0}, "penalty"),
        ({"penalty": np.nan}, "penalty"),
        ({"min_count": -1}, "min_count"),
        ({"iterations": -1}, "iterations"),
    ],
)
def test_options_are_checked(options: dict[str, float], message: str) -> None:
    treebank = Treebank.from_trees(TREES)
    with pytest.raises(InputError, match=message):
        Reranker([lpcfg.PCFGEstimator()], **options).fit(treebank)  # type: ignore[arg-type]


def test_a_reranker_needs_estimators() -> None:
    with pytest.raises(InputError, match="estimators must not be empty") as caught:
        Reranker().fit(TREES)
    assert caught.value.argument == "estimators"


def test_rerankers_follow_scikit_learn(fitted: Reranker) -> None:
    reranker = Reranker([(lpcfg.PCFGEstimator(), lpcfg.EMEstimator())], folds=2)
    assert repr(reranker) == "Reranker(estimators=[(PCFGEstimator(), EMEstimator())], folds=2)"
    copied = clone(reranker)
    assert copied == reranker
    assert copied.estimators[0][0] is not reranker.estimators[0][0]
    assert copied.set_params(candidates=3).get_params()["candidates"] == 3
    with pytest.raises(InputError, match="folds must be an integer from 2"):
        reranker.set_params(folds=1).fit(TREES)
    f1 = lpcfg.evaluate_parser(fitted, TREES[:30]).scores.f1
    assert fitted.score(TREES[:30]) == pytest.approx(f1 / 100)


def test_files_record_all_parameters(fitted: Reranker, tmp_path: Path) -> None:
    fitted.save(tmp_path / "reranker")
    file = ModelFile(tmp_path / "reranker" / "reranker.lpcfg")
    document = read_document(file, {})
    assert document["options"] == json.loads(json.dumps(fitted.provenance_params()))
    first = document["options"]["estimators"][0]
    assert (first[0] if isinstance(first, list) else first)["estimator"] == "pcfg"
    assert document["template_version"] == _core.reranker_template_version
    arrays = {name: file.array(name).copy() for name in file.names()}
    write_model_file(file.path, arrays, document | {"template_version": 0})
    with pytest.raises(ModelFileError, match=r"version 0, .* train the reranker again"):
        Reranker.load(tmp_path / "reranker")


def test_features_belong_to_their_version() -> None:
    flat = Tree.from_string("(S (NP (DT the) (NN dog)) (VBD saw) (NP (PRP him)) (. .))")
    deep = Tree.from_string("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .))")
    rows = extract_features([[flat, deep]])
    digest = hashlib.sha256(rows.keys.tobytes() + rows.counts.tobytes()).hexdigest()
    # If this fails, the features have changed: raise TEMPLATE_VERSION in rerank/templates.rs.
    assert (_core.reranker_template_version, digest[:16]) == (1, "201f9972ae82cf1d")
