"""Trees as sequences of their children, and searching them."""

import pytest
from hypothesis import given

from lpcfg.errors import InputError
from lpcfg.treebank.search import search_trees
from lpcfg.treebank.tree import Tree
from support.treebank_trees import trees

SENTENCE = Tree.from_string(
    "(S (NP (NP (DT the) (NN owner)) (PP (IN of) (NP (DT the) (NN dog)))) (VP (VBD left)) (. .))"
)


@given(trees())
def test_a_tree_is_a_sequence_of_its_children(tree):
    assert list(tree) == list(tree.children)
    assert list(reversed(tree)) == list(reversed(tree.children))
    assert tree[:] == tree.children
    assert all(tree[at] is child for at, child in enumerate(tree))
    assert tree[()] is tree


def test_a_path_leads_to_a_node():
    assert SENTENCE[0, 1, 1, 1].word == "dog"
    assert SENTENCE[-1].label == "."
    for place in (5, (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            _ = SENTENCE[place]


def test_one_tree_is_no_list_of_children():
    with pytest.raises(InputError, match="expected a word or a list of trees"):
        Tree("ROOT", SENTENCE)


@given(trees())
def test_labels_are_found_at_their_places(tree):
    label = list(tree.nodes())[-1].label
    found = tree.find(label)
    assert [match.tree for match in found] == list(tree.subtrees(lambda t: t.label == label))
    for match in found:
        assert match.tree.leaves() == tree.leaves()[match.start : match.end]
    assert tree.find("no such label") == []


@given(trees())
def test_every_node_matches_a_star(tree):
    assert [match.tree for match in tree.search("*")] == list(tree.nodes())


@pytest.mark.parametrize(
    ("pattern", "spans"),
    [
        ("NP < PP", [(0, 5)]),
        ("NP > PP", [(3, 5)]),
        ("NN . of", [(1, 2)]),
        ("dog", [(4, 5)]),
        ("/^VB/", [(5, 6)]),
        ("NP !<< PP", [(0, 2), (3, 5)]),
        ('"."', [(6, 7)]),
    ],
)
def test_patterns_of_tgrep(pattern, spans):
    assert [(match.start, match.end) for match in SENTENCE.search(pattern)] == spans


def test_many_trees_are_searched_lazily():
    def two():
        yield SENTENCE
        yield Tree("NP", [SENTENCE])
        raise AssertionError("a third tree was asked for")

    found = search_trees(two(), "NP < PP")
    assert [next(found)[0], next(found)[0]] == [0, 1]


@pytest.mark.parametrize("pattern", ["NP <", "((", "NP < =x", 3])
def test_wrong_patterns_are_errors(pattern):
    with pytest.raises(InputError, match=r"tgrep|expected a string"):
        SENTENCE.search(pattern)


def test_very_deep_trees_are_an_error():
    tree = Tree("NN", "rain")
    for _ in range(5000):
        tree = Tree("NP", [tree])
    assert len(tree.find("NN")) == 1
    with pytest.raises(InputError, match="tree 1 is too deep"):
        tree.search("NN")
