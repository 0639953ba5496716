"""The experiment with classes of texts: its data, its classifiers, its command."""

import numpy as np
import pytest

from lpcfg import HMM, InputError
from lpcfg.cli.main import main
from lpcfg.experiments.report import mean_rows
from lpcfg.experiments.sequences import LabelledTexts, read_labelled_texts, sequence_trials


def sampled_texts(number, seed):
    """Texts of two classes with the same symbols as often, in another order."""
    generator = np.random.default_rng(seed)
    alternating = HMM.from_parameters([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], np.eye(2))
    repeating = HMM.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], np.eye(2))
    found = LabelledTexts([], [])
    for place in range(number):
        hmm, label = ((alternating, "alternating"), (repeating, "repeating"))[place % 2]
        start = int(generator.integers(2))
        states = [start]
        for _ in range(11):
            stays = hmm.parameters_.transitions[states[-1], states[-1]]
            states.append(states[-1] if generator.random() < stays else 1 - states[-1])
        found.texts.append(["ab"[state] for state in states])
        found.labels.append(label)
    return found


def test_classifiers_that_see_the_order_tell_the_classes_apart():
    train, test = sampled_texts(300, 0), sampled_texts(200, 1)
    trials = sequence_trials(train, test, sizes=[300], states=[2], n_jobs=1)
    accuracy = {trial.settings["features"]: trial.measure()["accuracy"] for trial in trials}
    assert accuracy["symbols"] < 70
    assert accuracy["pairs of symbols"] > 95
    assert accuracy["an HMM for each class, 2 states"] > 95


def test_four_sequences_of_two_symbols_each():
    """Part 1 (a) of del Canto (2021): an HMM with pairs of states that alternate."""
    swap = np.kron(np.eye(4), [[0, 1], [1, 0]])
    symbols = [0, 2, 0, 3, 1, 2, 1, 3]
    initial = np.tile([0.25, 0], 4)
    hmm = HMM.from_parameters(initial, swap, np.eye(4)[symbols])
    for first, second in ((0, 2), (0, 3), (1, 2), (1, 3)):
        assert hmm.score([[first, second] * 5]) == pytest.approx(np.log(0.25))
    assert hmm.score([[0, 2, 0, 3]]) == -np.inf


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("en good\n", ":1: expected a class, a tab and a text"),
        ("en\tgood\nes\t \n", ":2: expected a class"),
        ("en\tgood\nen\tday\n", "two classes"),
    ],
)
def test_lines_without_a_class_or_a_text_are_an_error(tmp_path, content, message):
    (tmp_path / "texts.tsv").write_text(content)
    with pytest.raises(InputError, match=message):
        read_labelled_texts(tmp_path / "texts.tsv")


def test_characters_are_symbols_too(tmp_path):
    (tmp_path / "texts.tsv").write_text("en\ta b\nes\tcd\n", "utf-8")
    texts = read_labelled_texts(tmp_path / "texts.tsv", characters=True).texts
    assert texts == [["a", " ", "b"], ["c", "d"]]


def test_the_command_prints_means_of_runs_and_draws_a_plot(tmp_path, capsys):
    for name, number, seed in (("train", 60, 0), ("dev", 40, 1)):
        some = sampled_texts(number, seed)
        lines = [f"{c}\t{' '.join(t)}\n" for t, c in zip(some.texts, some.labels, strict=True)]
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
    files = [str(tmp_path / name) for name in ("train.tsv", "dev.tsv")]
    arguments = ["experiment", "sequences", *files, "-o", str(tmp_path / "out"), "-q", "-j", "1"]
    assert main([*arguments, "--sizes", "20,60", "--numbers", "2", "--runs", "2"]) == 0
    table = (tmp_path / "out" / "sequences.md").read_text().splitlines()
    assert table[0].startswith("| features | texts | accuracy | accuracy from | accuracy to |")
    assert len(table) == 2 + 2 * 5
    assert (tmp_path / "out" / "sequences.svg").exists()
    # Nothing is run again.
    capsys.readouterr()
    assert main([*arguments, "--sizes", "20,60", "--numbers", "2", "--runs", "2"]) == 0
    assert (tmp_path / "out" / "sequences.md").read_text().splitlines() == table


def test_options_of_other_experiments_are_refused(tmp_path, capsys):
    arguments = ["experiment", "sequences", "a.tsv", "b.tsv", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--estimators", "em"]) == 1
    assert main([*arguments, "--models", "3"]) == 1
    assert main([*arguments[:1], "estimators", *arguments[2:], "--runs", "3"]) == 1
    assert "does nothing" in capsys.readouterr().err


def test_means_are_over_rows_with_equal_settings():
    rows = [
        {"estimator": name, "run": run, "F1": f1, "tags": None}
        for name, run, f1 in (("em", 0, 80.0), ("pcfg", 0, 70.0), ("em", 1, 81.0))
    ]
    assert mean_rows(rows, "run", ["F1"]) == [
        {"estimator": "em", "F1": 80.5, "F1 from": 80.0, "F1 to": 81.0, "tags": None},
        {"estimator": "pcfg", "F1": 70.0, "F1 from": 70.0, "F1 to": 70.0, "tags": None},
    ]
