from collections import Counter

import numpy as np
import pytest

from lpcfg.errors import GrammarError, InputError
from lpcfg.grammar.notation import read_rules
from lpcfg.grammar.sampling import expected_length, sample_trees

RULES = read_rules(
    """
    S  -> NP VP '.' [0.7] | S 'and' S [0.3]
    NP -> 'she' [0.5] | 'the' N [0.5]
    N  -> 'cat' [0.2] | 'dog' [0.8]
    VP -> V
    V  -> 'slept' | 'ate'
    """
)


def rules_used(trees):
    """How often each rule was used, by (left side, labels or word on the right)."""
    return Counter(
        (node.label, (node.word,) if node.word else tuple(child.label for child in node.children))
        for tree in trees
        for node in tree.nodes()
    )


def test_rule_frequencies_converge_to_probabilities():
    used = rules_used(sample_trees(RULES, 4000, seed=3))
    labels = RULES.word_labels()
    for left, right, probability in RULES.rules:
        alone = len(right) == 1
        key = tuple(
            item if isinstance(item, str) else item.text if alone else labels[item.text]
            for item in right
        )
        total = sum(count for (parent, _), count in used.items() if parent == left)
        # Five standard deviations.
        slack = 5 * np.sqrt(probability * (1 - probability) / total)
        assert abs(used[left, key] / total - probability) <= slack


def test_mean_length_is_the_expected_one():
    lengths = [len(tree.words()) for tree in sample_trees(RULES, 4000, seed=4)]
    assert np.mean(lengths) == pytest.approx(expected_length(RULES), rel=0.05)


def test_seeds_decide():
    assert sample_trees(RULES, 20, seed=1) == sample_trees(RULES, 20, seed=1)
    assert sample_trees(RULES, 20, seed=1) != sample_trees(RULES, 20, seed=2)
    assert sample_trees(RULES, 20, seed=1)[:5] == sample_trees(RULES, 5, seed=1)


def test_length_limit():
    trees = sample_trees(RULES, 200, max_length=4)
    assert {len(tree.words()) for tree in trees} == {3, 4}
    with pytest.raises(InputError, match=r"max_length: .* more than 2 words"):
        sample_trees(RULES, 1, max_length=2)


def test_deep_trees():
    rules = read_rules("S -> 'a' S [0.9995] | 'a' [0.0005]")
    assert max(len(tree.words()) for tree in sample_trees(rules, 5)) > 1000


def test_grammars_that_cannot_be_sampled_from():
    with pytest.raises(GrammarError, match=r"add up to 0\.5"):
        sample_trees(read_rules("S -> 'a' [0.5]"), 1)
    growing = read_rules("S -> S S [0.6] | 'a' [0.4]")
    assert expected_length(growing) == float("inf")
    with pytest.raises(GrammarError, match="never end"):
        sample_trees(growing, 1)
    assert len(sample_trees(growing, 5, max_length=9)) == 5
    with pytest.raises(GrammarError, match="never end"):
        sample_trees(read_rules("S -> S"), 1, max_length=9)
