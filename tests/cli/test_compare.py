"""``lpcfg compare``: tables, JSON, reports and messages."""

import json

import pytest

from support.commands import TREES, refused, write


@pytest.fixture
def parsed(files):
    """The trees of two parsers, the second of which gave up on a sentence, and genres."""
    flat = [f"(ROOT {' '.join(f'({t} {w})' for t, w in zip(x.tags(), x.words(), strict=True))})"
            for x in TREES]  # fmt: skip
    write("flat.mrg", "".join(f"{tree}\n" for tree in flat))
    write("full.mrg", "".join(["\n", *(f"{tree}\n" for tree in TREES[1:])]))
    write("genres.txt", "news\n" + "fiction\n" * (len(TREES) - 1))
    return files


def test_command_prints_tables_json_and_a_report(parsed, run):
    arguments = ("compare", "gold.mrg", "flat.mrg", "full.mrg", "--groups", "genres.txt")
    code, output, _ = run(*arguments, "--samples", "99", "--html", "report.html")
    assert code == 0
    assert "full.mrg - flat.mrg" in output
    assert "fiction" in output
    report = (parsed / "report.html").read_text(encoding="utf-8")
    assert report.startswith("<!doctype html>")
    assert report.count("<h3>") == 20
    code, output, _ = run(*arguments, "--samples", "99", "--json")
    found = json.loads(output)
    assert list(found["errors"]["full.mrg"]) == ["no tree"]
    assert found["significance"][0]["randomization"] == pytest.approx(0.01)
    assert found["groups"]["news"]["full.mrg"]["f1"] == 0


def test_command_explains_what_is_wrong(parsed, run):
    assert "given twice" in refused(run("compare", "gold.mrg", "flat.mrg", "flat.mrg"))
    assert "none.mrg" in refused(run("compare", "gold.mrg", "none.mrg"))
    assert "this is an input" in refused(
        run("compare", "gold.mrg", "flat.mrg", "--html", "gold.mrg")
    )
    write("short.txt", "news\n")
    message = refused(run("compare", "gold.mrg", "flat.mrg", "--groups", "short.txt"))
    assert message.startswith(f"--groups: 1 groups for {len(TREES)} sentences")
    write("blank.mrg", "(NN rain)\n\n(NN snow)\n")
    write("lines.mrg", "(NN rain)\n(NN\nsnow)\n")
    message = refused(run("compare", "blank.mrg", "blank.mrg", "lines.mrg"))
    assert "one tree on each line" in message


def test_only_line_feeds_end_the_names_of_groups(parsed, run):
    arguments = ("compare", "gold.mrg", "flat.mrg", "--samples", "9", "--groups", "genres.txt")
    write("genres.txt", "news\u2028today\n" + "fiction\n" * (len(TREES) - 1))
    code, output, _ = run(*arguments, "--json")
    assert code == 0
    assert "news\u2028today" in json.loads(output)["groups"]
    (parsed / "genres.txt").write_bytes(b"news\nscience-fiction\nroman-\xe9\n")
    assert refused(run(*arguments)).startswith("genres.txt:3: the text is not UTF-8")
