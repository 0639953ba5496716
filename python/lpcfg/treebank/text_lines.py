"""Lines of the text files of other parsers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from lpcfg.errors import InputError

__all__ = ["numbered_lines", "read_text"]


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file in UTF-8, gzipped or not."""
    data = Path(path).read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return data.decode("utf-8")
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"not a complete gzip file: {error}", path=path) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"not UTF-8: {error.reason}", path=path, line=line) from None


def numbered_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1."""
    lines = enumerate(read_text(path).split("\n"), start=1)
    return ((number, line.rstrip("\r")) for number, line in lines if line.strip())
