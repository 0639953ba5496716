"""Comparisons of parsers: figures, tables and reports."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

import lpcfg
from lpcfg import Tree, compare_parsers, evaluate
from lpcfg.errors import InputError

tree = Tree.from_string
GOLD = [
    tree("(ROOT (S (NP (DT the) (NN rain)) (VP (VBD fell)) (. .)))"),
    tree("(ROOT (S (NP (PRP it)) (VP (VBD saw) (NP (NN us)) (PP (IN in) (NP (NN May))))))"),
    tree("(ROOT (NP (NN rain)))"),
]
LOW = tree("(ROOT (S (NP (PRP it)) (VP (VBD saw) (NP (NP (NN us)) (PP (IN in) (NP (NN May)))))))")
COMMA = tree("(ROOT (S (NP (DT the) (NN rain)) (VP (VBD fell) (. .))))")
FIRST = [COMMA, LOW, GOLD[2]]
SECOND = [GOLD[0], GOLD[1], None]


@pytest.fixture
def comparison():
    return compare_parsers(
        GOLD, {"first": FIRST, "<second>": SECOND}, groups=["news", "fiction", "news"], samples=99
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, trees in (("gold", GOLD), ("first", FIRST), ("second", SECOND)):
        lines = "".join(f"{'' if found is None else found}\n" for found in trees)
        (tmp_path / f"{name}.mrg").write_text(lines, encoding="utf-8")
    return tmp_path


def test_figures(comparison):
    assert comparison.scores["first"] == evaluate(GOLD, FIRST)
    assert comparison.errors == {"first": {"PP attachment": 1}, "<second>": {"no tree": 1}}
    found = comparison.significance["first", "<second>"]
    difference = comparison.scores["<second>"].f1 - comparison.scores["first"].f1
    assert found.difference == pytest.approx(difference)
    assert comparison.by_group["fiction"]["first"].predicted == 7
    assert comparison.by_group["news"]["<second>"].gold == 4
    assert comparison.largest_differences(9) == [1, 2]
    assert repr(comparison) == "<Comparison of 3 sentences, F1: first 95.24, <second> 94.74>"


def test_tables_name_everything(comparison):
    text = str(comparison)
    for part in ("first", "<second>", "PP attachment", "1-10", "fiction", "p (bootstrap)"):
        assert part in text
    assert "F1 by group" not in str(compare_parsers(GOLD, {"first": FIRST}, samples=9))
    assert "Difference" not in str(compare_parsers(GOLD, {"first": FIRST}, samples=9))


def test_report_is_one_well_formed_file(comparison):
    report = comparison.to_html(sentences=5)
    assert not re.search(r'(src|href)="', report)
    assert "&lt;second&gt;" in report
    assert "<second>" not in report
    assert report.count("<h3>") == 2
    for svg in re.findall("<svg.*?</svg>", report):
        ElementTree.fromstring(svg)


def test_report_marks_wrong_brackets_only(comparison):
    report = comparison.to_html()
    drawings = re.findall("<figcaption>(.*?)</figcaption>.*?</figure>", report)
    assert [caption.split(",")[0] for caption in drawings[:3]] == [
        "gold",
        "first",
        "&lt;second&gt;",
    ]
    # The first parser has one bracket too many; a full stop in another place is no error.
    assert re.findall(r'class="marked"[^>]*>([^<]+)<', report) == ["NP", "NP"]
    only = compare_parsers(GOLD[:1], {"first": FIRST[:1]}, samples=9)
    assert "marked" not in only.to_html()
    assert "<h3>Sentence 2</h3>" in compare_parsers(GOLD, {"first": FIRST}, samples=9).to_html()


def test_wrong_arguments():
    with pytest.raises(InputError, match="gold: there is nothing"):
        compare_parsers([], {"first": []})
    with pytest.raises(InputError, match="predicted: there is nothing"):
        compare_parsers(GOLD, {})
    with pytest.raises(InputError, match="3 gold trees but 2 predicted"):
        compare_parsers(GOLD, {"first": FIRST[:2]})


def test_files_are_scored_like_trees(files):
    assert evaluate("gold.mrg", "second.mrg") == evaluate(GOLD, SECOND)
    with pytest.raises(InputError, match="predicted: expected two paths"):
        evaluate(GOLD, "second.mrg")


def test_scores_have_figures_of_each_sentence():
    scores = evaluate(GOLD, SECOND)
    assert [round(row.f1, 1) for row in scores.by_sentence] == [100, 100, 0]
    assert [(row.length, row.exact) for row in scores.by_sentence] == [
        (4, True), (5, True), (1, False),
    ]  # fmt: skip
    assert sum(row.matched for row in scores.by_sentence) == scores.total.matched
    assert (scores + scores).by_sentence == scores.by_sentence * 2


def test_scores_are_short_in_a_notebook():
    scores = evaluate(GOLD, SECOND)
    assert repr(scores) == "<Scores of 3 sentences: precision 100.00, recall 90.00, F1 94.74>"
    assert scores._repr_html_().startswith("<table>")
    assert lpcfg.Comparison is type(compare_parsers(GOLD, {"first": FIRST}, samples=9))
