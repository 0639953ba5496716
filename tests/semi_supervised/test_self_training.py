"""Self-training: what is parsed, what is kept, and what a student learns from it."""

import gzip
import json
import math
from pathlib import Path

import pytest
from sklearn.base import clone

from lpcfg import (
    Dependencies,
    DependencyTree,
    EMEstimator,
    Ensemble,
    InputError,
    PCFGEstimator,
    Reranker,
    SelfTrainingEstimator,
    Transform,
    Transformed,
    Treebank,
    embedded_trees,
    label_text,
    mixed_treebank,
    save,
)
from lpcfg.semi_supervised.self_training import confidence
from support.grammars import embedded_grammar

TREES = embedded_trees(80, seed=5)
TEXT = [tree.words() for tree in embedded_trees(50, seed=6)]


@pytest.fixture
def place(tmp_path):
    save(embedded_grammar(), tmp_path / "teacher.lpcfg")
    text = "".join(" ".join(words) + "\n" for words in TEXT)
    (tmp_path / "text.txt.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


@pytest.fixture
def labelled(place):
    label_text(place / "teacher.lpcfg", place / "text.txt.gz", place / "labelled")
    return place / "labelled"


def records(labelled):
    with gzip.open(labelled / "parts" / "0000000.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def test_gold_trees_have_their_weight_and_the_teachers_trees_follow(labelled):
    gold = Treebank.from_trees(TREES)
    mixed = mixed_treebank(gold, labelled, gold_weight=2)
    trees = [str(tree) for tree in gold.trees()]
    found = records(labelled)
    assert [str(tree) for tree in mixed.trees()] == [*trees, *(record["tree"] for record in found)]
    assert mixed.weights.tolist() == [1.0] * len(trees) + [0.5] * len(found)
    weighted = mixed_treebank(gold.weighted([0.25] * len(gold)), labelled, gold_weight=4)
    assert set(weighted.weights.tolist()) == {0.25}
    assert (mixed.transform, mixed.cleaning) == (gold.transform, gold.cleaning)


def test_trees_below_the_confidence_are_left_out(labelled):
    gold = Treebank.from_trees(TREES)
    found = sorted(confidence(record) for record in records(labelled))
    middle = found[len(found) // 2]
    mixed = mixed_treebank(gold, labelled, min_confidence=middle)
    assert len(mixed) == len(gold) + sum(value >= middle for value in found)
    assert sum(value < middle for value in found) > 0


def test_confidence_is_the_mean_posterior_of_inner_phrases():
    spans = [(0, 4, 1.0), (0, 2, 0.5), (2, 4, 0.7), (0, 1, 0.1)]
    record = {
        "status": "parsed",
        "spans": [dict(zip(("start", "end", "probability"), span, strict=True)) for span in spans],
    }
    assert confidence(record) == pytest.approx(0.6)
    assert confidence(record | {"status": "fragments"}) == 0
    # The tree of an ensemble that none of its members has.
    assert confidence(record | {"status": "combined"}) == pytest.approx(0.6)
    assert confidence(record | {"spans": record["spans"][:1]}) == 1


def test_a_student_learns_the_words_of_the_text(place):
    estimator = SelfTrainingEstimator(
        estimator=PCFGEstimator(),
        teacher=place / "teacher.lpcfg",
        text=[place / "text.txt.gz"],
        folder=place / "labelled",
    )
    student = estimator.fit(TREES[:5]).grammar_
    alone = PCFGEstimator().fit(TREES[:5]).grammar_
    words = {word for sentence in TEXT for word in sentence}
    assert len(words & set(student.lexicon.words)) > len(words & set(alone.lexicon.words))
    assert student.provenance["self_training"]["gold_trees"] == 5
    assert student.provenance["self_training"]["teacher_trees"] == len(TEXT)
    # The text is not parsed again: without it, the same grammar is learnt.
    before = (place / "labelled" / "manifest.json").stat().st_mtime_ns
    assert estimator.fit(TREES[:5]).grammar_.provenance == student.provenance
    assert (place / "labelled" / "parts" / "0000000.jsonl.gz").stat().st_mtime_ns <= before


def test_ensembles_and_rerankers_are_teachers(place):
    grammar = embedded_grammar()
    save(Ensemble([grammar, grammar], combine="trees"), place / "ensemble")
    save(Reranker([PCFGEstimator()], folds=2, candidates=2).fit(TREES), place / "reranker")
    for teacher in ("ensemble", "reranker"):
        labelled = place / f"{teacher}.labelled"
        report = label_text(place / teacher, place / "text.txt.gz", labelled)
        assert report.sentences == len(TEXT)
        with pytest.raises(InputError, match="leave out prune"):
            label_text(place / teacher, place / "text.txt.gz", place / "other", prune=0.5)
        student = SelfTrainingEstimator(
            estimator=PCFGEstimator(),
            teacher=place / teacher,
            text=place / "text.txt.gz",
            folder=labelled,
        )
        assert student.fit(TREES[:5]).grammar_.provenance["trees"] == 5 + len(TEXT)


def test_thresholds_of_the_teacher_can_be_chosen(place):
    for prune in (None, 0.5):
        folder = place / f"{prune}"
        label_text(place / "teacher.lpcfg", place / "text.txt.gz", folder, prune=prune)
    settings = [
        json.loads((place / name / "plan.json").read_text())["settings"]["options"]
        for name in ("None", "0.5")
    ]
    assert settings[0] == {}
    assert settings[1]["prune"]["fine"] == 0.5


def test_the_student_decides_the_transform_of_trees(place):
    def transform(student):
        estimator = SelfTrainingEstimator(
            estimator=student,
            teacher=place / "teacher.lpcfg",
            text=place / "text.txt.gz",
            folder=place / "labelled",
        )
        return estimator.fit(TREES).grammar_.transform

    em = EMEstimator(states=(2, 2), iterations=1)
    assert em.default_transform != PCFGEstimator.default_transform
    assert transform(em) == em.default_transform
    assert transform(PCFGEstimator()) == PCFGEstimator.default_transform
    assert transform(Transformed(em, Transform(binarize="left"))).binarize == "left"


def test_parameters_of_the_student_can_be_set():
    estimator = SelfTrainingEstimator(
        estimator=EMEstimator(), teacher="english", text="a.txt", folder="labelled"
    )
    estimator.set_params(estimator__iterations=3)
    assert estimator.estimator.iterations == 3
    assert clone(estimator).get_params()["estimator__iterations"] == 3


def test_all_parameters_are_recorded():
    words = ("it", "rained")
    tree = DependencyTree(("PRP", "VBD"), (1, 0), ("nsubj", "root"))
    known = Dependencies([(words, tree)])
    for text, dependencies, recorded in (
        (Path("a.txt"), known, {"sentences": 1, "sha256": known.digest}),
        (["a.txt"], Path("a.conll"), ["a.conll"]),
        ("a.txt", None, None),
    ):
        estimator = SelfTrainingEstimator(
            estimator=PCFGEstimator(),
            teacher=Path("teacher"),
            text=text,
            folder=Path("labelled"),
            dependencies=dependencies,
        )
        record = estimator.provenance_params()
        assert (record["teacher"], record["text"]) == ("teacher", ["a.txt"])
        assert (record["folder"], record["dependencies"]) == ("labelled", recorded)
        assert json.loads(json.dumps(record)) == record


def test_text_that_was_not_parsed_to_its_end_is_refused(labelled):
    (labelled / "manifest.json").unlink()
    with pytest.raises(InputError, match="has not been parsed to its end"):
        mixed_treebank(Treebank.from_trees(TREES), labelled)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gold_weight": 0}, "gold_weight: must be a number above 0, not 0"),
        ({"gold_weight": -1}, "gold_weight: must be a number above 0, not -1"),
        ({"gold_weight": math.nan}, "gold_weight: must be a number above 0, not nan"),
        ({"min_confidence": -0.1}, "min_confidence: must be a number from 0 to 1, not -0.1"),
        ({"min_confidence": 90}, "min_confidence: must be a number from 0 to 1, not 90"),
        ({"min_confidence": math.nan}, "min_confidence: must be a number from 0 to 1, not nan"),
    ],
)
def test_weights_and_confidences_that_cannot_be_used(labelled, options, message):
    with pytest.raises(InputError, match=message):
        mixed_treebank(Treebank.from_trees(TREES), labelled, **options)


def test_a_teacher_without_a_tree_is_an_error(place, labelled):
    gold = Treebank.from_trees(TREES)
    path = labelled / "parts" / "0000000.jsonl.gz"
    best = max(map(confidence, records(labelled)))
    kept = [record for record in records(labelled) if confidence(record) < best]
    path.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in kept).encode()))
    with pytest.raises(InputError, match="min_confidence: no tree of the teacher has this conf"):
        mixed_treebank(gold, labelled, min_confidence=best)
    (place / "blank.txt").write_text("\n")
    label_text(place / "teacher.lpcfg", place / "blank.txt", place / "nothing")
    with pytest.raises(InputError, match="nothing: there are no trees of the teacher"):
        mixed_treebank(gold, place / "nothing")
