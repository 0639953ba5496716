"""Read sentences: one per line, words separated by spaces."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from lpcfg._batches import batches
from lpcfg.cli._common import report
from lpcfg.errors import InputError
from lpcfg.formats.conllu import ConlluSentence
from lpcfg.io.model_file import begins_model_file
from lpcfg.treebank.sources import GZIP_MAGIC, source_name

__all__ = [
    "GROUP",
    "Line",
    "count_lines",
    "is_stream",
    "open_input",
    "read_line_groups",
    "read_sentences",
]

#: The number of lines of a file that are read and parsed at once.
GROUP = 256

_CHUNK = 1 << 16

#: The start of a tree. The classes of characters exclude each other, so that time is linear.
_TREE = re.compile(rb"\([^\s()]*\s*\([^\s()]+[\s(]")


class Line(NamedTuple):
    """A line of the input: its words, none if it is blank, or the reason why it has none.

    ``file`` and ``number``: the name of the file and the number of the line.
    ``tags``: the tags of the words, None for those that the parser is to find; None without tags.
    ``origin``: the sentence, if it comes from a CoNLL-U file.

    >>> Line("text.txt", 2, ["It", "rained"], None).words
    ['It', 'rained']
    """

    file: str
    number: int
    words: list[str]
    problem: str | None
    tags: list[str | None] | None = None
    origin: ConlluSentence | None = None

    @property
    def place(self) -> str:
        """The file and the line, as compilers write them."""
        return f"{self.file}:{self.number}"


def read_line_groups(names: Iterable[str], quiet: bool) -> Iterator[list[Line]]:
    """The lines of files, gzipped or not, or of standard input (``-``), in groups.

    The lines of a pipe or a terminal are grouped as they arrive, so that each can be answered at
    once; those of a file in groups of equal size.

    >>> next(read_line_groups(["missing.txt"], quiet=True))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'
    """
    for name in names:
        number = 0
        with open_input(name) as file:
            groups = _arriving_lines(file) if is_stream(name) else batches(file, GROUP)
            for group in groups:
                if number == 0:
                    if begins_model_file(group[0]):
                        raise InputError(
                            "a model file, where sentences were expected", path=source_name(name)
                        )
                    group[0] = group[0].removeprefix(codecs.BOM_UTF8)
                    _warn_of_trees(group[0], name, quiet)
                yield [_line(name, at, text) for at, text in enumerate(group, start=number + 1)]
                number += len(group)


def read_sentences(name: str, quiet: bool = False) -> Iterator[list[str]]:
    """The words of each line of a file, gzipped or not, or of standard input (``-``).

    >>> next(read_sentences("missing.txt"))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'
    """
    for group in read_line_groups([name], quiet):
        for line in group:
            if line.problem is not None:
                raise InputError(line.problem, path=line.file, line=line.number)
            yield line.words


def is_stream(name: str) -> bool:
    """Whether the lines of an input arrive over time: a pipe, a terminal or a device, not a file.

    >>> is_stream(os.devnull)
    True
    """
    try:
        status = os.fstat(sys.stdin.fileno()) if name == "-" else Path(name).stat()
    except io.UnsupportedOperation:
        # Standard input has been replaced by an object in memory.
        return True
    return not stat.S_ISREG(status.st_mode)


def count_lines(names: Iterable[str]) -> int | None:
    """The number of lines of files; None if one of them is a stream or gzipped.

    >>> count_lines([os.devnull]) is None
    True
    """
    total = 0
    for name in names:
        if name == "-" or is_stream(name):
            return None
        last = b"\n"
        with Path(name).open("rb") as file:
            if file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC):
                return None
            while chunk := file.read(_CHUNK):
                total += chunk.count(b"\n")
                last = chunk
        total += not last.endswith(b"\n")
    return total


def _line(name: str, number: int, text: bytes) -> Line:
    file = source_name(name)
    try:
        # Split as bytes, because white space of other scripts may be part of a word.
        return Line(file, number, [token.decode() for token in text.split()], None)
    except UnicodeDecodeError:
        problem = "the text is not UTF-8; convert it first, for example with iconv -t UTF-8"
        return Line(file, number, [], problem)


def _warn_of_trees(line: bytes, name: str, quiet: bool) -> None:
    line = line.strip()
    if line.endswith(b"))") and _TREE.match(line):
        report(
            f"lpcfg: {source_name(name)}: the first line looks like a tree, but is read as a "
            "sentence; lpcfg eval parses the sentences of a treebank",
            quiet,
        )


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """A file or standard input, decompressed if it is gzipped; errors name it.

    >>> with open_input(os.devnull) as file:
    ...     file.read()
    b''
    """
    stream: BinaryIO = sys.stdin.buffer if name == "-" else Path(name).open("rb")  # noqa: SIM115
    # A pipe can be opened and read only once, so the kind of its content is found by peeking.
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(cast(io.RawIOBase, stream))
    try:
        gzipped = buffered.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
        yield cast(BinaryIO, gzip.GzipFile(fileobj=buffered) if gzipped else buffered)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip file ({error})", path=source_name(name)) from error
    except OSError as error:
        # Only opening a file sets the name; reading it does not.
        error.filename = error.filename or source_name(name)
        raise
    finally:
        if name != "-":
            stream.close()


def _arriving_lines(file: BinaryIO) -> Iterator[list[bytes]]:
    """The complete lines that have arrived whenever there are some."""
    read = file.read1 if hasattr(file, "read1") else file.read
    # The parts of a line without its end; joined once, as a line may be very long.
    parts: list[bytes] = []
    while chunk := read(_CHUNK):
        head, end, rest = chunk.rpartition(b"\n")
        if end:
            yield from batches(b"".join([*parts, head]).split(b"\n"), GROUP)
            parts = []
        parts.append(rest)
    if last := b"".join(parts):
        yield [last]
