"""Reading bracketed trees: one by one, or all at once into columns or a node table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from lpcfg._core import BracketReader
from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.sources import Source, Sources, find_sources, read_chunks, source_name
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree

__all__ = [
    "OnError",
    "ReadReport",
    "TableColumns",
    "TreebankWarning",
    "read_forest",
    "read_table",
    "read_trees",
]

OnError = Literal["raise", "skip"]

TableColumns: TypeAlias = tuple[
    tuple[
        NDArray[np.uint32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int64],
    ],
    list[tuple[list[str], list[str], list[str] | None, bool]],
    list[str],
]
"""The columns of a node table in the order of :class:`~lpcfg.Treebank`, its symbols, its words."""

_MAX_ERRORS = 20


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
    """The numbers of trees read and skipped. With a report, reading issues no warning.

    >>> import io
    >>> report = ReadReport()
    >>> trees = list(read_trees(io.BytesIO(b"(NN rain) (NN)"), on_error="skip", report=report))
    >>> report.trees, report.skipped
    (1, 1)
    """

    trees: int = 0
    """The number of trees that were read, including empty ones."""
    empty: int = 0
    """The number of trees that were empty, or had no nodes left after cleaning."""
    skipped: int = 0
    """The number of malformed trees that were skipped."""
    errors: list[str] = field(default_factory=list)
    """The positions and reasons of the first 20 errors."""

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
    gzipped ones are recognised. A malformed tree raises a :class:`~lpcfg.errors.TreebankError`,
    whose ``file``, ``line`` and ``column`` say where; with ``on_error="skip"`` it is left out and
    counted in ``report``, or in a warning at the end if there is no report. A file that does not
    exist raises a FileNotFoundError. Empty trees, ``(())``, count as malformed unless
    ``keep_empty`` asks for a None in their place. ``-LRB-`` is kept as it is, unless
    ``unescape`` turns it into a bracket.

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


def read_table(
    sources: Sources,
    cleaning: Cleaning | None,
    transform: Transform,
    *,
    on_error: OnError = "raise",
    report: ReadReport | None = None,
) -> TableColumns:
    """Read all trees, clean them unless ``cleaning`` is None, and transform them, all in the core.

    Trees that have no nodes are left out, and counted in the report.

    >>> import io
    >>> columns, symbols, words = read_table(io.BytesIO(b"(NN rain)"), Cleaning(), Transform())
    >>> symbols, words
    ([(['ROOT', 'NN'], [], None, True)], ['rain'])
    """
    return _Reader(sources, on_error, True, report).table(cleaning, transform)


class _Reader:
    """Reads all sources once. Paths are resolved at the start, so missing files raise early."""

    def __init__(
        self, sources: Sources, on_error: OnError, keep_empty: bool, report: ReadReport | None
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise InputError(
                f"on_error must be 'raise' or 'skip', not {on_error!r}", argument="on_error"
            )
        self._sources = find_sources(sources)
        self._skip = on_error == "skip"
        self._core = BracketReader(keep_empty, self._skip)
        self._skipped = 0
        self._warn = report is None
        self._report = ReadReport() if report is None else report

    def forests(self) -> Iterator[Forest]:
        """The trees as they arrive."""
        try:
            for source in self._sources:
                name = source_name(source)
                for chunk in read_chunks(source):
                    with _hint(source):
                        columns = self._core.read(name, chunk)
                    yield self._counted(Forest(*columns))
                self._end(source)
                if self._skip:
                    # Trees that an unclosed bracket had swallowed.
                    yield self._counted(Forest(*self._core.take()))
        except TreebankError:
            # Trees before the malformed one are complete.
            yield self._counted(Forest(*self._core.take()))
            raise
        self._warn_of_skipped()

    def forest(self) -> Forest:
        """All trees."""
        self._read_all()
        forest = self._counted(Forest(*self._core.take()))
        self._warn_of_skipped()
        return forest

    def table(self, cleaning: Cleaning | None, transform: Transform) -> TableColumns:
        """The node table of all trees."""
        self._read_all()
        table, empty = self._core.take_table(cleaning, transform)
        columns, _, _ = table
        self._report.trees += len(columns[-1]) - 1 + empty
        self._report.empty += empty
        self._warn_of_skipped()
        return table

    def _read_all(self) -> None:
        for source in self._sources:
            name = source_name(source)
            for chunk in read_chunks(source):
                with _hint(source):
                    self._core.feed(name, chunk)
            self._end(source)

    def _end(self, source: Source) -> None:
        with _hint(source):
            errors, skipped = self._core.finish(source_name(source))
        room = _MAX_ERRORS - len(self._report.errors)
        self._report.errors.extend(errors[:room])
        self._report.skipped += skipped - self._skipped
        self._skipped = skipped

    def _counted(self, forest: Forest) -> Forest:
        self._report.trees += len(forest)
        self._report.empty += len(forest) - len(forest.nonempty())
        return forest

    def _warn_of_skipped(self) -> None:
        if self._warn and self._report.skipped:
            warnings.warn(str(self._report), TreebankWarning, stacklevel=4)


@contextmanager
def _hint(source: Source) -> Iterator[None]:
    """Extend the error of a malformed tree in a file: it names the option to skip such trees."""
    try:
        yield
    except TreebankError as error:
        if not isinstance(source, (str, os.PathLike)):
            raise
        raise TreebankError(
            f'{error.args[0]}; on_error="skip" leaves malformed trees out',
            file=error.file,
            line=error.line,
            column=error.column,
        ) from None
