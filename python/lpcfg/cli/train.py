"""``lpcfg train``: learn a grammar from a treebank."""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_quiet,
    add_reading,
    add_seed,
    check_target,
    count,
    one_of,
    progress,
    reading_options,
    report,
    several,
)
from lpcfg.cli._estimators import (
    EstimatorCommand,
    add_estimator_choice,
    add_estimator_options,
    build_estimator,
)
from lpcfg.cli._noisy_models import (
    add_family,
    check_folder,
    family_defaults,
    noisy_models,
    train_family,
)
from lpcfg.cli._presets import add_preset, check_preset, is_ensemble, train_preset
from lpcfg.cli._profile import add_profile, profiled
from lpcfg.cli._reranking import add_reranking, check_reranking, reranking_options
from lpcfg.cli._self_training import add_self_training, add_text, check_self_training
from lpcfg.errors import InputError
from lpcfg.estimators.registry import DEFAULT_ESTIMATOR, ESTIMATORS, estimator_class
from lpcfg.io import save
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_clusters import WordClusters
from lpcfg.profiling import phase
from lpcfg.reranking.reranker import Reranker
from lpcfg.sequence.tagger import Tagger
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.reader import ReadReport
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import NORMALIZATIONS, Treebank

__all__ = ["add"]

#: Options, and the options without which they have no effect.
_NEEDED = {"sigma": "noise", "models": "noise", "literal_noise": "noise"}

#: Options that accept several values with ``--noise``; models cycle through them.
_CYCLED = ("binarize", "vertical", "horizontal", "features")


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "learn a grammar from a treebank"
    declared = add_command(commands, "train", _train, about)
    commands.choices["train"] = EstimatorCommand(declared.prog, about, _build_parser)


def _build_parser(
    prog: str, description: str | None, estimator: str | None
) -> argparse.ArgumentParser:
    """The parser for an estimator; without one, the help leaves out the options of the default."""
    name = estimator or DEFAULT_ESTIMATOR
    parser = argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=_estimator_list(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Messages name the options of this parser, not of the one that finds the estimator.
    parser.set_defaults(run=profiled(_train), parser=parser, named_estimator=estimator)
    parser.add_argument(
        "treebank", nargs="+", help="files, folders or patterns of bracketed trees; - for stdin"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    add_estimator_choice(parser)
    add_preset(parser)
    add_estimator_options(parser, name, hidden=estimator is None)
    parser.add_argument(
        "--tagger", metavar="FILE", help="learn a part-of-speech tagger too, and write it here"
    )
    add_reading(parser)
    add_seed(parser, "the seed of estimators that draw random numbers")
    add_jobs(parser)
    add_profile(parser)
    add_quiet(parser)
    _add_transform(
        parser.add_argument_group(
            "tree transform",
            "With --noise, SIDE, V and H can be lists with commas: models cycle through them.",
        ),
        estimator_class(name).default_transform,
    )
    _add_cleaning(parser.add_argument_group("cleaning of trees"))
    _add_lexicon(parser.add_argument_group("words"))
    add_family(
        parser,
        "train models that differ by noise, and save them to the folder MODEL, which other "
        "commands accept in place of one model; models that already exist there are not trained "
        "again",
    )
    add_self_training(parser.add_argument_group("unlabelled text"))
    add_reranking(
        parser.add_argument_group("reranking"),
        "learn a reranker over the best trees of the grammar; MODEL becomes a folder",
    )
    return parser


def _estimator_list() -> str:
    width = max(map(len, ESTIMATORS))
    lines = [f"  {name:{width}}  {kind.description}" for name, kind in ESTIMATORS.items()]
    options = "lpcfg train --estimator NAME --help shows the options of an estimator."
    return "\n".join(["estimators:", *lines, "", options])


def _add_transform(group: argparse._ArgumentGroup, defaults: Transform) -> None:
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
        default=[defaults.vertical],
        metavar="V",
        help="vertical Markovisation: the number of ancestors in the label of a node "
        f"(default with this estimator: {defaults.vertical})",
    )
    group.add_argument(
        "--horizontal",
        type=several(_order),
        default=[defaults.horizontal],
        metavar="H",
        help="horizontal Markovisation: the number of siblings in the label of a binarisation "
        f"node; inf for all (default: {defaults.horizontal})",
    )
    group.add_argument(
        "--annotate",
        choices=("original", "all"),
        default=defaults.annotate,
        help="the nodes with ancestors in their labels: original nodes, or all, with binarisation "
        f"nodes (default: {defaults.annotate})",
    )
    group.add_argument(
        "--plain-tags", action="store_true", help="tags have no ancestors in their labels"
    )
    group.add_argument(
        "--keep-unary",
        action="store_true",
        help="keep unary rules instead of collapsing chains; only the estimator pcfg supports this",
    )


def _order(text: str) -> int | None:
    return None if text == "inf" else count(text)


def _root_label(text: str) -> str | None:
    if not text:
        raise argparse.ArgumentTypeError("expected a label, or keep to leave roots as they are")
    return None if text == "keep" else text


def _add_cleaning(group: argparse._ArgumentGroup) -> None:
    defaults = Cleaning()
    group.add_argument(
        "--function-tags",
        choices=("phrases", "all", "keep"),
        default=defaults.function_tags,
        help=f"which nodes lose their function tags (default: {defaults.function_tags})",
    )
    group.add_argument(
        "--label-separators",
        metavar="CHARACTERS",
        help="the characters that start function tags in labels (default: those of the style of "
        "the treebank, - and = in most)",
    )
    group.add_argument(
        "--root-label",
        type=_root_label,
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
        help="classes of rare and unknown words: English signatures, shapes and suffixes learnt "
        "from the treebank, or tags "
        f"(default: {defaults.classes})",
    )
    group.add_argument(
        "--unknown-words",
        choices=("classes", "log-linear"),
        default=defaults.unknown_words,
        help="the tags of unknown words: as probable as those of their classes, or by a log-linear "
        "model of prefixes, suffixes and shapes "
        f"(default: {defaults.unknown_words})",
    )
    group.add_argument(
        "--unknown-word-clusters",
        metavar="FILE",
        help="clusters of words that lpcfg words train has learnt from text: features of the "
        "log-linear model of unknown words, beside their spelling (default: none)",
    )
    group.add_argument(
        "--rare",
        type=count,
        default=defaults.rare,
        metavar="N",
        help="words seen up to N times are counted for the classes of unknown words "
        f"(default: {defaults.rare})",
    )
    group.add_argument(
        "--normalize",
        choices=NORMALIZATIONS,
        help="bring words to this Unicode normal form, here and before the model looks them up "
        "(default: words stay as they are)",
    )


def _check_options(options: argparse.Namespace) -> None:
    """Raise an InputError for options that exclude each other or have no effect."""
    if options.preset:
        check_preset(options)
        plain = _transforms(options.parser.parse_args(["-", "-o", "-"]))
        if options.named_estimator or _transforms(options) != plain:
            raise InputError(
                "it decides the estimators and the tree transforms; leave their options out",
                argument="--preset",
            )
    elif options.search is not None and not options.unlabelled:
        raise InputError("it does nothing without --preset", argument="--search")
    if options.unknown_word_clusters and options.unknown_words != "log-linear":
        raise InputError(
            "only a log-linear model has features of word clusters; add --unknown-words log-linear",
            argument="--unknown-word-clusters",
        )
    if options.rerank and options.noise:
        raise InputError(
            "--rerank and --noise: choose one, they write different kinds of folders",
            argument="--rerank",
        )
    if options.rerank and getattr(options, "keep_cycles", False):
        raise InputError(
            "--rerank and --keep-cycles: choose one, there are cycles in each fold",
            argument="--rerank",
        )
    if options.rerank and hasattr(options, "start"):
        raise InputError(
            "--rerank and --start: choose one, a fold has other symbols than --start",
            argument="--rerank",
        )
    check_reranking(options)
    check_self_training(options)
    for option in _CYCLED:
        if len(getattr(options, option, ())) > 1 and not options.noise:
            raise InputError(
                "several values need --noise; models cycle through them", argument=f"--{option}"
            )
    for option, needed in _NEEDED.items():
        if getattr(options, option) not in (None, False) and not getattr(options, needed):
            name = f"--{option.replace('_', '-')}"
            raise InputError(f"{name} does nothing without --{needed}", argument=name)


def _transforms(options: argparse.Namespace) -> list[Transform]:
    """All tree transforms of the command line."""
    collapse = not options.keep_unary
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
        for vertical, horizontal, side in product(
            options.vertical, options.horizontal, options.binarize
        )
    ]


def _train(options: argparse.Namespace) -> None:
    target = Path(options.output)
    _check_options(options)
    if options.rerank and target.exists():
        raise InputError("there is something already; name a folder to make", path=target)
    if options.noise or options.rerank or is_ensemble(options.preset):
        check_folder(target)
    else:
        check_target(target, options.treebank)
    if options.tagger:
        check_target(Path(options.tagger), options.treebank)
        if Path(options.tagger).resolve() == target.resolve():
            raise InputError("grammar and tagger need a file each", path=target)
    clusters = options.unknown_word_clusters
    lexicon = LexiconOptions(
        classes=options.word_classes,
        unknown_words=options.unknown_words,
        word_clusters=None if clusters is None else WordClusters.load(clusters),
        rare=options.rare,
    )
    kind = estimator_class(options.estimator)
    many = family_defaults(kind) if options.noise else {}
    estimator = build_estimator(options, lexicon=lexicon, **many)
    transforms = _transforms(options)
    family = None
    if options.noise:
        # A single transform is set on the treebank, and a single feature set on the estimator.
        features = getattr(options, "features", [])
        family = noisy_models(
            estimator,
            options,
            transforms=transforms if len(transforms) > 1 else (),
            features=features if len(features) > 1 else (),
        )
    read_report = ReadReport()
    with phase("reading, transforms"):
        treebank = Treebank.read(
            options.treebank,
            cleaning=Cleaning(
                function_tags=options.function_tags,
                separators=options.label_separators,
                remove_empty=not options.keep_empty,
                merge_repeated=not options.keep_repeated,
                root_label=options.root_label,
            ),
            transform=transforms[0],
            **reading_options(options),
            report=read_report,
        )
    treebank = treebank.normalized(options.normalize)
    report(str(read_report), options.quiet)
    if options.unlabelled:
        treebank = add_text(treebank, target, options, lexicon)
    if family is not None:
        train_family(family, treebank, target, options.quiet)
    elif options.preset:
        train_preset(options.preset, treebank, target, options, lexicon)
    elif options.rerank:
        reranker = Reranker(
            [estimator],
            progress=lambda folds: progress(folds, options.quiet, unit=" folds"),
            **reranking_options(options),
        )
        reranker.fit(treebank).save(target)
        size = sum(file.stat().st_size for file in target.iterdir())
        first = reranker.summary().splitlines()[0]
        report(f"{first}\nsaved to {target}, {size / 1e6:.1f} MB", options.quiet)
    else:
        grammar = estimator.fit(treebank).grammar_
        with phase("saving"):
            save(grammar, target)
        report(f"{grammar}\nsaved to {target}, {target.stat().st_size / 1e6:.1f} MB", options.quiet)
    if options.tagger:
        classes_alone = replace(lexicon, unknown_words="classes", word_clusters=None)
        Tagger(lexicon=classes_alone).fit(treebank).save(options.tagger)
        report(f"its tagger saved to {options.tagger}", options.quiet)
