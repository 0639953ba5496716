"""The command line as a program: pipes, signals, exit codes, encodings."""

import os
import signal
import subprocess
import sys

import pytest

from lpcfg import Tree, embedded_trees, save
from support.grammars import embedded_grammar

COMMAND = [sys.executable, "-m", "lpcfg"]
TREES = embedded_trees(40, seed=3)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.lpcfg"
    save(embedded_grammar(), path)
    return str(path)


def run(*arguments, text="", **options):
    return subprocess.run(
        [*COMMAND, *arguments], input=text.encode(), capture_output=True, check=False, **options
    )


def test_exit_codes(model):
    assert run("--version").returncode == 0
    assert run("parse", model).returncode == 0
    failed = run("parse", "missing.lpcfg")
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert failed.stderr == b"lpcfg: missing.lpcfg: No such file or directory\n"
    assert run("parse", "--unheard-of").returncode == 2
    assert run().returncode == 2


def test_commands_start_without_what_only_training_needs():
    """These modules take several times as long to load as all others together."""
    asked = "import lpcfg.cli.main, sys; print({'sklearn', 'scipy.optimize'} & sys.modules.keys())"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert found.stdout.strip() == b"set()"


def test_commands_in_a_pipe(tmp_path):
    treebank = "".join(f"{tree}\n" for tree in TREES)
    model = str(tmp_path / "new.lpcfg")
    assert run("train", "-", "-o", model, text=treebank).returncode == 0
    gold = tmp_path / "gold.mrg"
    gold.write_text(treebank, encoding="utf-8")
    sentences = "".join(" ".join(tree.words()) + "\n" for tree in TREES)
    parsed = run("parse", model, text=sentences)
    scored = run("score", str(gold), "-", text=parsed.stdout.decode())
    assert b"coverage 100.00" in scored.stdout


def test_output_is_utf8_whatever_the_environment_says(model):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run("parse", model, "--pretty", text="Zoë saw 雨 .\n", env=environment)
    assert done.returncode == 0
    assert "雨" in done.stdout.decode()


def test_a_reader_that_has_seen_enough(model, tmp_path):
    sentences = tmp_path / "many.txt"
    sentences.write_text("the dog saw a bird .\n" * 5000, encoding="utf-8")
    with subprocess.Popen(
        [*COMMAND, "parse", model, "-i", str(sentences)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        first = Tree.from_string(process.stdout.readline().decode())
        process.stdout.close()
        errors = process.stderr.read()
        code = process.wait(timeout=60)
    assert len(first.words()) == 6
    assert (code, errors) == (0, b"")


def test_interrupt_while_waiting_for_sentences(model):
    with subprocess.Popen(
        [*COMMAND, "parse", model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        # Enough for a batch, the trees of which fill the buffer of the output.
        process.stdin.write(b"the dog saw a bird .\n" * 1000)
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"(ROOT")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"lpcfg: interrupted\n")


def test_someone_who_types_gets_an_answer_after_each_line(model):
    terminal, end = os.openpty()
    with subprocess.Popen([*COMMAND, "parse", model], stdin=end, stdout=subprocess.PIPE) as process:
        for words in (["the", "dog", "barked"], ["it", "rained"]):
            os.write(terminal, " ".join(words).encode() + b"\n")
            assert Tree.from_string(process.stdout.readline().decode()).words() == words
        os.write(terminal, b"\x04")
        assert process.wait(timeout=60) == 0
    os.close(terminal)
    os.close(end)
