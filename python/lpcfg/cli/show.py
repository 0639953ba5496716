"""``lpcfg show``: draw trees, summarise models, or explain the latent states of a grammar."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_reading,
    check_target,
    count,
    reading_options,
)
from lpcfg.errors import InputError, NotAModelError
from lpcfg.grammar.grammar import Grammar
from lpcfg.inspection.explanation import explain_states, find_symbol
from lpcfg.io import load
from lpcfg.io.replacing import write_text
from lpcfg.treebank.drawing import stack_drawings
from lpcfg.treebank.reader import read_trees

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(commands, "show", _show, "draw trees, or summarise models")
    parser.add_argument("file", nargs="+", help="trees (- for standard input) or models")
    parser.add_argument(
        "--svg",
        metavar="FILE",
        help="draw the first tree, or with -n the first N trees, into an SVG file instead",
    )
    parser.add_argument("-n", type=count, metavar="N", help="only the first N trees of a file")
    parser.add_argument(
        "--symbol",
        metavar="NAME",
        help="explain the latent states of a symbol (NP^S), or of the most frequent symbol with a "
        "label (NP)",
    )
    add_reading(parser)


def _show(options: argparse.Namespace) -> None:
    if options.svg:
        _draw(options.file[0], Path(options.svg), options)
        return
    for name in options.file:
        try:
            model = load(name)
        except (FileNotFoundError, NotAModelError):
            # Trees; patterns and standard input are not files.
            _show_trees(name, options)
        else:
            print(_describe(model, name, options.symbol))


def _show_trees(name: str, options: argparse.Namespace) -> None:
    if options.symbol:
        raise InputError("this is no model with latent states to explain", path=name)
    for tree in islice(read_trees(name, **reading_options(options)), options.n):
        print(tree.pretty() + "\n")


def _describe(model: object, name: str, symbol: str | None) -> str:
    """A summary of a model of any kind, or the latent states of a symbol of a grammar."""
    if isinstance(model, list):
        return "\n\n".join(_describe(part, name, symbol) for part in model)
    if symbol is None:
        summary: str = model.summary() if hasattr(model, "summary") else repr(model)
        return summary
    if not isinstance(model, Grammar):
        raise InputError(
            f"only a grammar has latent states to explain, not this {type(model).__name__}; name a "
            "model file of a grammar",
            path=name,
        )
    lines = [str(state) for state in explain_states(model, symbol)]
    others = find_symbol(model, symbol)[1]
    if others:
        lines.append(f"other symbols with the label {symbol}: {', '.join(others)}")
    return "\n\n".join(lines)


def _draw(name: str, target: Path, options: argparse.Namespace) -> None:
    check_target(target, [name])
    trees = islice(read_trees(name, **reading_options(options)), options.n or 1)
    drawings = [tree.to_svg() for tree in trees]
    if not drawings:
        raise InputError("there are no trees to draw", path=name)
    write_text(target, stack_drawings(drawings))
