"""Labels that are used both as tags and for phrases: nodes are told apart by where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

import lpcfg
from lpcfg import Ensemble, Parser, PCFGEstimator, Transform, Tree, Treebank
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.marginals import node_spans, span_probabilities
from lpcfg.reranking.candidates import merge_candidates

#: Another name for some tags: a phrase label of the same trees.
PHRASE_LABELS = {"NN": "NP", "DT": "S", "VBD": "VP", "IN": "PP", "PRP": "ADJP", "JJ": "ADVP"}

#: A phrase label over a word, and a tag over phrases and words.
ODD_TREES = [
    "(ROOT (S (NP Bombay) (VP (VBD grew)) (. .)))",
    "(ROOT (S (VP Go) (ADVP (RB home)) (. !)))",
    "(ROOT (NN (DT (DT the) (JJ old)) (NN dog)))",
]


def renamed(tree: Tree) -> Tree:
    """The same tree with phrase labels as tags."""
    if tree.is_preterminal:
        return Tree(PHRASE_LABELS.get(tree.label, tree.label), tree.word or "")
    return Tree(tree.label, [renamed(child) for child in tree.children])


def members(trees: Iterable[Tree]) -> list[BaseParser]:
    """Parsers with different transforms and estimators."""
    trees = list(trees)
    transforms = [Transform(), Transform(binarize="left"), Transform(horizontal=0)]
    banks = [Treebank.from_trees(trees, transform=transform) for transform in transforms]
    estimators = [PCFGEstimator(), PCFGEstimator(), lpcfg.SplitMergeEstimator(cycles=1)]
    return [
        Parser(estimator.fit(bank).grammar_)
        for estimator, bank in zip(estimators, banks, strict=True)
    ]


@pytest.fixture(scope="module")
def trees() -> list[Tree]:
    return list(lpcfg.embedded_trees())


@pytest.fixture(scope="module")
def usual(trees: list[Tree]) -> list[BaseParser]:
    return members(trees)


@pytest.fixture(scope="module")
def ambiguous(trees: list[Tree]) -> list[BaseParser]:
    return members(map(renamed, trees))


def test_the_treebank_has_the_labels(trees: list[Tree]) -> None:
    tags = {tag for tree in trees for tag in tree.tags()}
    phrases = {label for tree in trees for label, _, _ in tree.spans()}
    assert tags >= PHRASE_LABELS.keys()
    assert phrases >= {"NP", "S", "VP", "PP", "ADVP"}


ALONE: dict[str, Callable[[list[BaseParser]], BaseParser]] = {
    "pcfg": lambda parsers: parsers[0],
    "latent states": lambda parsers: parsers[2],
    "posteriors": Ensemble,
    "trees": lambda parsers: Ensemble(parsers, combine="trees"),
    "max-recall": lambda parsers: Parser(parsers[0].grammar, decoder="max-recall"),
    "max-rule": lambda parsers: Parser(parsers[0].grammar, decoder="max-rule"),
}


@pytest.mark.parametrize("name", ALONE)
def test_names_of_tags_change_nothing_but_themselves(
    name: str, trees: list[Tree], usual: list[BaseParser], ambiguous: list[BaseParser]
) -> None:
    words = [tree.words() for tree in trees[::2]]
    build = ALONE[name]
    found = list(build(ambiguous).analyze_many(words=words, marginals=True))
    expected = list(build(usual).analyze_many(words=words, marginals=True))
    for own, other in zip(found, expected, strict=True):
        assert own.tree == renamed(other.tree)
        assert own.span_probabilities == pytest.approx(other.span_probabilities, abs=1e-5)
        assert own.marginals is not None
        assert other.marginals is not None
        table = {
            (PHRASE_LABELS.get(label, label) if preterminal else label, *span, preterminal): value
            for (label, *span, preterminal), value in span_probabilities(other.marginals).items()
        }
        assert span_probabilities(own.marginals) == pytest.approx(table, abs=1e-5)
    gold = [tree for tree in trees if len(tree) < 30]
    scores = lpcfg.evaluate_parser(build(usual), gold).scores
    other_scores = lpcfg.evaluate_parser(build(ambiguous), list(map(renamed, gold))).scores
    assert (scores.f1, scores.tag_accuracy) == (other_scores.f1, other_scores.tag_accuracy)


def test_candidates_have_the_same_scores(
    trees: list[Tree], usual: list[BaseParser], ambiguous: list[BaseParser]
) -> None:
    for words in [tree.words() for tree in trees][:20]:
        found, expected = (
            merge_candidates(
                [parser.analyze(words=words, candidates=4, marginals=True) for parser in parsers]
            )
            for parsers in (ambiguous, usual)
        )
        scores = dict(zip(found.trees, found.scores, strict=True))
        assert scores.keys() == {renamed(tree) for tree in expected.trees}
        for tree, row in zip(expected.trees, expected.scores, strict=True):
            np.testing.assert_allclose(scores[renamed(tree)], row, atol=1e-4)


@pytest.mark.parametrize("combine", ["posteriors", "trees"])
@pytest.mark.parametrize("copies", [1, 3])
def test_copies_of_a_parser_have_its_trees(
    combine: str,
    copies: int,
    trees: list[Tree],
    usual: list[BaseParser],
    ambiguous: list[BaseParser],
) -> None:
    words = [tree.words() for tree in trees[::4]]
    for parser in [*usual, *ambiguous]:
        ensemble = Ensemble([parser] * copies, combine=combine)
        assert list(ensemble.parse_many(words=words)) == list(parser.parse_many(words=words))


@pytest.mark.parametrize("odd", ODD_TREES)
def test_a_tree_with_an_odd_label_changes_no_other_sentence(
    odd: str, trees: list[Tree], usual: list[BaseParser]
) -> None:
    words = [tree.words() for tree in trees]
    # The most similar tree with usual labels, since another tree changes all counts a little.
    plain = Tree.from_string("(ROOT (S (NP (NNP Bombay)) (VP (VBD grew)) (. .)))")
    expected = list(Ensemble(members([*trees, plain])).parse_many(words=words))
    found = list(Ensemble(members([*trees, Tree.from_string(odd)])).parse_many(words=words))
    assert [tree.tags() for tree in found] == [tree.tags() for tree in expected]
    missing = sum(
        len(set(node_spans(other)) - set(node_spans(own)))
        for own, other in zip(found, expected, strict=True)
    )
    assert missing <= 0.01 * sum(len(node_spans(tree)) for tree in expected)
