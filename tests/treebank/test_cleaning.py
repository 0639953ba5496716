"""Cleaning: each step alone, all together, and what must survive them."""

import pytest
from hypothesis import given

from lpcfg.errors import InputError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.tree import Tree
from support.treebank_trees import trees

NOTHING = Cleaning(function_tags="keep", remove_empty=False, merge_repeated=False, root_label=None)


def cleaned(text, **options):
    steps = {
        "function_tags": "keep",
        "remove_empty": False,
        "merge_repeated": False,
        "root_label": None,
    }
    return str(Cleaning(**{**steps, **options}).clean(Tree.from_string(text)))


@given(trees())
def test_nothing_happens_when_every_step_is_off(tree):
    assert NOTHING.clean(tree) == tree


def test_function_tags():
    text = "(S-IMP=1 (NP-SBJ-2 (NN-Nom boat)) (PRN (-LRB- -LRB-) (ADV-x so) (-RRB- -RRB-)))"
    assert cleaned(text, function_tags="phrases") == (
        "(S (NP (NN-Nom boat)) (PRN (-LRB- -LRB-) (ADV-x so) (-RRB- -RRB-)))"
    )
    assert cleaned(text, function_tags="all") == (
        "(S (NP (NN boat)) (PRN (-LRB- -LRB-) (ADV so) (-RRB- -RRB-)))"
    )


def test_traces_and_what_they_leave_empty():
    text = "(S (NP (NP (-NONE- *T*-1)) (SBAR (-NONE- 0))) (VP (VB go) (-NONE- *)))"
    assert cleaned(text, remove_empty=True) == "(S (VP (VB go)))"


def test_repeated_labels():
    assert cleaned("(NP (NP (NP (NN boat))))", merge_repeated=True) == "(NP (NN boat))"
    for kept in ("(NP (NP (NN a)) (NP (NN b)))", "(S (NP (NP a)) (NP b))"):
        assert cleaned(kept, merge_repeated=True) == kept


@pytest.mark.parametrize("root", ["", "ROOT", "TOP", "S1"])
def test_usual_roots_are_renamed(root):
    assert cleaned(f"({root} (S (VB go)))", root_label="VROOT") == "(VROOT (S (VB go)))"


def test_other_roots_get_a_parent():
    assert cleaned("(S (VB go))", root_label="ROOT") == "(ROOT (S (VB go)))"
    assert cleaned("(VB go)", root_label="ROOT") == "(ROOT (VB go))"


def test_roots_stay_without_a_root_label():
    assert cleaned("(TOP (S (VB go)))") == "(TOP (S (VB go)))"
    assert cleaned("( (S (VB go)))") == "(S (VB go))"


@given(trees())
def test_cleaning_twice_changes_nothing(tree):
    once = Cleaning().clean(tree)
    if once is not None:
        assert Cleaning().clean(once) == once


@given(trees())
def test_a_clean_tree_is_clean(tree):
    found = Cleaning(function_tags="all").clean(tree)
    if found is None:
        assert set(tree.tags()) == {"-NONE-"}
        return
    assert found.label == "ROOT"
    kept = [pair for pair in zip(tree.words(), tree.tags(), strict=True) if pair[1] != "-NONE-"]
    assert found.words() == [word for word, _ in kept]
    for node in found.nodes():
        phrases = [child.label for child in node.children if not child.is_preterminal]
        assert phrases != [node.label] or len(node.children) > 1 or node is found


def test_empty_trees_keep_their_place():
    forest = Forest.from_trees([Tree("-NONE-", "*"), None, Tree("NN", "rain")])
    assert [tree and str(tree) for tree in Cleaning().apply(forest).trees()] == [
        None,
        None,
        "(ROOT (NN rain))",
    ]


def test_wrong_options_are_named():
    with pytest.raises(InputError, match="function_tags must be one of 'phrases', 'all', 'keep'"):
        Cleaning(function_tags="some")
    with pytest.raises(InputError, match="root_label must not be empty"):
        Cleaning(root_label="")
    with pytest.raises(InputError, match="cannot build Cleaning"):
        Cleaning.from_dict({"traces": True})


def test_options_go_through_dictionaries():
    options = Cleaning(function_tags="all", root_label=None)
    assert Cleaning.from_dict(options.to_dict()) == options
