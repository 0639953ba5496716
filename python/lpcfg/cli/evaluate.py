"""``lpcfg eval``: parse a treebank's sentences and score the result."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_parsing,
    add_quiet,
    add_reading,
    check_target,
    count,
    load_parser,
    progress,
    reading_options,
    report,
)
from lpcfg.cli._profile import add_profile, profiled
from lpcfg.errors import TreebankError
from lpcfg.evaluation.parser_scores import INPUTS, evaluate_parser, parser_input
from lpcfg.evaluation.span_labels import evaluate_span_labels
from lpcfg.io.replacing import write_text
from lpcfg.parsing.parse import Parse
from lpcfg.profiling import phase
from lpcfg.treebank.reader import ReadReport, read_forest

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "parse a treebank's sentences and score the result"
    parser = add_command(commands, "eval", profiled(_evaluate), about)
    parser.add_argument("model", help="a model file, or a folder of them that parse as one")
    parser.add_argument("treebank", nargs="+", help="gold trees: files, folders, patterns, -")
    parser.add_argument(
        "--input",
        choices=INPUTS,
        default=INPUTS[0],
        help=f"the input of the parser: words, gold tags or both (default: {INPUTS[0]})",
    )
    parser.add_argument("--limit", type=count, metavar="N", help="only the first N trees")
    parser.add_argument("--by-length", action="store_true", help="scores by sentence length too")
    parser.add_argument("--by-label", action="store_true", help="scores by label too")
    parser.add_argument(
        "--span-labels",
        action="store_true",
        help="scores of the likely labels of spans before a tree is searched for, too: precision, "
        "recall, F1, exact matches, well-formed sentences, tree matches; parses twice",
    )
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the parser's trees here")
    add_profile(parser)
    add_reading(parser)
    add_parsing(parser)
    add_quiet(parser)


def _evaluate(options: argparse.Namespace) -> None:
    if options.output:
        check_target(Path(options.output), [options.model, *options.treebank])
    with phase("loading"):
        parser = load_parser(options.model, options)
    read_report = ReadReport()
    with phase("reading"):
        forest = read_forest(options.treebank, **reading_options(options), report=read_report)
        cleaned = parser.grammar.cleaning.apply(forest).nonempty()
        gold = [tree for tree in islice(cleaned.trees(), options.limit) if tree is not None]
    report(str(read_report), options.quiet)
    if not gold:
        raise TreebankError(f"no trees to evaluate on in {', '.join(options.treebank)}")

    def watched(parses: Iterable[Parse]) -> Iterable[Parse]:
        return progress(parses, options.quiet, total=len(gold))

    result = evaluate_parser(parser, gold, input=options.input, progress=watched)
    if options.output:
        write_text(options.output, "".join(f"{tree}\n" for tree in result.trees))
    span_labels = None
    if options.span_labels:
        tags, words = parser_input(gold, options.input)
        parses = parser.analyze_many(tags, words=words, marginals=True)
        tables = [parse.marginals for parse in watched(parses) if parse.marginals is not None]
        span_labels = evaluate_span_labels(gold, tables)
    if options.json:
        record = result.to_dict()
        if span_labels is not None:
            record["span_labels"] = span_labels.to_dict()
        print(json.dumps(record, ensure_ascii=False))
        return
    print(result)
    if span_labels is not None:
        print(span_labels)
    if options.by_length:
        print(f"\n{result.scores.by_length}")
    if options.by_label:
        print(f"\n{result.scores.by_label}")
