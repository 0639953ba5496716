"""Everything that the README and the guide tell a reader to type is typed here."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lpcfg import PCFGEstimator, embedded_trees, save

REPOSITORY = Path(__file__).parents[2]
TEXTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
TUTORIALS = [text for text in TEXTS if text.parent.name == "tutorials"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(text, language):
    return [body for kind, body in BLOCK.findall(text.read_text("utf-8")) if kind == language]


def commands(text):
    """The lpcfg commands of a text, each with the part of the pipe before it."""
    lines = [line for body in blocks(text, "sh") for line in body.splitlines()]
    return [line for line in lines if re.search(r"(^|\| )lpcfg ", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the README speaks of."""
    folder = tmp_path_factory.mktemp("readme")
    trees = [f"{tree}\n" for tree in embedded_trees(150)]
    (folder / "train.mrg").write_text("".join(trees[:120]), "utf-8")
    (folder / "dev.mrg").write_text("".join(trees[120:]), "utf-8")
    (folder / "theirs.mrg").write_text("".join(trees[120:]), "utf-8")
    save(PCFGEstimator().fit(folder / "train.mrg").grammar_, folder / "first.lpcfg")
    (folder / "sentences.txt").write_text("The dog saw him .\n", "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_python_snippets_run_and_print_what_they_say(text, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {}
    for body in blocks(text, "python"):
        if ">>>" not in body:
            exec(compile(body, text.name, "exec"), names)
            continue
        case = doctest.DocTestParser().get_doctest(body, names, text.name, text.name, 0)
        runner = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS)
        said = []
        runner.run(case, out=said.append, clear_globs=False)
        names |= case.globs
        assert runner.failures == 0, "".join(said)


def test_commands_are_found():
    listed = commands(TEXTS[0])
    assert {re.search(r"lpcfg (\w+)", line)[1] for line in listed} >= {"train", "parse", "eval"}


@pytest.mark.slow
@pytest.mark.parametrize("text", [TEXTS[0], *TUTORIALS], ids=lambda text: text.name)
def test_commands_run(text, folder):
    listed = commands(text)
    program = f"{sys.executable} -m lpcfg"
    for line in listed:
        command = re.sub(r"(^|\| )lpcfg ", rf"\1{program} ", line)
        done = subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True, env=os.environ
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout or " -o " in line or " --svg " in line, f"{line} printed nothing"


@pytest.mark.parametrize("target", ["demo", "test", "bench", "docs", "wheel", "sdist", "release-check", "lint"])
def test_targets_that_texts_name_are_in_the_makefile(target):
    assert re.search(rf"^{target}:", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("text", [*TEXTS, REPOSITORY / "CONTRIBUTING.md"], ids=lambda t: t.name)
def test_links_within_the_project_lead_somewhere(text):
    for target in LINK.findall(text.read_text("utf-8")):
        assert (text.parent / target).exists(), target
