"""Every sentence gets a tree: the statuses of parses, and the fallbacks behind them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import Grammar, InputError, Parser
from lpcfg.parsing.parse import STATUSES
from lpcfg.treebank.escaping import escape_brackets
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
    parse = parser(AMBIGUOUS, prune=1e-5, max_length=None, n_jobs=1).analyze(words=["a"] * length)
    assert parse.status == "parsed"
    one_tree = (length - 1) * math.log(0.4) + length * math.log(0.6)
    catalan = math.comb(2 * length - 2, length - 1) // length
    assert parse.log_probability == pytest.approx(one_tree)
    assert parse.sentence_log_probability == pytest.approx(one_tree + math.log(catalan))


ODD_WORDS = [" ", "\t\n", "(", ")", "-LRB-", "\0", "\U0001f600", "é" * 1000, "'", "|"]


def test_odd_words_are_words():
    for parser_of in (Parser(embedded_grammar()), parser()):
        for word in ODD_WORDS:
            assert parser_of.parse(words=[word]).words() == [escape_brackets(word)]
        assert parser_of.parse(words=ODD_WORDS).words() == list(map(escape_brackets, ODD_WORDS))


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_any_words_with_any_tags_have_a_tree(words, data):
    grammar = embedded_grammar()
    tags = data.draw(
        st.lists(st.sampled_from(grammar.tags), min_size=len(words), max_size=len(words))
    )
    learnt = Parser(grammar, n_jobs=1)
    escaped = list(map(escape_brackets, words))
    assert learnt.parse(words=words).words() == escaped
    assert learnt.parse(tags).tags() == tags
    tagged = learnt.parse(tags, words=words)
    assert (tagged.words(), tagged.tags()) == (escaped, tags)


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
    assert parse.log_probability is None
    assert parse.sentence_log_probability is None
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
        assert parse.status == "split" != usual.status
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


def test_long_sentences_are_split_at_punctuation():
    grammar = embedded_grammar()
    words = ["the", "dog", "saw", "the", "bird", ";"]
    words += ["he", "saw", "the", "old", "dog", "in", "the", "park", "."]
    parse = Parser(grammar, max_length=10).analyze(words=words)
    assert parse.status == "split"
    assert parse.tree.words() == words
    assert 6 in {end for _, _, end in parse.tree.spans()}
    for start, end in ((0, 6), (6, 15)):
        part = Parser(grammar).parse(words=words[start:end])
        spans = {(label, first + start, last + start) for label, first, last in part.spans()}
        assert {span for span in spans if span[0] != "ROOT"} <= set(parse.tree.spans())
    whole = Parser(grammar, max_length=None).analyze(words=words)
    assert whole == Parser(grammar).analyze(words=words)


def test_a_late_sentence_gets_a_tree():
    parse = Parser(embedded_grammar(), timeout=1e-9).analyze(words=["the", "dog", "barked"] * 9)
    assert parse.status == "timeout"
    assert parse.tree.words() == ["the", "dog", "barked"] * 9
    for timeout in (0, -1, math.nan, "1"):
        with pytest.raises(InputError, match="timeout"):
            Parser(embedded_grammar(), timeout=timeout)


def test_candidates_are_the_best_that_fit_into_memory():
    few = parser(AMBIGUOUS, prune=None, memory=1 << 21).analyze(words=["a"] * 12, candidates=10**6)
    many = parser(AMBIGUOUS, prune=None).analyze(words=["a"] * 12, candidates=len(few.candidates))
    assert 1 <= len(few.candidates) < math.comb(22, 11) // 12
    assert few.candidates == many.candidates
