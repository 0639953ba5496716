"""What notebooks show: short text, and HTML that changes nothing of the page around it."""

import re
from xml.etree import ElementTree

import pytest

import lpcfg
from lpcfg.cli.main import main


@pytest.fixture(scope="module")
def shown():
    """One object of each kind that people look at."""
    trees = lpcfg.embedded_trees(60)
    treebank = lpcfg.Treebank.from_trees(trees)
    estimator = lpcfg.ClusteringEstimator(states=(2, 2), random_state=0).fit(treebank)
    parser = estimator.parser()
    parse = parser.analyze(words=trees[0].words(), candidates=3)
    evaluation = lpcfg.evaluate_parser(parser, trees[:10])
    text = next(lpcfg.Parser.load("english").parse_text("A <b> test (of it)."))
    return {
        "Treebank": treebank,
        "Grammar": estimator.grammar_,
        "Parse": parse,
        "TextParse": text,
        "Evaluation": evaluation,
        "Scores": evaluation.scores,
        "Comparison": lpcfg.compare_parsers(trees[:10], {"mine": evaluation.trees}, samples=10),
    }


KINDS = ["Treebank", "Grammar", "Parse", "TextParse", "Evaluation", "Scores", "Comparison"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "TextParse"])
def test_text_is_short(shown, kind):
    assert len(repr(shown[kind])) < 200


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_well_formed_and_has_no_style_rules(shown, kind):
    text = shown[kind]._repr_html_()
    root = ElementTree.fromstring(f"<div>{text}</div>")
    assert "".join(root.itertext()).strip()
    assert not re.search(r"<(style|script|link)|\bid=", text)
    assert len(text) < 100_000


def test_probabilities_are_shown(shown):
    parse = shown["Parse"]
    text = parse._repr_html_()
    assert text.count("<title>probability") == len(parse.spans)
    written = re.findall(r'class="probability"[^>]*>([\d.]+)<', text)
    unsure = [f"{span.probability:.2f}" for span in parse.spans if span.probability < 0.995]
    assert sorted(written) == sorted(unsure)


def test_the_summary_of_a_grammar_has_its_sizes(shown):
    grammar = shown["Grammar"]
    text = grammar._repr_html_()
    assert f">binary rules</th><td>{len(grammar.binary_rules)}</td>" in text
    assert ">latent parameters</th>" in text


def test_show_draws_several_trees(tmp_path):
    file, target = tmp_path / "t.mrg", tmp_path / "t.svg"
    trees = lpcfg.embedded_trees(5)
    file.write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
    assert main(["show", str(file), "-n", "3", "--svg", str(target)]) == 0
    root = ElementTree.parse(target).getroot()
    drawings = [part for part in root if part.tag.endswith("svg")]
    assert len(drawings) == 3
    tops = [float(part.get("y")) for part in drawings]
    heights = [float(part.get("height")) for part in drawings]
    assert all(top + h <= below for top, h, below in zip(tops, heights, tops[1:], strict=False))
    assert tops[-1] + heights[-1] <= float(root.get("height"))
    assert max(float(part.get("width")) for part in drawings) == float(root.get("width"))
