"""The node table: columns, subsets, digests, and the fast path from files."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import TreebankError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.reader import ReadReport
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank
from support.treebank_trees import trees

FORESTS = st.lists(trees(), min_size=1, max_size=4)
COLUMNS = ("symbol", "left", "right", "parent", "start", "end", "word", "tree_offsets")
TEXT = b"""( (S (NP-SBJ (PRP we)) (VP (VBP sing) (NP (-NONE- *))) (. .)))
(NP (-NONE- *)) (TOP (UH yes)) (())
"""


def test_columns_of_a_small_tree():
    bank = Treebank.from_trees(
        [
            Tree.from_string("(UH yes)"),
            Tree.from_string("(S (NP (DT the) (JJ old) (NN boat)) (VBD sank))"),
        ],
        cleaning=False,
    )
    assert [str(bank.symbols[symbol]) for symbol in bank.symbol] == [
        "UH",
        *("DT^NP", "JJ^NP", "NN^NP", "@NP[JJ]", "NP^S", "VBD^S", "S"),
    ]
    assert bank.left.tolist() == [-1, -1, -1, -1, 2, 1, -1, 5]
    assert bank.right.tolist() == [-1, -1, -1, -1, 3, 4, -1, 6]
    assert bank.parent.tolist() == [-1, 5, 4, 4, 5, 7, 7, -1]
    assert bank.start.tolist() == [0, 0, 1, 2, 1, 0, 3, 0]
    assert bank.end.tolist() == [1, 1, 2, 3, 3, 3, 4, 4]
    assert bank.word.tolist() == [0, 1, 2, 3, -1, -1, 4, -1]
    assert bank.tree_offsets.tolist() == [0, 1, 8]
    assert bank.words == ("yes", "the", "old", "boat", "sank")
    assert [getattr(bank, name).dtype for name in COLUMNS] == [
        *(np.uint32, np.int32, np.int32, np.int32, np.int32, np.int32, np.int32, np.int64)
    ]
    assert repr(bank) == "<Treebank of 2 trees, 8 nodes, 8 symbols, 5 words>"


def test_reading_cleans_transforms_and_counts():
    report = ReadReport()
    bank = Treebank.read(io.BytesIO(TEXT), report=report)
    assert [str(tree) for tree in bank.trees()] == [
        "(ROOT (S (NP (PRP we)) (VP (VBP sing)) (. .)))",
        "(ROOT (UH yes))",
    ]
    assert (report.trees, report.empty, report.skipped) == (4, 2, 0)
    assert bank.sentences() == [(["we", "sing", "."], ["PRP", "VBP", "."]), (["yes"], ["UH"])]


def test_options_reach_the_trees():
    bank = Treebank.read(
        io.BytesIO(b"(S-1 (A a) (B b))"),
        cleaning=Cleaning(function_tags="keep", root_label=None),
        transform=Transform(vertical=0),
    )
    assert str(bank.symbols[bank.symbol[-1]]) == "S-1"
    assert bank.transform == Transform(vertical=0)


def test_malformed_trees_raise_or_are_skipped():
    with pytest.raises(TreebankError, match="<stream>:1:7: a node without a word") as caught:
        Treebank.read(io.BytesIO(b"(A a) (B)"))
    assert (caught.value.file, caught.value.line, caught.value.column) == ("<stream>", 1, 7)
    report = ReadReport()
    assert len(Treebank.read(io.BytesIO(b"(A a) (B)"), on_error="skip", report=report)) == 1
    assert report.skipped == 1


@pytest.mark.parametrize("content", [b"", b"\n\n", b"(())", b"(NP (-NONE- *))"])
def test_no_trees_at_all_are_an_error(tmp_path, content):
    path = tmp_path / "empty.mrg"
    path.write_bytes(content)
    with pytest.raises(TreebankError, match=r"no trees in .*empty\.mrg"):
        Treebank.read(path)


@given(FORESTS)
def test_files_and_trees_give_the_same_table(forest):
    cleaning = Cleaning(root_label=None)
    text = "\n".join(map(str, forest)).encode()
    kept = [tree for tree in map(cleaning.clean, forest) if tree is not None]
    if not kept:
        return
    read = Treebank.read(io.BytesIO(text), cleaning=cleaning)
    built = Treebank.from_trees(forest, cleaning=cleaning)
    assert read.trees() == built.trees() == kept
    assert read.digest == built.digest == Treebank.from_trees(kept, cleaning=False).digest


def test_trees_are_cleaned_unless_that_is_switched_off():
    text = "(S (NP-SBJ (PRP we)) (VP (VBP sing) (NP (-NONE- *))))"
    trace = "(NP (-NONE- *))"
    forest = [Tree.from_string(text), Tree.from_string(trace)]
    content = f"{text}\n{trace}".encode()
    cleaned = ["(ROOT (S (NP (PRP we)) (VP (VBP sing))))"]
    for cleaning, kept, expected in (
        (None, Cleaning(), cleaned),
        (Cleaning(), Cleaning(), cleaned),
        (False, None, [text, trace]),
    ):
        for bank in (
            Treebank.from_trees(forest, cleaning=cleaning),
            Treebank.read(io.BytesIO(content), cleaning=cleaning),
        ):
            assert [str(tree) for tree in bank.trees()] == expected
            assert bank.cleaning == kept
            assert bank.provenance["cleaning"] == ({} if kept is None else kept.to_dict())


@given(FORESTS)
def test_sentences_are_those_of_the_trees(forest):
    bank = Treebank.from_trees(forest, cleaning=False)
    assert bank.sentences() == [(tree.words(), tree.tags()) for tree in forest]


@given(FORESTS, st.data())
def test_subsets_are_tables_of_their_own(forest, data):
    chosen = data.draw(st.lists(st.integers(0, len(forest) - 1), max_size=6))
    bank = Treebank.from_trees(forest, cleaning=False)
    subset = bank.subset(chosen)
    assert subset.trees() == [forest[number] for number in chosen]
    expected = Treebank.from_trees((forest[number] for number in chosen), cleaning=False)
    for name in ("left", "right", "parent", "start", "end", "tree_offsets"):
        found = getattr(subset, name)
        assert found.dtype == getattr(bank, name).dtype
        np.testing.assert_array_equal(found, getattr(expected, name))


@pytest.mark.parametrize("numbers", [[2], [-1]])
def test_subsets_of_trees_that_are_not_there(numbers):
    bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    with pytest.raises(IndexError, match="between 0 and 1"):
        bank.subset(numbers)


@given(trees(), trees())
def test_digests_tell_trees_apart(one, other):
    digests = {Treebank.from_trees([tree], cleaning=False).digest for tree in (one, other)}
    assert (len(digests) == 1) == (one == other)


def test_digests_depend_on_the_transform():
    forest = [Tree.from_string("(S (A a) (B b) (C c))")]
    left = Transform(binarize="left").apply(forest)
    assert left.digest != Transform().apply(forest).digest


def test_nodes_without_content_are_refused():
    with pytest.raises(TreebankError, match="'NP' has no word or children"):
        Forest.from_trees([Tree("S", [Tree("NP", [])])])
