"""The command line as a program: pipes, signals, exit codes, encodings."""

import importlib
import os
import pkgutil
import re
import signal
import subprocess
import sys

import pytest

from lpcfg import Tree, cli, embedded_trees, save
from lpcfg.__main__ import run as run_program
from lpcfg.cli.main import TASKS, main
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


def modules_after(code, *arguments):
    """The top-level names of the modules that are loaded once a program has run."""
    report = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    done = subprocess.run(
        [sys.executable, "-c", report + code, *arguments], capture_output=True, check=True
    )
    return {name.partition(".")[0] for name in done.stderr.decode().split()}


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("import lpcfg", ()),
        ("import lpcfg; dir(lpcfg)", ()),
        ("from lpcfg.cli.main import main; main()", ("--help",)),
        ("from lpcfg.cli.main import main; main()", ("--version",)),
    ],
)
def test_help_and_the_import_are_quick_because_they_load_no_numerical_library(code, arguments):
    loaded = modules_after(code, *arguments)
    assert "lpcfg" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "tqdm"}


def test_parsing_starts_without_what_only_training_needs():
    """These modules take several times as long to load as all others together."""
    code = "import sys; import lpcfg.cli.parse; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert not {"sklearn", "scipy.optimize", "tqdm"} & set(done.stdout.decode().split())


def help_of(capsys, *command):
    with pytest.raises(SystemExit, match=r"^0$"):
        main([*command, "--help"])
    return capsys.readouterr().out


def test_help_lists_every_command_with_the_line_that_its_own_help_opens_with(capsys):
    overview = help_of(capsys)
    for task, commands in TASKS.items():
        assert f"\n{task}:\n" in overview
        for name, command in commands.items():
            assert re.search(rf"^  {name} +{re.escape(command.help)}$", overview, re.MULTILINE)
            own = help_of(capsys, name)
            assert own.startswith(f"usage: lpcfg {name} ")
            assert command.help in " ".join(own.split())


def test_every_module_that_declares_a_command_is_listed():
    declared = {
        module.name
        for module in pkgutil.iter_modules(cli.__path__, "lpcfg.cli.")
        if hasattr(importlib.import_module(module.name), "add")
    }
    assert {command.module for group in TASKS.values() for command in group.values()} == declared


@pytest.mark.parametrize(
    ("arguments", "usage", "problem"),
    [
        ([], "lpcfg [-h]", "required: command"),
        (["sing"], "lpcfg [-h]", "invalid choice: 'sing'"),
        (["parse", "--unheard-of"], "lpcfg parse [-h]", "unrecognized arguments: --unheard-of"),
    ],
)
def test_mistakes_are_explained_with_the_usage_of_the_command(arguments, usage, problem, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"usage: {usage}")
    assert problem in printed.err


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


def test_someone_who_writes_to_a_pipe_gets_an_answer_after_each_line(model):
    with subprocess.Popen(
        [*COMMAND, "parse", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        for words in (["the", "dog", "barked"], ["it", "rained"]):
            process.stdin.write(" ".join(words).encode() + b"\n")
            process.stdin.flush()
            assert Tree.from_string(process.stdout.readline().decode()).words() == words
        process.stdin.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("closed", "arguments", "code", "message"),
    [
        ("<&-", ["parse", "MODEL"], 1, "lpcfg: standard input: is closed\n"),
        (">&-", ["parse", "MODEL"], 1, "lpcfg: standard output: is closed\n"),
        (">&-", ["--version"], 1, "lpcfg: standard output: is closed\n"),
        ("2>&-", ["parse", "MODEL"], 0, ""),
        ("2>&-", ["parse", "missing.lpcfg"], 1, ""),
        ("<&- >&- 2>&-", ["parse", "MODEL"], 1, ""),
        (">/dev/full", ["parse", "MODEL"], 1, "lpcfg: standard output: No space left on device\n"),
    ],
)
def test_closed_and_full_streams(model, closed, arguments, code, message):
    if "/dev/full" in closed and not os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        pytest.skip("there is no /dev/full")
    command = [*COMMAND, *(model if argument == "MODEL" else argument for argument in arguments)]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        input=b"it rained\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (code, message)


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "RuntimeError from KeyboardInterrupt"])
def test_interrupt_while_a_class_is_made(monkeypatch, capsys, error):
    """Python 3.11 raises the RuntimeError if it comes in a method __set_name__."""

    def interrupted():
        if error == "KeyboardInterrupt":
            raise KeyboardInterrupt
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("lpcfg.cli.main.main", interrupted)
    assert run_program() == 130
    assert capsys.readouterr().err == "lpcfg: interrupted\n"


def test_other_errors_in_a_class_are_shown(monkeypatch):
    def broken():
        raise RuntimeError("Error calling __set_name__") from TypeError()

    monkeypatch.setattr("lpcfg.cli.main.main", broken)
    with pytest.raises(RuntimeError):
        run_program()


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
def test_a_command_starts_no_idle_threads(monkeypatch, given, expected):
    variable = "OPENBLAS_NUM_THREADS"
    # Set first, so that the end of the test restores what was there.
    monkeypatch.setenv(variable, given or "")
    if given is None:
        monkeypatch.delenv(variable)
    monkeypatch.setattr("lpcfg.cli.main.main", lambda: 0)
    assert run_program() == 0
    assert os.environ[variable] == expected


@pytest.mark.parametrize("module", ["argparse", "numpy", "lpcfg.cli.parse"])
def test_interrupt_during_imports(model, module):
    """Ctrl-C may arrive while modules are being imported, which takes a while."""
    code = f"""
import importlib.abc, runpy, sys
class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.modules.pop({module!r}, None)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["lpcfg", "parse", {model!r}]
runpy.run_module("lpcfg", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"lpcfg: interrupted\n")


def test_outputs_are_left_alone_when_they_cannot_be_completed(model, tmp_path):
    """No file of an output is ever half written, here because the disk is full."""
    gold = tmp_path / "gold.mrg"
    gold.write_text("".join(f"{tree}\n" for tree in TREES), encoding="utf-8")
    target = tmp_path / "out.txt"
    target.write_text("old", encoding="utf-8")
    before = {file.name for file in tmp_path.iterdir()}
    # Files may not grow beyond a kilobyte; the signal that tells so is ignored.
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)); "
    code = limit + "from lpcfg.__main__ import run; import sys; sys.exit(run())"
    for arguments in (
        ["eval", model, str(gold), "-o", str(target), "-q"],
        ["show", str(gold), "--svg", str(target)],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, check=False
        )
        assert done.returncode == 1
        assert done.stderr.decode() == f"lpcfg: {target}: File too large\n"
        assert target.read_text(encoding="utf-8") == "old"
        assert {file.name for file in tmp_path.iterdir()} == before
