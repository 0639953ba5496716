"""Formats of trees: what is written is read back, and what cannot be read is said."""

import io
import re

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import InputError, TreebankError
from lpcfg.formats.export import EXPORT_HEADER, read_export, write_export
from lpcfg.formats.tree_formats import READ_FORMATS, TREE_FORMATS, format_tree, read_formatted
from lpcfg.treebank.tree import Tree
from support.treebank_trees import trees

SENTENCE = Tree.from_string(
    "(ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him) (-LRB- -LRB-) (RB too)))) (. .))"
)
#: Words that look like lines of the export format.
HASHES = st.sampled_from(["#500", "#BOS", "#EOS", "%%", "#", "#a", "#1b", "-U+0023-"])


def read(text, form, **options):
    return list(read_formatted(io.BytesIO(text.encode()), form, **options))


def written(trees, form):
    texts = (format_tree(tree, form, number=at) for at, tree in enumerate(trees, start=1))
    return TREE_FORMATS[form].header + "".join(texts)


@pytest.mark.parametrize("form", ["brackets", "penn", "discbracket"])
@given(st.lists(trees(), min_size=1, max_size=3))
def test_brackets_of_every_kind_are_read_back(form, several):
    text = written(several, form)
    assert read(text, "brackets" if form == "penn" else form) == several


@given(st.lists(trees(words=HASHES), min_size=1, max_size=3) | st.lists(trees(), min_size=1))
def test_export_is_read_back_under_one_root(several):
    found = read(written(several, "export"), "export")
    assert len(found) == len(several)
    for tree, back in zip(several, found, strict=True):
        roots = "", "ROOT", "TOP", "S1", "VROOT"
        virtual = tree.label in roots and not tree.is_preterminal
        assert back == Tree("ROOT", tree.children if virtual else [tree])


@given(trees())
def test_conllu_has_the_tree_in_a_comment(tree):
    assert read(written([tree, tree], "conllu"), "conllu") == [tree, tree]


def test_lines_of_indented_trees_are_short_and_nltk_reads_them():
    long = Tree("S", [SENTENCE] * 6)
    text = format_tree(long, "penn")
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("\n") > 6
    assert Tree.from_nltk(nltk.Tree.fromstring(text)) == long


def test_export_has_the_columns_of_negra():
    lines = write_export(SENTENCE, number=7).splitlines()
    assert lines[0].split()[:2] == ["#BOS", "7"]
    assert lines[-1] == "#EOS 7"
    rows = [line.split("\t") for line in lines[1:-1]]
    assert {len(row) for row in rows} == {6}
    # Brackets are not escaped, and the root is the parent 0.
    assert ["(", "--", "-LRB-"] not in [row[:3] for row in rows]
    assert [row[0] for row in rows if row[-1] == "0"] == [".", "#503"]
    nodes = [int(row[0][1:]) for row in rows if re.match(r"#\d", row[0])]
    assert nodes == sorted(nodes)


CROSSING = """#FORMAT 3
%% a comment
#BOS 1 2 3 4
Darüber\tPROAV\t--\tMO\t500\t%% a comment
sprach\tVVFIN\t--\tHD\t501
sie\tPPER\t--\tSB\t501
lange\tADV\t--\tMO\t500
noch\tADV\t--\tMO\t500
#500\tVP\t--\tOC\t501
#501\tS\t--\t--\t0
#EOS 1
"""


def test_crossing_branches_are_an_error_or_attached_higher():
    with pytest.raises(TreebankError, match=r":3: the node 500 .VP. covers words.*--attach-higher"):
        read(CROSSING, "export")
    (tree,) = read(CROSSING, "export", attach_higher=True)
    assert tree == Tree.from_string(
        "(ROOT (S (PROAV Darüber) (VVFIN sprach) (PPER sie) (VP (ADV lange) (ADV noch))))"
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (("\t501\n#501", "\t999\n#501"), "missing node 999"),
        (("MO\t500\t%%", "MO\t777\t%%"), "'Darüber' belongs to the missing node 777"),
        (("\t0\n#EOS", "\t500\n#EOS"), "its own ancestor"),
        (("#501\tS\t--\t--\t0", "#501\tS"), ":10: expected 5 columns"),
        (("#501\tS\t--\t--\t0", "#500\tS\t--\t--\t0"), ":10: a second node 500"),
        (("#EOS 1\n", ""), ":3: the sentence has no end"),
    ],
)
def test_damaged_export_files_are_errors_with_a_place(damage, message):
    text = CROSSING.replace(*damage)
    assert text != CROSSING
    with pytest.raises(TreebankError, match=message):
        read(text, "export")


def test_latin_1_is_an_error():
    with pytest.raises(TreebankError, match="iconv"):
        list(read_export(io.BytesIO(CROSSING.encode("latin-1"))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (A a) (B 1=b))", "tree 1: expected a word with its place, such as 0=a"),
        ("(S (A 0=a) (B 2=b))", "places of words must be 0 to 1"),
    ],
)
def test_words_without_places_are_errors(text, message):
    with pytest.raises(TreebankError, match=message):
        read(text, "discbracket")


def test_unknown_formats_are_errors():
    with pytest.raises(InputError, match="must be one of brackets"):
        format_tree(SENTENCE, "xml")
    with pytest.raises(InputError, match="must be one of brackets"):
        read_formatted("-", "xml")
    assert set(READ_FORMATS) < set(TREE_FORMATS)


def test_an_empty_sentence_keeps_the_numbers_of_export():
    assert TREE_FORMATS["export"].empty(3).split() == ["#BOS", "3", "0", "0", "0", "#EOS", "3"]
    assert EXPORT_HEADER.startswith("#FORMAT")
