import pytest

from lpcfg import load
from support.commands import TREES, refused, write


def test_weights_are_given(run, files):
    arguments = ("ensemble", "model.lpcfg", "model.lpcfg", "-o", "both", "--weights", "2,0.5")
    code, _, said = run(*arguments)
    assert code == 0
    assert "saved to both" in said
    assert load(files / "both").weights == [2.0, 0.5]
    assert run("eval", "both", "gold.mrg", "-q")[0] == 0


def test_weights_are_learnt_and_members_that_do_not_help_are_left_out(run, files):
    write("other.mrg", "".join(f"{tree}\n" for tree in TREES[:5]))
    assert run("train", "other.mrg", "-o", "other.lpcfg", "--estimator", "pcfg", "-q")[0] == 0
    arguments = ("other.lpcfg", "model.lpcfg", "-o", "best", "--trees", "gold.mrg")
    code, printed, said = run("ensemble", *arguments)
    assert code == 0
    assert "60 trees read" in said
    rows = [line.split() for line in printed.splitlines()]
    assert rows[0] == ["F1", "weight"]
    assert [row[0] for row in rows[1:3]] == ["other.lpcfg", "model.lpcfg"]
    weights = [int(row[-1]) for row in rows[1:3]]
    assert load(files / "best").weights == [weight for weight in weights if weight]
    assert float(rows[4][-1]) >= float(rows[3][-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("model.lpcfg -o both --weights 2,1", "--weights: must be 1 positive numbers"),
        ("model.lpcfg -o both --weights=-1", "--weights: must be 1 positive numbers"),
        ("model.lpcfg -o model.lpcfg --weights 1", "model.lpcfg: there is something already"),
        ("model.lpcfg -o a/b --weights 1", "a/b: there is no folder a; make it first"),
        ("model.lpcfg -o both --trees empty.mrg", "there are no trees to learn weights from"),
    ],
)
def test_what_is_wrong_is_said(run, files, arguments, message):
    assert message in refused(run("ensemble", *arguments.split()))
    assert not (files / "both").exists()
