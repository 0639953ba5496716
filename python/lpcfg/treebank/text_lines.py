"""Lines of text files: head rules, groups of sentences, grammars of other parsers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from lpcfg.errors import InputError

__all__ = ["numbered_lines", "read_lines", "read_text"]


def read_text(path: str | PathLike[str]) -> str:
    r"""The text of a file in UTF-8, gzipped or not, without a byte order mark.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "names.txt")
    ...     _ = file.write_bytes(gzip.compress("\ufeffGUM\n".encode()))
    ...     read_text(file)
    'GUM\n'
    """
    data = Path(path).read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return data.decode().removeprefix("\ufeff")
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"not a complete gzip file: {error}", path=path) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            "the text is not UTF-8; convert it first, for example with iconv -t UTF-8",
            path=path,
            line=line,
        ) from None


def read_lines(path: str | PathLike[str]) -> list[str]:
    r"""The lines of a file; only line feeds end them, with a carriage return before them or not.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "names.txt")
    ...     _ = file.write_bytes("one\u2028line\r\n\nGUM\n".encode())
    ...     read_lines(file)
    ['one\u2028line', '', 'GUM']
    """
    # Not splitlines: other characters than the line feed end lines for it.
    lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
    if not lines[-1]:
        lines.pop()
    return lines


def numbered_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    r"""The lines of a file that are not blank, with their numbers from 1.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "names.txt")
    ...     _ = file.write_text("GUM\n\nCRAFT\n")
    ...     list(numbered_lines(file))
    [(1, 'GUM'), (3, 'CRAFT')]
    """
    lines = enumerate(read_lines(path), start=1)
    return ((number, line) for number, line in lines if line.strip())
