"""``lpcfg annotate``: write trees with the latent states of a model in their labels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_quiet,
    add_reading,
    check_target,
    reading_options,
    report,
)
from lpcfg.grammar.grammar import Grammar
from lpcfg.inspection.annotation import annotate_states, show_states
from lpcfg.io import load
from lpcfg.io.replacing import write_text
from lpcfg.treebank.reader import ReadReport
from lpcfg.treebank.treebank import Treebank

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "write trees with the most probable latent states of a model in their labels"
    parser = add_command(commands, "annotate", _annotate, about)
    parser.add_argument(
        "model",
        help="a model file: a grammar with latent states by clustering, EM, split-merge or pivot",
    )
    parser.add_argument(
        "treebank", nargs="+", help="trees: files, folders or patterns; - for standard input"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write (default: standard output)"
    )
    parser.add_argument(
        "--binary", action="store_true", help="write binarised trees, as the model uses them"
    )
    add_reading(parser)
    add_jobs(parser)
    add_quiet(parser)


def _annotate(options: argparse.Namespace) -> None:
    if options.output:
        check_target(Path(options.output), [options.model, *options.treebank])
    grammar = load(options.model, Grammar)
    read_report = ReadReport()
    treebank = Treebank.read(
        options.treebank,
        cleaning=grammar.cleaning,
        transform=grammar.transform,
        **reading_options(options),
        report=read_report,
    ).normalized(grammar.normalization)
    report(str(read_report), options.quiet)
    states = annotate_states(grammar, treebank, n_jobs=options.jobs)
    without = int((states[treebank.tree_offsets[1:] - 1] < 0).sum())
    if without:
        report(
            f"{without} trees have symbols, rules or words unknown to the model: no states",
            options.quiet,
        )
    trees = show_states(treebank, states, binary=options.binary).trees()
    text = "".join(f"{tree}\n" for tree in trees)
    if options.output:
        write_text(options.output, text)
    else:
        sys.stdout.write(text)
