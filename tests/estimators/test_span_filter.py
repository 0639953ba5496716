"""The span filter: training, calibration, parsing with it, and its file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lpcfg
from lpcfg import Grammar, Parser, Pruning
from lpcfg.errors import InputError


@pytest.fixture(scope="module")
def trees() -> list[lpcfg.Tree]:
    # The embedded trees are too few for a filter.
    embedded = list(lpcfg.embedded_trees())
    return embedded * (1 + 1000 // len(embedded))


@pytest.fixture(scope="module")
def grammar(trees: list[lpcfg.Tree]) -> Grammar:
    return lpcfg.PCFGEstimator().fit(trees).grammar_


def test_the_same_trees_give_the_same_filter(grammar: Grammar, trees: list[lpcfg.Tree]) -> None:
    again = lpcfg.PCFGEstimator().fit(trees).grammar_
    assert grammar.span_filter is not None
    assert again.span_filter is not None
    for name in ("word_tags", "border_weights", "pair_weights", "thresholds"):
        assert np.array_equal(getattr(grammar.span_filter, name), getattr(again.span_filter, name))


def test_higher_recall_has_lower_thresholds(grammar: Grammar) -> None:
    assert grammar.span_filter is not None
    core = grammar.span_filter.core
    thresholds = [core.threshold(recall) for recall in (0.9, 0.99, 0.999, 0.99999, 1.0)]
    assert thresholds == sorted(thresholds, reverse=True)
    assert thresholds[-1] == 0.0


def test_most_trees_are_those_without_the_filter(grammar: Grammar, trees: list[lpcfg.Tree]) -> None:
    sentences = [tree.words() for tree in trees[:100]]
    filtered = [str(tree) for tree in Parser(grammar).parse_many(words=sentences)]
    full = Parser(grammar, prune=Pruning(spans=1.0)).parse_many(words=sentences)
    same = sum(a == str(b) for a, b in zip(filtered, full, strict=True))
    assert same >= 90


def test_closed_spans_are_opened_if_no_tree_is_left(
    grammar: Grammar, trees: list[lpcfg.Tree]
) -> None:
    assert grammar.span_filter is not None
    # A filter that closes every span of several words but the whole sentence.
    closed = replace(grammar.span_filter, thresholds=np.ones(25, dtype=np.float32))
    closing = replace(
        closed,
        border_weights=np.zeros_like(closed.border_weights),
        pair_weights=np.zeros_like(closed.pair_weights),
    )
    parser = Parser(replace(grammar, span_filter=closing))
    words = next(tree.words() for tree in trees if len(tree.words()) > 6)
    parse = parser.analyze(words=words)
    assert parse.status == "loosened"
    assert str(parse.tree) == str(Parser(grammar, prune=Pruning(spans=1.0)).parse(words=words))


def test_tags_alone_are_not_filtered(grammar: Grammar) -> None:
    tags = ["DT", "NN", "VBD", "PRP", "."]
    open_parser = Parser(grammar, prune=Pruning(spans=1.0))
    assert str(Parser(grammar).parse(tags)) == str(open_parser.parse(tags))


def test_a_grammar_is_saved_with_its_filter(grammar: Grammar, tmp_path: object) -> None:
    path = f"{tmp_path}/model.lpcfg"
    lpcfg.save(grammar, path)
    loaded = lpcfg.load(path)
    assert isinstance(loaded, Grammar)
    assert grammar.span_filter is not None
    assert loaded.span_filter is not None
    assert np.array_equal(loaded.span_filter.pair_weights, grammar.span_filter.pair_weights)


@pytest.mark.parametrize("recall", [0.5, 1.1, "all"])
def test_wrong_fractions_are_refused(grammar: Grammar, recall: float) -> None:
    with pytest.raises(InputError, match=r"from 0\.9 to 1"):
        Parser(grammar, prune=Pruning(spans=recall))
