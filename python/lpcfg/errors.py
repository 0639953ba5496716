"""The exceptions of lpcfg: catch :class:`LpcfgError` for all of them, or one of its kinds."""

from __future__ import annotations

__all__ = [
    "GrammarError",
    "InputError",
    "InternalError",
    "LpcfgError",
    "ModelFileError",
    "TreebankError",
]


class LpcfgError(Exception):
    """The root of everything lpcfg raises on purpose."""


class TreebankError(LpcfgError, ValueError):
    """A tree, or a file of trees, is malformed.

    ``file``, ``line`` and ``column`` (both from 1, in characters) say where, as far as it is known.

    >>> print(TreebankError("a tree that is never closed", file="a.mrg", line=3, column=1))
    a.mrg:3:1: a tree that is never closed
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return ": ".join(filter(None, [":".join(place), super().__str__()]))


class GrammarError(LpcfgError, ValueError):
    """A grammar is inconsistent: an index out of range, a negative probability, no root."""


class ModelFileError(LpcfgError, ValueError):
    """A model file is truncated, corrupted, of another kind, or from a newer version.

    ``path`` is the file.

    >>> print(ModelFileError("is truncated", path="a.lpcfg"))
    a.lpcfg: is truncated
    """

    def __init__(self, message: str = "", *, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path

    def __str__(self) -> str:
        message = super().__str__()
        return message if self.path is None else f"{self.path}: {message}"


class InputError(LpcfgError, ValueError):
    """An argument cannot be used: an unknown tag, words and tags of different lengths.

    ``argument`` is its name, where the error is about one argument.

    >>> InputError("n_jobs must be a positive integer", argument="n_jobs").argument
    'n_jobs'
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class InternalError(LpcfgError, RuntimeError):
    """A bug in lpcfg: the core panicked. The message is meant for a bug report."""
