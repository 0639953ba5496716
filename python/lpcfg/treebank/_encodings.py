"""Texts in other encodings than UTF-8."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterable, Iterator

from lpcfg.errors import InputError, TreebankError

__all__ = ["decode_chunks", "decode_unless_utf8"]


def decode_chunks(chunks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    r"""Text of a known encoding in UTF-8.

    >>> b"".join(decode_chunks([b"lleg", b"\xf3"], "latin-1", "a.tbf")).decode()
    'llegó'
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except (LookupError, ValueError):
        raise InputError(f"there is no encoding {encoding!r}", argument="encoding") from None
    try:
        for chunk, last in itertools.chain(((chunk, False) for chunk in chunks), [(b"", True)]):
            yield decoder.decode(chunk, last).encode()
    except UnicodeError as error:
        raise TreebankError(f"the text is not {encoding}: {error}", file=name) from error


def decode_unless_utf8(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    r"""Text in UTF-8 as it is, and other text decoded; the content is held in memory.

    >>> b"".join(decode_unless_utf8([b"lleg\xc3\xb3"], "latin-1")).decode()
    'llegó'
    >>> b"".join(decode_unless_utf8([b"lleg\xf3"], "latin-1")).decode()
    'llegó'
    """
    content = b"".join(chunks)
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.decode(encoding).encode()
    yield content
