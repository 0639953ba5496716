"""Estimation by relative frequency."""

import math

import numpy as np
import pytest

from lpcfg import (
    LexiconOptions,
    Parser,
    PCFGEstimator,
    Transform,
    Tree,
    Treebank,
    TreebankError,
    embedded_trees,
)
from lpcfg.estimators.pcfg import count_rules
from lpcfg.grammar.notation import read_rules
from lpcfg.grammar.sampling import sample_trees

# Binary and lexical rules only, and no symbol has both: what is estimated is what was written.
KNOWN = read_rules("""
    S -> NP VP [0.7] | VP NP [0.3]
    NP -> D N [0.5] | NP PP [0.2] | N N [0.3]
    VP -> V NP [0.6] | VP PP [0.4]
    PP -> P NP [1.0]
    D -> 'd' [0.9] | 'e' [0.1]
    N -> 'n' [0.25] | 'm' [0.75]
    V -> 'v' [1.0]
    P -> 'p' [1.0]
""")

PLAIN = LexiconOptions.plain(rare=0)
BARE = Transform(vertical=0)


def fit(trees, transform=BARE, lexicon=PLAIN):
    treebank = Treebank.from_trees(trees, cleaning=False, transform=transform)
    return PCFGEstimator(lexicon=lexicon).fit(treebank).grammar_


def estimates(grammar):
    """The probabilities of all rules, words included, by the names of their symbols."""
    names = [str(symbol) for symbol in grammar.symbols]
    found = {}
    for rules, probabilities in (
        (grammar.binary_rules, grammar.binary_probabilities),
        (grammar.unary_rules, grammar.unary_probabilities),
    ):
        for row, probability in zip(rules.tolist(), probabilities.tolist(), strict=True):
            left, *right = (names[symbol] for symbol in row)
            found[left, *right] = probability
    lexicon = grammar.lexicon
    for emission, word in enumerate(lexicon.words):
        for entry in range(lexicon.offsets[emission], lexicon.offsets[emission + 1]):
            found[names[lexicon.symbols[entry]], word] = float(lexicon.probabilities[entry])
    return found


def totals(grammar):
    """The probabilities of each symbol's rules and words added up."""
    totals = np.zeros(len(grammar.symbols))
    np.add.at(totals, grammar.binary_rules[:, 0], grammar.binary_probabilities)
    np.add.at(totals, grammar.unary_rules[:, 0], grammar.unary_probabilities)
    np.add.at(totals, grammar.lexicon.symbols, grammar.lexicon.probabilities)
    return totals


def test_counting_by_hand():
    trees = [
        Tree.from_string("(S (A x) (B y))"),
        Tree.from_string("(S (A x) (A x))"),
        Tree.from_string("(S (A x) (B z))"),
        Tree.from_string("(A x)"),
    ]
    grammar = fit(trees)
    found = estimates(grammar)
    assert found["S", "A", "B"] == pytest.approx(2 / 3)
    assert found["S", "A", "A"] == pytest.approx(1 / 3)
    assert found["B", "y"] == pytest.approx(1 / 2, rel=1e-4)
    names = [str(symbol) for symbol in grammar.symbols]
    assert dict(zip(names, grammar.roots.tolist(), strict=True)) == {"S": 0.75, "A": 0.25, "B": 0}
    assert dict(zip(names, grammar.weights.tolist(), strict=True)) == {"S": 3, "A": 5, "B": 2}
    assert grammar.provenance["trees"] == 4


def test_rules_are_counted_once_for_each_use():
    trees = [Tree.from_string("(S (S (A x) (A x)) (A x))"), Tree.from_string("(S (A x) (A x))")]
    treebank = Treebank.from_trees(trees, cleaning=False, transform=BARE)
    binary, counts, unary, unary_counts = count_rules(treebank)
    assert counts.sum() == 3
    assert sorted(counts.tolist()) == [1, 2]
    assert len(binary) == 2
    assert len(unary) == len(unary_counts) == 0


def worst_error(size):
    found = estimates(fit(sample_trees(KNOWN, size, seed=size)))
    expected = {
        (rule.left, *(getattr(item, "text", item) for item in rule.right)): rule.probability
        for rule in KNOWN.rules
    }
    assert found.keys() <= expected.keys()
    return max(abs(found.get(rule, 0.0) - probability) for rule, probability in expected.items())


def test_a_known_grammar_is_recovered_from_its_trees():
    errors = [worst_error(size) for size in (30, 500, 8000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.02


@pytest.mark.parametrize(
    "transform",
    [
        Transform(),
        Transform(vertical=0, horizontal=0),
        Transform(vertical=2, horizontal=None, annotate="all"),
        Transform(binarize="left"),
        Transform(annotate_preterminals=False),
        Transform(collapse_root=False),
        Transform(collapse_root=False, collapse_inside=False, collapse_preterminals=False),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", ["learnt", "english", "tag"])
def test_the_rules_of_each_symbol_add_up_to_one(transform, classes):
    grammar = fit(embedded_trees(80), transform, LexiconOptions(classes=classes))
    np.testing.assert_allclose(totals(grammar), 1.0, rtol=1e-9)
    assert grammar.roots.sum() == pytest.approx(1.0)
    assert (grammar.binary_probabilities > 0).all()
    coarse = grammar.coarse
    assert len(coarse) == len(grammar.symbols)
    assert set(coarse.tolist()) == set(range(coarse.max() + 1))


def test_unary_chains_are_kept_or_collapsed():
    trees = embedded_trees(80)
    collapsed = fit(trees)
    kept = fit(
        trees, Transform(collapse_root=False, collapse_inside=False, collapse_preterminals=False)
    )
    assert len(collapsed.unary_rules) == 0
    assert any(len(symbol.labels) > 1 for symbol in collapsed.symbols)
    assert len(kept.unary_rules) > 0
    assert all(len(symbol.labels) == 1 for symbol in kept.symbols)
    assert collapsed.labels == kept.labels
    words = trees[0].words()
    for grammar in (collapsed, kept):
        parse = Parser(grammar).analyze(words=words)
        assert parse.status == "parsed"
        assert parse.tree.label == "ROOT"


def test_trees_that_were_seen_can_be_parsed():
    trees = embedded_trees(50)
    parser = Parser(fit(trees, Transform()))
    parses = list(parser.analyze_many(words=[tree.words() for tree in trees]))
    assert {parse.status for parse in parses} <= {"parsed", "loosened"}
    assert all(math.isfinite(parse.log_probability) for parse in parses)


def test_the_probability_of_a_tree_is_the_product_of_its_rules():
    grammar = fit([Tree.from_string("(S (A x) (B y))")] * 3 + [Tree.from_string("(S (A x) (A z))")])
    found = estimates(grammar)
    parse = Parser(grammar, prune=None).analyze(words=["x", "y"])
    expected = found["S", "A", "B"] * found["A", "x"] * found["B", "y"]
    assert math.exp(parse.log_probability) == pytest.approx(expected)


def test_a_treebank_without_trees_is_refused():
    with pytest.raises(TreebankError, match="no trees to learn from"):
        PCFGEstimator().fit(Treebank.from_trees([]))


def test_fitting_again_replaces_the_grammar():
    estimator = PCFGEstimator()
    first = estimator.fit(Treebank.from_trees([Tree("NN", "rain")])).grammar_
    second = estimator.fit(Treebank.from_trees([Tree("VB", "rain")])).grammar_
    assert (first.tags, second.tags) == (("NN",), ("VB",))
    assert estimator.grammar_ is second
