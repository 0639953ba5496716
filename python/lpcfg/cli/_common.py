"""Shared parts of commands: options, their types, messages and progress bars."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from lpcfg.errors import InputError
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.options import (
    COMBINATIONS,
    DECODERS,
    MAX_LENGTH,
    MEMORY,
    Pruning,
    checked_pruning,
)
from lpcfg.parsing.parser import Parser
from lpcfg.treebank.styles import AUTO, STYLES

__all__ = [
    "Commands",
    "add_command",
    "add_jobs",
    "add_parsing",
    "add_quiet",
    "add_reading",
    "add_seed",
    "check_target",
    "count",
    "file_path",
    "given",
    "load_parser",
    "number",
    "one_of",
    "progress",
    "reading_options",
    "report",
    "several",
]

T = TypeVar("T")
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], None], about: str
) -> argparse.ArgumentParser:
    """Declare a command; ``run`` is the function that runs it.

    >>> parser = argparse.ArgumentParser()
    >>> _ = add_command(parser.add_subparsers(), "greet", lambda options: print("hello"), "greets")
    >>> options = parser.parse_args(["greet"])
    >>> options.run(options)
    hello
    """
    parser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    return parser


#: The largest integer that is allowed as an argument.
MAX_INTEGER = 10**9


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet``, which turns off :func:`report` and :func:`progress`.

    >>> parser = argparse.ArgumentParser()
    >>> add_quiet(parser)
    >>> parser.parse_args(["-q"]).quiet
    True
    """
    parser.add_argument("-q", "--quiet", action="store_true", help="no messages on stderr")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Declare ``--on-error``, ``--treebank-style`` and ``--encoding``, for reading treebanks.

    >>> parser = argparse.ArgumentParser()
    >>> add_reading(parser)
    >>> reading_options(parser.parse_args(["--treebank-style", "cess"]))
    {'on_error': 'raise', 'style': 'cess', 'encoding': None}
    """
    parser.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="what to do with malformed trees: stop (the default), or skip and count them",
    )
    parser.add_argument(
        "--treebank-style",
        choices=(*STYLES, AUTO),
        default="penn",
        metavar="STYLE",
        help="what the files of the treebank have beside words, tags and phrases, and their "
        f"format: {', '.join(STYLES)}, or {AUTO} to recognise it (default: penn, bracketed trees)",
    )
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="the encoding of the treebank (default: UTF-8, or that of the style)",
    )


def reading_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of readers that :func:`add_reading` declares.

    >>> options = argparse.Namespace(on_error="skip", treebank_style="penn", encoding="latin-1")
    >>> reading_options(options)
    {'on_error': 'skip', 'style': 'penn', 'encoding': 'latin-1'}
    """
    return {
        "on_error": options.on_error,
        "style": options.treebank_style,
        "encoding": options.encoding,
    }


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Declare ``--jobs``.

    >>> parser = argparse.ArgumentParser()
    >>> add_jobs(parser)
    >>> parser.parse_args([]).jobs
    -1
    """
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=-1,
        metavar="N",
        help="the number of threads (default: one on each core)",
    )


def add_seed(parser: argparse.ArgumentParser, about: str) -> None:
    """Declare ``--seed``.

    >>> parser = argparse.ArgumentParser()
    >>> add_seed(parser, "the seed of random numbers")
    >>> parser.parse_args(["--seed", "7"]).seed
    7
    """
    parser.add_argument("--seed", type=count, default=0, metavar="N", help=f"{about} (default: 0)")


def add_parsing(parser: argparse.ArgumentParser) -> None:
    """Declare the options of :class:`lpcfg.Parser`; those that are not given are None.

    >>> parser = argparse.ArgumentParser()
    >>> add_parsing(parser)
    >>> parser.parse_args(["--prune", "1e-6"]).prune
    Pruning(coarse=1e-06, fine=1e-06, spans=0.995, members=None)
    >>> parser.parse_args(["--prune", "0"]).prune
    Pruning(coarse=0.0, fine=0.0, spans=1.0, members=0.0)
    """
    parser.add_argument(
        "--decoder",
        choices=DECODERS,
        help="the objective of the best tree: the expected F1 of its brackets, the expected number "
        "of correct nodes, the product of the posteriors of its rules, or its probability "
        f"(default: {DECODERS[0]})",
    )
    parser.add_argument(
        "--combine",
        choices=COMBINATIONS,
        help="how several models are combined: by the posteriors of labelled spans, or by the best "
        f"tree of each (default: {COMBINATIONS[0]})",
    )
    parser.add_argument(
        "--prune",
        type=_thresholds,
        metavar="P[,P]",
        help="posteriors below which the chart is pruned, after the coarse and the fine pass; "
        "0 for an exact search, which uses no span filter either "
        f"(default: {Pruning().coarse:g},{Pruning().fine:g})",
    )
    parser.add_argument(
        "--memory",
        type=count,
        default=MEMORY >> 20,
        metavar="MB",
        help="the limit on the charts of a sentence; if they would exceed it, more is pruned "
        f"(default: {MEMORY >> 20})",
    )
    parser.add_argument(
        "--max-length",
        type=count,
        default=MAX_LENGTH,
        metavar="N",
        help="split sentences with more than N words at punctuation, and parse the parts "
        f"(default: {MAX_LENGTH})",
    )
    parser.add_argument(
        "--timeout",
        type=number,
        metavar="SECONDS",
        help="the time for a sentence; when it is up, the best tree so far is taken, or one of "
        "short fragments (default: no limit)",
    )
    parser.add_argument(
        "--dependencies",
        metavar="FILE",
        help="known tags and dependencies of sentences, in CoNLL-U or as word, tag, head, relation",
    )
    add_jobs(parser)


def load_parser(path: str | PathLike[str], options: argparse.Namespace) -> BaseParser:
    """Load the parser at a path with the options of :func:`add_parsing`.

    >>> parser = argparse.ArgumentParser()
    >>> add_parsing(parser)
    >>> load_parser("missing.lpcfg", parser.parse_args([]))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    return Parser.load(
        path,
        memory=options.memory << 20,
        max_length=options.max_length,
        timeout=options.timeout,
        n_jobs=options.jobs,
        **given(
            decoder=options.decoder,
            combine=options.combine,
            prune=options.prune,
            dependencies=options.dependencies,
        ),
    )


def _thresholds(text: str) -> Pruning:
    try:
        coarse, *rest = map(float, text.split(","))
        (fine,) = rest or (coarse,)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a number, or two with a comma between them, not {text!r}"
        ) from None
    # The rest is as usual, but an exact search closes no spans either.
    return checked_pruning(None) if coarse == fine == 0 else Pruning(coarse, fine)


def count(text: str) -> int:
    """A type of arguments: a non-negative integer.

    >>> count("3")
    3
    """
    if not text.isdecimal() or int(text) > MAX_INTEGER:
        raise argparse.ArgumentTypeError(
            f"expected an integer from 0 to {MAX_INTEGER}, not {text!r}"
        )
    return int(text)


def file_path(text: str) -> str:
    """A type of arguments: the path of a file or a folder.

    >>> file_path("")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: a path must not be empty
    """
    if not text:
        # Path("") would be the working folder.
        raise argparse.ArgumentTypeError("a path must not be empty")
    return text


def number(text: str) -> float:
    """A type of arguments: a real number.

    >>> number("0.5")
    0.5
    """
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, not {text!r}") from None


def several(parse: Callable[[str], T]) -> Callable[[str], list[T]]:
    """A type of arguments: one or more different items, separated by commas.

    >>> several(count)("1,2")
    [1, 2]
    """

    def parse_several(text: str) -> list[T]:
        items = text.split(",")
        for item in items:
            if items.count(item) > 1:
                raise argparse.ArgumentTypeError(f"{item} is named twice")
        return [parse(item) for item in items]

    return parse_several


def one_of(*choices: str) -> Callable[[str], str]:
    """A type of arguments: one of several words.

    >>> one_of("left", "right")("up")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: expected one of left, right, not 'up'
    """

    def parse(text: str) -> str:
        if text not in choices:
            raise argparse.ArgumentTypeError(f"expected one of {', '.join(choices)}, not {text!r}")
        return text

    return parse


def given(**options: object) -> dict[str, Any]:
    """The options that were given; others are left to their defaults.

    >>> given(folds=3, candidates=None)
    {'folds': 3}
    """
    return {name: value for name, value in options.items() if value is not None}


def check_target(target: Path, inputs: Iterable[str]) -> None:
    """Raise an :class:`InputError` for a file that cannot be written, before training starts.

    >>> check_target(Path("missing", "model.lpcfg"), [])
    Traceback (most recent call last):
    lpcfg.errors.InputError: missing/model.lpcfg: there is no folder missing; make it first
    """
    if target.is_dir():
        raise InputError("this is a folder; name a file to write", path=target)
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent}; make it first", path=target)
    if target.exists() and any(Path(name).exists() and target.samefile(name) for name in inputs):
        raise InputError("this is an input; name another file to write", path=target)


def progress(
    items: Iterable[T], quiet: bool, total: int | None = None, unit: str = " sentences"
) -> Iterable[T]:
    """Iterate over items with a progress bar, if standard error is a terminal.

    >>> list(progress("ab", quiet=True))
    ['a', 'b']
    """
    if quiet or not sys.stderr.isatty():
        return items
    # Loading it takes a tenth of the time in which `lpcfg parse` starts.
    from tqdm import tqdm

    shown: Iterable[T] = tqdm(items, total=total, unit=unit, leave=False)
    return shown


def report(text: str, quiet: bool) -> None:
    """Print a message to standard error, unless ``--quiet`` was given.

    >>> report("nothing", quiet=True)
    """
    if not quiet:
        print(text, file=sys.stderr)
