"""The command line: arguments in, text out; everything else is in the library."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeAlias, TypeVar

from tqdm import tqdm

from lpcfg import _core
from lpcfg.clean import Cleaning
from lpcfg.embedded import default_model
from lpcfg.errors import InputError, LpcfgError
from lpcfg.evalb_parameters import BUILT_IN, find_parameters
from lpcfg.evalb_report import evalb
from lpcfg.grammar_file import is_model_file, load, save
from lpcfg.lexicon_options import LexiconOptions
from lpcfg.parser import DECODERS, Parse, Parser, Pruning
from lpcfg.parser_scores import INPUTS, evaluate_parser
from lpcfg.pcfg import PCFGEstimator
from lpcfg.reader import ReadReport, read_forest, read_trees
from lpcfg.scores import evaluate
from lpcfg.transform import Transform
from lpcfg.tree import Tree, escape
from lpcfg.treebank import Treebank

__all__ = ["main"]

T = TypeVar("T")
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

#: What a shell expects of a program that was stopped by Ctrl-C.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left cannot be written anywhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("lpcfg: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (LpcfgError, OSError, UnicodeDecodeError) as error:
        print(f"lpcfg: {_message(error)}", file=sys.stderr)
        return 1
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lpcfg", description="Learn PCFGs and latent-variable PCFGs, and parse with them."
    )
    parser.add_argument("--version", action="version", version=f"lpcfg {_core.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_train(commands)
    _add_parse(commands)
    _add_eval(commands)
    _add_score(commands)
    _add_show(commands)
    return parser


def _command(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], None], about: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    return parser


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def _add_on_error(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-error", choices=("raise", "skip"), default="raise",
        help="what to do with malformed trees: stop (the default), or count and leave them out",
    )  # fmt: skip


def _add_parsing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--decoder", choices=DECODERS, default=DECODERS[0])
    parser.add_argument(
        "--prune",
        type=_thresholds,
        default=Pruning(),
        metavar="P[,P]",
        help="posteriors below which the chart is pruned, after the coarse and the fine pass; "
        f"0 for an exact search (default: {Pruning().coarse:g},{Pruning().fine:g})",
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=-1, metavar="N", help="threads (default: all cores)"
    )


def _thresholds(text: str) -> Pruning:
    values = [float(value) for value in text.split(",")]
    return Pruning(values[0], values[-1])


def _progress(items: Iterable[T], quiet: bool, total: int | None = None) -> Iterable[T]:
    if quiet or not sys.stderr.isatty():
        return items
    shown: Iterable[T] = tqdm(items, total=total, unit=" sentences", leave=False)
    return shown


def _say(text: str, options: argparse.Namespace) -> None:
    if not options.quiet:
        print(text, file=sys.stderr)


# train


def _add_train(commands: Commands) -> None:
    parser = _command(commands, "train", _train, "learn a grammar from a treebank")
    parser.add_argument(
        "treebank", nargs="+", help="files, folders or patterns of bracketed trees; - for stdin"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    parser.add_argument("--estimator", choices=("pcfg",), default="pcfg")
    _add_on_error(parser)
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="for estimators that draw random numbers (pcfg does not)",
    )
    defaults = Transform()
    group = parser.add_argument_group("how trees become binary")
    group.add_argument("--binarize", choices=("left", "right"), default=defaults.binarize)
    group.add_argument(
        "--vertical", type=int, default=defaults.vertical, metavar="V", help="ancestors remembered"
    )
    group.add_argument(
        "--horizontal", type=_order, default=defaults.horizontal, metavar="H",
        help="siblings remembered; inf for all",
    )  # fmt: skip
    group.add_argument(
        "--annotate", choices=("original", "all"), default=defaults.annotate,
        help="nodes that remember ancestors: those of the tree (v < 1), or made ones too",
    )  # fmt: skip
    group.add_argument(
        "--keep-unary", action="store_true", help="unary rules instead of collapsed chains"
    )
    group = parser.add_argument_group("what is removed from trees")
    cleaning = Cleaning()
    group.add_argument(
        "--function-tags", choices=("phrases", "all", "keep"), default=cleaning.function_tags,
        help="whose function tags are cut off",
    )  # fmt: skip
    group.add_argument("--root-label", default=cleaning.root_label, help="the label of all roots")
    group = parser.add_argument_group("words")
    lexicon = LexiconOptions()
    group.add_argument(
        "--word-classes", choices=("english", "learnt", "tag"), default=lexicon.classes,
        help="classes of rare and unknown words: English ones, learnt from any language, or tags",
    )  # fmt: skip
    group.add_argument(
        "--rare", type=int, default=lexicon.rare, metavar="N",
        help="words seen up to N times teach the classes of unknown words",
    )  # fmt: skip
    _add_quiet(parser)


def _order(text: str) -> int | None:
    return None if text == "inf" else int(text)


def _train(options: argparse.Namespace) -> None:
    target = Path(options.output)
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}; make it first")
    collapse = not options.keep_unary
    cleaning = Cleaning(function_tags=options.function_tags, root_label=options.root_label)
    transform = Transform(
        binarize=options.binarize,
        horizontal=options.horizontal,
        vertical=options.vertical,
        annotate=options.annotate,
        collapse_root=collapse,
        collapse_inside=collapse,
        collapse_preterminals=collapse,
    )
    report = ReadReport()
    treebank = Treebank.read(
        options.treebank,
        cleaning=cleaning,
        transform=transform,
        on_error=options.on_error,
        report=report,
    )
    _say(str(report), options)
    lexicon = LexiconOptions(classes=options.word_classes, rare=options.rare)
    grammar = PCFGEstimator(lexicon=lexicon).fit(treebank).grammar_
    save(grammar, target)
    _say(f"{grammar}\nsaved to {target}, {target.stat().st_size / 1e6:.1f} MB", options)


# parse


def _add_parse(commands: Commands) -> None:
    parser = _command(
        commands, "parse", _parse, "parse sentences, one a line, words separated by spaces"
    )
    parser.add_argument("model", nargs="?", help="a model file (default: the embedded model)")
    parser.add_argument(
        "-i", "--input", default="-", metavar="FILE", help="sentences (default: standard input)"
    )
    parser.add_argument("--tags", action="store_true", help="the input is tags, not words")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--pretty", action="store_true", help="draw the trees")
    form.add_argument("--json", action="store_true", help="one JSON object a line, with all spans")
    parser.add_argument(
        "-k", "--candidates", type=int, default=1, metavar="K", help="with --json, the K best trees"
    )
    _add_parsing(parser)
    _add_quiet(parser)


def _parse(options: argparse.Namespace) -> None:
    if options.model is not None and not is_model_file(options.model):
        hint = f"; to parse it: lpcfg parse -i {options.model}"
        Path(options.model).open("rb").close()
        raise InputError(f"{options.model}: not a model file{hint}")
    grammar = load(options.model or default_model())
    parser = Parser(grammar, decoder=options.decoder, prune=options.prune, n_jobs=options.jobs)
    with _open_text(options.input) as lines:
        waiting = options.input == "-" and sys.stdin.isatty()
        sentences = (line.split() for line in _progress(lines, options.quiet or waiting))
        # Someone who types wants an answer after each line.
        size = 1 if waiting else 256
        while batch := list(islice(sentences, size)):
            for parse in _parse_batch(parser, batch, options):
                print(_written(parse, options), flush=waiting)


def _parse_batch(
    parser: Parser, batch: list[list[str]], options: argparse.Namespace
) -> Iterator[Parse | None]:
    """The parses of some sentences; none for a blank line, so that lines stay in step."""
    filled = [tokens for tokens in batch if tokens]
    if not options.tags:
        filled = [[escape(token) for token in tokens] for tokens in filled]
    parses = parser.analyze_many(
        tags=filled if options.tags else None,
        words=None if options.tags else filled,
        candidates=options.candidates,
    )
    for tokens in batch:
        yield next(parses) if tokens else None


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


@contextlib.contextmanager
def _open_text(name: str) -> Iterator[TextIO]:
    if name == "-":
        sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        yield sys.stdin
        return
    if is_model_file(name):
        raise InputError(f"{name}: a model file, where sentences were expected")
    with Path(name).open(encoding="utf-8") as file:
        yield file


# eval


def _add_eval(commands: Commands) -> None:
    parser = _command(commands, "eval", _eval, "parse a treebank's sentences and score the result")
    parser.add_argument("model", help="a model file")
    parser.add_argument("treebank", nargs="+", help="gold trees: files, folders, patterns, -")
    parser.add_argument(
        "--input", choices=INPUTS, default=INPUTS[0], help="what the parser is told"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N trees")
    parser.add_argument("--by-length", action="store_true", help="scores by sentence length too")
    parser.add_argument("--by-label", action="store_true", help="scores by label too")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the parser's trees here")
    _add_on_error(parser)
    _add_parsing(parser)
    _add_quiet(parser)


def _eval(options: argparse.Namespace) -> None:
    grammar = load(options.model)
    parser = Parser(grammar, decoder=options.decoder, prune=options.prune, n_jobs=options.jobs)
    report = ReadReport()
    forest = read_forest(options.treebank, on_error=options.on_error, report=report)
    forest = grammar.cleaning.apply(forest).nonempty()
    _say(str(report), options)
    gold = [tree for tree in islice(forest.trees(), options.limit) if tree is not None]

    def progress(parses: Iterable[Parse]) -> Iterable[Parse]:
        return _progress(parses, options.quiet, total=len(gold))

    result = evaluate_parser(parser, gold, input=options.input, progress=progress)
    if options.output:
        lines = "".join(f"{parse.tree}\n" for parse in result.parses)
        Path(options.output).write_text(lines, encoding="utf-8")
    if options.json:
        print(json.dumps(result.to_dict(), ensure_ascii=False))
        return
    print(result)
    if options.by_length:
        print(f"\n{result.scores.by_length}")
    if options.by_label:
        print(f"\n{result.scores.by_label}")


# score


def _add_score(commands: Commands) -> None:
    parser = _command(commands, "score", _score, "score a file of trees against gold ones")
    parser.add_argument("gold", help="gold trees, one file")
    parser.add_argument("predicted", help="predicted trees in the same order; (()) for none")
    parser.add_argument(
        "-p", "--parameters", default="new", metavar="PRM",
        help=f"an EVALB .prm file or a built-in set: {', '.join(BUILT_IN)} (default: new)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="all scores as one JSON object")


def _score(options: argparse.Namespace) -> None:
    parameters = find_parameters(options.parameters)
    gold: list[Tree | None] = list(read_trees(options.gold, keep_empty=True))
    predicted: list[Tree | None] = list(read_trees(options.predicted, keep_empty=True))
    scores = evaluate(gold, predicted, parameters)
    if options.json:
        print(json.dumps(scores.to_dict(), ensure_ascii=False))
        return
    print(evalb(gold, predicted, parameters))
    print(scores)


# show


def _add_show(commands: Commands) -> None:
    parser = _command(commands, "show", _show, "draw trees, or summarise a model")
    parser.add_argument("file", nargs="+", help="trees (- for standard input) or models")
    parser.add_argument(
        "--svg", metavar="FILE", help="draw the first tree into an SVG file instead"
    )
    parser.add_argument("-n", type=int, metavar="N", help="only the first N trees")


def _show(options: argparse.Namespace) -> None:
    for name in options.file:
        if is_model_file(name):
            print(load(name).summary())
            continue
        trees = islice(read_trees(name), options.n)
        if options.svg:
            tree = next(trees, None)
            if tree is None:
                raise InputError(f"{name}: there are no trees to draw")
            Path(options.svg).write_text(tree.to_svg(), encoding="utf-8")
            return
        for tree in trees:
            print(tree.pretty() + "\n")
