"""What a worker does with a part of a corpus: parse its text, and give the content of its file."""

from __future__ import annotations

import codecs
import hashlib
import pickle
from collections import Counter
from typing import Any, NamedTuple

from lpcfg.corpus._formats import part_writer
from lpcfg.corpus._lines import BracketedTree, LineParser
from lpcfg.corpus._model_files import ModelFiles
from lpcfg.corpus._plan import PartText
from lpcfg.errors import InputError
from lpcfg.io.formats import Resources
from lpcfg.jobs import Shared, worker_threads
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.options import ParserOptions
from lpcfg.parsing.parser import Parser
from lpcfg.sequence.tagger import Tagger

__all__ = ["FinishedPart", "ParserFiles", "PartParser", "parse_part"]


class ParserFiles(NamedTuple):
    """Everything that a worker needs to parse parts, as bytes and plain values."""

    model: ModelFiles
    tagger: ModelFiles | None
    parser_options: ParserOptions
    resources: Resources
    tags: bool
    candidates: int
    form: str
    compression: str
    on_error: str

    def load(self, n_jobs: int) -> PartParser:
        """Load the models from their bytes, for this number of threads."""
        resources: Resources = {**self.resources, "n_jobs": n_jobs}
        parser = self.model.load(lambda path: Parser.load(path, **resources, **self.parser_options))
        tagger = None if self.tagger is None else self.tagger.load(Tagger.load)
        return self.part_parser(parser, tagger, n_jobs)

    def part_parser(self, parser: BaseParser, tagger: Tagger | None, n_jobs: int) -> PartParser:
        """A parser of parts with models that have been loaded."""
        if tagger is not None:
            tagger.n_jobs = n_jobs
        brackets = self.form == "trees"
        return PartParser(LineParser(parser, tagger, self.tags, self.candidates, brackets), self)

    def shared(self) -> Shared[PartParser]:
        """The same for workers."""
        return Shared(_load_in_worker, pickle.dumps(self))


def _load_in_worker(payload: bytes) -> PartParser:
    files: ParserFiles = pickle.loads(payload)
    return files.load(worker_threads())


class PartParser(NamedTuple):
    """A parser of lines, and the options of its output."""

    lines: LineParser
    files: ParserFiles


class FinishedPart(NamedTuple):
    """The result of a part.

    ``number``: the number of the part.
    ``data``: the content of its file, or None after an error.
    ``record``: counts, as JSON values.
    ``error``: the first line that could not be parsed and the reason, if that is an error.
    """

    number: int
    data: bytes | None
    record: dict[str, Any]
    error: tuple[int, str] | None = None


def parse_part(parser: PartParser, job: PartText) -> FinishedPart:
    """Parse all lines of a part."""
    part, options = job.part, parser.files
    writer = part_writer(options.form, options.compression)
    statuses: Counter[str] = Counter()
    counts = Counter(sentences=0, words=0, blank=0)
    bad_lines: list[tuple[int, str]] = []
    # Not splitlines: other characters than the newline may end lines for it.
    lines = job.text.split(b"\n")[: part.lines]
    if part.first_line == 1:
        lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
    for line, parse in enumerate(parser.lines.parse(lines), start=part.first_line):
        if isinstance(parse, InputError):
            if options.on_error == "raise":
                return FinishedPart(part.number, None, {}, (line, parse.message))
            bad_lines.append((line, parse.message))
            if options.on_error == "empty":
                writer.add(line, None)
            continue
        writer.add(line, parse)
        if parse is None:
            counts["blank"] += 1
        else:
            counts["sentences"] += 1
            counts["words"] += (
                parse.words if isinstance(parse, BracketedTree) else len(parse.tree.words())
            )
            statuses[parse.status] += 1
    data = writer.finish()
    record = {
        "file": part.file,
        "first_line": part.first_line,
        "lines": part.lines,
        **counts,
        "statuses": dict(sorted(statuses.items())),
        "bad_lines": bad_lines,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return FinishedPart(part.number, data, record)
