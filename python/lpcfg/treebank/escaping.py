"""Escape sequences of words and labels, so that every Unicode string can be written and read back.

Brackets are written as the Penn Treebank does, ``-LRB-`` and ``-RRB-``. These are the words that
models know, so they are kept when trees are read. White space and control characters are written as
``-U+00A0-``, and an empty string as ``-U+-``; the reader of trees (``rust/src/treebank/bracket``)
turns these back.
"""

from __future__ import annotations

import re

__all__ = ["EMPTY", "escape", "escape_brackets", "unescape", "unescape_brackets"]

_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}
_BRACKET_TABLE = str.maketrans(_BRACKETS)

#: White space of Unicode, control characters, halves of surrogate pairs, and hyphens that could
#: otherwise be read as the start of an escape sequence.
_ESCAPED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]|-(?=U\+)")
_SEQUENCE = re.compile(r"-U\+([0-9A-F]{4})-")

#: How an empty string is written.
EMPTY = "-U+-"


def escape_brackets(token: str) -> str:
    """Escape the round brackets of a token, as the Penn Treebank does.

    Parsers and taggers do this with the words that they are given.

    >>> escape_brackets("("), escape_brackets(":-)")
    ('-LRB-', ':--RRB-')
    """
    return token.translate(_BRACKET_TABLE)


def unescape_brackets(token: str) -> str:
    """Undo :func:`escape_brackets`.

    >>> unescape_brackets("-LRB-"), unescape_brackets(":--RRB-")
    ('(', ':-)')
    """
    for plain, bracket in _BRACKETS.items():
        token = token.replace(bracket, plain)
    return token


def escape(token: str) -> str:
    r"""Escape everything that a token of a bracketed tree cannot have, as ``str(tree)`` does.

    Brackets become ``-LRB-`` and ``-RRB-``. White space of any script and control characters become
    ``-U+`` with the number of the character and a hyphen, and an empty token becomes ``-U+-``.

    >>> escape("("), escape("10\u00a0000"), escape("")
    ('-LRB-', '10-U+00A0-000', '-U+-')
    """
    if token.isalnum():
        # Nearly all words are left here: nothing that is escaped is a letter or a digit.
        return token
    if not token:
        return EMPTY
    return _ESCAPED.sub(lambda match: f"-U+{ord(match[0]):04X}-", escape_brackets(token))


def unescape(token: str) -> str:
    r"""Undo :func:`escape`.

    Other readers of trees need this: ``nltk.Tree.fromstring(text, read_leaf=unescape)``.

    >>> unescape("-LRB-"), unescape("10-U+00A0-000") == "10\u00a0000"
    ('(', True)
    """
    if token == EMPTY:
        return ""
    return unescape_brackets(_SEQUENCE.sub(_character, token))


def _character(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    escaped = character == "-" or _ESCAPED.match(character)
    return character if escaped else match[0]
