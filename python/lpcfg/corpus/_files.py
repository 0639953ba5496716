"""The files of a corpus: patterns, and text that is plain, gzipped or compressed by zstd."""

from __future__ import annotations

import errno
import glob
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from lpcfg.errors import InputError

__all__ = ["CorpusFile", "find_files", "open_text", "survey_file", "zstandard_module"]

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20
#: Smaller, because what it decompresses to is kept.
_ZSTD_CHUNK = 1 << 16


class CorpusFile(NamedTuple):
    """A file of a corpus: its path as it was given, its size, number of lines and SHA-256."""

    path: str
    bytes: int
    lines: int
    sha256: str


def find_files(patterns: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[str]:
    """The files of all patterns, in their order; those of one pattern are sorted, none is repeated.

    >>> find_files("missing.txt")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'
    """
    if isinstance(patterns, (str, PathLike)):
        patterns = [patterns]
    return list(dict.fromkeys(file for pattern in patterns for file in _find(os.fspath(pattern))))


def _find(pattern: str) -> list[str]:
    path = Path(pattern)
    if path.is_file():
        return [pattern]
    if path.is_dir():
        raise InputError(
            f"this is a folder; name its files, for example {path / '*.txt.gz'}", path=pattern
        )
    if path.exists():
        raise InputError("not a regular file; it cannot be read again", path=pattern)
    if not glob.has_magic(pattern):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), pattern)
    # Path.glob takes no absolute patterns.
    paths = glob.iglob(pattern, recursive=True)  # noqa: PTH207
    matches = sorted(match for match in paths if Path(match).is_file())
    if not matches:
        raise FileNotFoundError(errno.ENOENT, "no file matches this pattern", pattern)
    return matches


def survey_file(name: str) -> CorpusFile:
    """Count the lines of a file, and compute the SHA-256 of its bytes."""
    path = Path(name)
    digest = hashlib.sha256()
    with path.open("rb") as raw:
        while chunk := raw.read(_CHUNK):
            digest.update(chunk)
    lines, last = 0, b"\n"
    with open_text(path) as text:
        while chunk := text.read(_CHUNK):
            if b"\0" in chunk:
                raise InputError("this is not text in UTF-8", path=name)
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    # The last line may lack its end.
    lines += last != b"\n"
    return CorpusFile(name, path.stat().st_size, lines, digest.hexdigest())


@contextmanager
def open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a file of text as a stream of bytes, decompressed; damage raises an InputError."""
    with path.open("rb") as raw:
        head = raw.read(len(_ZSTD_MAGIC))
        raw.seek(0)
        if head.startswith(_GZIP_MAGIC):
            stream, kind = cast(BinaryIO, gzip.GzipFile(fileobj=raw)), "gzip"
        elif head == _ZSTD_MAGIC:
            stream, kind = _zstd_stream(raw), "zstd"
        else:
            stream, kind = raw, "text"
        try:
            yield stream
        except OSError as error:
            # A damaged gzip file is an OSError too, without a number.
            if error.errno is not None:
                raise
            raise InputError(f"damaged {kind} file ({error})", path=path) from error
        except EOFError as error:
            raise InputError(f"the {kind} file is cut short", path=path) from error
        except zlib.error as error:
            raise InputError(f"damaged {kind} file ({error})", path=path) from error


class _ZstdReader(io.RawIOBase):
    """Decompressed bytes of a zstd file; a file that is cut short is an error."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._new = zstandard_module().ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._inside = False
        self._rest = b""
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        while not self._ready:
            chunk = self._rest or self._raw.read(_ZSTD_CHUNK)
            if not chunk:
                if self._inside:
                    raise EOFError
                return 0
            self._rest = b""
            try:
                self._ready = self._frame.decompress(chunk)
            except zstandard_module().ZstdError as error:
                raise OSError(str(error)) from error
            self._inside = not self._frame.eof
            if self._frame.eof:
                # Another frame may follow.
                self._rest = self._frame.unused_data
                self._frame = self._new()
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def _zstd_stream(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_ZstdReader(raw), _CHUNK))


def zstandard_module() -> Any:  # noqa: ANN401 - a module
    """The module ``zstandard``, or an error that says how to install it."""
    try:
        import zstandard
    except ImportError as error:
        raise InputError(
            "zstd needs the package zstandard: pip install 'lpcfg[zstd]'", argument="compression"
        ) from error
    return zstandard
