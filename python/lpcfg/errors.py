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
    """An argument cannot be used: an unknown tag, words and tags of different lengths."""


class InternalError(LpcfgError, RuntimeError):
    """A bug in lpcfg: the core panicked. The message is meant for a bug report."""
