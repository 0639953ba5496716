"""Escape sequences: every Unicode string can be written in a tree, and read back."""

import sys
import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lpcfg import Parser, Tree
from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank.escaping import escape, escape_brackets, unescape, unescape_brackets
from lpcfg.treebank.reader import read_trees
from lpcfg.treebank.sentence_lines import read_gold_and_predicted
from support.grammars import embedded_grammar
from support.treebank_trees import trees

#: Strings of any characters, with those that are escaped and parts of escape sequences among them.
ANY = st.lists(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            [*" \n\0\x85\xa0\u2028()-_0", "-U+", "U+00A0-", "-U+00A0-", "-U+-", "-U+0041-"]
        ),
        st.sampled_from(["-LRB-", "-U+002D-"]),
    ),
    max_size=6,
).map("".join)
PARSER = Parser(embedded_grammar())


def bracketed(tree):
    """The tree with escaped brackets, which are read as they are written."""
    if tree.word is not None:
        return Tree(escape_brackets(tree.label), escape_brackets(tree.word))
    return Tree(escape_brackets(tree.label), [bracketed(child) for child in tree.children])


@given(trees(ANY, ANY))
@example(Tree("", [Tree("", "")]))
def test_all_readers_of_trees_read_what_is_written(tmp_path_factory, tree):
    nltk = pytest.importorskip("nltk")
    text = str(tree)
    assert len(text.splitlines()) == 1
    written = bracketed(tree)
    assert Tree.from_string(text) == written
    path = tmp_path_factory.mktemp("trees") / "tree.mrg"
    path.write_text(text + "\n", encoding="utf-8")
    assert list(read_trees(path)) == [written]
    assert read_gold_and_predicted(path, path)[1] == [(written,)]
    other = nltk.Tree.fromstring(text, read_node=unescape, read_leaf=unescape)
    assert other.leaves() == [unescape_brackets(word) for word in written.words()]
    assert [node.label() for node in other.subtrees()] == [
        unescape_brackets(node.label) for node in written.nodes()
    ]
    assert eval(repr(tree)) == written


@given(trees(ANY, ANY))
def test_what_was_read_is_written_in_the_same_way(tree):
    text = str(tree)
    assert str(Tree.from_string(text)) == text
    assert str(Tree.from_string(text, unescape=True)) == text


@given(ANY)
def test_escaping_is_undone(token):
    assert unescape(escape(token)) == unescape_brackets(token)
    assert unescape_brackets(escape_brackets(token)) == unescape_brackets(token)


def test_every_character_is_read_back():
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    # Neither surrogates nor the million code points that are private or have no character.
    others = {"Cs", "Co", "Cn"}
    words = [c for c in characters if unicodedata.category(c) not in others and c not in "()"]
    tree = Tree("X", [Tree("X", word) for word in words])
    text = str(tree)
    assert len(text.split()) == 2 * len(words) + 1
    assert Tree.from_string(text) == tree


@pytest.mark.parametrize("word", ["1\\/2", "-LRB-", "*T*-1", "a_b", "U+00A0", "-U-", "\ufeff", "é"])
def test_words_that_need_no_escape_are_kept(word):
    assert escape(word) == word
    assert Tree.from_string(f"(X {word})").word == word


@given(st.lists(ANY, min_size=1, max_size=5))
def test_parses_of_any_words_are_read_back(words):
    assume(all(words))
    tree = PARSER.parse(words=words)
    assert tree.words() == [escape_brackets(word) for word in words]
    assert Tree.from_string(str(tree)) == tree


def test_words_that_cannot_be_written_are_refused():
    with pytest.raises(InputError, match=r"^words: sentence 2, token 2 is an empty string"):
        list(PARSER.parse_many(words=[["it"], ["it", ""]]))
    with pytest.raises(InputError, match=r"^words: sentence 1 is not Unicode text: .*\\ud800"):
        PARSER.parse(words=["it", "\ud800"])
    with pytest.raises(TreebankError, match="not Unicode text"):
        Tree.from_string("(NN \ud800)")
    assert str(Tree("NN", "\ud800")) == "(NN -U+D800-)"
