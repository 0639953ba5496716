"""``lpcfg import``: make a model from the grammar files of another parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lpcfg.cli._common import Commands, add_command, add_quiet, check_target, file_path, report
from lpcfg.errors import InputError
from lpcfg.grammar.berkeley import import_berkeley
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.nltk_grammars import import_nltk
from lpcfg.grammar.rainbow import import_rainbow
from lpcfg.io import save

__all__ = ["SOURCES", "add"]


class Source(NamedTuple):
    """Another parser: how its files are read, and which ones it writes.

    >>> SOURCES["nltk"].files
    ('GRAMMAR',)
    """

    read: Callable[..., Grammar]
    files: tuple[str, ...]
    help: str


#: The parsers whose grammars can be imported.
SOURCES = {
    "berkeley": Source(
        import_berkeley,
        ("GRAMMAR", "LEXICON"),
        "the Berkeley parser: the files .grammar and .lexicon of its WriteGrammarToTextFile",
    ),
    "rainbow": Source(
        import_rainbow,
        ("GRAMMAR", "PRUNE"),
        "the Rainbow parser: the grammar with latent states and grammar-prune.txt",
    ),
    "nltk": Source(import_nltk, ("GRAMMAR",), "NLTK: a grammar in its notation, such as toy.pcfg"),
}


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(
        commands, "import", _import, "make a model from the grammar files of another parser"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "formats and their files, gzipped or not:\n" + "\n".join(
        f"  {name} {' '.join(source.files)}\n      {source.help}"
        for name, source in SOURCES.items()
    )
    parser.add_argument("format", choices=SOURCES, help="the parser that wrote the files")
    parser.add_argument(
        "files", nargs="+", type=file_path, metavar="FILE", help="its files, in the order below"
    )
    parser.add_argument(
        "-o", "--output", type=file_path, required=True, metavar="MODEL",
        help="the model file to write",
    )  # fmt: skip
    add_quiet(parser)


def _import(options: argparse.Namespace) -> None:
    source = SOURCES[options.format]
    if len(options.files) != len(source.files):
        raise InputError(
            f"{options.format} needs {len(source.files)} files, not {len(options.files)}: "
            f"lpcfg import {options.format} {' '.join(source.files)} -o MODEL",
            argument="files",
        )
    check_target(Path(options.output), options.files)
    grammar = source.read(*options.files)
    # Every index and number is checked before the file is written.
    _ = grammar.core
    save(grammar, options.output)
    report(f"{options.output}: {grammar}", options.quiet)
    for note in grammar.provenance["notes"]:
        report(f"  note: {note}", options.quiet)
