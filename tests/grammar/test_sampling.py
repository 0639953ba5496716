from collections import Counter

import numpy as np
import pytest

from lpcfg.datasets.embedded import embedded_rules, embedded_trees
from lpcfg.errors import GrammarError, InputError
from lpcfg.grammar.notation import Word, read_rules
from lpcfg.grammar.sampling import expected_length, expected_uses, sample_trees

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
    with pytest.raises(InputError, match="max_length=2"):
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


def test_embedded_grammar_is_proper_and_ends():
    rules = embedded_rules()
    assert rules.start == "ROOT"
    for left, total in rules.totals().items():
        assert total == pytest.approx(1, abs=1e-9), left
    assert np.abs(np.linalg.eigvals(expected_uses(rules))).max() < 1
    assert 8 <= expected_length(rules) <= 14
    used = {item for rule in rules.rules for item in rule.right if isinstance(item, str)}
    assert set(rules.totals()) - used == {"ROOT"}
    words = {item.text for rule in rules.rules for item in rule.right if isinstance(item, Word)}
    assert len(words) >= 200


def test_embedded_trees():
    trees = embedded_trees()
    assert len(trees) == 400
    assert trees == embedded_trees(400, seed=0)
    assert all(tree.words()[0][0].isupper() for tree in trees)
    nodes = [node for tree in trees for node in tree.nodes()]
    labels = {node.label for node in nodes}
    assert labels >= {
        "ROOT",
        "S",
        "SQ",
        "SBARQ",
        "SBAR",
        "NP",
        "VP",
        "PP",
        "ADJP",
        "ADVP",
        ",",
        ".",
    }
    assert not any("/" in label for label in labels)
    # No node sits alone under one of the same label, which cleaning would remove.
    assert not any([child.label for child in node.children] == [node.label] for node in nodes)
