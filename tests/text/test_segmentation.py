"""Sentences and tokens of running text, and their offsets."""

import io
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lpcfg import InputError, MissingPackageError, Parser, split_text
from lpcfg.text import segmentation

TEXT = "  Dr. Lee can't come. “He's ill,” she said.\r\n\r\nToo bad (for us)! Right?\n\n"


def words(sentences):
    return [" ".join(token.text for token in sentence.tokens) for sentence in sentences]


def test_sentences_and_tokens():
    assert words(split_text(TEXT)) == [
        "Dr. Lee ca n't come .",
        "“ He 's ill , ” she said .",
        "Too bad ( for us ) !",
        "Right ?",
    ]


ALPHABET = "aB.,!?'\"()“”-— \t\r\n\x0c\x85\xa0\u2028\u3000😀é"


@given(st.text(alphabet=st.sampled_from(ALPHABET)), st.booleans())
@example("Plan B\xa0. It works.", False)
@example(",é\x85B\u2028.-aB”", False)
def test_offsets_find_the_text_again_and_nothing_is_lost(text, joined):
    place = 0
    for sentence in split_text(text, paragraphs="blank-lines" if joined else "lines"):
        assert text[sentence.start : sentence.end] == sentence.text
        assert (sentence.start, sentence.end) == (sentence.tokens[0].start, sentence.tokens[-1].end)
        for token in sentence.tokens:
            assert text[token.start : token.end] == token.text
            assert not text[place : token.start].strip()
            place = token.end
    assert not text[place:].strip()


def test_a_line_ends_a_paragraph_unless_only_blank_lines_do():
    text = "The dog\nbarked. It\nran.\n\nIt stopped\n"
    assert words(split_text(text)) == ["The dog", "barked .", "It", "ran .", "It stopped"]
    joined = list(split_text(text, paragraphs="blank-lines"))
    assert words(joined) == ["The dog barked .", "It ran .", "It stopped"]
    assert [(sentence.start, sentence.end) for sentence in joined] == [(0, 15), (16, 23), (25, 35)]


def test_lines_of_a_file_are_read_as_they_are_needed():
    lines = (line for line in ["One dog.\n", "Two dogs.\n", "never read"])
    assert words([next(split_text(lines))]) == ["One dog ."]
    assert list(lines) == ["never read"]
    assert list(split_text(io.StringIO(TEXT, newline=""))) == list(split_text(TEXT))


def test_long_runs_without_space_are_cut():
    """Otherwise this would take minutes."""
    for text in ('"' * 20_000, "a" * 450, "x" + "-)" * 5_000 + " y"):
        tokens = [token for sentence in split_text(text) for token in sentence.tokens]
        assert "".join(token.text for token in tokens) == text.replace(" ", "")
        assert max(len(token.text) for token in tokens) <= 200


def test_other_languages_and_wrong_arguments():
    assert words(split_text("L'été est là. Il fait beau.", language="fr")) == [
        "L' été est là .",
        "Il fait beau .",
    ]
    with pytest.raises(InputError, match="language: there is no tokeniser for 'xyz'"):
        next(split_text("a", language="xyz"))
    with pytest.raises(InputError, match="paragraphs: must be one of lines, blank-lines"):
        next(split_text("a", paragraphs="pages"))


@pytest.mark.parametrize("package", ["spacy", "sentencex"])
def test_without_the_extra_the_error_says_what_to_install(package, monkeypatch):
    segmentation._tokeniser.cache_clear()
    segmentation._sentence_splitter.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"needs {package}: pip install 'lpcfg\[text\]'"):
        next(split_text("a"))


def test_parsing_text_keeps_tokens_and_words_together():
    parser = Parser.load("english")
    parsed = list(parser.parse_text(TEXT, candidates=2, marginals=True))
    assert [sentence.sentence for sentence in parsed] == list(split_text(TEXT))
    for sentence in parsed:
        assert len(sentence.tokens) == len(sentence.tree)
        assert len(sentence.parse.candidates) == 2
        assert sentence.parse.marginals is not None
    assert parsed[2].tree.words()[2] == "-LRB-"
    assert parsed[2].tokens[2].text == "("
