import numpy as np
import pytest

from lpcfg.datasets.embedded import embedded_rules, embedded_trees
from lpcfg.grammar.notation import Word
from lpcfg.grammar.sampling import expected_length, expected_uses


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
