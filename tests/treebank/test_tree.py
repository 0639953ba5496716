"""Trees: writing and reading, spans, equality, drawings, nltk."""

import builtins
import copy
import pickle
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import TreebankError
from lpcfg.treebank._draw_text import draw_text
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.tree import Tree
from support.treebank_trees import trees

SENTENCE = Tree.from_string(
    "(S (NP (DT the) (JJ old) (NN boat)) (VP (VBD sank) (ADVP (RB slowly))) (. .))"
)
BRACKETS = st.text(alphabet="ab()|", min_size=1, max_size=3)


def chain(depth):
    """A tree far deeper than Python's recursion limit."""
    tree = Tree("NN", "rain")
    for _ in range(depth):
        tree = Tree("NP", [tree])
    return tree


@given(trees())
def test_what_is_written_is_read(tree):
    assert Tree.from_string(str(tree)) == tree


@given(trees(BRACKETS, BRACKETS))
def test_brackets_in_tokens_survive_both_ways(tree):
    text = str(tree)
    assert not any("(" in word or ")" in word for word in Tree.from_string(text).words())
    assert Tree.from_string(text, unescape=True) == tree


def test_white_space_in_a_word_does_not_break_the_tree():
    tree = Tree("NP", [Tree("NNP", "New York"), Tree("NN", "tab\there")])
    assert str(tree) == "(NP (NNP New-U+0020-York) (NN tab-U+0009-here))"
    assert Tree.from_string(str(tree)).words() == ["New York", "tab\there"]


@pytest.mark.parametrize("text", ["", "(NN a) (NN b)"])
def test_from_string_takes_one_tree(text):
    with pytest.raises(TreebankError, match="expected one tree, found"):
        Tree.from_string(text)


@given(trees())
def test_repr_is_code(tree):
    assert eval(repr(tree)) == tree


@given(trees(), trees())
def test_equality_is_that_of_the_text(one, other):
    assert (one == other) == (str(one) == str(other))
    assert one != str(one)
    if one == other:
        assert hash(one) == hash(other)


def test_structure_counts_for_equality():
    one = Tree.from_string("(A (A (A a)) (A a))")
    other = Tree.from_string("(A (A (A a) (A a)))")
    assert one != other
    assert len({one, other, Tree.from_string(str(one))}) == 2


def test_trees_cannot_be_changed():
    with pytest.raises(AttributeError, match="immutable"):
        SENTENCE.label = "X"
    with pytest.raises(AttributeError, match="immutable"):
        del SENTENCE.label


@given(trees())
def test_copies_are_equal(tree):
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree


def test_depth_is_no_limit():
    deep = chain(20_000)
    assert deep.height == 20_001
    assert deep == chain(20_000)
    assert hash(deep) == hash(chain(20_000))
    assert Tree.from_string(str(deep)) == deep
    assert deep.spans()[-1] == ("NP", 0, 1)
    assert next(Forest.from_trees([deep]).trees()) == deep
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(deep, protocol)) == deep
    assert copy.deepcopy(deep) == copy.copy(deep) == deep
    assert repr(deep).startswith("Tree.from_string('(NP (NP ")


def test_measures():
    assert (len(SENTENCE), SENTENCE.height) == (6, 4)
    assert SENTENCE.words() == ["the", "old", "boat", "sank", "slowly", "."]
    assert SENTENCE.tags() == ["DT", "JJ", "NN", "VBD", "RB", "."]


@given(trees())
def test_spans_cover_what_lies_below(tree):
    words = tree.words()
    spans = tree.spans(preterminals=True)
    for node, (label, start, end) in zip(tree.nodes(), spans, strict=True):
        assert label == node.label
        assert words[start:end] == node.words()
    starts = [start for (_, start, _), node in zip(spans, tree.nodes(), strict=True) if node.word]
    assert starts == list(range(len(words)))
    phrases = [span for span, node in zip(spans, tree.nodes(), strict=True) if node.children]
    assert tree.spans() == phrases


def test_a_drawing():
    assert SENTENCE.pretty() == "\n".join(
        [
            "                  S",
            "      ┌───────────┴─┬─────────┐",
            "      NP            VP        .",
            " ┌────┼────┐     ┌──┴───┐     │",
            " DT   JJ   NN   VBD    ADVP   .",
            " │    │    │     │      │",
            "the  old  boat  sank    RB",
            "                        │",
            "                      slowly",
        ]
    )


@given(trees())
def test_every_word_and_label_is_drawn(tree):
    drawn, indented = tree.pretty(width=10_000), tree.pretty(width=0)
    for text in (drawn, indented):
        for token in (*tree.words(), *(node.label for node in tree.nodes())):
            assert token in text
    assert len(indented.splitlines()) == sum(1 for _ in tree.nodes())
    assert len(drawn.splitlines()) == 2 * tree.height + 1


def test_control_characters_do_not_reach_the_terminal():
    tree = Tree("S", [Tree("A\x1b[2J", "b\nc"), Tree("D", "\u2028\ud800")])
    for drawing in (tree.pretty(), tree.pretty(width=0)):
        assert drawing.count("\ufffd") == 4
        assert not set(drawing) & set("\x1b\u2028\ud800")
    assert len(tree.pretty(width=0).splitlines()) == 3


def test_wide_drawings_are_indented():
    text = draw_text(SENTENCE, width=20)
    assert text.splitlines()[:3] == ["S", "├─ NP", "│  ├─ DT the"]


def test_words_of_right_to_left_scripts_stay_in_their_place():
    tree = Tree.from_string("(S (NP שלום) (VP עולם))")
    words = draw_text(tree, 80).splitlines()[-1]
    assert words == "שלום\u200e  עולם\u200e"
    # The marks take no columns: the words stand below their tags.
    tags = draw_text(tree, 80).splitlines()[2]
    assert tags == draw_text(Tree.from_string("(S (NP abcd) (VP efgh))"), 80).splitlines()[2]


def test_marks_take_no_column():
    plain, marked = (draw_text(Tree.from_string(f"(S (A {w}) (B b))"), 80) for w in ("ท", "ที่"))
    assert plain.splitlines()[:-1] == marked.splitlines()[:-1]


def test_wide_characters_take_two_columns():
    lines = Tree.from_string("(X (A 中中) (B b))").pretty().splitlines()
    assert lines[-1] == "中中  b"
    assert lines[-2].index("│", 2) == 6


@given(trees())
def test_svg_is_well_formed_and_complete(tree):
    root = ElementTree.fromstring(tree.to_svg())
    left, top, width, height = map(float, root.get("viewBox").split())
    texts = [element for element in root.iter() if element.tag.endswith("text")]
    expected = [*tree.words(), *(node.label for node in tree.nodes())]
    assert sorted(element.text for element in texts) == sorted(expected)
    for element in texts:
        assert left <= float(element.get("x")) <= left + width
        assert top <= float(element.get("y")) <= top + height


def test_svg_keeps_the_order_of_words():
    svg = SENTENCE.to_svg()
    found = re.findall(r'class="word" [^>]* x="([-\d.]+)" y="\d+">([^<]+)<', svg)
    assert [word for _, word in sorted(found, key=lambda item: float(item[0]))] == SENTENCE.words()


def test_svg_survives_characters_that_xml_forbids():
    root = ElementTree.fromstring(Tree("<&>", "\x00\x1b]").to_svg())
    assert [element.text for element in root[-1]] == ["\ufffd\ufffd]", "<&>"]


def test_svg_does_not_change_the_page_around_it():
    root = ElementTree.fromstring(SENTENCE.to_svg())
    assert not [element for element in root.iter() if element.tag.endswith("style")]
    # Dark text needs a light background, whatever the page has.
    assert root[0].tag.endswith("rect")
    assert root[0].get("fill") == "#fff"


def test_svg_marks_nodes_by_their_number_in_pre_order():
    marked = re.findall(r'class="marked"[^>]*>([^<]+)<', SENTENCE.to_svg(marked=[1]))
    assert marked == [list(SENTENCE.nodes())[1].label]


def test_a_node_of_nothing_can_be_looked_at():
    nothing = Tree("X", [])
    assert (len(nothing), nothing.height, nothing.spans()) == (0, 1, [("X", 0, 0)])
    assert (str(nothing), nothing.pretty()) == ("(X)", "X")
    assert nothing.to_svg().count("<text") == 1


@given(trees())
def test_nltk_trees_go_both_ways(tree):
    nltk = pytest.importorskip("nltk")
    converted = tree.to_nltk()
    assert isinstance(converted, nltk.Tree)
    assert converted.leaves() == tree.words()
    assert Tree.from_nltk(converted) == tree


@pytest.mark.parametrize("text", ["(NP (DT a) dog)", "(NP a dog)", "(NP )"])
def test_nltk_trees_need_a_node_for_each_word(text):
    nltk = pytest.importorskip("nltk")
    with pytest.raises(TreebankError, match="'NP' must have either subtrees or one word"):
        Tree.from_nltk(nltk.Tree.fromstring(text))


def test_missing_nltk_is_named(monkeypatch):
    real_import = builtins.__import__

    def without_nltk(name, *arguments, **options):
        if name == "nltk":
            raise ImportError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_nltk)
    with pytest.raises(ImportError, match="needs nltk"):
        SENTENCE.to_nltk()


def test_arrays_of_trees_hold_the_trees():
    few = [SENTENCE, SENTENCE[0], SENTENCE]
    array = np.array(few, dtype=object)
    assert array.shape == (3,)
    assert array.tolist() == few
