"""Features of the spelling of a word, for any script."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from lpcfg import _core

__all__ = ["SpeltWord", "spelling_features"]

_LONGEST_SUFFIX = 5
_LONGEST_PREFIX = 4
#: Suffixes up to this length are also combined with the case of the word.
_LONGEST_CASED_SUFFIX = 3
_LONGEST_SHAPE = 8
_LONGEST_LENGTH = 8


class SpeltWord(NamedTuple):
    """A word as a lexicon sees it.

    ``initial``: whether it is sentence-initial, where a capital says little.
    ``known_lowercase``: whether its lower-case form is another, known word.

    >>> SpeltWord("Rain", initial=True, known_lowercase=False).word
    'Rain'
    """

    word: str
    initial: bool
    known_lowercase: bool


def spelling_features(spelt: SpeltWord) -> list[str]:
    """The features of a word; the first character of each is its kind.

    Prefixes, suffixes, suffixes with the case of the word, the case with the other kinds of
    characters, the shape without repetitions, the length, and whether the word is sentence-initial.

    >>> spelling_features(SpeltWord("Ab", initial=True, known_lowercase=False))
    ['*', 'sb', 'sab', 'pa', 'pab', 'cinitial', 'xinitial:b', 'xinitial:ab', 'kinitial:',
     'hUl', 'l2', 'i']
    """
    lowered = spelt.word.lower()
    length = len(lowered)
    kinds = _core.character_kinds(spelt.word)
    case = _case(kinds, spelt)
    others = "".join(kind for kind in "9-.achk" if kind in kinds)
    shape = "".join(kind for kind, _ in groupby(kinds))
    features = [
        "*",
        *("s" + lowered[-n:] for n in range(1, min(_LONGEST_SUFFIX, length) + 1)),
        *("p" + lowered[:n] for n in range(1, min(_LONGEST_PREFIX, length) + 1)),
        f"c{case}",
        *(f"x{case}:{lowered[-n:]}" for n in range(1, min(_LONGEST_CASED_SUFFIX, length) + 1)),
        f"k{case}:{others}",
        "h" + shape[:_LONGEST_SHAPE],
        f"l{min(length, _LONGEST_LENGTH)}",
    ]
    if spelt.initial:
        features.append("i")
    return features


def _case(kinds: str, spelt: SpeltWord) -> str:
    """Which letters are capitals, and what is known of a word with only the first as a capital."""
    last_capital = kinds.rfind("U")
    if last_capital > 0:
        return "mixed" if "l" in kinds else "upper"
    if last_capital == 0:
        name = "initial" if spelt.initial else "title"
        return f"{name}-known" if spelt.known_lowercase else name
    return "lower" if "l" in kinds else "none"
