"""``lpcfg parse``: parse sentences."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_parsing,
    add_quiet,
    count,
    load_parser,
    progress,
)
from lpcfg.cli._sentences import read_sentences
from lpcfg.cli.tag import load_tagger
from lpcfg.datasets.embedded import embedded_models
from lpcfg.errors import InputError, NotAModelError
from lpcfg.parsing.base import BATCH, BaseParser, Tags
from lpcfg.parsing.parse import Parse
from lpcfg.treebank.tree import escape

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(
        commands, "parse", _parse, "parse sentences, one per line, words separated by spaces"
    )
    parser.add_argument(
        "model",
        nargs="?",
        help="a model file, or the folder of an ensemble, of a reranker or of several models "
        "(default: english, the model that comes with lpcfg)",
    )
    parser.add_argument(
        "-i", "--input", default="-", metavar="FILE", help="sentences (default: standard input)"
    )
    tagging = parser.add_mutually_exclusive_group()
    tagging.add_argument("--tags", action="store_true", help="the input is tags, not words")
    tagging.add_argument(
        "--tagger",
        metavar="FILE",
        help="a tagger's model file: tags with a high probability are fixed",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--pretty", action="store_true", help="draw the trees")
    form.add_argument(
        "--json", action="store_true", help="one JSON object per line, with probabilities of spans"
    )
    parser.add_argument(
        "-k", "--candidates", type=count, default=1, metavar="K",
        help="with --json, the K best trees",
    )  # fmt: skip
    add_parsing(parser)
    add_quiet(parser)


def _parse(options: argparse.Namespace) -> None:
    if options.candidates > 1 and not options.json:
        raise InputError(
            "several trees for a sentence can only be written with --json", argument="-k"
        )
    try:
        parser = load_parser(options.model or embedded_models()["english"], options)
    except NotAModelError as error:
        if not Path(options.model).is_file():
            raise
        raise InputError(
            f"not a model file; to parse its sentences: lpcfg parse -i {options.model}",
            argument=error.path,
        ) from None
    typed = options.input == "-" and sys.stdin.isatty()
    sentences = progress(read_sentences(options.input), options.quiet or typed)
    for parse in _parses(parser, sentences, options, typed):
        print(_written(parse, options), flush=typed)


def _parses(
    parser: BaseParser, sentences: Iterable[list[str]], options: argparse.Namespace, typed: bool
) -> Iterator[Parse | None]:
    """The parses of all lines, None for a blank one, so that lines correspond."""
    filled: deque[bool] = deque()

    def nonblank() -> Iterator[list[str]]:
        for tokens in sentences:
            filled.append(bool(tokens))
            if tokens:
                yield tokens if options.tags else [escape(token) for token in tokens]

    # Typed input is parsed line by line.
    size = 1 if typed else BATCH
    tags: Iterable[Tags] | None = nonblank() if options.tags else None
    words = None if options.tags else nonblank()
    if options.tagger and words is not None:
        words, copy = tee(words)
        parser_tags = parser.tags
        sure = load_tagger(options.tagger, options.jobs).sure_tags(copy, batch_size=size)
        # Tags that the grammar does not have would be errors.
        tags = ([tag if tag in parser_tags else None for tag in sentence] for sentence in sure)
    parses = parser.analyze_many(
        tags=tags, words=words, candidates=options.candidates, batch_size=size
    )
    for parse in parses:
        while not filled.popleft():
            yield None
        yield parse
    yield from (None for _ in filled)


def _written(parse: Parse | None, options: argparse.Namespace) -> str:
    if options.json:
        return json.dumps(None if parse is None else _as_json(parse), ensure_ascii=False)
    if parse is None:
        return "" if options.pretty else "(())"
    return parse.tree.pretty() + "\n" if options.pretty else str(parse.tree)


def _as_json(parse: Parse) -> dict[str, Any]:
    # JSON has no infinity: a tree without a probability has null.
    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "tree": str(parse.tree),
        "status": parse.status,
        "log_probability": finite(parse.log_probability),
        "sentence_log_probability": finite(parse.sentence_log_probability),
        "spans": [span._asdict() for span in parse.spans],
        "candidates": [
            {"tree": str(tree), "log_probability": finite(log_probability)}
            for tree, log_probability in parse.candidates
        ],
    }
