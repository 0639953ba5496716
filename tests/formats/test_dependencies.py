"""Dependencies: what files hold, what is found by words, and what is refused."""

import gzip
import io

import pytest

from lpcfg import Dependencies, DependencyTree, TreebankError

ROWS = "It\tPRP\t2\tnsubj\nrained\tVBD\t0\troot\n"
TREE = DependencyTree(("PRP", "VBD"), (1, 0), ("nsubj", "root"))


def read(text):
    return Dependencies.read(io.BytesIO(text.encode()))


def test_four_columns_and_conllu_say_the_same():
    conllu = (
        "# text = It rained\n"
        "1-2\tItrained\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
        "1.1\tall\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\trained\train\tVERB\tVBD\t_\t0\troot\t_\t_\n"
    )
    for text in (ROWS, ROWS + "\n\n", ROWS.replace("\n", "\r\n"), "\ufeff" + ROWS, conllu):
        assert read(text).find(["It", "rained"]) == TREE


def test_the_first_of_sentences_with_the_same_words_counts():
    found = read(ROWS + "\n" + ROWS.replace("nsubj", "expl"))
    assert len(found) == 1
    assert found.find(["It", "rained"]) == TREE


def test_words_are_found_in_both_spellings_of_brackets():
    found = read("(\t-LRB-\t2\tpunct\nA\tNN\t0\troot\n")
    assert found.find(["(", "A"]) == found.find(["-LRB-", "A"]) is not None
    assert found.find(["A"]) is None


def test_a_missing_tag_is_none():
    assert read("Oh\t_\t0\troot\n").find(["Oh"]).tags == (None,)


def test_several_gzipped_files(tmp_path):
    for number, word in enumerate(["rained", "snowed"]):
        data = gzip.compress(ROWS.replace("rained", word).encode())
        (tmp_path / f"{number}.conll.gz").write_bytes(data)
    found = Dependencies.read(tmp_path / "*.conll.gz")
    assert len(found) == 2
    assert found.find(["It", "snowed"]) == TREE


def test_the_digest_depends_on_relations():
    assert read(ROWS).digest == read(ROWS).digest != read(ROWS.replace("nsubj", "expl")).digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("It\tPRP\t2\n", "<stream>:1: expected 4 columns or the 10 of CoNLL-U, .* found 3"),
        (ROWS + "\nOh\tUH\tx\troot\n", "<stream>:4: expected a word, the number of its head"),
        (ROWS + "\nOh\tUH\t1\troot\nno\tUH\t9\tdep\n", "<stream>:5: word 2 has the head 9, but"),
        ("It\tPRP\t-1\tnsubj\n", "<stream>:1: expected a word"),
    ],
)
def test_bad_lines_are_refused(text, message):
    with pytest.raises(TreebankError, match=message):
        read(text)


def test_a_file_that_is_not_utf8():
    with pytest.raises(TreebankError, match="<stream>:3: the text is not UTF-8"):
        Dependencies.read(io.BytesIO(ROWS.encode() + b"\xff\tX\t0\troot\n"))
