"""``lpcfg show``: draw trees, summarise a model, or explain its latent states."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from lpcfg.cli._common import Commands, add_command, add_on_error, check_target, count
from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.inspection.explanation import explain_states, find_symbol
from lpcfg.io.grammar_file import load, model_files
from lpcfg.io.parser_file import holds_parser, load_parser
from lpcfg.treebank.reader import OnError, read_trees

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(commands, "show", _show, "draw trees, or show what is in a model")
    parser.add_argument("file", nargs="+", help="trees (- for standard input) or models")
    parser.add_argument(
        "--svg", metavar="FILE", help="draw the first tree into an SVG file instead"
    )
    parser.add_argument("-n", type=count, metavar="N", help="only the first N trees of a file")
    parser.add_argument(
        "--symbol",
        metavar="NAME",
        help="explain the latent states of a symbol (NP^S), or of the commonest with a label (NP)",
    )
    add_on_error(parser)


def _show(options: argparse.Namespace) -> None:
    if options.svg:
        _draw(options.file[0], Path(options.svg), options.on_error)
        return
    for name in options.file:
        if holds_parser(name):
            if options.symbol:
                raise InputError(
                    f"{name}: several parsers in one; name a model file in it to explain a symbol"
                )
            print(load_parser(name).summary())
            continue
        if models := model_files(name):
            print(*(_describe(load(model), options.symbol) for model in models), sep="\n\n")
            continue
        if options.symbol:
            raise InputError(f"{name}: this is no model, which alone has states to explain")
        for tree in islice(read_trees(name, on_error=options.on_error), options.n):
            print(tree.pretty() + "\n")


def _describe(grammar: Grammar, name: str | None) -> str:
    if name is None:
        return grammar.summary()
    lines = [str(state) for state in explain_states(grammar, name)]
    others = find_symbol(grammar, name)[1]
    if others:
        lines.append(f"other symbols with the label {name}: {', '.join(others)}")
    return "\n\n".join(lines)


def _draw(name: str, target: Path, on_error: OnError) -> None:
    check_target(target, [name])
    tree = next(read_trees(name, on_error=on_error), None)
    if tree is None:
        raise InputError(f"{name}: there are no trees to draw")
    target.write_text(tree.to_svg(), encoding="utf-8")
