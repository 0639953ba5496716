"""Where trees come from: files, folders, patterns, standard input, plain or gzipped."""

from __future__ import annotations

import errno
import glob
import itertools
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from lpcfg.errors import InputError, TreebankError

__all__ = [
    "Source",
    "Sources",
    "find_sources",
    "is_regular_file",
    "read_chunks",
    "source_name",
]

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, a folder, a pattern, ``"-"`` for standard input, or an open binary file."""

Sources: TypeAlias = Source | Iterable[Source]

EXTENSIONS = (".mrg", ".ptb", ".txt", ".bracket", ".penn")
"""The endings of files of trees within folders, with or without ``.gz``."""

_CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 9
"""The bytes needed to recognise the kind of a file; few, so that typed trees are read at once."""


def find_sources(sources: Sources, endings: tuple[str, ...] = ()) -> list[Source]:
    """The files of all sources, in order; the files of a folder or a pattern are sorted.

    The files of a folder are those with the usual endings, or the ones given here. A file or a
    folder that does not exist raises a FileNotFoundError.

    >>> find_sources("-")
    ['-']
    """
    if isinstance(sources, (str, os.PathLike)):
        return _find(os.fspath(sources), (*EXTENSIONS, *endings))
    if hasattr(sources, "read"):
        return [cast(BinaryIO, sources)]
    return [file for source in sources for file in find_sources(source, endings)]


def _find(name: str, extensions: tuple[str, ...]) -> list[Source]:
    if not name:
        # An empty path would be the working folder.
        raise InputError("a path must not be empty", argument="sources")
    path = Path(name)
    if name == "-" or path.is_file():
        return [name]
    if path.is_dir():
        endings = tuple(e + gz for e in extensions for gz in ("", ".gz"))
        inside = sorted(
            file
            for file in path.rglob("*")
            if file.name.lower().endswith(endings) and file.is_file()
        )
        if not inside:
            patterns = ", ".join(f"*{extension}" for extension in extensions)
            raise TreebankError(
                f"no files of trees in this folder ({patterns}, or with .gz)", file=name
            )
        return [str(file) for file in inside]
    if path.exists():
        return [name]
    if glob.has_magic(name):
        # Path.glob takes no absolute patterns.
        paths = glob.iglob(name, recursive=True)  # noqa: PTH207
        matches = sorted(match for match in paths if Path(match).is_file())
        if not matches:
            raise FileNotFoundError(errno.ENOENT, "no file matches this pattern", name)
        return list(matches)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def source_name(source: Source) -> str:
    """The name of a source in errors.

    >>> source_name("-"), source_name("a.mrg")
    ('<stdin>', 'a.mrg')
    """
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        return "<stdin>" if name == "-" else name
    return str(getattr(source, "name", "<stream>"))


def is_regular_file(source: Source) -> bool:
    """Whether reading a source cannot wait: it is no pipe, terminal or open file.

    >>> is_regular_file("-"), is_regular_file(sys.stdin.buffer)
    (False, False)
    """
    return (
        isinstance(source, (str, os.PathLike))
        and source_name(source) != "<stdin>"
        and Path(source).is_file()
    )


def read_chunks(source: Source, *, text: bool = False) -> Iterator[bytes]:
    """The content of a source in chunks, decompressed if it is gzipped.

    A file that is not text in UTF-8 raises an error that names its probable kind, unless it is
    known to be ``text``.

    >>> import io
    >>> b"".join(read_chunks(io.BytesIO(b"(NN rain)")))
    b'(NN rain)'
    """
    name = source_name(source)
    chunks = _with_head(_raw_chunks(source, name))
    first = next(chunks, b"")
    if first.startswith(GZIP_MAGIC):
        chunks = _with_head(_gunzip(itertools.chain([first], chunks), name))
        first = next(chunks, b"")
    if not text:
        _check_head(first[:1024], name)
    yield first
    yield from chunks


def _raw_chunks(source: Source, name: str) -> Iterator[bytes]:
    try:
        if not isinstance(source, (str, os.PathLike)):
            yield from _stream_chunks(source, name)
        elif name == "<stdin>":
            yield from _stream_chunks(sys.stdin.buffer, name)
        else:
            if "\0" in name:
                # No file has such a name, and Python's error does not tell which one was asked for.
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
            with Path(source).open("rb") as stream:
                yield from _stream_chunks(stream, name)
    except OSError as error:
        # Only opening a file sets the name; reading it does not.
        error.filename = error.filename or name
        raise


def _stream_chunks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    # read1 returns the bytes that have arrived, so trees typed at a terminal are read at once.
    read = getattr(stream, "read1", stream.read)
    while chunk := read(_CHUNK):
        if not isinstance(chunk, bytes):
            raise InputError("open the file in binary mode", argument="sources", path=name)
        yield chunk


def _with_head(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, with a first chunk long enough to recognise the kind of the file."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= _HEAD:
            break
    yield head
    yield from chunks


def _gunzip(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    complete = True
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                yield member.decompress(rest)
                complete = member.eof
                rest = b""
                if complete:
                    # Another member may follow, and padding after the last one.
                    rest = member.unused_data.lstrip(b"\0")
                    member = zlib.decompressobj(wbits=31)
    except zlib.error as error:
        raise TreebankError(f"damaged gzip file ({error})", file=name) from error
    if not complete:
        raise TreebankError("the gzip file is cut short", file=name)


def _check_head(head: bytes, name: str) -> None:
    if head.startswith(_UTF16_MARKS) or b"(\0" in head or b"\0(" in head:
        raise TreebankError(
            'this is UTF-16 text; read it with encoding="utf-16", or convert it to UTF-8',
            file=name,
        )
    if b"\0" in head:
        # A model starts with the length of its header, eight bytes, and the header, JSON.
        kind = "a model" if head[8:9] == b"{" else "a binary file"
        raise TreebankError(f"this is {kind}, not bracketed trees in UTF-8", file=name)
