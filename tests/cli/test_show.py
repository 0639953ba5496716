"""lpcfg show, called as a function."""

from lpcfg import (
    load,
)
from support.commands import TREES, refused


def test_show_trees(run):
    code, output, _ = run("show", "gold.mrg", "-n", "2")
    assert code == 0
    assert output == f"{TREES[0].pretty()}\n\n{TREES[1].pretty()}\n\n"
    assert run("show", "-", stdin=str(TREES[0]).encode())[1] == f"{TREES[0].pretty()}\n\n"


def test_show_a_model(run):
    assert run("show", "model.lpcfg")[1] == load("model.lpcfg").summary() + "\n"


def test_show_draws_svg(run, files):
    assert run("show", "gold.mrg", "--svg", "tree.svg") == (0, "", "")
    assert (files / "tree.svg").read_text(encoding="utf-8") == TREES[0].to_svg()


def test_show_says_what_it_needs(run):
    assert refused(run("show", "none.mrg")) == "none.mrg: No such file or directory"
    assert refused(run("show", "empty.mrg", "--svg", "t.svg")) == (
        "empty.mrg: there are no trees to draw"
    )
    message = refused(run("show", "gold.mrg", "--svg", "no/t.svg"))
    assert message == "no/t.svg: there is no folder no; make it first"
    assert "this is a model" in refused(run("show", "model.lpcfg", "--svg", "t.svg"))
    assert refused(run("show", "text.txt")).startswith("text.txt:1:1: text outside brackets")
