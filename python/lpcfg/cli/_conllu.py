"""CoNLL-U files as the input of ``lpcfg parse``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from lpcfg._batches import batches
from lpcfg.cli._sentences import GROUP, Line
from lpcfg.errors import InputError
from lpcfg.formats.conllu import TAG_COLUMNS, read_groups
from lpcfg.treebank.sources import source_name

__all__ = ["add_input_format", "is_conllu", "read_conllu_groups"]

_ENDINGS = (".conllu", ".conllu.gz")


def add_input_format(parser: argparse.ArgumentParser) -> None:
    """Declare ``--from`` and ``--tag-column``.

    >>> parser = argparse.ArgumentParser()
    >>> add_input_format(parser)
    >>> parser.parse_args(["--from", "conllu"]).tag_column
    'xpos'
    """
    parser.add_argument(
        "--from",
        dest="source_format",
        choices=("lines", "conllu"),
        metavar="FORMAT",
        help="the format of the input: lines, one sentence each, or conllu (default: conllu for "
        "files whose names end in .conllu, lines for others)",
    )
    parser.add_argument(
        "--tag-column",
        choices=tuple(TAG_COLUMNS),
        default="xpos",
        help="the tags of CoNLL-U that --tags uses (default: xpos)",
    )


def is_conllu(options: argparse.Namespace) -> bool:
    """Whether the input is CoNLL-U, by ``--from`` or by the names of the files.

    >>> is_conllu(argparse.Namespace(source_format=None, raw=False, input=["a.conllu"]))
    True
    """
    named = [name.endswith(_ENDINGS) for name in options.input]
    form = options.source_format
    if form is None and any(named) and not all(named):
        raise InputError("files of CoNLL-U and of lines: parse them apart", argument="--input")
    conllu: bool = form == "conllu" or (form is None and all(named))
    if conllu and options.raw:
        raise InputError("CoNLL-U has sentences and words already: leave it out", argument="--raw")
    return conllu


def read_conllu_groups(options: argparse.Namespace) -> Iterator[list[Line]]:
    """The sentences of the inputs, in groups; those of a pipe as they arrive.

    >>> options = argparse.Namespace(input=["missing.conllu"], tags=False, tag_column="xpos")
    >>> next(read_conllu_groups(options))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.conllu'
    """
    for name in options.input:
        for arrived in read_groups(name):
            for group in batches(arrived, GROUP):
                yield [
                    Line(
                        source_name(name),
                        sentence.line,
                        sentence.words,
                        None,
                        sentence.tags(options.tag_column) if options.tags else None,
                        sentence,
                    )
                    for sentence in group
                ]
