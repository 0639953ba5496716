"""Read sentences: one per line, words separated by spaces."""

from __future__ import annotations

import codecs
import gzip
import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, cast

from lpcfg.errors import InputError
from lpcfg.io.model_file import is_model_file
from lpcfg.treebank.sources import GZIP_MAGIC

__all__ = ["read_sentences"]

#: A line that is a tree, not a sentence: labels after opening brackets, brackets at the end.
TREE = re.compile(rb"\s*\(\S*\s*\(\S+ .*\)\)\s*$")


def read_sentences(name: str) -> Iterator[list[str]]:
    """The words of each line of a file, gzipped or not, or of standard input (``-``).

    >>> next(read_sentences("missing.txt"))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'
    """
    if name != "-" and is_model_file(name):
        raise InputError("a model file, where sentences were expected", argument=name)
    with nullcontext(sys.stdin.buffer) if name == "-" else _open(Path(name)) as file:
        for number, line in enumerate(file, start=1):
            if number == 1 and TREE.match(line):
                raise InputError(
                    "these are trees, where sentences were expected; "
                    "lpcfg eval parses the sentences of a treebank",
                    argument=name,
                )
            try:
                # As bytes, because white space of other scripts may be part of a word.
                tokens = line.removeprefix(codecs.BOM_UTF8).split()
                yield [token.decode() for token in tokens]
            except UnicodeDecodeError:
                source = "<stdin>" if name == "-" else name
                raise InputError(
                    "the text is not UTF-8; convert it first, for example with iconv -t UTF-8",
                    argument=f"{source}:{number}",
                ) from None


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast(BinaryIO, gzip.open(path) if packed else path.open("rb"))
