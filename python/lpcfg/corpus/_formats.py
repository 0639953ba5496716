"""The formats of parts: trees or JSON objects, one a line, and tables of spans."""

from __future__ import annotations

import gzip
import io
import json
from abc import ABC, abstractmethod
from typing import Any, BinaryIO, cast

from lpcfg.corpus._files import zstandard_module
from lpcfg.corpus._lines import BracketedTree
from lpcfg.errors import InputError
from lpcfg.parsing.parse import Parse
from lpcfg.parsing.records import parse_record

__all__ = ["COMPRESSIONS", "FORMATS", "PartWriter", "part_suffix", "part_writer"]

#: The formats of parts, with their suffixes.
FORMATS = {"trees": ".trees", "json": ".jsonl", "parquet": ".parquet"}

#: The compressions of parts, with their suffixes.
COMPRESSIONS = {"gzip": ".gz", "zstd": ".zst", "none": ""}

#: Higher levels take a noticeable part of the time of parsing with spans.
_GZIP_LEVEL = 4
_ZSTD_LEVEL = 3


class PartWriter(ABC):
    """Collects the parses of a part."""

    @abstractmethod
    def add(self, line: int, parse: Parse | BracketedTree | None) -> None:
        """Add the parse of a line; None for a blank line or one that could not be parsed."""

    @abstractmethod
    def finish(self) -> bytes:
        """The content of the file; equal parses give equal bytes."""


class _LineWriter(PartWriter):
    """One line for each line of the corpus, as ``lpcfg parse`` and ``lpcfg parse --json`` print."""

    def __init__(self, form: str, compression: str) -> None:
        self._json = form == "json"
        self._buffer = io.BytesIO()
        self._stream = _compressed(self._buffer, compression)

    def add(self, line: int, parse: Parse | BracketedTree | None) -> None:
        if isinstance(parse, BracketedTree):
            text = parse.text
        elif self._json:
            record = None if parse is None else parse_record(parse)
            text = json.dumps(record, ensure_ascii=False)
        else:
            text = "(())" if parse is None else str(parse.tree)
        self._stream.write(f"{text}\n".encode())

    def finish(self) -> bytes:
        if self._stream is not self._buffer:
            self._stream.close()
        return self._buffer.getvalue()


def _compressed(buffer: io.BytesIO, compression: str) -> BinaryIO:
    if compression == "gzip":
        # Without the time, equal content gives equal bytes.
        file = gzip.GzipFile(
            filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=buffer, mtime=0
        )
        return cast(BinaryIO, file)
    if compression == "zstd":
        compressor = zstandard_module().ZstdCompressor(level=_ZSTD_LEVEL)
        return cast(BinaryIO, compressor.stream_writer(buffer, closefd=False))
    return buffer


class _SpanWriter(PartWriter):
    """A Parquet table with a row for each labelled span, in the order of lines and pre-order."""

    def __init__(self, compression: str) -> None:
        # An error before the first sentence is parsed.
        _pyarrow()
        self._compression = compression
        self._columns: dict[str, list[Any]] = {name: [] for name in _SPAN_COLUMNS}

    def add(self, line: int, parse: Parse | BracketedTree | None) -> None:
        if parse is None:
            return
        assert isinstance(parse, Parse)
        columns, words = self._columns, parse.tree.words()
        spans = parse.spans
        columns["line"] += [line] * len(spans)
        columns["status"] += [parse.status] * len(spans)
        for (label, start, end, probability), following in zip(
            spans, [*spans[1:], None], strict=True
        ):
            columns["label"].append(label)
            columns["start"].append(start)
            columns["end"].append(end)
            columns["probability"].append(probability)
            # In pre-order, the children of a node come next; a preterminal has none.
            has_children = following is not None and following.start < end
            columns["word"].append(None if has_children else words[start])

    def finish(self) -> bytes:
        arrow, parquet = _pyarrow()
        arrays = {
            name: arrow.array(values, _SPAN_COLUMNS[name]) for name, values in self._columns.items()
        }
        # Readers such as pandas turn these columns into categories, which take little memory.
        for name in ("label", "status"):
            arrays[name] = arrays[name].dictionary_encode()
        table = arrow.table(arrays)
        buffer = io.BytesIO()
        parquet.write_table(table, buffer, compression=self._compression)
        return buffer.getvalue()


#: The columns of tables of spans; ``word`` is null but for preterminals.
_SPAN_COLUMNS = {
    "line": "int64",
    "label": "string",
    "start": "int32",
    "end": "int32",
    "probability": "float64",
    "word": "string",
    "status": "string",
}


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(
            "parquet needs the package pyarrow: pip install 'lpcfg[arrow]'", argument="format"
        ) from error
    return pyarrow, pyarrow.parquet


def part_suffix(form: str, compression: str) -> str:
    """The suffix of the files of parts; Parquet compresses inside.

    >>> part_suffix("json", "gzip"), part_suffix("parquet", "gzip")
    ('.jsonl.gz', '.parquet')
    """
    return FORMATS[form] + (COMPRESSIONS[compression] if form != "parquet" else "")


def part_writer(form: str, compression: str) -> PartWriter:
    r"""A writer of one of :data:`FORMATS` with one of :data:`COMPRESSIONS`.

    >>> writer = part_writer("trees", "none")
    >>> writer.add(1, None)
    >>> writer.finish()
    b'(())\n'
    """
    return _SpanWriter(compression) if form == "parquet" else _LineWriter(form, compression)
