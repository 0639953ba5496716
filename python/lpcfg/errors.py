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
    """A tree, or a file of trees, is malformed; the message says where and why."""


class GrammarError(LpcfgError, ValueError):
    """A grammar is inconsistent: an index out of range, a negative probability, no root."""


class ModelFileError(LpcfgError, ValueError):
    """A model file is truncated, corrupted, of another kind, or from a newer version."""


class InputError(LpcfgError, ValueError):
    """An argument cannot be used: an unknown tag, words and tags of different lengths.

    ``argument`` is the name of the argument where one of them is at fault, otherwise None.

    >>> from lpcfg import Grammar, Parser
    >>> try:
    ...     Parser(Grammar.from_string("S -> 'go'"), decoder="best")
    ... except InputError as error:
    ...     print(error.argument)
    decoder
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class InternalError(LpcfgError, RuntimeError):
    """A bug in lpcfg: the core panicked. The message is meant for a bug report."""
