"""The search for hyper-parameters: its caches, its folder, its workers."""

import json
import os
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest
from optuna.storages.journal import JournalFileOpenLock

from lpcfg import (
    InputError,
    Parser,
    Transform,
    Treebank,
    WordClusters,
    embedded_trees,
    evaluate_parser,
    load,
)
from lpcfg.cli.main import main
from lpcfg.estimators.registry import make_estimator
from lpcfg.estimators.transformed import Transformed
from lpcfg.treebank import HeadRules
from lpcfg.tuning import Choice, Range, SearchSpace, tune
from lpcfg.tuning._trial import TrialRunner
from lpcfg.tuning.grammars import GrammarCache
from lpcfg.tuning.search import JOURNAL, open_study

TREES = embedded_trees()
TRAINING, GOLD = Treebank.from_trees(TREES[:150]), TREES[150:190]
TEXTS = [[tree.words() for tree in trees] for trees in (TREES[:150], TREES[:120])]
SPECTRAL = make_estimator("spectral", min_count=1, full_count=50)


def same_latent(first, second):
    return np.array_equal(first.latent.states, second.latent.states) and np.allclose(
        first.latent.binary, second.latent.binary, atol=1e-4
    )


@pytest.mark.parametrize(
    "changes",
    [{}, {"ridge": 0.2, "states": (3, 5)}, {"min_count": 20, "full_count": 60}, {"smoothing": 1.0}],
)
def test_grammars_cut_from_a_larger_decomposition_are_those_of_fit(changes):
    cache = GrammarCache(TRAINING, {"states": (14, 14), "min_count": 1, "full_count": 50})
    estimator = SPECTRAL.with_params(**changes)
    cut, fitted = cache.grammar(estimator), estimator.fit(TRAINING).grammar_
    gold = TREES[150:]
    scores = [evaluate_parser(Parser(grammar), gold).scores.f1 for grammar in (cut, fitted)]
    assert np.array_equal(cut.latent.states, fitted.latent.states)
    # Singular vectors are known up to the tolerance of the SVD, and up to their signs.
    assert scores[0] == pytest.approx(scores[1], abs=0.2)
    assert cut.provenance == fitted.provenance


def test_decompositions_are_shared_unless_something_that_they_depend_on_differs():
    cache = GrammarCache(TRAINING, {"states": (12, 12)})
    for ridge in (0.1, 1.0):
        cache.grammar(SPECTRAL.with_params(ridge=ridge, states=(4, 4)))
    assert cache.decompositions == 1
    heads = HeadRules({"NP": (("left", ()),)}, default="right")
    clusters = [WordClusters((2, 4, 8), dimensions=8, min_count=2).fit(text) for text in TEXTS]
    others = (
        {"kappa": 1.0},
        {"cutoff": 2},
        {"features": "compact"},
        {"lexicon__rare": 1},
        {"head_rules": heads},
        {"random_state": 1},
        {"word_clusters": clusters[0]},
        {"word_clusters": clusters[1]},
    )
    for other in others:
        before = cache.decompositions
        cut = cache.grammar(SPECTRAL.with_params(**other))
        assert cache.decompositions == before + 1
        assert same_latent(cut, GrammarCache(TRAINING, {}).grammar(SPECTRAL.with_params(**other)))


@pytest.mark.parametrize("name", ["spectral", "em"])
def test_grammars_in_another_transform_are_those_of_fit(name):
    estimator = make_estimator(name, states=(2, 2), min_count=1, full_count=50)
    if name == "em":
        estimator.set_params(iterations=3)
    cache = GrammarCache(TRAINING, {"states": (2, 2)})
    for transform in (Transform(binarize="left"), Transform(vertical=0), TRAINING.transform):
        grammar = cache.grammar(Transformed(estimator, transform))
        assert grammar.transform == transform
        assert same_latent(grammar, estimator.fit(TRAINING.transformed(transform)).grammar_)
    assert cache.decompositions == 3 * (name == "spectral")
    cache.grammar(estimator)
    assert cache.decompositions == 3 * (name == "spectral")


@pytest.mark.parametrize("name", ["clustering", "em"])
def test_other_estimators_give_the_grammars_of_fit(name):
    estimator = make_estimator(name, states=(2, 2), min_count=1, full_count=50)
    if name == "em":
        estimator.set_params(iterations=3)
    cache = GrammarCache(TRAINING, {})
    for _ in range(2):
        assert same_latent(cache.grammar(estimator), estimator.fit(TRAINING).grammar_)
    assert cache.decompositions == (name == "clustering")


def search(folder, trials=14, **options):
    return tune(SPECTRAL, TRAINING, GOLD, folder, trials=trials, n_jobs=1, **options)


def trials_of(folder):
    return [trial.params for trial in open_study(folder).trials]


def test_the_best_trial_is_at_least_as_good_as_the_defaults(tmp_path):
    result = search(tmp_path)
    first = next(row for row in result.rows if row["trial"] == 0)
    assert first["states_tags"] == 12
    assert result.f1 >= first["F1"]
    assert result.f1 == max(row["F1"] for row in result.rows)
    fitted = evaluate_parser(result.estimator.fit(TRAINING).parser(), GOLD).scores.f1
    assert fitted == pytest.approx(result.f1, abs=0.5)


def test_a_search_that_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path):
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
    search(tmp_path / "whole")
    for trials in (5, 5, 14):
        search(tmp_path / "parts", trials)
    assert trials_of(tmp_path / "parts") == trials_of(tmp_path / "whole")
    assert len(trials_of(tmp_path / "whole")) == 14


def test_the_transform_is_searched_if_it_is_named(tmp_path):
    space = {"binarize": Choice(("left", "right")), "horizontal": Range(0, 2)}
    fixed = [name for name in SearchSpace.of(SPECTRAL).values if name != "ridge"]
    result = search(tmp_path, search=space, fixed=fixed)
    tried = trials_of(tmp_path)
    assert tried[0] == {"binarize": "right", "horizontal": 1, "ridge": 0.7}
    assert {trial["binarize"] for trial in tried} == {"left", "right"}
    assert len({trial["horizontal"] for trial in tried}) == 3
    best = result.rows[0]
    chosen = result.estimator.transform
    assert (chosen.binarize, chosen.horizontal) == (best["binarize"], best["horizontal"])
    assert chosen.vertical == TRAINING.transform.vertical
    fitted = evaluate_parser(result.estimator.fit(TRAINING).parser(), GOLD).scores.f1
    assert fitted == pytest.approx(result.f1, abs=0.5)


def test_another_seed_gives_other_trials(tmp_path):
    search(tmp_path / "first", 3)
    search(tmp_path / "second", 3, seed=1)
    assert trials_of(tmp_path / "first")[1:] != trials_of(tmp_path / "second")[1:]


def test_a_folder_with_trials_of_other_trees_is_refused(tmp_path):
    search(tmp_path, 2)
    with pytest.raises(InputError, match="another treebank, estimator or search space"):
        tune(SPECTRAL, TRAINING, GOLD[:10], tmp_path, trials=3)


def test_no_trial_begins_after_the_timeout(tmp_path):
    with pytest.raises(InputError, match="no trial was completed"):
        search(tmp_path, timeout=0.0)


def test_hopeless_trials_are_stopped_after_a_part_of_the_sentences(tmp_path):
    many = SPECTRAL.with_params(states=(60, 60), smoothing=0.0)
    fixed = [name for name in SearchSpace.of(many).values if name != "ridge"]
    space = {"ridge": Choice((0.7, 0.6, 0.5, 0.4, 0.0))}
    result = tune(many, TRAINING, GOLD, tmp_path, trials=30, n_jobs=1, search=space, fixed=fixed)
    assert result.estimator.ridge > 0
    assert result.stopped > 0
    stopped = [t for t in open_study(tmp_path).trials if t.state.name == "PRUNED"]
    assert all(len(trial.intermediate_values) < 4 for trial in stopped)
    assert {trial.params["ridge"] for trial in stopped} == {0.0}


def test_a_trial_that_fails_is_not_counted(tmp_path, monkeypatch):
    run, calls = TrialRunner.run, []

    def fails_once(self, trial):
        calls.append(trial.estimator)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run(self, trial)

    monkeypatch.setattr(TrialRunner, "run", fails_once)
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path, 4)
    result = search(tmp_path, 4)
    assert len(result.rows) + result.stopped == 4
    states = [trial.state.name for trial in open_study(tmp_path).trials]
    assert len(calls) == len(states) == 5
    assert states[1] == "FAIL"


@pytest.mark.slow
def test_several_workers_run_the_trials(tmp_path):
    result = search(tmp_path, 12, workers=2)
    assert len(result.rows) + result.stopped == 12
    values = trials_of(tmp_path)
    assert len({json.dumps(each) for each in values}) == len(values)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.mrg").write_text("".join(f"{tree}\n" for tree in TREES[:150]))
    (tmp_path / "dev.mrg").write_text("".join(f"{tree}\n" for tree in GOLD))
    return tmp_path


def test_the_command_saves_the_best_model_a_table_and_pictures(files, capsys):
    arguments = ["tune", "train.mrg", "dev.mrg", "-o", "out", "--trials", "12", "-j", "1", "-q"]
    assert main([*arguments, "--min-count", "1", "--search", "full-count=50:60"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("| trial | F1 | states_phrases |")
    assert printed[-1].startswith("lpcfg train train.mrg -o out/best.lpcfg --estimator spectral")
    names = {path.name for path in (files / "out").iterdir()}
    pictures = {"history.svg", "importance.svg", "trade_off.svg"}
    assert names >= {"best.lpcfg", JOURNAL, "trials.md", "trials.jsonl", *pictures}
    rows = [json.loads(line) for line in (files / "out" / "trials.jsonl").read_text().splitlines()]
    assert [row["F1"] for row in rows] == sorted((row["F1"] for row in rows), reverse=True)
    assert all(50 <= row["full_count"] <= 60 and "min_count" not in row for row in rows)
    assert load("out/best.lpcfg").provenance["min_count"] == 1
    # The command that is printed trains the same model.
    best = (files / "out" / "best.lpcfg").read_bytes()
    assert main([*printed[-1].split()[1:], "-q"]) == 0
    assert (files / "out" / "best.lpcfg").read_bytes() == best


def test_the_command_that_is_printed_has_the_transform(files, capsys):
    arguments = ["tune", "train.mrg", "dev.mrg", "-o", "out", "--trials", "2", "-j", "1", "-q"]
    assert main([*arguments, "--search", "binarize=left", "--search", "vertical=0"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "--binarize left --vertical 0" in printed[-1]
    best = (files / "out" / "best.lpcfg").read_bytes()
    assert load("out/best.lpcfg").transform == Transform(binarize="left", vertical=0)
    assert main([*printed[-1].split()[1:], "-q"]) == 0
    assert (files / "out" / "best.lpcfg").read_bytes() == best


def test_the_command_that_is_printed_has_all_files_and_how_trees_are_read(files, capsys):
    folder = files / "my files"
    folder.mkdir()
    for name in ("train", "dev"):
        text = (files / f"{name}.mrg").read_text().replace(" the)", " th\xe9)")
        (files / f"{name}.mrg").write_bytes(text.encode("latin-1") + b"(S (NP\n")
    WordClusters((2, 4, 8), dimensions=8, min_count=2).fit(TEXTS[0]).save(folder / "words.lpcfg")
    (folder / "heads.txt").write_text("NP left DT, left\n* right\n")
    given = ["--on-error", "skip", "--treebank-style", "auto", "--encoding", "latin-1"]
    given += ["--head-rules", "my files/heads.txt", "--word-clusters", "my files/words.lpcfg"]
    arguments = ["tune", "train.mrg", "dev.mrg", "-o", "out", "--trials", "2", "-j", "1", "-q"]
    assert main([*arguments, *given]) == 0
    printed = capsys.readouterr().out.splitlines()[-1]
    words = shlex.split(printed)
    for option, value in zip(given[::2], given[1::2], strict=True):
        assert words[words.index(option) + 1] == value
    best = (files / "out" / "best.lpcfg").read_bytes()
    assert main([*words[1:], "-q"]) == 0
    assert (files / "out" / "best.lpcfg").read_bytes() == best


@pytest.mark.parametrize(
    "options",
    [
        ["--min-count", "80"],
        ["--full-count", "20", "--search", "min-count=30:200"],
        ["--search", "min-count=60:200", "--search", "full-count=50:60"],
    ],
)
def test_the_command_searches_counts_that_exclude_each_other(files, capsys, options):
    arguments = ["tune", "train.mrg", "dev.mrg", "-o", "out", "--trials", "3", "-j", "1", "-q"]
    assert main([*arguments, "--ridge", "0.7", "--features", "compact", *options]) == 0
    assert "lpcfg train" in capsys.readouterr().out
    rows = [json.loads(line) for line in (files / "out" / "trials.jsonl").read_text().splitlines()]
    own = load("out/best.lpcfg").provenance
    assert all(
        own[name] == rows[0][name] for name in ("min_count", "full_count") if name in rows[0]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--search", "ridge=2:1"], "expected a range of numbers"),
        (["--search", "ridge"], "expected NAME=LOW:HIGH"),
        (["--search", "kapa=1:2"], "no parameter 'kapa'"),
        (["--search", "ridge=0:1", "--ridge", "1"], "ridge is fixed by an option"),
        (["--trials", "0"], "at least 1"),
    ],
)
def test_the_command_refuses_values_before_anything_is_written(files, capsys, arguments, message):
    try:
        code = main(["tune", "train.mrg", "dev.mrg", "-o", "out", *arguments])
    except SystemExit as stop:
        code = stop.code
    assert code
    assert message in capsys.readouterr().err
    assert not (files / "out").exists()


class _ImpatientLock(JournalFileOpenLock):
    """Waits a part of a second for a lock that another process has left."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.grace_period = 0.2


@pytest.mark.slow
def test_a_search_that_is_killed_goes_on(files):
    command = [sys.executable, "-m", "lpcfg", "tune", "train.mrg", "dev.mrg", "-o", "out", "-q"]
    process = subprocess.Popen([*command, "--trials", "1000", "-j", "1"], env=os.environ)
    while not (files / "out" / JOURNAL).exists() or len(open_study("out").trials) < 3:
        time.sleep(0.2)
    process.kill()
    process.wait()
    before = sum(trial.state.is_finished() for trial in open_study("out").trials)
    assert main([*command[3:], "--trials", str(before + 2), "-j", "1"]) == 0
    finished = [trial for trial in open_study("out").trials if trial.state.is_finished()]
    assert len(finished) == before + 2


def test_a_lock_that_a_killed_search_left_is_removed(files, monkeypatch):
    monkeypatch.setattr("optuna.storages.journal.JournalFileOpenLock", _ImpatientLock)
    (files / "out").mkdir()
    (files / "out" / f"{JOURNAL}.lock").touch()
    assert open_study("out").trials == []
    assert not (files / "out" / f"{JOURNAL}.lock").exists()
