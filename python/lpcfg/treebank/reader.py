"""Reading bracketed trees, one by one or all at once into columns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, overload

from lpcfg._core import BracketReader
from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.sources import Source, Sources, find_sources, read_chunks, source_name
from lpcfg.treebank.tree import Tree

__all__ = ["OnError", "ReadReport", "TreebankWarning", "read_forest", "read_trees"]

OnError = Literal["raise", "skip"]

_KEPT_ERRORS = 20


class TreebankWarning(UserWarning):
    """Malformed trees were skipped.

    >>> import io
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     trees = list(read_trees(io.BytesIO(b"(NN rain) (NN)"), on_error="skip"))
    >>> caught[0].category.__name__
    'TreebankWarning'
    """


@dataclass
class ReadReport:
    """What happened while reading: pass one in to be told instead of warned.

    >>> import io
    >>> report = ReadReport()
    >>> trees = list(read_trees(io.BytesIO(b"(NN rain) (NN)"), on_error="skip", report=report))
    >>> report.trees, report.skipped
    (1, 1)
    """

    trees: int = 0
    """How many trees were read, empty ones included."""
    empty: int = 0
    """How many of them were empty, or nothing was left of them after cleaning."""
    skipped: int = 0
    """How many malformed ones were skipped."""
    errors: list[str] = field(default_factory=list)
    """Where and why, for the first of them."""

    def __str__(self) -> str:
        text = f"{self.trees} trees read"
        if self.empty:
            text += f", {self.empty} empty"
        if self.skipped:
            text += f", {self.skipped} malformed ones skipped; the first: {self.errors[0]}"
        return text


@overload
def read_trees(
    sources: Sources,
    *,
    on_error: OnError = ...,
    keep_empty: Literal[False] = ...,
    unescape: bool = ...,
    report: ReadReport | None = ...,
) -> Iterator[Tree]: ...
@overload
def read_trees(
    sources: Sources,
    *,
    on_error: OnError = ...,
    keep_empty: bool,
    unescape: bool = ...,
    report: ReadReport | None = ...,
) -> Iterator[Tree | None]: ...


def read_trees(
    sources: Sources,
    *,
    on_error: OnError = "raise",
    keep_empty: bool = False,
    unescape: bool = False,
    report: ReadReport | None = None,
) -> Iterator[Tree | None]:
    """Read trees lazily, in order.

    ``sources`` is a path, a folder (searched for files of trees), a pattern such as
    ``"wsj/2[0-3]/*.mrg"``, ``"-"`` for standard input, an open binary file, or several of these;
    gzipped ones are recognised. A malformed tree raises a :class:`~lpcfg.errors.TreebankError`
    that says ``path:line:column: reason``; with ``on_error="skip"`` it is left out and counted in
    ``report``, or in a warning at the end if there is no report. Empty trees, ``(())``, count as
    malformed unless ``keep_empty`` asks for a None in their place. Tokens are kept as they are;
    ``unescape`` turns ``-LRB-`` into a bracket.

    >>> import io
    >>> for tree in read_trees(io.BytesIO(b"(NN rain) (NN sun)")):
    ...     print(tree)
    (NN rain)
    (NN sun)
    """
    reader = _Reader(sources, on_error, keep_empty, report)
    return (tree for forest in reader.forests() for tree in forest.trees(unescape=unescape))


def read_forest(
    sources: Sources,
    *,
    on_error: OnError = "raise",
    keep_empty: bool = False,
    report: ReadReport | None = None,
) -> Forest:
    """Read all trees at once into columns; arguments as for :func:`read_trees`.

    >>> import io
    >>> len(read_forest(io.BytesIO(b"(NN rain) (NN sun)")))
    2
    """
    return _Reader(sources, on_error, keep_empty, report).forest()


class _Reader:
    """One pass over some sources. Sources are looked for at once, so that errors come early."""

    def __init__(
        self, sources: Sources, on_error: OnError, keep_empty: bool, report: ReadReport | None
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise InputError(f"on_error must be 'raise' or 'skip', not {on_error!r}")
        self._sources = find_sources(sources)
        self._core = BracketReader(keep_empty, on_error == "skip")
        self._warn = report is None
        self._report = ReadReport() if report is None else report

    def forests(self) -> Iterator[Forest]:
        """The trees as they arrive."""
        try:
            for _ in self._feed():
                yield self._take()
        except TreebankError:
            # Trees before the malformed one are good.
            yield self._take()
            raise
        self._finish()

    def forest(self) -> Forest:
        """All trees."""
        for _ in self._feed():
            pass
        forest = self._take()
        self._finish()
        return forest

    def _feed(self) -> Iterator[None]:
        for source in self._sources:
            self._core.start(source_name(source))
            for chunk in read_chunks(source):
                with _hint(source):
                    self._core.feed(chunk)
                yield
            with _hint(source):
                self._core.finish()
            missing = _KEPT_ERRORS - len(self._report.errors)
            self._report.errors.extend(self._core.take_errors()[:missing])
            yield

    def _take(self) -> Forest:
        forest = Forest(*self._core.take())
        self._report.trees += len(forest)
        self._report.empty += len(forest) - len(forest.nonempty())
        return forest

    def _finish(self) -> None:
        self._report.skipped += self._core.skipped
        if self._warn and self._report.skipped:
            warnings.warn(str(self._report), TreebankWarning, stacklevel=4)


@contextmanager
def _hint(source: Source) -> Iterator[None]:
    """Say what can be done about a malformed tree in a file, which may hold thousands of others."""
    try:
        yield
    except TreebankError as error:
        if not isinstance(source, (str, os.PathLike)):
            raise
        raise TreebankError(
            f'{error}; on_error="skip" (--on-error skip) leaves malformed trees out'
        ) from None
