"""Parsers scored on treebanks."""

import json

import pytest

from lpcfg import (
    InputError,
    Parser,
    PCFGEstimator,
    Tree,
    Treebank,
    TreebankError,
    embedded_trees,
    evaluate,
    evaluate_parser,
)
from lpcfg.evaluation.evalb_parameters import COLLINS, find_parameters
from lpcfg.evaluation.known_words import TagCounts, tags_by_knowledge
from support.grammars import embedded_grammar

GOLD = embedded_trees(30, seed=9)


@pytest.mark.parametrize("given", ["words", "tags", "both"])
def test_scores_are_those_of_the_trees(given):
    parser = Parser(embedded_grammar())
    result = evaluate_parser(parser, GOLD, input=given)
    assert result.scores == evaluate(GOLD, result.trees)
    assert [tree.words() for tree in result.trees] == [tree.words() for tree in GOLD]
    assert result.tokens == sum(len(tree) for tree in GOLD)
    assert sum(result.statuses.values()) == len(result.parses) == 30
    assert result.scores.coverage == 100
    if given != "words":
        assert [tree.tags() for tree in result.trees] == [tree.tags() for tree in GOLD]


def test_trees_of_a_file_are_cleaned(tmp_path):
    parser = Parser(embedded_grammar())
    path = tmp_path / "gold.mrg"
    odd = [str(tree).replace("(NP (", "(NP-SBJ (-NONE- *)) (NP (", 1) for tree in GOLD]
    path.write_text("\n".join(odd), "utf-8")
    assert odd[0] != str(GOLD[0])
    assert evaluate_parser(parser, path).scores == evaluate_parser(parser, GOLD).scores
    path.write_text("", "utf-8")
    with pytest.raises(TreebankError, match=r"no trees to evaluate on in .*gold\.mrg"):
        evaluate_parser(parser, str(path))


def test_parameters_are_named_or_read_before_anything_is_parsed(tmp_path, monkeypatch):
    parser = Parser(embedded_grammar())
    file = tmp_path / "mine.prm"
    file.write_text("DELETE_LABEL NN\n")
    found = find_parameters(file)
    assert evaluate_parser(parser, GOLD, parameters="collins").scores == evaluate(
        GOLD, parser.parse_many(words=[tree.words() for tree in GOLD]), COLLINS
    )
    given, same = (evaluate_parser(parser, GOLD, parameters=each) for each in (file, found))
    assert (given.scores, given.known_words) == (same.scores, same.known_words)
    assert given.scores != evaluate_parser(parser, GOLD).scores
    counts = tags_by_knowledge(parser.grammar, GOLD, given.trees, file)
    assert counts == (same.known_words, same.unknown_words)
    monkeypatch.setattr(Parser, "analyze_many", lambda *_, **__: pytest.fail("was parsed"))
    with pytest.raises(FileNotFoundError):
        evaluate_parser(parser, GOLD, parameters="colins")


def test_more_knowledge_gives_better_tags():
    parser = Parser(embedded_grammar())
    words, tags = (
        evaluate_parser(parser, GOLD, input=given).scores.tag_accuracy
        for given in ("words", "tags")
    )
    assert words < tags == 100


@pytest.mark.parametrize("given", ["words", "tags"])
def test_tags_of_known_and_unknown_words_add_up(given):
    result = evaluate_parser(Parser(embedded_grammar()), GOLD, input=given)
    known, unknown = result.known_words, result.unknown_words
    both, total = known + unknown, result.scores.total
    assert (both.words, both.correct) == (total.words, total.correct_tags)
    assert 0 < unknown.words < known.words
    assert result.to_dict()["unknown_words"]["correct"] == unknown.correct
    if given == "words":
        assert unknown.accuracy < known.accuracy < 100


def test_a_word_is_known_if_the_lexicon_has_its_normal_form():
    trees = [Tree.from_string("(S (X caf\u00e9) (Y rain) (. .))")] * 3
    grammar = PCFGEstimator().fit(Treebank.from_trees(trees).normalized("NFC")).grammar_
    gold = [Tree.from_string("(S (X cafe\u0301) (Y Rain) (. !))")]
    right, wrong = gold, [Tree.from_string("(S (X cafe\u0301) (X Rain) (. !))")]
    assert tags_by_knowledge(grammar, gold, right) == (TagCounts(1, 1), TagCounts(1, 1))
    assert tags_by_knowledge(grammar, gold, wrong) == (TagCounts(1, 1), TagCounts(1, 0))
    assert tags_by_knowledge(grammar, gold, [Tree("X", "caf\u00e9")]) == (
        TagCounts(1, 0),
        TagCounts(1, 0),
    )


def test_progress_sees_every_parse():
    seen = []

    def watch(parses):
        for parse in parses:
            seen.append(parse.tree)
            yield parse

    result = evaluate_parser(Parser(embedded_grammar()), GOLD, progress=watch)
    assert tuple(seen) == result.trees


def test_figures_are_ready_for_json_and_for_people():
    result = evaluate_parser(Parser(embedded_grammar()), GOLD)
    figures = json.loads(json.dumps(result.to_dict()))
    assert figures["f1"] == result.scores.f1
    assert figures["statuses"] == result.statuses
    assert figures["tokens_per_second"] == pytest.approx(result.tokens / result.seconds)
    text = str(result)
    assert str(result.scores) in text
    assert "sentences/s" in text
    assert f"of unknown words {result.unknown_words.accuracy:.2f} (" in text
    assert all(f"{count} {status}" in text for status, count in result.statuses.items())


def test_what_cannot_be_evaluated():
    parser = Parser(embedded_grammar())
    with pytest.raises(TreebankError, match="no trees to evaluate on"):
        evaluate_parser(parser, [])
    with pytest.raises(InputError, match="input must be one of words, tags, both, not 'letters'"):
        evaluate_parser(parser, GOLD, input="letters")
