"""CoNLL-U: words and tags in, trees in comments out, and everything else kept."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import TreebankError
from lpcfg.formats.conllu import ConlluReader, ConlluSentence, read_conllu
from lpcfg.treebank.tree import Tree

TEXT = (
    "# newdoc id = d\n"
    "# sent_id = d-1\n"
    "# text = Don't (go)!\n"
    "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDo\tdo\tAUX\tVBP\tMood=Imp\t3\taux\t3:aux\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n"
    "3\t(\t(\tPUNCT\t-LRB-\t_\t4\tpunct\t_\tSpaceAfter=No\n"
    "4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    "4.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_\n"
    "\n"
    "# a comment alone is no sentence\n"
    "\n"
    "1\t10 000\t_\tNUM\tCD\t_\t0\troot\t_\t_\n"
)


def read(text):
    return list(read_conllu(io.BytesIO(text if isinstance(text, bytes) else text.encode())))


def test_words_and_tags_are_those_of_syntactic_words():
    first, second = read(TEXT)
    assert first.words == ["Do", "n't", "(", "go"]
    assert first.tags() == ["VBP", None, "-LRB-", "VB"]
    assert first.tags("upos") == ["AUX", "PART", "PUNCT", "VERB"]
    assert (first.identity, second.identity) == ("d-1", None)
    assert (first.line, second.line) == (1, 13)
    assert second.words == ["10 000"]


def test_everything_is_kept_and_the_tree_replaced():
    first, _ = read(TEXT)
    assert str(first) == TEXT.split("\n\n")[0] + "\n"
    tree = Tree.from_string("(S (VBP Do) (RB n't) (-LRB- -LRB-) (VB go))")
    changed = first.with_tree(Tree("X", [tree])).with_tree(tree)
    assert str(changed).count("# constituency = (S (VBP Do)") == 1
    assert changed.tree == tree
    # Only the missing tag is filled in.
    assert changed.tags() == ["VBP", "RB", "-LRB-", "VB"]
    assert len(changed.rows) == len(first.rows)


@given(st.integers(1, 40))
def test_pieces_of_any_size_give_the_same_sentences(size):
    reader = ConlluReader("x")
    data = TEXT.encode()
    found = [
        sentence
        for start in range(0, len(data), size)
        for sentence in reader.feed(data[start : start + size])
    ]
    assert found + reader.finish() == read(TEXT)


def test_windows_line_ends_byte_order_marks_and_gzip():
    damaged = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    assert [s.words for s in read(gzip.compress(damaged))] == [s.words for s in read(TEXT)]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (("\tMood=Imp", ""), r"<stream>:5: expected 10 columns separated by tabs, found 9"),
        (("4\tgo", "5\tgo"), "<stream>:8: expected the word 4 of its sentence, found 5"),
        (("4\tgo", "4\t"), "<stream>:8: the word 4 of its sentence is empty"),
    ],
)
def test_errors_have_a_place(damage, message):
    with pytest.raises(TreebankError, match=message):
        read(TEXT.replace(*damage))


def test_text_in_another_encoding_is_an_error():
    with pytest.raises(TreebankError, match="<stream>:3: the text is not UTF-8"):
        read(TEXT.replace("Don", "Dön").encode("latin-1"))


def test_awkward_words_cannot_break_the_columns():
    tree = Tree("S", [Tree("A\tB", "tab\there"), Tree("", "\n"), Tree("-LRB-", "-LRB-")])
    (back,) = read(f"{ConlluSentence.from_tree(tree)}\n")
    assert back.words == ["tab here", "_", "("]
    assert back.tree == tree
