"""The exceptions of lpcfg: catch :class:`LpcfgError` for all of them, or one of its subclasses.

The subject of a message (a file and a position in it, an argument) is an attribute of the
exception; ``str`` puts it in front of the message. A missing file is a ``FileNotFoundError``.
"""

from __future__ import annotations

import re
from os import PathLike, fspath

__all__ = [
    "GrammarError",
    "InputError",
    "InternalError",
    "LpcfgError",
    "MissingPackageError",
    "ModelFileError",
    "NotAModelError",
    "TreebankError",
]


class LpcfgError(Exception):
    """The base class of all exceptions of lpcfg.

    ``message``: the problem and its solution, without the place.

    >>> str(LpcfgError("something is wrong"))
    'something is wrong'
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    @property
    def place(self) -> str:
        """The subject of the message, such as a file or an argument, or an empty string.

        >>> InputError("must be positive, not -1", argument="n_jobs").place
        'n_jobs'
        """
        return ""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class TreebankError(LpcfgError, ValueError):
    """A tree, or a file of trees, is malformed.

    ``file``: the name of the file, None for text that is not in a file.
    ``line``, ``column``: the position in the file, counted from 1; None for the whole file.

    >>> str(TreebankError("a second word in one node", file="train.mrg", line=17, column=200))
    'train.mrg:17:200: a second word in one node'
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file = None if file is None else fspath(file)
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """The file, line and column, as compilers write them.

        >>> TreebankError("text outside brackets", file="train.mrg", line=1, column=1).place
        'train.mrg:1:1'
        """
        return _joined(self.file, self.line, self.column)


class GrammarError(LpcfgError, ValueError):
    """A grammar is inconsistent: an index out of range, a negative probability, no root.

    ``line``, ``column``: the position in the text of a hand-written grammar, counted from 1.

    >>> str(GrammarError("NP has no rules", line=2, column=6))
    'line 2, column 6: NP has no rules'
    """

    def __init__(
        self, message: str = "", *, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """The line and the column.

        >>> GrammarError("NP has no rules", line=2).place
        'line 2'
        """
        parts = {"line": self.line, "column": self.column}
        return ", ".join(f"{name} {number}" for name, number in parts.items() if number is not None)


class ModelFileError(LpcfgError, ValueError):
    """A model file is truncated, corrupted, of another kind, or from a newer version.

    ``path``: the file or the folder.

    >>> str(ModelFileError("holds a tagger, not a grammar", path="tags.lpcfg"))
    'tags.lpcfg: holds a tagger, not a grammar'
    """

    def __init__(self, message: str = "", *, path: str | PathLike[str] | None = None) -> None:
        super().__init__(message)
        self.path = None if path is None else fspath(path)

    @property
    def place(self) -> str:
        """The path.

        >>> ModelFileError("is empty", path="model.lpcfg").place
        'model.lpcfg'
        """
        return _joined(self.path)


class NotAModelError(ModelFileError):
    """A path is not a model but, for instance, a text, a treebank or a folder of other files.

    >>> issubclass(NotAModelError, ModelFileError)
    True
    """


class InputError(LpcfgError, ValueError):
    """An argument, or a file that was given, cannot be used: an unknown tag, a damaged text.

    ``argument``: the name of the argument, or an option of the command line. ``str`` puts it in
    front of a message that does not name it.
    ``path``: the file or the folder that the message is about.
    ``line``, ``column``: the position in the file, counted from 1; None for the whole file.

    >>> str(InputError("must be at least 1, not 0", argument="n_states"))
    'n_states: must be at least 1, not 0'
    >>> str(InputError("n_states must be at least 1, not 0", argument="n_states"))
    'n_states must be at least 1, not 0'
    >>> str(InputError("unknown parameter 'DELETE'", path="new.prm", line=3))
    "new.prm:3: unknown parameter 'DELETE'"
    """

    def __init__(
        self,
        message: str = "",
        *,
        argument: str | None = None,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.path = None if path is None else fspath(path)
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """The file and the line, or the argument, unless the message names it.

        >>> InputError("there is no such folder", argument="--output").place
        '--output'
        """
        if self.path is not None:
            return _joined(self.path, self.line, self.column)
        name = self.argument or ""
        # Only at the start, or after a class: elsewhere the word may mean something else.
        is_name = name.isidentifier() or name.startswith("--")
        named = is_name and re.match(rf"(\w+: )?{re.escape(name)}\b", self.message)
        return "" if named else _joined(self.argument)


class MissingPackageError(LpcfgError, ImportError):
    """A package that is not installed is needed, which an extra of lpcfg installs.

    ``package``: the package. ``extra``: the extra.

    >>> str(MissingPackageError("drawing plots", package="matplotlib", extra="plots"))
    "drawing plots needs matplotlib: pip install 'lpcfg[plots]'"
    """

    def __init__(self, purpose: str = "", *, package: str = "", extra: str = "") -> None:
        # An error that is copied or unpickled is made from its message.
        message = f"{purpose} needs {package}: pip install 'lpcfg[{extra}]'" if extra else purpose
        super().__init__(message)
        self.package = package
        self.extra = extra


class InternalError(LpcfgError, RuntimeError):
    """A bug in lpcfg: the core panicked. The message is meant for a bug report.

    >>> str(InternalError("the core panicked: index out of bounds"))
    'the core panicked: index out of bounds'
    """


def _joined(*parts: str | int | None) -> str:
    return ":".join(str(part) for part in parts if part is not None)
