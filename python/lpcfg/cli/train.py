"""``lpcfg train``: learn a grammar from a treebank."""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_on_error,
    add_quiet,
    add_seed,
    check_target,
    count,
    one_of,
    progress,
    say,
    several,
)
from lpcfg.cli._estimators import (
    add_estimators,
    build_estimator,
    default_vertical,
    lexicon_options,
)
from lpcfg.cli._noisy_models import add_family, check_folder, noisy_models, train_family
from lpcfg.cli._reranking import add_reranking, check_reranking, reranking_options
from lpcfg.errors import InputError
from lpcfg.io import save
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.reranking.reranker import Reranker
from lpcfg.sequence.tagger import Tagger
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.reader import ReadReport
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["add"]

#: Options, and those without which they do nothing.
_NEEDED = {"sigma": "noise", "models": "noise"}

#: Options of which there can be several where there are several models.
_TURNS = ("binarize", "vertical", "horizontal", "features")


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(commands, "train", _train, "learn a grammar from a treebank")
    parser.add_argument(
        "treebank", nargs="+", help="files, folders or patterns of bracketed trees; - for stdin"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    add_on_error(parser)
    add_seed(parser, "for estimators that draw random numbers; pcfg does not")
    _add_transform(
        parser.add_argument_group(
            "how trees become binary",
            "With --noise, several of SIDE, V and H can be given, with commas between them: models "
            "take turns with all forms of trees, so that they differ more.",
        )
    )
    _add_cleaning(parser.add_argument_group("what is removed from trees"))
    _add_lexicon(parser.add_argument_group("words"))
    parser.add_argument(
        "--tagger", metavar="FILE", help="learn a part-of-speech tagger too, and write it here"
    )
    add_estimators(parser)
    add_family(
        parser,
        "train models that differ by noise, and save them to the folder MODEL, which other "
        "commands take in place of one model; those that are there already are not trained again",
    )
    add_jobs(parser)
    add_reranking(
        parser.add_argument_group("choosing among the best trees"),
        "learn a reranker over the best trees of the grammar; MODEL becomes a folder",
    )
    add_quiet(parser)


def _add_transform(group: argparse._ArgumentGroup) -> None:
    defaults = Transform()
    group.add_argument(
        "--binarize",
        type=several(one_of("left", "right")),
        default=[defaults.binarize],
        metavar="SIDE",
        help=f"the side to which long rules branch, left or right (default: {defaults.binarize})",
    )
    group.add_argument(
        "--vertical",
        type=several(count),
        metavar="V",
        help=f"ancestors remembered (default: {defaults.vertical}; 0 for estimators whose states "
        "find out about their context by themselves: clustering, pivot, em and split-merge)",
    )
    group.add_argument(
        "--horizontal",
        type=several(_order),
        default=[defaults.horizontal],
        metavar="H",
        help=f"siblings remembered; inf for all (default: {defaults.horizontal})",
    )
    group.add_argument(
        "--annotate",
        choices=("original", "all"),
        default=defaults.annotate,
        help="nodes that remember ancestors: those of the tree (v < 1), or made ones too "
        f"(default: {defaults.annotate})",
    )
    group.add_argument("--plain-tags", action="store_true", help="tags do not remember ancestors")
    group.add_argument(
        "--keep-unary", action="store_true", help="unary rules instead of collapsed chains"
    )


def _order(text: str) -> int | None:
    return None if text == "inf" else count(text)


def _add_cleaning(group: argparse._ArgumentGroup) -> None:
    defaults = Cleaning()
    group.add_argument(
        "--function-tags",
        choices=("phrases", "all", "keep"),
        default=defaults.function_tags,
        help=f"whose function tags are cut off (default: {defaults.function_tags})",
    )
    group.add_argument(
        "--root-label",
        default=defaults.root_label,
        metavar="LABEL",
        help=f"the label of all roots; keep to leave them (default: {defaults.root_label})",
    )

    group.add_argument(
        "--keep-empty", action="store_true", help="keep traces and phrases without words"
    )
    group.add_argument(
        "--keep-repeated", action="store_true", help="keep nodes whose only child has their label"
    )


def _add_lexicon(group: argparse._ArgumentGroup) -> None:
    defaults = LexiconOptions()
    group.add_argument(
        "--word-classes",
        choices=("english", "learnt", "tag"),
        default=defaults.classes,
        help="classes of rare and unknown words: English ones, learnt from any language, or tags "
        f"(default: {defaults.classes})",
    )
    group.add_argument(
        "--rare",
        type=count,
        default=defaults.rare,
        metavar="N",
        help="words seen up to N times teach the classes of unknown words "
        f"(default: {defaults.rare})",
    )


def _check_options(options: argparse.Namespace) -> None:
    """Complain about options that exclude each other, and those that would do nothing."""
    if options.rerank and options.noise:
        raise InputError("--rerank and --noise: choose one, they make a folder each")
    if options.rerank and options.keep_cycles:
        raise InputError("--rerank and --keep-cycles: choose one, there are cycles in each fold")
    check_reranking(options)
    for option in _TURNS:
        if len(getattr(options, option) or ()) > 1 and not options.noise:
            raise InputError(f"--{option}: name one, or add --noise for models that take turns")
    for option, needed in _NEEDED.items():
        if getattr(options, option) is not None and not getattr(options, needed):
            raise InputError(f"--{option} does nothing without --{needed}")


def _transforms(options: argparse.Namespace) -> list[Transform]:
    """All forms of trees that were asked for."""
    collapse = not options.keep_unary
    verticals = options.vertical or [default_vertical(options)]
    return [
        Transform(
            binarize=side,
            horizontal=horizontal,
            vertical=vertical,
            annotate=options.annotate,
            annotate_preterminals=not options.plain_tags,
            collapse_root=collapse,
            collapse_inside=collapse,
            collapse_preterminals=collapse,
        )
        for vertical, horizontal, side in product(verticals, options.horizontal, options.binarize)
    ]


def _train(options: argparse.Namespace) -> None:
    target = Path(options.output)
    _check_options(options)
    if options.rerank and target.exists():
        raise InputError(f"{target}: there is something already; name a folder to make")
    if options.noise or options.rerank:
        check_folder(target)
    else:
        check_target(target, options.treebank)
    if options.tagger:
        check_target(Path(options.tagger), options.treebank)
        if Path(options.tagger).resolve() == target.resolve():
            raise InputError(f"{target}: grammar and tagger need a file each")
    estimator = build_estimator(options)
    transforms = _transforms(options)
    family = None
    if options.noise:
        # What all models have in common is that of the treebank and of the estimator.
        forms = transforms if len(transforms) > 1 else ()
        features = options.features if len(options.features) > 1 else ()
        family = noisy_models(estimator, options, forms, features)
    report = ReadReport()
    treebank = Treebank.read(
        options.treebank,
        cleaning=Cleaning(
            function_tags=options.function_tags,
            remove_empty=not options.keep_empty,
            merge_repeated=not options.keep_repeated,
            root_label=None if options.root_label == "keep" else options.root_label,
        ),
        transform=transforms[0],
        on_error=options.on_error,
        report=report,
    )
    say(str(report), options.quiet)
    if family is not None:
        train_family(family, treebank, target, options.quiet)
    elif options.rerank:
        reranker = Reranker(
            [estimator],
            progress=lambda folds: progress(folds, options.quiet, unit=" folds"),
            **reranking_options(options),
        )
        reranker.fit(treebank).save(target)
        size = sum(file.stat().st_size for file in target.iterdir())
        first = reranker.summary().splitlines()[0]
        say(f"{first}\nsaved to {target}, {size / 1e6:.1f} MB", options.quiet)
    else:
        grammar = estimator.fit(treebank).grammar_
        save(grammar, target)
        say(f"{grammar}\nsaved to {target}, {target.stat().st_size / 1e6:.1f} MB", options.quiet)
    if options.tagger:
        Tagger(lexicon=lexicon_options(options)).fit(treebank).save(options.tagger)
        say(f"its tagger saved to {options.tagger}", options.quiet)
