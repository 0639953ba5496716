"""Parse a corpus of many files into a folder; a run that is stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from lpcfg import __version__
from lpcfg.corpus._files import find_files
from lpcfg.corpus._folder import CorpusFolder
from lpcfg.corpus._formats import COMPRESSIONS, FORMATS, part_suffix, part_writer
from lpcfg.corpus._model_files import ModelFiles
from lpcfg.corpus._part import FinishedPart, ParserFiles, PartParser, parse_part
from lpcfg.corpus._plan import Part, PartText, Plan, read_parts
from lpcfg.corpus.report import CorpusReport
from lpcfg.errors import InputError
from lpcfg.formats.dependencies import Dependencies, loaded_dependencies
from lpcfg.io.formats import Resources
from lpcfg.jobs import backend_is_chosen, run_jobs
from lpcfg.parsing.options import (
    MAX_LENGTH,
    MEMORY,
    ParserOptions,
    check_choice,
    check_memory,
    checked_pruning,
)
from lpcfg.parsing.parser import Parser
from lpcfg.sequence.tagger import Tagger

__all__ = ["ON_ERROR", "PART_LINES", "parse_corpus"]

#: The default number of lines of a part: a minute or two of one core.
PART_LINES = 10_000

#: What can be done with a line that cannot be parsed.
ON_ERROR = ("raise", "empty", "skip")


def parse_corpus(
    model: str | PathLike[str],
    corpus: str | PathLike[str] | Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    format: str = "trees",
    compression: str = "gzip",
    candidates: int = 1,
    tags: bool = False,
    tagger: str | PathLike[str] | None = None,
    on_error: str = "raise",
    part_lines: int = PART_LINES,
    shard: tuple[int, int] = (1, 1),
    plan_only: bool = False,
    memory: int = MEMORY,
    max_length: int | None = MAX_LENGTH,
    timeout: float | None = None,
    n_jobs: int = -1,
    dependencies: Dependencies | str | PathLike[str] | None = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    **options: Unpack[ParserOptions],
) -> CorpusReport:
    r"""Parse a corpus of many files, one sentence a line, into a folder.

    The corpus is divided into parts of consecutive lines. A part is written whole, and recorded; a
    run that was killed goes on with the other parts when the same call is made again. Another
    model, other options or other files are refused for the same folder. Line *i* of a part is line
    ``first_line + i - 1`` of its file. Once all parts are finished, ``manifest.json`` has the
    options, the digest of the model, and counts, statuses and SHA-256 of all parts.

    Inside ``joblib.parallel_config``, parts are parsed by its backend, for instance by the workers
    of a dask cluster: the model travels once to each, and the output is the same to the byte.

    Parameters
    ----------
    model : str or path
        A model file or a folder, as for :meth:`lpcfg.Parser.load`.
    corpus : str, path, or several
        Files or patterns; files may be gzipped or compressed by zstd.
    folder : str or path
        The folder of the output; it is made if it does not exist.
    format : str
        ``trees`` (default), one tree a line; ``json``, one object a line, as ``lpcfg parse --json``
        prints; or ``parquet``, tables with a row for each span, which needs pyarrow.
    compression : str
        ``gzip`` (default), ``zstd`` (which needs the package zstandard but for Parquet) or
        ``none``.
    candidates : int
        The number of best trees of each sentence in the format ``json``, from 1 (default).
    tags : bool
        Whether lines have tags, not words (default False).
    tagger : str or path, optional
        The file of a tagger; tags with a high probability are fixed.
    on_error : str
        What to do with a line that cannot be parsed, because it is not UTF-8 or has an unknown tag:
        ``raise`` (default) an error, once the other parts that were begun are finished; write an
        ``empty`` tree in its place; or ``skip`` it, so that later lines of the part move up. The
        manifest lists these lines.
    part_lines : int
        The largest number of lines of a part (default 10,000). After a crash, unfinished parts are
        parsed again.
    shard : tuple of two int
        ``(3, 16)`` parses the third of 16 equal ranges of parts, for job arrays. The last job to
        finish writes the manifest.
    plan_only : bool
        Only count lines and write the plan, before the jobs of an array start (default False).
    memory : int
        The largest number of bytes for the charts of a sentence, as for :class:`lpcfg.Parser`.
    max_length : int or None
        Longer sentences are parsed in parts, as by :class:`lpcfg.Parser` (default 200 words).
    timeout : float or None
        The number of seconds for a sentence, as for :class:`lpcfg.Parser` (default: no limit). The
        output then depends on the speed of the machine.
    n_jobs : int
        The number of threads in this process, -1 (default) for one on each core. The output does
        not depend on it.
    dependencies : Dependencies, path or None
        Known tags and dependencies of sentences, or their file, as for :class:`lpcfg.Parser`.
    progress : callable
        A function that wraps the iterator of parts, for instance to show a progress bar.
    **options
        The options ``decoder``, ``combine`` and ``prune`` of :class:`lpcfg.Parser`; those of
        ensembles and rerankers are stored with them.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     text, folder = pathlib.Path(place, "a.txt"), pathlib.Path(place, "parsed")
    ...     _ = text.write_text("The dog saw him .\n\nIt rained .\n")
    ...     report = parse_corpus("english", text, folder)
    ...     with gzip.open(folder / "parts" / "0000000.trees.gz", "rt") as part:
    ...         print(part.readline(), end="")
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    >>> report.sentences, report.blank, report.complete
    (2, 1, True)

    """
    _check(format, compression, candidates, on_error, part_lines, shard, memory)
    names = find_files(corpus)
    known = loaded_dependencies(dependencies)
    resources: Resources = {
        "memory": memory,
        "max_length": max_length,
        "timeout": timeout,
        "n_jobs": n_jobs,
        "dependencies": known,
    }
    # Models and options that do not fit are errors here, before files are read.
    parser = Parser.load(model, **resources, **options)
    loaded_tagger = None if tagger is None else Tagger.load(tagger)
    files = ParserFiles(
        model=ModelFiles.read(model),
        tagger=None if tagger is None else ModelFiles.read(tagger),
        parser_options=options,
        resources=resources,
        tags=tags,
        candidates=candidates,
        form=format,
        compression=compression,
        on_error=on_error,
    )
    settings = _settings(files)
    output = CorpusFolder(Path(folder), part_suffix(format, compression))
    if output.plan.exists():
        plan = Plan.from_json(output.plan.read_text("utf-8"), output.plan)
        plan.check(settings, names, part_lines, output.path)
    else:
        output.check_new()
        plan = Plan.make(settings, names, part_lines, n_jobs)
        output.begin(plan)
    if not plan_only:
        missing = [part for part in plan.shard(*shard) if output.record(part) is None]
        part_parser = files.part_parser(parser, loaded_tagger, n_jobs)
        _parse_parts(part_parser, missing, output, progress)
    records = [record for part in plan.parts if (record := output.record(part)) is not None]
    if len(records) == len(plan.parts):
        output.finish(plan, records)
    return CorpusReport.of(len(plan.parts), records)


def _parse_parts(
    parser: PartParser,
    parts: list[Part],
    output: CorpusFolder,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> None:
    """Parse parts and store them; after an error, only those that were begun are finished."""
    failed: list[FinishedPart] = []

    def jobs() -> Iterator[PartText]:
        for job in read_parts(parts):
            if failed:
                return
            yield job

    if not parts:
        return
    finished: Iterable[FinishedPart]
    if backend_is_chosen():
        finished = (part for _, part in run_jobs(parse_part, jobs(), parser.files.shared()))
    else:
        finished = map(partial(parse_part, parser), jobs())
    for part, _ in zip(finished, progress(range(len(parts))), strict=False):
        if part.error is None:
            output.store(part)
        else:
            failed.append(part)
    if failed:
        first = min(failed)
        assert first.error is not None
        line, message = first.error
        file = next(part.file for part in parts if part.number == first.number)
        raise InputError(
            f"{message} (on_error can be empty or skip; finished parts are kept)",
            path=file,
            line=line,
        )


def _settings(files: ParserFiles) -> dict[str, Any]:
    """Everything that the output depends on but for the corpus, as JSON values."""
    options: dict[str, Any] = dict(files.parser_options)
    if "prune" in options:
        options["prune"] = checked_pruning(options["prune"])._asdict()
    known = files.resources["dependencies"]
    return {
        "lpcfg": __version__,
        "model": files.model.digest,
        "tagger": None if files.tagger is None else files.tagger.digest,
        "options": options,
        "memory": files.resources["memory"],
        "max_length": files.resources["max_length"],
        "timeout": files.resources["timeout"],
        "dependencies": None if known is None else known.digest,
        "tags": files.tags,
        "candidates": files.candidates,
        "format": files.form,
        "compression": files.compression,
        "on_error": files.on_error,
    }


def _check(
    form: str,
    compression: str,
    candidates: int,
    on_error: str,
    part_lines: int,
    shard: tuple[int, int],
    memory: int,
) -> None:
    check_choice("format", form, tuple(FORMATS))
    check_choice("compression", compression, tuple(COMPRESSIONS))
    check_choice("on_error", on_error, ON_ERROR)
    check_memory(memory)
    for name, value in (("candidates", candidates), ("part_lines", part_lines)):
        if not isinstance(value, int) or value < 1:
            raise InputError(f"must be a positive integer, not {value!r}", argument=name)
    if candidates > 1 and form != "json":
        raise InputError(
            "several trees for a sentence can only be written as json", argument="candidates"
        )
    index, count = shard
    if not 1 <= index <= count:
        raise InputError(
            f"must be a number from 1 to the number of shards, not {index} of {count}",
            argument="shard",
        )
    # A missing package is an error before files are read.
    part_writer(form, compression)
