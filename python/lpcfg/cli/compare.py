"""``lpcfg compare``: the trees of several parsers side by side."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from lpcfg.cli._common import Commands, add_command, add_seed, check_target, count
from lpcfg.cli._evalb import add_evalb_parameters
from lpcfg.errors import InputError
from lpcfg.evaluation.comparison import compare_parsers
from lpcfg.evaluation.evalb_parameters import find_parameters
from lpcfg.io.replacing import write_text
from lpcfg.treebank.sentence_lines import read_gold_and_predicted
from lpcfg.treebank.text_lines import read_lines
from lpcfg.treebank.tree import Tree

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(
        commands,
        "compare",
        _compare,
        "compare the trees of parsers: significance and classes of errors",
    )
    parser.add_argument("gold", help="gold trees, one file")
    parser.add_argument(
        "predicted",
        nargs="+",
        help="the trees of each parser in the same order; (()), or a blank line, for no tree",
    )
    parser.add_argument(
        "--groups",
        metavar="FILE",
        help="a name on each line, such as the genre of the sentence: scores by group",
    )
    add_evalb_parameters(parser)
    parser.add_argument(
        "--samples",
        type=count,
        default=10_000,
        metavar="N",
        help="random samples of the significance tests (default: 10000)",
    )
    add_seed(parser, "the seed of these samples")
    parser.add_argument("--json", action="store_true", help="all figures as one JSON object")
    parser.add_argument("--html", metavar="FILE", help="write a report with drawings of trees")
    parser.add_argument(
        "-n",
        type=count,
        default=20,
        metavar="N",
        help="draw the trees of the N sentences that differ most (default: 20)",
    )


def _compare(options: argparse.Namespace) -> None:
    if options.html:
        check_target(Path(options.html), [options.gold, *options.predicted])
    gold, predicted = _read(options.gold, options.predicted)
    comparison = compare_parsers(
        gold,
        predicted,
        groups=_groups(options.groups) if options.groups else None,
        parameters=find_parameters(options.parameters),
        samples=options.samples,
        seed=options.seed,
    )
    if options.html:
        text = comparison.to_html(sentences=options.n)
        write_text(options.html, text)
    if options.json:
        print(json.dumps(comparison.to_dict(), ensure_ascii=False))
    else:
        print(comparison)


def _read(
    gold: str, predicted: Sequence[str]
) -> tuple[list[tuple[Tree, ...]], dict[str, list[tuple[Tree, ...]]]]:
    """The gold trees and those of each parser, which has the name of its file."""
    sides = {name: read_gold_and_predicted(gold, name) for name in predicted}
    if len(sides) < len(predicted):
        raise InputError("a file is given twice", argument="predicted")
    trees = [side[0] for side in sides.values()]
    # A file with a line for each sentence may have blank ones; trees over several lines may not.
    if any(other != trees[0] for other in trees[1:]):
        raise InputError(
            "some of the files have a line for each sentence and some do not; write all of them "
            "with one tree on each line",
            argument="predicted",
        )
    # Without their folders, if they still differ.
    short = [Path(name).name for name in sides]
    names = short if len(set(short)) == len(short) else list(sides)
    return trees[0], dict(zip(names, (side[1] for side in sides.values()), strict=True))


def _groups(path: str) -> list[str]:
    return [line.strip() for line in read_lines(path)]
