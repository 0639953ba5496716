"""Transforms: exact inverses for all options, symbols as defined, and broken tables."""

import dataclasses
import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.reader import ReadReport, read_forest
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree
from support.treebank_trees import LABELS, names, shared_treebanks, trees

TRANSFORMS = st.builds(
    Transform,
    binarize=st.sampled_from(["left", "right"]),
    horizontal=st.none() | st.integers(0, 3),
    vertical=st.integers(0, 3),
    annotate=st.sampled_from(["original", "all"]),
    annotate_preterminals=st.booleans(),
    collapse_root=st.booleans(),
    collapse_inside=st.booleans(),
    collapse_preterminals=st.booleans(),
)
NO_COLLAPSE = {"collapse_root": False, "collapse_inside": False, "collapse_preterminals": False}


def symbols(text, **options):
    bank = Transform(**options).apply([Tree.from_string(text)])
    return [str(bank.symbols[symbol]) for symbol in bank.symbol]


@given(st.lists(trees(), max_size=4), TRANSFORMS)
def test_the_way_back_is_exact(forest, transform):
    assert transform.invert(transform.apply(forest)) == forest


@pytest.mark.parametrize(
    ("binarize", "horizontal", "annotate", "collapse"),
    list(itertools.product(["left", "right"], [0, 1, None], ["original", "all"], [True, False])),
)
def test_the_way_back_is_exact_for_each_scheme(binarize, horizontal, annotate, collapse):
    transform = Transform(
        binarize=binarize,
        horizontal=horizontal,
        vertical=2,
        annotate=annotate,
        collapse_root=collapse,
        collapse_inside=collapse,
        collapse_preterminals=collapse,
    )
    texts = [
        "(ROOT (UH yes))",
        "(NN rain)",
        "(ROOT (S|X (A+B (A^B (DT the) (@NN rain))) (VP (VB a) (VB b) (VB c) (VB d) (VB e))))",
    ]
    forest = [Tree.from_string(text) for text in texts]
    assert transform.invert(transform.apply(forest)) == forest


@shared_treebanks
@pytest.mark.parametrize(
    "transform",
    [
        Transform(),
        Transform(binarize="left", horizontal=None, vertical=2, annotate="all", **NO_COLLAPSE),
    ],
    ids=["two-stage", "left"],
)
def test_the_way_back_is_exact_on_every_shared_tree(path, transform):
    forest = Cleaning().apply(read_forest(path, on_error="skip", report=ReadReport())).nonempty()
    assert len(forest) > 1000
    back = transform.invert_columns(transform.apply(forest))
    assert names(back) == names(forest)


def test_the_two_stage_scheme():
    text = "(S (NP (DT an) (JJ old) (JJ red) (NN boat)) (VP (VBD sank)))"
    words = ["DT^NP", "JJ^NP", "JJ^NP", "NN^NP"]
    expected = [*words, "@NP[JJ]", "@NP[JJ]", "NP^S", "VP+VBD^S", "S"]
    assert symbols(text) == expected
    plain = ["DT", "JJ", "JJ", "NN", "@NP[JJ]", "@NP[JJ]", "NP^S", "VP+VBD", "S"]
    assert symbols(text, annotate_preterminals=False) == plain


def test_left_binarisation_remembers_leftwards():
    text = "(X (A a) (B b) (C c) (D d))"
    made = [symbol for symbol in symbols(text, binarize="left", horizontal=2) if "@" in symbol]
    assert made == ["@X[B,A]", "@X[C,B]"]


def test_collapse_at_each_place():
    text = "(R (S (V (W (A a) (B b))) (N (M (C c)))))"
    options = {**NO_COLLAPSE, "vertical": 0}
    assert symbols(text, **options) == ["A", "B", "W", "V", "C", "M", "N", "S", "R"]
    for place, chain in {"root": "R+S", "inside": "V+W", "preterminals": "N+M+C"}.items():
        found = symbols(text, **{**options, f"collapse_{place}": True})
        assert [symbol for symbol in found if "+" in symbol] == [chain]


def test_one_word_sentences():
    text = "(R (N (A a)))"
    assert symbols(text) == ["R+N+A"]
    assert symbols(text, collapse_root=False) == ["N+A^R", "R"]
    assert symbols(text, collapse_preterminals=False) == ["R+N+A"]
    assert symbols(text, vertical=0, **NO_COLLAPSE) == ["A", "N", "R"]


@given(st.lists(trees(), min_size=1, max_size=3), TRANSFORMS)
def test_symbols_are_as_defined(forest, transform):
    bank = transform.apply(forest)
    for symbol in bank.symbols:
        assert len(symbol.ancestors) <= transform.vertical
        if symbol.is_binarization:
            assert len(symbol.labels) == 1
            assert not symbol.preterminal
            assert transform.horizontal is None or len(symbol.siblings) <= transform.horizontal
            assert transform.annotate == "all" or not symbol.ancestors
    leaves = bank.left < 0
    preterminal = np.array([symbol.preterminal for symbol in bank.symbols])
    np.testing.assert_array_equal(preterminal[bank.symbol], leaves)
    if transform.collapse_root and transform.collapse_inside and transform.collapse_preterminals:
        assert not np.any((bank.left >= 0) & (bank.right < 0))


@given(TRANSFORMS)
def test_options_go_through_json(transform):
    assert Transform.from_dict(json.loads(json.dumps(transform.to_dict()))) == transform


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"binarize": "up"}, "binarize must be 'left' or 'right', not 'up'"),
        ({"annotate": "none"}, "annotate must be 'original' or 'all'"),
        ({"vertical": -1}, "vertical must be an integer from 0, not -1"),
        ({"vertical": None}, "vertical must be an integer"),
        ({"horizontal": 0.5}, "horizontal must be an integer from 0, or None, not 0.5"),
        ({"horizontal": True}, "horizontal must be an integer"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Transform(**options)


def test_unknown_options_are_named():
    with pytest.raises(InputError, match="markov"):
        Transform.from_dict({"markov": 1})


@pytest.mark.parametrize(
    ("column", "message"),
    [("left", "do not precede"), ("symbol", "symbol id"), ("word", "word id")],
)
def test_broken_tables_are_refused(column, message):
    bank = Transform().apply([Tree.from_string("(S (A a) (B b))")])
    broken = dataclasses.replace(bank, **{column: np.full_like(getattr(bank, column), 99)})
    with pytest.raises(TreebankError, match=message):
        bank.transform.invert(broken)


@given(
    st.builds(
        Symbol,
        st.lists(LABELS, min_size=1, max_size=3).map(tuple),
        st.lists(LABELS, max_size=2).map(tuple),
        st.none() | st.lists(LABELS, max_size=2).map(tuple),
        st.booleans(),
    )
)
def test_symbols_go_through_json(symbol):
    assert Symbol.from_json(json.loads(json.dumps(symbol.to_json()))) == symbol


@pytest.mark.parametrize(
    "value",
    [
        None,
        "NP",
        [],
        [["NP"], [], None],
        [[], [], None, False],
        [["NP"], "S", None, True],
        [["NP"], [1], None, True],
        [["NP"], [], None, 1],
    ],
)
def test_what_is_no_symbol_is_refused(value):
    with pytest.raises(InputError):
        Symbol.from_json(value)
