"""``lpcfg experiment``: train, evaluate, tabulate and plot; results are stored."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_quiet,
    add_reading,
    add_seed,
    count,
    reading_options,
    report,
    several,
)
from lpcfg.cli._estimators import parse_estimator, run_parameters
from lpcfg.cli._noisy_models import add_family, check_folder, family_defaults, noisy_models
from lpcfg.cli._reranking import RERANKING as RERANKING_OPTIONS
from lpcfg.cli._reranking import add_reranking, check_reranking, reranking_options
from lpcfg.errors import InputError, TreebankError
from lpcfg.estimators.registry import ESTIMATORS, estimator_class, make_estimator
from lpcfg.experiments.learning import Subject, learning_trial, nested_samples
from lpcfg.experiments.noise import COMBINATIONS, noise_trials
from lpcfg.experiments.report import draw_rows, mean_rows, table_lines
from lpcfg.experiments.sequences import LabelledTexts, read_labelled_texts, sequence_trials
from lpcfg.experiments.trials import Row, Trial, run_trials
from lpcfg.io.replacing import write_text
from lpcfg.reranking.reranker import Reranker
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.reader import ReadReport, read_forest
from lpcfg.treebank.tree import Tree

__all__ = ["add"]

#: What the trials of an experiment are made from.
Data = tuple[Any, Any]

# The number of times the training part is halved.
_HALVINGS = 4

# Numbers of states.
_NUMBERS = (1, 2, 4, 8, 16, 24, 32)

#: Options that apply to some experiments only, and these.
_EXPERIMENTS_OF_OPTION = {
    "sizes": ("size", "noise", "sequences"),
    "numbers": ("states", "sequences"),
    "runs": ("size", "states", "sequences"),
    "characters": ("sequences",),
    **dict.fromkeys(
        ["noise", "sigma", "literal_noise", "models", "rerank", *RERANKING_OPTIONS], ("noise",)
    ),
}


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "train, evaluate, tabulate and plot; stored results are not computed again"
    parser = add_command(commands, "experiment", _run, about)
    parser.add_argument(
        "experiment",
        choices=_EXPERIMENTS,
        help="; ".join(f"{name}: {choice.about}" for name, choice in _EXPERIMENTS.items()),
    )
    parser.add_argument(
        "train",
        help="training trees: a file, a folder, a pattern; for sequences, a file with a line for "
        "each text: its class, a tab, its words",
    )
    parser.add_argument("dev", help="gold trees, or labelled texts, to evaluate on")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FOLDER", help="where tables and plots go"
    )
    parser.add_argument(
        "--estimators",
        type=several(str),
        metavar="NAME[,NAME...]",
        help=f"of {', '.join(ESTIMATORS)}, each alone or with parameters, as in "
        "spectral:smoothing=0:ridge=0 (default: depends on the experiment)",
    )
    parser.add_argument(
        "--sizes",
        type=several(count),
        metavar="N[,N...]",
        help="size, noise, sequences: the numbers of training trees or texts (default: all; for "
        f"size and sequences also all, halved up to {_HALVINGS} times)",
    )
    parser.add_argument(
        "--numbers",
        type=several(count),
        metavar="M[,M...]",
        help="states, sequences: the numbers of states (default: "
        f"{','.join(map(str, _NUMBERS))}; for sequences 10)",
    )
    parser.add_argument(
        "--runs",
        type=count,
        default=1,
        metavar="N",
        help="size, states, sequences: means of N runs, with other samples and seeds (default: 1)",
    )
    parser.add_argument(
        "--characters", action="store_true", help="sequences: characters instead of words"
    )
    parser.add_argument(
        "--sentences",
        type=count,
        metavar="N",
        help="parse N sentences, at even distances (default: all)",
    )
    add_seed(parser, "the seed of samples and estimators")
    add_family(parser, "noise: the kinds of noise to compare (default: all)")
    add_reranking(
        parser.add_argument_group("reranking"),
        "noise: train a reranker over each combination, which takes long",
    )
    add_reading(parser)
    add_jobs(parser)
    add_quiet(parser)


def _run(options: argparse.Namespace) -> None:
    choice, folder = _EXPERIMENTS[options.experiment], Path(options.output)
    check_folder(folder)
    names = options.estimators or choice.estimators
    for name in names:
        if name.split(":")[0] not in ESTIMATORS:
            raise InputError(
                f"there is no {name!r}; choose from {', '.join(ESTIMATORS)}",
                argument="--estimators",
            )
        # Unknown parameters and values are errors too.
        parse_estimator(name)
    for option, experiments in _EXPERIMENTS_OF_OPTION.items():
        value = getattr(options, option)
        given = value is not None and value is not False and (option, value) != ("runs", 1)
        if given and options.experiment not in experiments:
            name = f"--{option.replace('_', '-')}"
            raise InputError(
                f"{name} does nothing in the experiment {options.experiment}", argument=name
            )
    if options.runs < 1:
        raise InputError("must be at least 1", argument="--runs")
    choice.check(options, names)
    data = choice.read(options)
    folder.mkdir(exist_ok=True)
    trials = list(_repeated(choice, options, names, data))
    target = folder / options.experiment
    log = target.with_suffix(".jsonl")
    report(f"{len(trials)} trials, whose results are kept in {log}", options.quiet)
    rows: list[Row] = []
    for row in run_trials(trials, log):
        # Rows are printed as soon as they are known, as trials may take long.
        print(*table_lines([row])[2 if rows else 0 :], sep="\n", flush=True)
        rows.append(row)
    if options.runs > 1:
        rows = mean_rows(rows, "run", choice.spread)
        print("", "means of the runs:", *table_lines(rows), sep="\n")
    text = "".join(f"{line}\n" for line in table_lines(rows))
    write_text(target.with_suffix(".md"), text)
    if find_spec("matplotlib") is None:
        report("no plot: this needs matplotlib, pip install 'lpcfg[plots]'", options.quiet)
    else:
        draw_rows(rows, target.with_suffix(".svg"), **choice.plot)


def _repeated(
    choice: _Experiment, options: argparse.Namespace, names: Sequence[str], data: Data
) -> Iterator[Trial]:
    """The trials of all runs; each run has a seed of its own."""
    for run in range(options.runs):
        own = argparse.Namespace(**{**vars(options), "seed": options.seed + run})
        for trial in choice.trials(own, names, *data):
            settings = {**trial.settings, "run": run} if options.runs > 1 else trial.settings
            yield trial._replace(settings=settings)


def _read_trees(options: argparse.Namespace) -> tuple[Forest, list[Tree]]:
    """The training trees, and the trees to evaluate on."""
    forest, parsed = (_forest(source, options) for source in (options.train, options.dev))
    gold = [tree for tree in parsed.trees() if tree is not None]
    if options.sentences:
        gold = gold[:: max(1, len(gold) // options.sentences)][: options.sentences]
    return forest, gold


def _read_texts(options: argparse.Namespace) -> tuple[LabelledTexts, LabelledTexts]:
    train, test = (
        read_labelled_texts(source, characters=options.characters)
        for source in (options.train, options.dev)
    )
    if options.sentences:
        step = max(1, len(test.texts) // options.sentences)
        kept = slice(0, step * options.sentences, step)
        test = LabelledTexts(test.texts[kept], test.labels[kept])
    return train, test


def _forest(source: str, options: argparse.Namespace) -> Forest:
    read_report = ReadReport()
    forest = read_forest(source, **reading_options(options), report=read_report)
    report(f"{source}: {read_report}", options.quiet)
    cleaned = Cleaning().apply(forest).nonempty()
    if not len(cleaned):
        raise TreebankError(f"no trees in {source}")
    return cleaned


def _subject(text: str, options: argparse.Namespace, **parameters: object) -> Subject:
    """An estimator with its own and the given parameters, and its default transform."""
    name, own = parse_estimator(text)
    kind = estimator_class(name)
    run = run_parameters(kind, seed=options.seed, jobs=options.jobs)
    estimator = make_estimator(name, **{**run, **parameters, **own})
    estimator.validate()
    return Subject(estimator, kind.default_transform)


def _size(
    options: argparse.Namespace, names: Sequence[str], forest: Forest, gold: list[Tree]
) -> Iterator[Trial]:
    halves = [len(forest) >> halvings for halvings in range(_HALVINGS, -1, -1)]
    sizes = options.sizes or [half for half in halves if half]
    samples = list(nested_samples(forest, sizes, options.seed))
    for name in names:
        for sample in samples:
            settings = {"estimator": name, "trees": len(sample)}
            subject = _subject(name, options)
            yield learning_trial(settings, subject, sample, gold, n_jobs=options.jobs)


def _check_states(_: argparse.Namespace, names: Sequence[str]) -> None:
    possible = [name for name, kind in ESTIMATORS.items() if "states" in kind.parameters()]
    if others := [name for name in names if name.split(":")[0] not in possible]:
        raise InputError(
            f"{others[0]} has no parameter states; choose from {', '.join(possible)}",
            argument="--estimators",
        )


def _states(
    options: argparse.Namespace, names: Sequence[str], forest: Forest, gold: list[Tree]
) -> Iterator[Trial]:
    for name in names:
        for number in options.numbers or _NUMBERS:
            settings = {"estimator": name, "states": number}
            subject = _subject(name, options, states=(number, number))
            yield learning_trial(settings, subject, forest, gold, n_jobs=options.jobs)


def _estimators(
    options: argparse.Namespace, names: Sequence[str], forest: Forest, gold: list[Tree]
) -> Iterator[Trial]:
    for name in names:
        subject = _subject(name, options)
        yield learning_trial({"estimator": name}, subject, forest, gold, n_jobs=options.jobs)


def _check_noise(options: argparse.Namespace, names: Sequence[str]) -> None:
    for name in names:
        noisy_models(_subject(name, options).estimator, options)
    check_reranking(options)


def _noise(
    options: argparse.Namespace, names: Sequence[str], forest: Forest, gold: list[Tree]
) -> Iterator[Trial]:
    sizes = options.sizes or [len(forest)]
    for name, sample in product(names, nested_samples(forest, sizes, options.seed)):
        kind = estimator_class(parse_estimator(name)[0])
        subject = _subject(name, options, **family_defaults(kind))
        folder = Path(options.output, f"{name.replace(':', '-')}-{len(sample)}-models")
        folder.mkdir(exist_ok=True)
        treebank = subject.transform.apply(sample)
        family = noisy_models(subject.estimator, options)
        reranker = Reranker(**reranking_options(options)) if options.rerank else None
        for trial in noise_trials(family, treebank, gold, folder, reranker):
            settings = {"estimator": name, "trees": len(sample), **trial.settings}
            yield trial._replace(settings=settings)


def _sequences(
    options: argparse.Namespace, _: Sequence[str], train: LabelledTexts, test: LabelledTexts
) -> Iterator[Trial]:
    halves = [len(train.texts) >> halvings for halvings in range(_HALVINGS, -1, -1)]
    yield from sequence_trials(
        train,
        test,
        sizes=options.sizes or [half for half in halves if half],
        states=options.numbers or (10,),
        seed=options.seed,
        n_jobs=options.jobs,
    )


def _check_sequences(options: argparse.Namespace, _: Sequence[str]) -> None:
    if options.estimators:
        raise InputError("it does nothing in the experiment sequences", argument="--estimators")


class _Experiment(NamedTuple):
    about: str
    trials: Callable[..., Iterable[Trial]]
    #: The default estimators.
    estimators: Sequence[str]
    #: Arguments of :func:`~lpcfg.experiments.report.draw_rows`.
    plot: dict[str, Any]
    #: Raises an InputError for invalid options, before treebanks are read.
    check: Callable[[argparse.Namespace, Sequence[str]], object] = lambda *_: None
    #: Reads the data that the trials get.
    read: Callable[[argparse.Namespace], Data] = _read_trees
    #: Columns whose smallest and largest values are shown beside the means of several runs.
    spread: Sequence[str] = ("F1",)


_EXPERIMENTS = {
    "size": _Experiment(
        "the number of trees against F1 with and without labels, and time",
        _size,
        ("pcfg", "spectral", "clustering"),
        {
            "across": "trees",
            "up": ("F1", "unlabelled F1", "training CPU s"),
            "logarithmic": ("trees", "training CPU s"),
        },
    ),
    "states": _Experiment(
        "the number of states against F1 with and without labels",
        _states,
        ("spectral", "clustering"),
        {
            "across": "states",
            "up": ("F1", "unlabelled F1"),
            "logarithmic": ("states",),
        },
        _check_states,
    ),
    "estimators": _Experiment(
        "all estimators side by side",
        _estimators,
        tuple(ESTIMATORS),
        {"across": "sentences / CPU s", "up": ("F1",)},
    ),
    "noise": _Experiment(
        "kinds of noise by ways to combine models, with oracle scores",
        _noise,
        ("clustering",),
        {
            "across": "noise",
            "up": (*COMBINATIONS, "oracle"),
            "together": True,
        },
        _check_noise,
    ),
    "sequences": _Experiment(
        "classification of texts by expected counts of an HMM, by the number of labelled texts",
        _sequences,
        (),
        {
            "across": "texts",
            "up": ("accuracy",),
            "by": "features",
            "logarithmic": ("texts",),
        },
        _check_sequences,
        _read_texts,
        ("accuracy",),
    ),
}
