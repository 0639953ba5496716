"""``lpcfg convert``: write trees in another format."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from lpcfg.cli._answers import add_output_format
from lpcfg.cli._common import (
    Commands,
    add_command,
    add_quiet,
    check_target,
    file_path,
    progress,
    report,
)
from lpcfg.formats.tree_formats import READ_FORMATS, TREE_FORMATS, read_formatted
from lpcfg.io.replacing import replacing
from lpcfg.treebank.reader import ReadReport

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(commands, "convert", _convert, "write trees in another format")
    parser.add_argument(
        "trees", nargs="+", type=file_path, help="files of trees; - for standard input"
    )
    parser.add_argument(
        "--from",
        dest="source_format",
        choices=READ_FORMATS,
        default="brackets",
        metavar="FORMAT",
        help=f"the format of the input: {', '.join(READ_FORMATS)} (default: brackets, also of "
        "trees over several lines)",
    )
    add_output_format(parser)
    parser.add_argument(
        "--attach-higher",
        action="store_true",
        help="of a node that covers words that are not adjacent, keep the longest part, and move "
        "the others to its parent; otherwise such a node is an error",
    )
    parser.add_argument(
        "-o", "--output", type=file_path, metavar="FILE",
        help="the file to write (default: standard output)",
    )  # fmt: skip
    parser.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="what to do with malformed brackets: stop (the default), or skip and count them",
    )
    add_quiet(parser)


def _convert(options: argparse.Namespace) -> None:
    form = TREE_FORMATS[options.to or "brackets"]
    if options.output:
        check_target(Path(options.output), options.trees)
    read_report = ReadReport()
    trees = read_formatted(
        options.trees,
        options.source_format,
        attach_higher=options.attach_higher,
        on_error=options.on_error,
        report=read_report,
    )
    with ExitStack() as stack:
        output: TextIO = sys.stdout
        if options.output:
            temporary = stack.enter_context(replacing(options.output))
            output = stack.enter_context(temporary.open("w", encoding="utf-8"))
        output.write(form.header)
        quiet = options.quiet or not options.output
        for number, tree in enumerate(progress(trees, quiet, unit=" trees"), start=1):
            output.write(form.write(tree, number))
    if read_report.skipped:
        report(f"lpcfg: {read_report}", options.quiet)
