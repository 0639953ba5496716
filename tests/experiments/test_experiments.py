"""Experiments: their trials, the file that remembers these, tables and plots."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import joblib
import numpy as np
import pytest

import lpcfg
from lpcfg import (
    ClusteringEstimator,
    CRFEstimator,
    InputError,
    NoisyModels,
    PCFGEstimator,
    Reranker,
    SpectralEstimator,
    Transform,
    Treebank,
    evaluate,
    evaluate_parser,
)
from lpcfg.cli.main import main
from lpcfg.experiments.learning import Subject, learning_trial, nested_samples
from lpcfg.experiments.noise import noise_trials
from lpcfg.experiments.report import draw_rows
from lpcfg.experiments.trials import Trial, digest, run_trials
from lpcfg.jobs import backend_is_chosen
from lpcfg.parsing.tree_coverage import tree_coverage
from lpcfg.treebank.forest import Forest

TREES = lpcfg.embedded_trees()
GOLD = TREES[:20]
FOREST = Forest.from_trees(TREES)


def counting_trials(calls, *numbers):
    def measure(number):
        calls.append(number)
        return {"square": number**2}

    return [Trial({"number": n}, "same", lambda n=n: measure(n)) for n in numbers]


def test_trials_that_were_made_are_not_made_again(tmp_path):
    path, calls = tmp_path / "squares.jsonl", []
    rows = list(run_trials(counting_trials(calls, 1, 2), path))
    assert rows == [{"number": 1, "square": 1}, {"number": 2, "square": 4}]
    again = list(run_trials(counting_trials(calls, 2, 3, 1), path))
    assert [row["square"] for row in again] == [4, 9, 1]
    assert calls == [1, 2, 3]
    # Another treebank or option is another trial, whose row is there too.
    other = counting_trials(calls, 1)[0]._replace(inputs="other")
    assert list(run_trials([other], path)) == [rows[0]]
    assert calls == [1, 2, 3, 1]
    assert [json.loads(line)["inputs"] for line in path.read_text().splitlines()].count("same") == 3


def test_trials_as_jobs_are_stored_as_they_end_and_listed_in_their_order(tmp_path):
    path = tmp_path / "squares.jsonl"

    def first():
        # It ends once the result of the second has been stored.
        while not path.exists():
            time.sleep(0.01)
        return {"square": 1}

    trials = [
        Trial({"number": 1}, "same", first),
        Trial({"number": 2}, "same", lambda: {"square": 4}),
        # This one is no job: it sees the backend.
        Trial({"number": 3}, "same", lambda: {"square": 8 + backend_is_chosen()}, has_jobs=True),
    ]
    with joblib.parallel_config("threading", n_jobs=2):
        rows = list(run_trials(trials, path))
    assert [row["square"] for row in rows] == [1, 4, 9]
    stored = [json.loads(line)["found"]["square"] for line in path.read_text().splitlines()]
    assert stored == [4, 1, 9]


def test_trials_before_an_interruption_are_kept(tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    path, calls = tmp_path / "squares.jsonl", []
    trials = [*counting_trials(calls, 1), Trial({"number": 2}, "same", interrupt)]
    with pytest.raises(KeyboardInterrupt):
        list(run_trials(trials, path))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    list(run_trials(counting_trials(calls, 1, 2), path))
    assert calls == [1, 2]


@pytest.mark.parametrize("line", ["{", "[]", '{"settings": {}, "inputs": "", "found": 3}'])
def test_lines_that_are_not_of_trials_are_refused(tmp_path, line):
    path, calls = tmp_path / "squares.jsonl", []
    list(run_trials(counting_trials(calls, 1), path))
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(InputError, match=r"squares.jsonl:2: "):
        list(run_trials(counting_trials(calls, 1), path))


@pytest.mark.parametrize("kept", [1, 20, 40])
def test_a_torn_last_line_is_computed_again(tmp_path, kept):
    path, calls = tmp_path / "squares.jsonl", []
    list(run_trials(counting_trials(calls, 1, 2), path))
    whole = path.read_bytes()
    first, second = whole.splitlines(keepends=True)
    path.write_bytes(first + second[:kept])
    assert [row["square"] for row in run_trials(counting_trials(calls, 1, 2), path)] == [1, 4]
    assert calls == [1, 2, 2]
    assert path.read_bytes() == whole


def test_samples_are_nested():
    words = [
        {word for tree in sample.trees() for word in tree.words()}
        for sample in nested_samples(FOREST, [20, 50, len(FOREST)], seed=1)
    ]
    assert words[0] < words[1] < words[2]


def test_inputs_tell_all_that_matters_apart():
    subject = Subject(PCFGEstimator())

    def inputs(subject=subject, forest=FOREST, gold=GOLD):
        return learning_trial({}, subject, forest, gold).inputs

    lexicon = lpcfg.LexiconOptions(rare=1)
    assert (
        len(
            {
                inputs(),
                inputs(Subject(PCFGEstimator(lexicon=lexicon))),
                inputs(Subject(ClusteringEstimator())),
                inputs(subject._replace(transform=Transform(vertical=0))),
                inputs(forest=FOREST.select([0, 1])),
                inputs(gold=GOLD[1:]),
            }
        )
        == 6
    )
    quiet = replace(ClusteringEstimator(), progress=list)
    assert inputs(Subject(quiet)) == inputs(Subject(ClusteringEstimator()))


def test_weights_of_features_count_as_parameters():
    grammar = CRFEstimator(epochs=1, bits=10, n_jobs=1).fit(Treebank.from_trees(TREES)).grammar_
    subjects = (PCFGEstimator(), CRFEstimator(epochs=1, bits=10, n_jobs=1))
    plain, weighed = (
        learning_trial({}, Subject(subject), FOREST, GOLD, n_jobs=1).measure()["parameters"]
        for subject in subjects
    )
    assert weighed == plain + np.count_nonzero(grammar.crf_weights.weights) > plain


def test_inputs_are_the_same_in_every_process():
    code = (
        "import lpcfg, lpcfg.experiments.trials as t; print(t.digest(lpcfg.ClusteringEstimator()))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert found == {f"{digest(ClusteringEstimator())}\n".encode()}


FAMILY = NoisyModels(
    ClusteringEstimator(states=(2, 2), min_count=5, full_count=50, restarts=1),
    kinds=("add", "mul"),
    sigmas=(0.2,),
    models=2,
    n_jobs=1,
)


def test_models_with_noise_are_combined_and_the_oracle_is_best(tmp_path):
    trials = list(noise_trials(FAMILY, Treebank.from_trees(TREES), GOLD, tmp_path))
    assert [trial.settings["models"] for trial in trials] == [2, 2, 4, 2, 1]
    _, together, seeds, none = (trial.measure() for trial in trials[1:])
    assert {file.name: len(list(file.iterdir())) for file in tmp_path.iterdir()} == {
        "add": 2,
        "mul": 2,
        "seeds": 2,
    }
    for row in (together, seeds, none):
        assert row["oracle"] >= row["mean of single"] > 50
        assert row["oracle"] >= row["tree coverage"] > 50
    assert none["marginal coverage"] == none["mean of single"] == none["oracle"]


def test_models_that_draw_no_numbers_are_not_compared_by_seeds(tmp_path):
    family = replace(FAMILY, estimator=SpectralEstimator())
    trials = noise_trials(family, Treebank.from_trees(TREES), GOLD, tmp_path)
    assert [trial.settings["noise"] for trial in trials] == ["add", "mul", "all", "none"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_reranked_trees_are_those_of_a_reranker_for_each_row(tmp_path, count):
    """With one candidate as MaxEnt in the paper: among the best trees of the single models."""
    bank = Treebank.from_trees(TREES)
    reranker = Reranker(folds=2, candidates=count, min_count=1, n_jobs=1)
    trials = {t.settings["noise"]: t for t in noise_trials(FAMILY, bank, GOLD, tmp_path, reranker)}
    plain = next(noise_trials(FAMILY, bank, GOLD, tmp_path))
    assert trials["add"].inputs != plain.inputs
    rows = {noise: trials[noise].measure() for noise in ("add", "mul", "all", "none")}
    assert list(rows["add"])[-2:] == ["reranking", "oracle"]
    kept = json.loads((tmp_path / "reranked.json").read_text())["trees"]
    for kinds in (("add",), ("add", "mul")):
        families = [replace(FAMILY, kinds=(kind,)) for kind in kinds]
        members = [own.estimator for family in families for own in family.members()]
        parsers = members if count == 1 else [tuple(members)]
        chosen = evaluate_parser(replace(reranker, estimators=parsers).fit(bank), GOLD)
        name = kinds[0] if len(kinds) == 1 else "all"
        assert kept[name] == list(map(str, chosen.trees))
        assert rows[name]["reranking"] == chosen.scores.f1
    if count == 1:
        assert rows["none"]["reranking"] == rows["none"]["mean of single"]
        assert all(row["reranking"] <= row["oracle"] for row in rows.values())
    hierarchy = trials["hierarchy"].measure()
    chosen = (map(lpcfg.Tree.from_string, kept[noise]) for noise in ("add", "mul", "all"))
    assert hierarchy["tree coverage"] == evaluate(GOLD, tree_coverage(zip(*chosen, strict=True))).f1
    assert hierarchy["oracle"] >= max(rows[noise]["reranking"] for noise in ("add", "mul", "all"))


@pytest.mark.slow
def test_rerankers_are_not_trained_again_for_the_same_models(tmp_path, monkeypatch):
    bank = Treebank.from_trees(TREES)
    reranker = Reranker(folds=2, candidates=1, min_count=1, n_jobs=1)
    first = next(noise_trials(FAMILY, bank, GOLD, tmp_path, reranker)).measure()
    with monkeypatch.context() as patched:
        patched.setattr("lpcfg.experiments.noise.rerank_subsets", None)
        again = next(noise_trials(FAMILY, bank, GOLD, tmp_path, reranker)).measure()
    assert again == first
    other = replace(reranker, folds=3)
    kept = (tmp_path / "reranked.json").read_text()
    next(noise_trials(FAMILY, bank, GOLD, tmp_path, other)).measure()
    assert (tmp_path / "reranked.json").read_text() != kept


def test_one_kind_of_noise_is_not_measured_twice(tmp_path):
    family = NoisyModels(ClusteringEstimator(), kinds=("add",))
    trials = noise_trials(family, Treebank.from_trees(TREES), GOLD, tmp_path)
    assert [trial.settings["noise"] for trial in trials] == ["add", "seeds", "none"]


def test_plots_have_a_line_for_each_group(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        {"estimator": name, "trees": trees, "F1": trees / 10.0, "time": trees * 2.0}
        for name in ("pcfg", "spectral")
        for trees in (10, 100)
    ]
    rows[0]["F1"] = None
    path = tmp_path / "plot.svg"
    draw_rows(rows, path, across="trees", up=("F1", "time"), logarithmic=("trees", "F1"))
    text = path.read_text()
    for name in ("pcfg", "spectral", "training trees", "F1 (%)", "time"):
        assert f">{name}<" in text
    first = path.read_bytes()
    draw_rows(rows, path, across="trees", up=("F1", "time"), logarithmic=("trees", "F1"))
    assert path.read_bytes() == first


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command where there are treebanks; give its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    for name, trees in (("train.mrg", TREES), ("dev.mrg", GOLD)):
        (tmp_path / name).write_text("".join(f"{tree}\n" for tree in trees))

    def run(*arguments):
        code = main(["experiment", *arguments, "-o", "results", "-j", "1"])
        return code, *capsys.readouterr()

    return run


def test_the_command_runs_tabulates_and_resumes(run, tmp_path):
    files = "train.mrg", "dev.mrg"
    size = ("size", *files, "--estimators", "pcfg", "--sizes", "50,100", "--sentences", "5")
    code, out, _ = run(*size)
    assert code == 0
    assert [line.split(" | ")[:2] for line in out.splitlines()[2:]] == [
        ["| pcfg", "50"],
        ["| pcfg", "100"],
    ]
    assert (tmp_path / "results" / "size.md").read_text() == out
    # Times would differ if anything were measured again.
    assert run(*size)[1] == out
    states = ("states", *files, "--estimators", "spectral", "--numbers", "1", "--sentences", "5")
    assert "| spectral | 1 |" in run(*states)[1]
    assert "| pcfg |" in run("estimators", *files, "--estimators", "pcfg", "--sentences", "5")[1]
    code, _, said = run("noise", *files, "--estimators", "pcfg")
    assert (code, said) == (
        1,
        "lpcfg: estimator: only spectral, clustering and pivot support noise\n",
    )
    assert "there is no 'magic'" in run("size", *files, "--estimators", "pcfg,magic")[2]


@pytest.mark.parametrize(
    ("experiment", "options", "message"),
    [
        (
            "states",
            "--estimators clustering,split-merge",
            "--estimators: split-merge has no parameter",
        ),
        ("states", "--estimators crf", "choose from spectral, clustering, pivot, em"),
        ("noise", "--noise salt", "not ['salt']"),
        ("noise", "--models 0", "models must be an integer from 1"),
        ("noise", "--folds 2", "--folds does nothing without --rerank"),
        ("size", "--estimators spectral:rigde=1", "spectral has no parameter 'rigde'"),
        ("size", "--estimators spectral:ridge=x", "expected a number from 0, not 'x'"),
        ("size", "--rerank", "--rerank does nothing in the experiment size"),
        ("size", "--models 3", "--models does nothing in the experiment size"),
        ("estimators", "--numbers 3", "--numbers does nothing in the experiment estimators"),
    ],
)
def test_the_command_refuses_what_cannot_be_measured_before_it_reads(
    run, tmp_path, experiment, options, message
):
    code, _, said = run(experiment, "none.mrg", "dev.mrg", *options.split())
    assert code == 1
    assert message in said
    assert not (tmp_path / "results").exists()


def test_the_command_names_treebanks_that_are_empty_or_malformed(run, tmp_path):
    (tmp_path / "empty.mrg").write_text("")
    (tmp_path / "bad.mrg").write_text(f"{TREES[0]}\n(NP (NN two words))\n")
    for files in (("empty.mrg", "dev.mrg"), ("train.mrg", "empty.mrg")):
        code, _, said = run("size", *files, "--estimators", "pcfg")
        assert code == 1
        assert said.endswith("lpcfg: no trees in empty.mrg\n")
        assert not (tmp_path / "results").exists()
    pcfg = ("train.mrg", "bad.mrg", "--estimators", "pcfg")
    code, _, said = run("estimators", *pcfg)
    assert code == 1
    assert "--on-error skip" in said
    code, _, said = run("estimators", *pcfg, "--on-error", "skip")
    assert code == 0
    assert "bad.mrg: 1 trees read, 1 malformed ones skipped" in said


def test_few_trees_are_not_halved_to_none(run, tmp_path):
    (tmp_path / "few.mrg").write_text("".join(f"{tree}\n" for tree in TREES[:3]))
    code, out, _ = run("size", "few.mrg", "few.mrg", "--estimators", "pcfg")
    assert code == 0
    assert [line.split(" | ")[1] for line in out.splitlines()[2:]] == ["1", "3"]
