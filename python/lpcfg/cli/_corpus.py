"""``lpcfg parse --corpus``: parse many files into a folder, on one machine or on many."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lpcfg.cli._common import count, given, progress, report
from lpcfg.errors import InputError

if TYPE_CHECKING:
    from lpcfg.corpus.report import CorpusReport

__all__ = ["add_corpus", "add_scheduler", "check_no_corpus", "run_corpus", "scheduler"]

#: Options that need ``--corpus``, by their names in the namespace.
_CORPUS_OPTIONS = {
    "parquet": "--parquet",
    "compression": "--compress",
    "part_lines": "--part-lines",
    "shard": "--shard",
    "plan_only": "--plan-only",
    "processes": "--processes",
    "scheduler": "--scheduler",
}


def add_corpus(parser: argparse.ArgumentParser, form: argparse._MutuallyExclusiveGroup) -> None:
    """Declare the options of a corpus; ``form`` has the other formats of the output.

    >>> parser = argparse.ArgumentParser()
    >>> add_corpus(parser, parser.add_mutually_exclusive_group())
    >>> options = parser.parse_args(["--corpus", "a.txt", "b.txt", "--shard", "3/16"])
    >>> options.corpus, options.shard
    (['a.txt', 'b.txt'], (3, 16))
    """
    form.add_argument(
        "--parquet",
        action="store_true",
        help="with --corpus, tables with a row for each span (needs pyarrow)",
    )
    group = parser.add_argument_group("a corpus of many files")
    group.add_argument(
        "--corpus",
        nargs="+",
        metavar="PATTERN",
        help="files of sentences, plain, gzipped or compressed by zstd; a stopped run goes "
        "on where it was",
    )
    group.add_argument(
        "--compress",
        dest="compression",
        choices=("gzip", "zstd", "none"),
        help="the compression of the output (default: gzip)",
    )
    group.add_argument(
        "--part-lines",
        type=count,
        metavar="N",
        help="the number of lines that are written and recorded at once (default: 10000)",
    )
    group.add_argument(
        "--shard", type=_shard, metavar="I/N", help="parse the I-th of N equal shares, from 1/N on"
    )
    group.add_argument(
        "--plan-only",
        action="store_true",
        help="only count lines and divide the corpus, before the jobs of an array start",
    )
    group.add_argument(
        "--processes",
        type=count,
        metavar="N",
        help="parse in N processes with one thread each, instead of --jobs threads",
    )
    add_scheduler(group)


def add_scheduler(parser: argparse._ActionsContainer) -> None:
    """Declare ``--scheduler``.

    >>> parser = argparse.ArgumentParser()
    >>> add_scheduler(parser)
    >>> parser.parse_args(["--scheduler", "tcp://10.0.0.1:8786"]).scheduler
    'tcp://10.0.0.1:8786'
    """
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="the scheduler of a dask cluster, whose workers do the work (needs dask)",
    )


def _shard(text: str) -> tuple[int, int]:
    index, slash, number = text.partition("/")
    if not slash:
        raise argparse.ArgumentTypeError(f"expected a shard such as 3/16, not {text!r}")
    return count(index), count(number)


def check_no_corpus(options: argparse.Namespace) -> None:
    """Raise an InputError for options that need ``--corpus``.

    >>> options = argparse.Namespace(**dict.fromkeys(_CORPUS_OPTIONS))
    >>> options.shard = (3, 16)
    >>> check_no_corpus(options)
    Traceback (most recent call last):
    lpcfg.errors.InputError: --shard: this option is for a corpus; name it with --corpus
    """
    for name, option in _CORPUS_OPTIONS.items():
        if getattr(options, name):
            raise InputError("this option is for a corpus; name it with --corpus", argument=option)


@contextmanager
def scheduler(options: argparse.Namespace) -> Iterator[None]:
    """Run jobs on the cluster of ``--scheduler``, if it was given.

    >>> with scheduler(argparse.Namespace(scheduler=None)):
    ...     pass
    """
    if not options.scheduler:
        yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "this needs dask: pip install 'lpcfg[dask]'", argument="--scheduler"
        ) from error
    try:
        client = Client(options.scheduler)
    except (OSError, ValueError) as error:
        raise InputError(f"no scheduler answers ({error})", argument="--scheduler") from error
    import joblib

    with client, joblib.parallel_config("dask", client=client):
        yield


@contextmanager
def _processes(number: int | None) -> Iterator[None]:
    if not number:
        yield
        return
    import joblib

    with joblib.parallel_config("loky", n_jobs=number):
        yield


def run_corpus(options: argparse.Namespace) -> None:
    """Parse the corpus of ``--corpus``, and report what was found."""
    # Imported here: most calls of `lpcfg parse` have no corpus and would wait for its modules.
    from lpcfg.corpus.parse_corpus import parse_corpus

    if not options.output:
        raise InputError("name a folder for the parsed corpus with -o", argument="--corpus")
    used_options = {
        "--pretty": options.pretty,
        "--to": options.to,
        "--from": options.source_format,
        "--input": options.input != ["-"],
        "--raw": options.raw,
        "--language": options.language,
        "--paragraphs": options.paragraphs,
    }
    for name, used in used_options.items():
        if used:
            raise InputError("cannot be used with --corpus", argument=name)
    if options.scheduler and options.processes:
        raise InputError("choose either this or --scheduler", argument="--processes")
    with scheduler(options), _processes(options.processes):
        found = parse_corpus(
            options.model or "english",
            options.corpus,
            options.output,
            format="parquet" if options.parquet else "json" if options.json else "trees",
            candidates=options.candidates,
            tags=options.tags,
            tagger=options.tagger,
            on_error=options.on_error,
            plan_only=options.plan_only,
            memory=options.memory << 20,
            max_length=options.max_length,
            timeout=options.timeout,
            n_jobs=options.jobs,
            progress=lambda parts: progress(parts, options.quiet, unit=" parts"),
            **given(
                compression=options.compression,
                part_lines=options.part_lines,
                shard=options.shard,
                decoder=options.decoder,
                combine=options.combine,
                prune=options.prune,
                dependencies=options.dependencies,
            ),
        )
    report(_summary(found, options.output), options.quiet)


def _summary(found: CorpusReport, folder: str) -> str:
    statuses = ", ".join(f"{number:,} {status}" for status, number in found.statuses.items())
    return (
        f"{folder}: {found.finished:,} of {found.parts:,} parts, {found.sentences:,} sentences "
        f"({statuses or 'none'}), {found.blank:,} blank lines, {found.bad:,} bad lines, "
        f"{found.bytes / 1e6:.1f} MB"
    )
