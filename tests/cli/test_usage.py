"""Usage, help and what all commands have in common."""

import re

import pytest

from lpcfg import (
    __version__,
)
from lpcfg.cli.main import main
from lpcfg.datasets.embedded import embedded_models
from support.commands import refused


def test_version_and_help(capsys):
    for arguments in (["--version"], ["--help"], ["parse", "--help"], ["train", "--help"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
    assert f"lpcfg {__version__}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: command"),
        (["fly"], "invalid choice: 'fly'"),
        (["train", "gold.mrg"], "required: -o/--output"),
        (["parse", "--prune", "much"], "--prune: expected a number, or two .* not 'much'"),
        (["parse", "--prune", "1,2,3"], "not '1,2,3'"),
        (
            ["parse", "-k", "some"],
            "-k/--candidates: expected an integer from 0 to 1000000000, not 'some'",
        ),
        (["parse", "--json", "--pretty"], "not allowed with"),
        (["parse", "--decoder", "best"], "invalid choice: 'best'"),
        (
            ["eval", "m", "t", "--limit", "-1"],
            "--limit: expected an integer from 0 to 1000000000, not '-1'",
        ),
        (
            ["train", "t", "-o", "m", "--horizontal", "two"],
            "integer from 0 to 1000000000, not 'two'",
        ),
        (["train", "t", "-o", "m", "--sigma", "x"], "--sigma: expected a number, not 'x'"),
        (
            ["train", "t", "-o", "m", "--word-smoothing", "a"],
            "--word-smoothing: expected a number from 0, not 'a'",
        ),
        (
            ["train", "t", "-o", "m", "--states", "8,8,8"],
            "--states: expected one or two values, not '8,8,8'",
        ),
        (["train", "t", "-o", "m", "--estimator", "magic"], "invalid choice: 'magic'"),
        (["train", "t", "-o", "m", "--ramp", "5,50"], "unrecognized arguments: --ramp 5,50"),
        (["train", "t", "-o", "m", "--seed", "-1"], "--seed: expected an integer from 0"),
        (["lm", "train", "t", "-o", "m", "--seed", "-1"], "--seed: expected an integer from 0"),
        (
            ["experiment", "size", "t", "d", "-o", "r", "--seed", "-1"],
            "--seed: expected an integer from 0",
        ),
    ],
)
def test_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert re.search(message, capsys.readouterr().err)


# train


def test_no_command_writes_over_its_input(run, files, tmp_path):
    treebank = tmp_path / "precious.mrg"
    treebank.write_text("(S (NP (PRP it)) (VP (VBD rained)))\n", "utf-8")
    before = treebank.read_bytes()
    for arguments in (
        ("train", treebank, "-o", treebank),
        ("eval", embedded_models()["english"], treebank, "-o", treebank),
        ("show", treebank, "--svg", treebank),
    ):
        assert "this is an input" in refused(run(*map(str, arguments)))
    assert treebank.read_bytes() == before
