"""Reading trees: one by one, or all at once into columns or a node table."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from lpcfg._core import BracketReader, transform_forest
from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank._encodings import decode_chunks, decode_unless_utf8
from lpcfg.treebank._graph_files import read_graphs
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.read_report import MAX_ERRORS, ReadReport, TreebankWarning
from lpcfg.treebank.sources import (
    Source,
    Sources,
    find_sources,
    is_regular_file,
    read_chunks,
    source_name,
)
from lpcfg.treebank.styles import (
    STYLES,
    TreebankStyle,
    find_style,
    recognise_style,
    style_endings,
)
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree

__all__ = [
    "OnError",
    "ReadReport",
    "TableColumns",
    "TreeReader",
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

_BATCH = 1000
_RECOGNISED_BYTES = 1 << 14
"""The bytes of a file from which its style is recognised."""


@overload
def read_trees(
    sources: Sources,
    *,
    on_error: OnError = ...,
    keep_empty: Literal[False] = ...,
    unescape: bool = ...,
    style: str = ...,
    encoding: str | None = ...,
    report: ReadReport | None = ...,
) -> Iterator[Tree]: ...
@overload
def read_trees(
    sources: Sources,
    *,
    on_error: OnError = ...,
    keep_empty: bool,
    unescape: bool = ...,
    style: str = ...,
    encoding: str | None = ...,
    report: ReadReport | None = ...,
) -> Iterator[Tree | None]: ...


def read_trees(
    sources: Sources,
    *,
    on_error: OnError = "raise",
    keep_empty: bool = False,
    unescape: bool = False,
    style: str = "penn",
    encoding: str | None = None,
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

    ``style`` names what the files have beside words, tags and phrases, and their format: one of
    :data:`~lpcfg.treebank.styles.STYLES`, or ``"auto"`` for the style that is recognised in the
    first file. Files are UTF-8, or in the encoding of the style if they are not; ``encoding``
    names another one.

    >>> import io
    >>> for tree in read_trees(io.BytesIO(b"(NN rain) (NN sun)")):
    ...     print(tree)
    (NN rain)
    (NN sun)
    """
    reader = TreeReader(sources, on_error, keep_empty, style, encoding, report)
    return (tree for forest in reader.forests() for tree in forest.trees(unescape=unescape))


def read_forest(
    sources: Sources,
    *,
    on_error: OnError = "raise",
    keep_empty: bool = False,
    style: str = "penn",
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> Forest:
    """Read all trees at once into columns; arguments as for :func:`read_trees`.

    >>> import io
    >>> len(read_forest(io.BytesIO(b"(NN rain) (NN sun)")))
    2
    """
    return TreeReader(sources, on_error, keep_empty, style, encoding, report).forest()


def read_table(
    sources: Sources,
    cleaning: Cleaning | None,
    transform: Transform,
    *,
    on_error: OnError = "raise",
    style: str = "penn",
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> TableColumns:
    """Read all trees, clean them unless ``cleaning`` is None, and transform them, all in the core.

    Trees that have no nodes are left out, and counted in the report.

    >>> import io
    >>> columns, symbols, words = read_table(io.BytesIO(b"(NN rain)"), Cleaning(), Transform())
    >>> symbols, words
    ([(['ROOT', 'NN'], [], None, True)], ['rain'])
    """
    return TreeReader(sources, on_error, True, style, encoding, report).table(cleaning, transform)


class TreeReader:
    """Reads all sources once. Paths are resolved at the start, so missing files raise early.

    The arguments are those of :func:`read_trees`.

    >>> import io
    >>> reader = TreeReader(io.BytesIO(b"(NN rain)"), "raise", False, "auto", None, None)
    >>> reader.style.name, len(reader.forest())
    ('penn', 1)
    """

    def __init__(
        self,
        sources: Sources,
        on_error: OnError,
        keep_empty: bool,
        style: str,
        encoding: str | None,
        report: ReadReport | None,
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise InputError(
                f"on_error must be 'raise' or 'skip', not {on_error!r}", argument="on_error"
            )
        self._report = ReadReport() if report is None else report
        self._warn = report is None
        self._skip = on_error == "skip"
        self._skipped = 0
        self._keep_empty = keep_empty
        self._encoding = encoding
        chosen = find_style(style)
        self.sources = find_sources(sources, style_endings(chosen))
        self._first: Iterator[bytes] | None = None
        if chosen is None:
            chosen = self._recognise()
        self.style = chosen
        self._report.style = chosen.name
        self._core = BracketReader(keep_empty, self._skip, chosen.lemmas)

    def forests(self) -> Iterator[Forest]:
        """The trees as they arrive."""
        for forest in self._graphs() if self.style.graphs else self._brackets():
            trees = self.style.apply(forest)
            words = trees.nonempty()
            self._report.trees += len(trees)
            self._report.empty += len(trees) - len(words)
            # A tree of nothing but comments is not malformed, and no sentence either.
            yield trees if self._keep_empty else words
        self._warn_of_problems()

    def forest(self) -> Forest:
        """All trees."""
        if not self.style.is_plain:
            return Forest.concatenate(self.forests())
        self._read_all()
        forest = Forest(*self._core.take())
        self._report.trees += len(forest)
        self._report.empty += len(forest) - len(forest.nonempty())
        self._warn_of_problems()
        return forest

    def table(self, cleaning: Cleaning | None, transform: Transform) -> TableColumns:
        """The node table of all trees: files are read by one call into the core."""
        if not self.style.is_plain:
            return transform_forest(self.forest().columns, cleaning, transform)
        sources = self.sources
        if not all(map(is_regular_file, sources)):
            # The core notices Ctrl-C between chunks, so it must not wait for a pipe or a terminal.
            self._read_all()
            sources = []
        chunks = ((source_name(each), self._chunks(each, self.style.encoding)) for each in sources)
        with _hint(*sources):
            table, empty, errors, skipped = self._core.read_table(chunks, cleaning, transform)
        self._count_skipped(errors, skipped)
        columns, _, _ = table
        self._report.trees += len(columns[-1]) - 1 + empty
        self._report.empty += empty
        self._warn_of_problems()
        return table

    def _recognise(self) -> TreebankStyle:
        """The style of the first source, whose content is kept for reading it later."""
        if not self.sources:
            return STYLES["penn"]
        chunks = self._chunks(self.sources[0], None)
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) >= _RECOGNISED_BYTES:
                break
        self._first = itertools.chain([head], chunks)
        return recognise_style(head)

    def _chunks(self, source: Source, fallback: str | None) -> Iterator[bytes]:
        """The content of a source in UTF-8."""
        first, self._first = self._first, None
        if first is None:
            first = read_chunks(source, text=self._encoding is not None)
            if self._encoding is not None:
                return decode_chunks(first, self._encoding, source_name(source))
        return first if fallback is None else decode_unless_utf8(first, fallback)

    def _brackets(self) -> Iterator[Forest]:
        try:
            for source in self.sources:
                name = source_name(source)
                for chunk in self._chunks(source, self.style.encoding):
                    with _hint(source):
                        columns = self._core.read(name, chunk)
                    yield Forest(*columns)
                self._end(source)
                if self._skip:
                    # Trees that an unclosed bracket had swallowed.
                    yield Forest(*self._core.take())
        except TreebankError:
            # Trees before the malformed one are complete.
            yield Forest(*self._core.take())
            raise

    def _graphs(self) -> Iterator[Forest]:
        for source in self.sources:
            chunks = self._chunks(source, self.style.encoding)
            graphs = read_graphs(self.style.name, chunks, source_name(source))
            while batch := list(itertools.islice(graphs, _BATCH)):
                trees = []
                for tree, raised in batch:
                    if isinstance(tree, TreebankError):
                        with _hint(source):
                            self._malformed(tree)
                        continue
                    self._report.discontinuous += raised
                    trees.append(tree)
                yield Forest.from_trees(trees)

    def _malformed(self, error: TreebankError) -> None:
        if not self._skip:
            raise error
        self._report.skipped += 1
        if len(self._report.errors) < MAX_ERRORS:
            self._report.errors.append(str(error))

    def _read_all(self) -> None:
        for source in self.sources:
            name = source_name(source)
            for chunk in self._chunks(source, self.style.encoding):
                with _hint(source):
                    self._core.feed(name, chunk)
            self._end(source)

    def _end(self, source: Source) -> None:
        with _hint(source):
            errors, skipped = self._core.finish(source_name(source))
        self._count_skipped(errors, skipped)

    def _count_skipped(self, errors: list[str], skipped: int) -> None:
        """Add errors to the report; ``skipped`` counts malformed trees from the start."""
        room = MAX_ERRORS - len(self._report.errors)
        self._report.errors.extend(errors[:room])
        self._report.skipped += skipped - self._skipped
        self._skipped = skipped

    def _warn_of_problems(self) -> None:
        if self._warn and (self._report.skipped or self._report.discontinuous):
            warnings.warn(str(self._report), TreebankWarning, stacklevel=4)


@contextmanager
def _hint(*sources: Source) -> Iterator[None]:
    """Extend the error of a malformed tree in a file: it names the option to skip such trees."""
    try:
        yield
    except TreebankError as error:
        # Other errors, of damaged files, have no line.
        if error.line is None or not all(isinstance(each, (str, os.PathLike)) for each in sources):
            raise
        raise TreebankError(
            f'{error.args[0]}; on_error="skip" leaves malformed trees out',
            file=error.file,
            line=error.line,
            column=error.column,
        ) from None
