"""Text files of all kinds: their encoding, and what ends a line."""

import gzip

import pytest

from lpcfg import InputError, evaluate
from lpcfg.evaluation.evalb_parameters import read_parameters
from lpcfg.experiments.sequences import read_labelled_texts
from lpcfg.grammar.berkeley import import_berkeley
from lpcfg.grammar.nltk_grammars import import_nltk
from lpcfg.grammar.rainbow import import_rainbow
from lpcfg.treebank import HeadRules
from lpcfg.treebank.text_lines import numbered_lines, read_lines

READERS = [
    HeadRules.read,
    import_nltk,
    import_rainbow,
    lambda path: import_berkeley(path, path.with_suffix(".lexicon")),
    lambda path: evaluate([], [], path),
    read_labelled_texts,
    read_lines,
]


@pytest.mark.parametrize("read", READERS)
def test_text_that_is_not_utf8_is_an_error_with_its_line(tmp_path, read):
    path = tmp_path / "grammar.grammar"
    path.write_bytes("# one\n# t\N{LATIN SMALL LETTER E WITH ACUTE}\n".encode("latin-1"))
    (tmp_path / "grammar.lexicon").write_text("")
    with pytest.raises(InputError, match=r"grammar:2: the text is not UTF-8; convert it") as caught:
        read(path)
    assert caught.value.line == 2


def test_only_line_feeds_end_lines(tmp_path):
    path = tmp_path / "lines.txt"
    text = "a\u2028b\x0bc\x85d\r\n\r\n e\rf \n"
    for data in (text.encode(), text.encode("utf-8-sig"), gzip.compress(text.encode())):
        path.write_bytes(data)
        assert read_lines(path) == ["a\u2028b\x0bc\x85d", "", " e\rf "]
        assert list(numbered_lines(path)) == [(1, "a\u2028b\x0bc\x85d"), (3, " e\rf ")]
    path.write_text("")
    assert read_lines(path) == []


def test_labels_of_head_rules_may_have_any_characters(tmp_path):
    path = tmp_path / "heads.txt"
    path.write_bytes("NP right N\x85M\r\nPP left P\r\n".encode())
    assert HeadRules.read(path).table["PP"] == (("left", ("P",)),)


def test_parameters_of_evalb_may_come_from_windows(tmp_path):
    path = tmp_path / "mine.prm"
    path.write_bytes(b"\xef\xbb\xbfCUTOFF_LEN 30\r\n\r\n# other\r\nDELETE_LABEL X\r\n")
    found = read_parameters(path)
    assert (found.cutoff_length, found.delete_labels) == (30, frozenset({"X"}))
