"""The harness itself: it finds what is wrong, goes on after crashes, and takes up where it was."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import soak
from fuzz.cases import Finding, about, run_case
from fuzz.damage import ModelBytes, damaged
from fuzz.samples import samples
from fuzz.soundness import check_parse
from fuzz.state import Findings, Progress
from lpcfg import Tree
from lpcfg.parsing.parse import Parse

TESTS = Path(__file__).parents[1]


class Dice:
    """Fails on every sixth throw or so."""

    unit = "throws"

    def run(self, draw):
        throw = draw.randrange(6)
        with about("threw", throw):
            if not throw:
                raise ValueError("a zero")
        return 2


def test_a_case_is_determined_by_its_number():
    results = [run_case(Dice(), "dice", 0, case) for case in range(60)]
    assert results == [run_case(Dice(), "dice", 0, case) for case in range(60)]
    assert results != [run_case(Dice(), "dice", 1, case) for case in range(60)]
    found = [finding for _, finding in results if finding is not None]
    assert 0 < len(found) < 60
    assert all(finding.problem == "ValueError: a zero\n  'threw' 0" for finding in found)
    assert found[0].command.endswith(f"SOAK_ONLY=dice SOAK_SEED=0 SOAK_CASE={found[0].case}")


def test_a_warning_is_a_finding():
    class Warns:
        unit = "warnings"

        def run(self, draw):
            import warnings

            warnings.warn("look out", RuntimeWarning, stacklevel=1)

    _, finding = run_case(Warns(), "warns", 0, 0)
    assert finding.problem == "RuntimeWarning: look out"


def test_the_state_of_a_run_is_kept(tmp_path):
    progress = Progress(tmp_path, "dice", 0)
    progress.advance(5)
    progress.advance(7)
    again = Progress(tmp_path, "dice", 0)
    assert (again.case, again.units) == (2, 12)
    assert Progress(tmp_path, "dice", 1).case == 0
    findings = Findings(tmp_path)
    for case in (1, 2):
        findings.add(Finding("dice", 0, case, f"E: {case}", "here < there"))
    (kind,) = Findings(tmp_path).kinds()
    assert (kind.first.case, kind.number) == (1, 2)


WORKERS = """
import os, sys, time
import fuzz.targets
class Crashes:
    unit = "crashes"
    def run(self, draw):
        time.sleep(0.01)
        if draw.randrange(40) == 0:
            os.abort()
        return 1
fuzz.targets.TARGETS["dice"] = (Crashes, 1.0)
from fuzz import soak
"""


def test_crashes_are_found_and_the_run_goes_on(tmp_path, monkeypatch):
    def start(name, seed, folder, seconds):
        code = f"{WORKERS}\nsoak.work({name!r}, {seed}, {str(folder)!r}, {seconds})"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
        command = [sys.executable, "-c", code]
        return subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        )

    monkeypatch.setattr(soak, "_start", start)
    draws = [random.Random(f"dice 3 {case}").randrange(40) for case in range(10_000)]
    crash = draws.index(0)
    while Progress(tmp_path, "dice", 3).case <= crash:
        soak.supervise("dice", 3, tmp_path, 3)
    lost = next(iter(Findings(tmp_path)))
    assert lost.case == crash
    assert lost.problem == "Lost: exit code -6"


def test_unsound_parses_are_noticed():
    tree = Tree("S", [Tree("NN", "rain")])

    def parse(**changes):
        values = {"status": "parsed", "log_probability": -1.0, "sentence_log_probability": -1.0}
        values |= {"span_probabilities": (1.0, 1.0), "candidates": ((tree, -1.0),)}
        return Parse(tree=tree, **values | changes)

    assert check_parse(parse(), ["rain"]) == tree
    for changes, words in (
        ({}, ["rain", "fell"]),
        ({"log_probability": float("nan")}, ["rain"]),
        ({"span_probabilities": (1.5, 1.0)}, ["rain"]),
        ({"status": "odd"}, ["rain"]),
    ):
        with pytest.raises(AssertionError):
            check_parse(parse(**changes), words)


def test_model_files_are_damaged_in_every_way():
    data = samples().model_bytes["hand-written"]
    parts = ModelBytes(data)
    draw = random.Random(0)
    assert sum(damaged(draw, data) != data for _ in range(100)) > 90
    edited = [parts.edited(draw) for _ in range(100)]
    assert sum(ModelBytes(new).document != parts.document for new in edited[:20]) > 2
    assert len(set(edited)) > 80
