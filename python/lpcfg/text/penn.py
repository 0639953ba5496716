"""Tokens of running text in the spelling of a treebank."""

from __future__ import annotations

from collections.abc import Container, Sequence

from lpcfg.treebank.escaping import escape_brackets

__all__ = ["penn_words"]

_LEFT_QUOTE, _APOSTROPHE = "\N{LEFT SINGLE QUOTATION MARK}", "\N{RIGHT SINGLE QUOTATION MARK}"
_EN_DASH = "\N{EN DASH}"

#: Spellings of quotes, dashes and dots, the most similar ones first.
_OPENING = ("``", "“", '"', "`", _LEFT_QUOTE, "'")
_CLOSING = ("''", "”", '"', "'", _APOSTROPHE)
_ALTERNATIVES = {
    "“": _OPENING,
    _LEFT_QUOTE: ("`", "'", *_OPENING),
    "„": _OPENING,
    "«": _OPENING,
    "”": _CLOSING,
    _APOSTROPHE: ("'", *_CLOSING),
    "»": _CLOSING,
    "…": ("...",),
    "...": ("…",),
    "—": ("--", _EN_DASH, "-"),
    _EN_DASH: ("--", "—", "-"),
    "--": ("—", _EN_DASH, "-"),
}
_STRAIGHT = '"'


def penn_words(tokens: Sequence[str], vocabulary: Container[str]) -> list[str]:
    """The words to parse for the tokens of a sentence.

    Round brackets become ``-LRB-`` and ``-RRB-``. A quote, a dash or dots that the vocabulary does
    not have become a spelling that it has: treebanks differ in these. Unknown words with a
    typographic apostrophe get a straight one if that form is known.

    >>> penn_words(["(", "“", "Do", "n't", "”", ")"], {"``", "''", "n't"})
    ['-LRB-', '``', 'Do', "n't", "''", '-RRB-']
    >>> penn_words(['"', "Go", '"'], {"``", "''"})
    ['``', 'Go', "''"]
    """
    words = []
    opened = False
    for token in tokens:
        word = escape_brackets(token)
        if word == _STRAIGHT:
            alternatives: tuple[str, ...] = _CLOSING if opened else _OPENING
            opened = not opened
        else:
            alternatives = _ALTERNATIVES.get(word, ())
            if not alternatives and _APOSTROPHE in word:
                alternatives = (word.replace(_APOSTROPHE, "'"),)
        if word not in vocabulary:
            word = next((other for other in alternatives if other in vocabulary), word)
        words.append(word)
    return words
