"""Files with one sentence a line."""

import gzip
import io

import pytest

from lpcfg.errors import TreebankError
from lpcfg.evaluation.scores import evaluate
from lpcfg.treebank.sentence_lines import read_gold_and_predicted, read_sentence_lines
from lpcfg.treebank.tree import Tree


def lines_of(content):
    return [[str(tree) for tree in trees] for trees in read_sentence_lines(io.BytesIO(content))]


def test_blank_lines_keep_their_place():
    assert lines_of(b"\n(NN a)\r\n\n(NN b) (NN c)") == [[], ["(NN a)"], [], ["(NN b)", "(NN c)"]]
    assert lines_of(b"") == []


def test_lines_longer_than_a_chunk_of_input():
    word = b"x" * 3_000_000
    assert [len(trees) for trees in read_sentence_lines(io.BytesIO(b"(NN %s)\n\n" % word))] == [
        1,
        0,
    ]


def test_malformed_trees_are_located(tmp_path):
    path = tmp_path / "parses.mrg"
    path.write_text("(NN a)\n\n(NN b c)\n")
    with pytest.raises(TreebankError, match=r"parses\.mrg:3:7: "):
        list(read_sentence_lines(path))
    path.write_text("(NN a)\n(NP (NN b)\n")
    with pytest.raises(TreebankError, match=r"parses\.mrg:2"):
        list(read_sentence_lines(path))


def test_lines_align_parses_with_gold_trees(tmp_path):
    path = tmp_path / "parses.mrg.gz"
    path.write_bytes(gzip.compress(b"(NP (NN a))\n\n(NP (NN c))\n"))
    gold = [Tree("NP", [Tree("NN", word)]) for word in "abc"]
    scores = evaluate(gold, read_sentence_lines(path))
    assert [failure.sentence for failure in scores.failures] == [2]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (b"(A a)\n(B b)\n", b"(A a)\n(B b)\n", [1, 1]),
        (b"(A a)\n(B b)\n", b"\n(B b)\n", [0, 1]),
        (b"(A a)\n(B b)\n", b"(A a)\n\n", [1, 0]),
        (b"(A a)\n(B b)\n", b"(A a)\n(())", [1, 0]),
        (b"(A a)\n(B b)\n\n\n", b"(A a)\n(X a) (Y b)", [1, 2]),
        (b"(A\n a)\n(B b)\n", b"(A a)\n(())\n", [1, 0]),
        (b"(A a)\n\n(B b)\n", b"(A a)\n(B b)\n", [1, 1]),
        (b"(A a) (B b)\n", b"(A a)\n(B b)\n", [1, 1]),
        (b"(A\n a)\n(B b)\n", b"(A a)\n(B\n b)\n", [1, 1]),
        (b"", b"", []),
    ],
)
def test_sentences_are_lines_or_else_trees(gold, predicted, expected):
    pair = read_gold_and_predicted(io.BytesIO(gold), io.BytesIO(predicted))
    assert len(pair[0]) == len(pair[1])
    assert [len(trees) for trees in pair[1]] == expected
