"""Every sentence gets a tree: the statuses of parses, and the fallbacks behind them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import Grammar, Parser
from lpcfg.parsing.parse import STATUSES
from support.grammars import AMBIGUOUS, PAIR, WEATHER, embedded_grammar, vocabulary_sentences


def parser(text=WEATHER, **options):
    return Parser(Grammar.from_string(text), **options)


@pytest.mark.parametrize("length", [1, 2, 50, 120, 300])
def test_sentences_of_any_length_have_a_tree(length):
    learnt = Parser(embedded_grammar())
    for words in vocabulary_sentences([length] * 2):
        parse = learnt.analyze(words=words)
        assert parse.tree.words() == words
        assert parse.status in STATUSES
        assert parse.tree.label == "ROOT"


@pytest.mark.parametrize("length", [1, 2, 50, 120, 300])
def test_probabilities_of_long_sentences_do_not_underflow(length):
    # Trees of n words: the Catalan numbers, with n - 1 branchings each.
    parse = parser(AMBIGUOUS, prune=1e-5, n_jobs=1).analyze(words=["a"] * length)
    assert parse.status == "parsed"
    one_tree = (length - 1) * math.log(0.4) + length * math.log(0.6)
    catalan = math.comb(2 * length - 2, length - 1) // length
    assert parse.log_probability == pytest.approx(one_tree)
    assert parse.sentence_log_probability == pytest.approx(one_tree + math.log(catalan))


ODD_WORDS = ["", " ", "\t\n", "(", ")", "-LRB-", "\0", "\U0001f600", "é" * 1000, "\ud800", "'", "|"]


def test_odd_words_are_words():
    for parser_of in (Parser(embedded_grammar()), parser()):
        for word in ODD_WORDS:
            assert parser_of.parse(words=[word]).words() == [word]
        assert parser_of.parse(words=ODD_WORDS).words() == ODD_WORDS


@given(st.lists(st.text(max_size=4), min_size=1, max_size=8), st.data())
def test_any_words_with_any_tags_have_a_tree(words, data):
    grammar = embedded_grammar()
    tags = data.draw(
        st.lists(st.sampled_from(grammar.tags), min_size=len(words), max_size=len(words))
    )
    learnt = Parser(grammar, n_jobs=1)
    assert learnt.parse(words=words).words() == words
    assert learnt.parse(tags).tags() == tags
    tagged = learnt.parse(tags, words=words)
    assert (tagged.words(), tagged.tags()) == (words, tags)


def test_loosened_if_pruning_broke_every_tree():
    # No span but the whole and the words has more than half of the probability.
    strict = parser(AMBIGUOUS, prune=0.9).analyze(words=["a"] * 6)
    assert strict.status == "loosened"
    assert len(list(strict.tree.nodes())) == 11
    assert parser(AMBIGUOUS, prune=1e-4).analyze(words=["a"] * 6).status == "parsed"


def test_smoothed_if_no_tree_has_the_words():
    parse = parser(PAIR).analyze(words=["x", "unheard"])
    assert parse.status == "smoothed"
    assert str(parse.tree) == "(S (X x) (Y unheard))"
    assert math.isfinite(parse.log_probability)
    assert str(parser(PAIR).parse(words=["y", "x"])) == "(S (X y) (Y x))"


def test_fragments_if_no_tree_spans_the_sentence():
    pairs = parser(PAIR)
    words = ["x", "y", "x", "y", "x"]
    parse = pairs.analyze(words=words, candidates=3)
    assert parse.status == "fragments"
    assert str(parse.tree) == "(S (S (X x) (Y y)) (S (X x) (Y y)) (X x))"
    assert parse.log_probability == parse.sentence_log_probability == -math.inf
    assert len(parse.candidates) == 1
    assert len(pairs.marginals(words=words)) == 0
    assert pairs.analyze(["Y", "X"]).status == "fragments"
    assert pairs.parse(["Y", "X"]).tags() == ["Y", "X"]


def test_long_sentences_fall_into_fragments_too():
    words = ["x", "y"] * 100
    parse = parser(PAIR).analyze(words=words)
    assert parse.status == "fragments"
    assert parse.tree.words() == words


@pytest.mark.parametrize("memory", [1, 10_000, 100_000, 1_000_000])
def test_a_sentence_with_little_memory_still_gets_a_tree(memory):
    grammar = embedded_grammar()
    words = ["the", "dog", "saw", "the", "bird", "and"] * 8 + ["the", "dog", "saw", "him", "."]
    usual = Parser(grammar).analyze(words=words)
    parse = Parser(grammar, memory=memory).analyze(words=words)
    assert list(parse.tree.words()) == words
    assert parse.tree.label == "ROOT"
    assert [node.label for node in parse.tree.children].count("ROOT") == 0
    if memory < 100_000:
        assert parse.status == "fragments" != usual.status
    if memory == 1_000_000:
        assert parse == usual


def test_an_exact_search_is_tightened_to_fit_the_memory():
    grammar = embedded_grammar()
    words = ["the", "dog", "saw", "the", "old", "bird", "in", "the", "park", "."]
    exact = Parser(grammar, prune=None)
    assert exact.analyze(words=words).status == "parsed"
    statuses = {
        Parser(grammar, prune=None, memory=memory).analyze(words=words).status
        for memory in (1 << power for power in range(14, 22))
    }
    assert {"parsed", "tightened"} <= statuses
