import io
import sys

import pytest

from lpcfg import save
from lpcfg.cli.main import main
from support.commands import TREES, WORDS, write
from support.grammars import embedded_grammar


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder to work in with a treebank, a model of another one, and sentences."""
    monkeypatch.chdir(tmp_path)
    write("gold.mrg", "".join(f"{tree}\n" for tree in TREES))
    write("text.txt", "".join(" ".join(words) + "\n" for words in WORDS[:5]))
    write("empty.mrg", "")
    save(embedded_grammar(), "model.lpcfg")
    return tmp_path


@pytest.fixture
def run(files, capsys, monkeypatch):
    """Run a command; give its exit code, what it printed and what it said."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return run
