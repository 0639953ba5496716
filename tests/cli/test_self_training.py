"""lpcfg train --unlabelled: students, teachers and the options of their text."""

from pathlib import Path

import pytest

from lpcfg import Ensemble, load, save
from support.commands import TREES, refused, write
from support.grammars import embedded_grammar


def test_unlabelled_text_is_parsed_once_and_learnt_from(run, files):
    arguments = ("train", "gold.mrg", "-o", "student.lpcfg", "--estimator", "pcfg")
    arguments = (*arguments, "--unlabelled", "text.txt", "--teacher", "model.lpcfg")
    code, _, said = run(*arguments)
    assert code == 0
    assert "5 sentences parsed" in said
    assert load("student.lpcfg").provenance["weighted_trees"] == pytest.approx(len(TREES) + 5 / 3)
    assert run(*arguments, "--gold-weight", "1")[0] == 0
    assert load("student.lpcfg").provenance["weighted_trees"] == len(TREES) + 5
    message = refused(run("train", "gold.mrg", "-o", "m", "--gold-weight", "2"))
    assert message == "--gold-weight does nothing without --unlabelled"


def test_several_students_learn_from_one_folder_of_trees(run, files):
    arguments = ("train", "gold.mrg", "--estimator", "pcfg", "--unlabelled", "text.txt")
    arguments = (*arguments, "--teacher", "model.lpcfg", "--labelled", "trees")
    assert run(*arguments, "-o", "first.lpcfg")[0] == 0
    made = {path: path.stat().st_mtime_ns for path in Path("trees/parts").iterdir()}
    assert run(*arguments, "-o", "second.lpcfg", "--binarize", "left")[0] == 0
    assert made == {path: path.stat().st_mtime_ns for path in Path("trees/parts").iterdir()}
    assert load("second.lpcfg").provenance["weighted_trees"] == pytest.approx(len(TREES) + 5 / 3)
    assert not Path("second.lpcfg.labelled").exists()


def test_dependencies_of_trees_of_text_and_of_sentences(run, files):
    rows = "\n\n".join(
        "\n".join(
            f"{word}\t{tag}\t0\troot" for word, tag in zip(tree.words(), tree.tags(), strict=True)
        )
        for tree in TREES
    )
    write("known.conll", f"{rows}\n")
    arguments = ("train", "gold.mrg", "-o", "teacher.lpcfg", "--estimator", "crf", "--bits", "12")
    assert run(*arguments, "--dependencies", "known.conll", "-q")[0] == 0
    teacher = load("teacher.lpcfg")
    assert teacher.crf_weights.dependencies
    assert run("eval", "teacher.lpcfg", "gold.mrg", "--dependencies", "known.conll")[0] == 0
    arguments = ("train", "gold.mrg", "-o", "student.lpcfg", "--estimator", "pcfg", "--unlabelled")
    arguments = (*arguments, "text.txt", "--teacher", "teacher.lpcfg")
    assert run(*arguments, "--teacher-dependencies", "known.conll", "-q")[0] == 0
    write("bad.conll", "one two three\n")
    message = refused(run("eval", "teacher.lpcfg", "gold.mrg", "--dependencies", "bad.conll"))
    assert "bad.conll:1: expected 4 columns" in message


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--gold-weight", "0"),
        ("--gold-weight", "-1"),
        ("--gold-weight", "nan"),
        ("--min-confidence", "-0.5"),
        ("--min-confidence", "90"),
        ("--min-confidence", "nan"),
    ],
)
def test_bad_values_are_refused_before_anything_is_parsed(run, option, value):
    arguments = ("train", "missing.mrg", "-o", "student.lpcfg", "--unlabelled", "text.txt")
    message = refused(run(*arguments, "--teacher", "model.lpcfg", option, value))
    assert message.startswith(f"{option}: must be a number")
    assert not Path("student.lpcfg.labelled").exists()


def test_a_weighted_ensemble_teaches_and_its_trees_are_counted(run):
    save(Ensemble([embedded_grammar(), embedded_grammar()], weights=[1, 2]), "ensemble")
    arguments = ("train", "gold.mrg", "-o", "student.lpcfg", "--estimator", "pcfg")
    arguments = (*arguments, "--unlabelled", "text.txt", "--teacher", "ensemble")
    code, _, said = run(*arguments)
    assert code == 0
    assert "5 sentences parsed into student.lpcfg.labelled, of which 5 are kept" in said
    assert "of which 3 are kept" in run(*arguments, "--min-confidence", "1")[2]
