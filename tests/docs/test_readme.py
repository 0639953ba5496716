"""Everything that the README and the guide tell a reader to type is typed here."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lpcfg import PCFGEstimator, embedded_trees, save

REPOSITORY = Path(__file__).parents[2]
TEXTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
#: Pages whose commands are run.
PAGES = [text for text in TEXTS if text.parent.name in ("tutorials", "how_to")]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: Options that make the commands of pages quick, and a server take any port.
QUICK = {
    r"lpcfg tune ": "--trials 2",
    r"lpcfg train .*--estimator split-merge .*--rerank": "--cycles 2",
    r"lpcfg lm train ": "--states 4",
    r"lpcfg words train ": "--clusters 2,4,8 --min-count 1",
    r"lpcfg serve ": "--port 0",
}


def command_lines(body):
    """The lpcfg commands of a block, each with the part of the pipe before it."""
    return [line for line in body.splitlines() if re.search(r"(^|\| )lpcfg ", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the README speaks of."""
    folder = tmp_path_factory.mktemp("readme")
    trees = [f"{tree}\n" for tree in embedded_trees(150)]
    (folder / "train.mrg").write_text("".join(trees[:120]), "utf-8")
    (folder / "dev.mrg").write_text("".join(trees[120:]), "utf-8")
    (folder / "held_out.mrg").write_text("".join(trees[120:]), "utf-8")
    (folder / "theirs.mrg").write_text("".join(trees[120:]), "utf-8")
    save(PCFGEstimator().fit(folder / "train.mrg").grammar_, folder / "first.lpcfg")
    (folder / "sentences.txt").write_text("The dog saw him .\n", "utf-8")
    return folder


def test_commands_are_found():
    blocks = BLOCK.findall(TEXTS[0].read_text("utf-8"))
    listed = [line for language, body in blocks if language == "sh" for line in command_lines(body)]
    assert {re.search(r"lpcfg (\w+)", line)[1] for line in listed} >= {
        "train",
        "parse",
        "eval",
        "serve",
    }


def quick(line):
    """A command that does the same as that of a page, on a few sentences and in seconds."""
    for command, options in QUICK.items():
        if re.search(command, line):
            # Before the comment.
            line = re.sub(r" *( #.*)?$", rf" {options}\1", line, count=1)
    return line


def check_server(command, folder):
    """Start a server, and stop it when it has printed its address."""
    server = subprocess.Popen(
        shlex.split(command, comments=True), cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        assert "http://127.0.0.1:" in server.stderr.readline()
    finally:
        server.terminate()
        server.communicate()


def run_command(line, folder):
    command = re.sub(r"(^|\| )lpcfg ", rf"\1{sys.executable} -m lpcfg ", quick(line))
    if line.startswith("lpcfg serve"):
        check_server(command, folder)
        return
    done = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert done.stdout or re.search(r" (-o|--svg|>) ", line), f"{line} printed nothing"


def test_readers_see_the_commands_that_they_want():
    """The values that make them quick here would make models bad."""
    lines = [line for page in (TEXTS[0], *PAGES) for line in command_lines(page.read_text("utf-8"))]
    for command, options in QUICK.items():
        found = [line for line in lines if re.search(command, line)]
        assert found, command
        flags = re.findall(r"--[\w-]+", options)
        assert [line for line in found if any(flag in line for flag in flags)] == []
    said = "lpcfg serve my.lpcfg      # the page; pip install 'lpcfg[serve]'"
    assert quick(said) == "lpcfg serve my.lpcfg --port 0 # the page; pip install 'lpcfg[serve]'"
    assert quick("lpcfg lm train a -o b") == "lpcfg lm train a -o b --states 4"


def run_python(body, names, page):
    if ">>>" not in body:
        exec(compile(body, page, "exec"), names)
        return
    case = doctest.DocTestParser().get_doctest(body, names, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS)
    said = []
    runner.run(case, out=said.append, clear_globs=False)
    names |= case.globs
    assert runner.failures == 0, "".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_page_works_from_top_to_bottom(text, folder, monkeypatch):
    """Its commands run, and its Python snippets print what they say."""
    monkeypatch.chdir(folder)
    names = {}
    for language, body in BLOCK.findall(text.read_text("utf-8")):
        if language == "python":
            run_python(body, names, text.name)
        elif language == "sh" and text in (TEXTS[0], *PAGES):
            for line in command_lines(body):
                run_command(line, folder)


@pytest.mark.parametrize(
    "target", ["demo", "test", "bench", "docs", "wheel", "sdist", "release-check", "lint"]
)
def test_targets_that_texts_name_are_in_the_makefile(target):
    assert re.search(rf"^{target}:", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("text", [*TEXTS, REPOSITORY / "CONTRIBUTING.md"], ids=lambda t: t.name)
def test_links_within_the_project_lead_somewhere(text):
    for target in LINK.findall(text.read_text("utf-8")):
        assert (text.parent / target).exists(), target
