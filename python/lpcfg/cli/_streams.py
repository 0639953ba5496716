"""Standard input, output and error of a program, some of which may be closed."""

from __future__ import annotations

import errno
import io
import os
import sys

__all__ = ["discard_output", "prepare_streams"]


class _Closed(io.RawIOBase):
    """A stream that was closed before the program started: using it is an error, not a crash."""

    def __init__(self, name: str) -> None:
        self.closed_name = name

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError(errno.EBADF, "is closed", self.closed_name)

    def write(self, _: object) -> int:
        raise OSError(errno.EBADF, "is closed", self.closed_name)


def prepare_streams() -> None:
    """Replace closed streams, and write UTF-8 whatever the encoding of the terminal.

    >>> prepare_streams()
    """
    # Files that are opened later must not get the numbers of the closed streams.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed("standard input")))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Closed("standard output")))
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(os.devnull, "w"), line_buffering=True)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Other commands read the output as UTF-8.
        sys.stdout.reconfigure(encoding="utf-8")


def discard_output() -> None:
    """Discard output that cannot be written; otherwise Python would try again as it exits.

    >>> discard_output()
    """
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = io.TextIOWrapper(io.FileIO(os.devnull, "w"))
