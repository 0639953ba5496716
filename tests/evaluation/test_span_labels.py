"""Scores of labels of spans before a tree is searched for."""

import pytest

from lpcfg import InputError, Tree
from lpcfg.evaluation.span_labels import evaluate_span_labels
from lpcfg.parsing.marginals import marginal_table, tree_marginals

GOLD = Tree.from_string("(ROOT (S (NP (DT the) (NN rain)) (VP (VBD fell) (ADVP (RB hard)))))")


def table(*rows):
    starts, ends, labels, probabilities = zip(*rows, strict=True)
    return marginal_table(starts, ends, labels, probabilities, [False] * len(rows))


def test_the_gold_tree_has_perfect_scores():
    scores = evaluate_span_labels([GOLD], [tree_marginals(GOLD)])
    figures = (scores.f1, scores.exact_match, scores.well_formedness, scores.tree_match)
    assert figures == (100.0,) * 4
    assert scores.gold == 4


def test_wrong_labels_are_no_match_of_labels_but_one_of_trees():
    rows = [(0, 4, "S", 0.9), (0, 2, "QP", 0.9), (2, 4, "VP", 0.8), (3, 4, "ADVP", 0.6)]
    scores = evaluate_span_labels([GOLD], [table(*rows)])
    assert (scores.matched, scores.predicted, scores.gold) == (3, 4, 4)
    assert (scores.exact_match, scores.tree_match, scores.well_formedness) == (0, 100, 100)


def test_spans_that_cross_are_not_well_formed_and_unlikely_ones_are_left_out():
    crossing = table((0, 2, "NP", 0.9), (1, 4, "VP", 0.7), (2, 4, "VP", 0.4))
    nested = table((0, 2, "NP", 0.9), (0, 4, "S", 0.7))
    scores = evaluate_span_labels([GOLD, GOLD], [crossing, nested])
    assert scores.predicted == 4
    assert scores.well_formedness == 50
    assert evaluate_span_labels([GOLD], [crossing], threshold=0.3).predicted == 3


def test_as_many_tables_as_trees_are_needed():
    with pytest.raises(InputError, match="1 gold trees"):
        evaluate_span_labels([GOLD], [])
