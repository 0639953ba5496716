"""The kinds of characters in the core are those of the Unicode database of Python."""

import sys
import unicodedata

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lpcfg import _core
from lpcfg.lexicon.word_classes import EnglishClasses

# The core may know a later version of Unicode. Compared are the characters that Python knows, but
# for those whose case or category was corrected after Unicode 14, the one of Python 3.11.
CORRECTED = "\u0295\u10fc\ua7f2\ua7f3\ua7f4\uab69"
ASSIGNED = [
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(character) not in ("Cn", "Cs") and character not in CORRECTED
]
WORDS = st.text(st.sampled_from(ASSIGNED) | st.sampled_from("aAßΣςİ9²-\u2013'食べオ"), max_size=8)

NAMES = {"CJK": "c", "HIRAGANA": "h", "KATAKANA": "k", "HALFWIDTH KATAKANA": "k"}


def kind(character):
    category = unicodedata.category(character)
    if category[0] in "LM":
        if character.isupper() or character.istitle():
            return "U"
        if character.islower():
            return "l"
        name = unicodedata.name(character, "")
        return next((letter for start, letter in NAMES.items() if name.startswith(start)), "a")
    return "9" if category[0] == "N" else "-" if category == "Pd" else "."


def test_every_character_has_the_kind_of_its_category():
    found = _core.character_kinds("".join(ASSIGNED))
    assert len(found) == len(ASSIGNED) > 250_000
    wrong = [
        (hex(ord(character)), got)
        for character, got in zip(ASSIGNED, found, strict=True)
        if got != kind(character)
    ]
    assert wrong == []


def test_what_python_calls_alphanumeric_ends_the_beginning_of_a_sentence():
    found = _core.sentence_openers(ASSIGNED)
    assert found.tolist() == [not character.isalnum() for character in ASSIGNED]


def test_digits_capitals_and_lower_case_of_english_classes_are_those_of_python():
    names, numbers = EnglishClasses().classes_of(ASSIGNED, *[[False] * len(ASSIGNED)] * 2)
    for character, number in zip(ASSIGNED, numbers.tolist(), strict=True):
        features = {*names[number].split("-")} - {"UNK"}
        expected = {
            "CAPS": character.isupper(),
            "LC": character.islower(),
            "NUM": character.isdigit(),
            "DASH": character == "-",
        }
        assert features == {name for name, holds in expected.items() if holds}, character


@given(WORDS)
@settings(deadline=None)
def test_words_have_the_lower_case_of_python(word):
    known = np.array([False, True])
    found = _core.known_in_lowercase([word, word.lower()], known)
    assert found.tolist() == [word != word.lower(), word.lower() != word.lower().lower()]
