"""Head rules and features against their definitions, node by node."""

import numpy as np
import pytest

from lpcfg import Transform, Treebank, embedded_trees
from lpcfg.estimators.features._tree_nodes import TreeNodes, combine
from lpcfg.estimators.features.feature_sets import COMPACT, FULL, INSIDE, OUTSIDE
from lpcfg.treebank.head_rules import HeadRules

RULES = HeadRules()
TREES = embedded_trees()


@pytest.fixture(scope="module")
def nodes():
    return TreeNodes(Treebank.from_trees(TREES))


def head_position(tree, start=0):
    """The token that is the head of a tree, by searching its children step after step."""
    if tree.word is not None:
        return start
    starts = np.cumsum([start, *(len(child.words()) for child in tree.children)]).tolist()
    found = list(zip(tree.children, starts, strict=False))
    generic = ((RULES.default, (tree.label,)), (RULES.default, ()))
    steps = RULES.table.get(tree.label, generic)
    for side, labels in steps:
        for child, first in found if side == "left" else reversed(found):
            anything = not labels and child.label not in RULES.punctuation
            if anything or child.label in labels:
                return head_position(child, first)
    child, first = found[0 if steps[-1][0] == "left" else -1]
    return head_position(child, first)


@pytest.mark.parametrize("binarize", ["left", "right"])
@pytest.mark.parametrize("collapse", [True, False])
def test_heads_of_binarised_trees_are_those_of_the_trees(binarize, collapse):
    transform = Transform(binarize=binarize, collapse_inside=collapse, collapse_root=collapse)
    bank = Treebank.from_trees(TREES, transform=transform)
    roots = np.flatnonzero(bank.parent < 0)
    heads = bank.start[TreeNodes(bank).head[roots]]
    assert heads.tolist() == [head_position(tree) for tree in TREES]


def test_a_head_is_below_its_node(nodes):
    bank = nodes.treebank
    head = nodes.head
    assert np.all(bank.word[head] >= 0)
    assert np.all((bank.start <= bank.start[head]) & (bank.end[head] <= bank.end))


def rule(bank, node):
    children = (bank.left[node], bank.right[node])
    below = tuple(int(bank.symbol[child]) if child >= 0 else None for child in children)
    word = bank.words[bank.word[node]].lower() if bank.word[node] >= 0 else None
    return int(bank.symbol[node]), below, word


def above(bank, node, levels):
    """The rules above a node, with the side on which the way goes down; None if there are fewer."""
    path = []
    for _ in range(levels):
        parent = int(bank.parent[node])
        if parent < 0:
            return None
        path.append((rule(bank, parent), bool(bank.right[parent] == node)))
        node = parent
    return tuple(path)


def below(bank, node, child):
    if bank.left[node] < 0 or child[node] < 0:
        return None
    return rule(bank, node), rule(bank, int(child[node]))


def outside_head_tag(nodes, node):
    bank, head = nodes.treebank, nodes.head[node]
    while node >= 0 and nodes.head[node] == head:
        node = int(bank.parent[node])
    return None if node < 0 else bank.symbols[bank.symbol[nodes.head[node]]].labels[-1]


DEFINITIONS = {
    "left-fragment": lambda nodes, v: below(nodes.treebank, v, nodes.treebank.left),
    "right-fragment": lambda nodes, v: below(nodes.treebank, v, nodes.treebank.right),
    "parent-rule": lambda nodes, v: above(nodes.treebank, v, 1),
    "grandparent-rules": lambda nodes, v: above(nodes.treebank, v, 2),
    "great-grandparent-rules": lambda nodes, v: above(nodes.treebank, v, 3),
    "outside-head-tag": outside_head_tag,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_keys_are_equal_where_the_features_are(nodes, name):
    keys = (INSIDE | OUTSIDE)[name](nodes).tolist()
    values = [DEFINITIONS[name](nodes, node) for node in range(len(keys))]
    assert [key == -1 for key in keys] == [value is None for value in values]
    pairs = set(zip(keys, values, strict=True))
    assert len(pairs) == len(set(keys)) == len(set(values))


@pytest.mark.parametrize("features", [COMPACT, FULL])
def test_every_group_has_a_key_for_every_node(nodes, features):
    columns = [*features.inside_keys(nodes), *features.outside_keys(nodes)]
    assert len(columns) == len(features.inside) + len(features.outside)
    for column in columns:
        assert column.shape == nodes.symbol.shape
        assert column.min() >= -1


def test_combined_keys_depend_on_the_order():
    one, two = np.array([1]), np.array([2])
    assert combine(one, two) != combine(two, one)
