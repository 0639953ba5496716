"""The kinds of characters that the shape of a word is made of, for any script."""

from __future__ import annotations

import unicodedata

__all__ = ["SCRIPTS", "character_kinds"]


class _CharacterKinds(dict[int, str]):
    """A table for :meth:`str.translate` from each character to a letter for its kind."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] in "LM":
            upper = character.isupper() or character.istitle()
            kind = "U" if upper else "l" if character.islower() else _script(character)
        elif category[0] == "N":
            kind = "9"
        else:
            kind = "-" if category == "Pd" else "."
        self[code] = kind
        return kind


#: The kinds of letters without case, and their names in shapes.
SCRIPTS = {"a": "", "c": "-han", "h": "-hiragana", "k": "-katakana"}


def _script(letter: str) -> str:
    """The kind of a letter without case: the writing systems of Japanese, or any other."""
    name = unicodedata.name(letter, "")
    for start, kind in (
        ("CJK", "c"),
        ("HIRAGANA", "h"),
        ("KATAKANA", "k"),
        ("HALFWIDTH KATAK", "k"),
    ):
        if name.startswith(start):
            return kind
    return "a"


_KINDS = _CharacterKinds()


def character_kinds(word: str) -> str:
    """A letter for the kind of each character of a word.

    U is an upper-case and l a lower-case letter; c, h and k are Han, hiragana and katakana, and a
    is any other letter without case; 9 is a digit or number, - a dash, . anything else.

    >>> character_kinds("Mp3-Größe!")
    'Ul9-Ullll.'
    """
    return word.translate(_KINDS)
