"""lpcfg eval and lpcfg score, called as functions."""

import json

import pytest

from lpcfg import Parser
from lpcfg.evaluation.span_labels import evaluate_span_labels
from support.commands import TREES, WORDS, refused, write


def test_eval(run):
    code, output, said = run("eval", "model.lpcfg", "gold.mrg", "--by-length", "--by-label")
    assert code == 0
    assert said == "60 trees read\n"
    for expected in ("all sentences", "coverage 100.00", "sentences/s", "1-10", "\nNP "):
        assert expected in output


@pytest.mark.parametrize("given", ["words", "tags", "both"])
def test_eval_writes_trees_that_score_the_same(run, given):
    arguments = ["eval", "model.lpcfg", "gold.mrg", "--input", given, "-o", "out.mrg", "--json"]
    code, output, _ = run(*arguments, "-q")
    assert code == 0
    found = json.loads(output)
    assert found["sentences"] == sum(found["statuses"].values()) == 60
    assert found["tokens"] == sum(map(len, WORDS))
    _, output, _ = run("score", "gold.mrg", "out.mrg", "--json")
    scored = json.loads(output)
    assert {name: found[name] for name in scored} == scored
    assert (found["tag_accuracy"] == 100) == (given != "words")


def test_eval_cleans_gold_trees_as_the_model_was_trained(run):
    plain = [str(tree).removeprefix("(ROOT ").removesuffix(")") for tree in TREES]
    write("plain.mrg", "".join(f"( {text.replace('(NP ', '(NP-SBJ ')})\n" for text in plain))
    run("train", "plain.mrg", "-o", "plain.lpcfg")
    results = []
    for gold in ("gold.mrg", "plain.mrg"):
        found = json.loads(run("eval", "plain.lpcfg", gold, "--json")[1])
        results.append((found["f1"], found["gold"]))
    assert results[0] == results[1]


def test_eval_of_some_trees(run):
    found = json.loads(run("eval", "model.lpcfg", "gold.mrg", "--limit", "7", "--json")[1])
    assert found["sentences"] == 7


def test_eval_says_what_it_needs(run):
    message = refused(run("eval", "model.lpcfg", "empty.mrg"))
    assert message == "no trees to evaluate on in empty.mrg"
    assert "no trees" in refused(run("eval", "model.lpcfg", "gold.mrg", "--limit", "0"))
    message = refused(run("eval", "gold.mrg", "gold.mrg"))
    assert message.startswith("gold.mrg: is a text file, not a model file")
    message = refused(run("eval", "model.lpcfg", "model.lpcfg"))
    assert message == "model.lpcfg: this is a model, not bracketed trees in UTF-8"
    message = refused(run("eval", "model.lpcfg", "gold.mrg", "-o", "no/out.mrg"))
    assert message == "no/out.mrg: there is no folder no; make it first"
    write("bad.mrg", f"(NP (NN two words))\n{TREES[0]}\n")
    assert "--on-error skip" in refused(run("eval", "model.lpcfg", "bad.mrg"))
    assert run("eval", "model.lpcfg", "bad.mrg", "--on-error", "skip")[0] == 0


# score


def test_score_itself(run):
    code, output, said = run("score", "gold.mrg", "gold.mrg")
    assert (code, said) == (0, "")
    assert "Bracketing FMeasure" in output
    assert "100.00" in output
    found = json.loads(run("score", "gold.mrg", "gold.mrg", "--json")[1])
    assert (found["f1"], found["exact_match"], found["sentences"]) == (100, 100, 60)


@pytest.mark.parametrize("nothing", ["", "(())"])
def test_score_keeps_sentences_without_a_tree_in_their_place(run, nothing):
    lines = [str(tree) for tree in TREES]
    lines[0] = lines[4] = lines[59] = nothing
    write("out.mrg", "\n".join(lines) + "\n")
    found = json.loads(run("score", "gold.mrg", "out.mrg", "--json")[1])
    assert found["sentences"] == 60
    assert [failure["sentence"] for failure in found["failures"]] == [1, 5, 60]
    assert found["evalb"]["skips"] == 3
    assert found["precision"] == 100


def test_score_trees_over_several_lines_and_blank_lines_between_trees(run):
    write("wide.mrg", "\n".join(str(tree).replace(" (VP", "\n  (VP") + "\n" for tree in TREES))
    write("spaced.mrg", "\n\n".join(map(str, TREES)))
    write("trailing.mrg", "\n".join(map(str, TREES)) + "\n\n\n")
    for name in ("wide.mrg", "spaced.mrg", "trailing.mrg"):
        for pair in (("gold.mrg", name), (name, "gold.mrg")):
            found = json.loads(run("score", *pair, "--json")[1])
            assert (found["f1"], found["sentences"]) == (100, 60)


def test_score_from_standard_input(run):
    trees = "".join(f"{tree}\n" for tree in TREES).encode()
    found = json.loads(run("score", "gold.mrg", "-", "--json", stdin=trees)[1])
    assert found["f1"] == 100


def test_score_with_parameters(run):
    write("none.prm", "DELETE_LABEL ROOT\n")
    for parameters in ("new", "COLLINS", "none.prm"):
        code, output, _ = run("score", "gold.mrg", "gold.mrg", "-p", parameters)
        assert code == 0
        assert "all sentences" in output


def test_score_says_what_it_needs(run):
    write("short.mrg", f"{TREES[0]}\n")
    message = refused(run("score", "gold.mrg", "short.mrg"))
    assert message.startswith("predicted: 60 gold trees but 1 predicted ones")
    assert "model.lpcfg: this is a model" in refused(run("score", "gold.mrg", "model.lpcfg"))
    assert refused(run("score", "gold.mrg", "none.mrg")).startswith("none.mrg: No such file")
    assert "none.prm" in refused(run("score", "gold.mrg", "gold.mrg", "-p", "none.prm"))
    write("bad.mrg", f"{TREES[0]}\n" * 59 + "(NP (NN two words))\n")
    assert refused(run("score", "gold.mrg", "bad.mrg")).startswith("bad.mrg:60:13: a second word")


def test_labels_of_spans_are_scored_before_a_tree_is_searched_for(run):
    code, out, _ = run("eval", "model.lpcfg", "gold.mrg", "--span-labels", "-q")
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("spans with a likely label"))
    assert "well-formed" in line
    assert "tree match" in line
    code, out, _ = run("eval", "model.lpcfg", "gold.mrg", "--span-labels", "--json", "-q")
    assert 50 < json.loads(out)["span_labels"]["f1"] <= 100


@pytest.mark.parametrize("given", ["words", "tags", "both"])
def test_labels_of_spans_are_those_of_the_same_input_as_scores(run, given):
    arguments = ("--input", given, "--span-labels", "--json", "-q")
    code, out, _ = run("eval", "model.lpcfg", "gold.mrg", *arguments)
    assert code == 0
    tags, words = [tree.tags() for tree in TREES], [tree.words() for tree in TREES]
    parses = Parser.load("model.lpcfg").analyze_many(
        None if given == "words" else tags,
        words=None if given == "tags" else words,
        marginals=True,
    )
    expected = evaluate_span_labels(TREES, [parse.marginals for parse in parses])
    assert json.loads(out)["span_labels"] == expected.to_dict()
