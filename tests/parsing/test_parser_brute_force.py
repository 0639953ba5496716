"""Parsing against the enumeration of all trees, and against a worked example from a paper."""

import math
from collections import defaultdict

import pytest
from hypothesis import given

from lpcfg import Grammar, Parser, Tree
from lpcfg.parsing.marginals import node_spans, span_probabilities
from lpcfg.parsing.options import DECODERS
from support.grammars import random_grammars


@given(random_grammars())
def test_probabilities_of_the_sentence_and_of_its_best_trees(case):
    trees = case.trees()
    parser = Parser(Grammar.from_string(case.text), decoder="viterbi", prune=None, n_jobs=1)
    parse = parser.analyze(words=case.sentence, candidates=10)
    assert (parse.status == "parsed") == bool(trees)
    if not trees:
        return
    total = math.fsum(probability for _, probability in trees)
    assert math.exp(parse.sentence_log_probability) == pytest.approx(total)
    best = sorted((probability for _, probability in trees), reverse=True)[:10]
    assert [math.exp(score) for _, score in parse.candidates] == pytest.approx(best)
    expected = dict(trees)
    for tree, log_probability in parse.candidates:
        assert expected[tree] == pytest.approx(math.exp(log_probability))
    assert len({tree for tree, _ in parse.candidates}) == len(best)
    assert (parse.tree, parse.log_probability) == parse.candidates[0]


@given(random_grammars())
def test_probabilities_of_labelled_spans(case):
    trees = case.trees()
    parser = Parser(Grammar.from_string(case.text), prune=None, n_jobs=1)
    table = parser.marginals(words=case.sentence)
    expected = defaultdict(float)
    total = math.fsum(probability for _, probability in trees)
    for tree, probability in trees:
        for span in node_spans(tree):
            expected[span] += probability / total
    if not trees:
        assert parser.analyze(words=case.sentence).status != "parsed"
        return
    found = {
        span: probability for span, probability in span_probabilities(table).items() if probability
    }
    assert found == pytest.approx(dict(expected))
    parse = parser.analyze(words=case.sentence)
    for span, probability in zip(node_spans(parse.tree), parse.span_probabilities, strict=True):
        assert probability == pytest.approx(expected[span])


@given(random_grammars())
def test_every_decoder_returns_a_tree_of_the_sentence(case):
    expected = dict(case.trees())
    for decoder in DECODERS:
        parser = Parser(Grammar.from_string(case.text), decoder=decoder, prune=None, n_jobs=1)
        parse = parser.analyze(words=case.sentence)
        assert parse.tree.words() == case.sentence
        if expected:
            assert math.exp(parse.log_probability) == pytest.approx(expected[parse.tree])


# Figure 5 of Matejovicova (2018); incomplete, as it is there.
FIGURE_5 = """
    S -> VP [0.05]
    VP -> Verb NP [0.20]
    VP -> Verb NP NP [0.10]
    NP -> Det Nom [0.20]
    NP -> Nom [0.15]
    Nom -> Nom Noun [0.20]
    Nom -> Noun [0.75]
    Verb -> 'Give' [0.30]
    Det -> 'the' [0.60]
    Noun -> 'strawberry' [0.10]
    Noun -> 'jam' [0.40]
"""
SENTENCE = ["Give", "the", "strawberry", "jam"]
COMPOUND = "(S (VP (Verb Give) (NP (Det the) (Nom (Nom (Noun strawberry)) (Noun jam)))))"
TWO_OBJECTS = "(S (VP (Verb Give) (NP (Det the) (Nom (Noun strawberry))) (NP (Nom (Noun jam)))))"


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("prune", [None, 1e-5])
def test_two_parses_of_a_published_example(decoder, prune):
    parser = Parser(Grammar.from_string(FIGURE_5), decoder=decoder, prune=prune)
    parse = parser.analyze(words=SENTENCE, candidates=3)
    (best, best_score), (second, second_score) = parse.candidates
    assert best == parse.tree == Tree.from_string(COMPOUND)
    assert second == Tree.from_string(TWO_OBJECTS)
    assert math.exp(best_score) == pytest.approx(2.16e-6)
    assert math.exp(second_score) == pytest.approx(6.075e-7)
    assert math.exp(parse.sentence_log_probability) == pytest.approx(2.16e-6 + 6.075e-7)
