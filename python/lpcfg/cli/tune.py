"""``lpcfg tune``: search for the best hyper-parameters of an estimator."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from tqdm import tqdm

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_quiet,
    add_reading,
    add_seed,
    count,
    number,
    reading_options,
    report,
)
from lpcfg.cli._estimators import (
    EstimatorCommand,
    add_estimator_choice,
    add_estimator_options,
    build_estimator,
    estimator_options,
    given_files,
)
from lpcfg.cli._noisy_models import check_folder
from lpcfg.errors import InputError, TreebankError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.registry import DEFAULT_ESTIMATOR, estimator_class
from lpcfg.estimators.transformed import Transformed
from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.experiments.report import table_lines
from lpcfg.experiments.trials import Row
from lpcfg.io import save
from lpcfg.parsing.parser import Parser
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.reader import ReadReport, read_forest
from lpcfg.treebank.treebank import Treebank
from lpcfg.tuning.report import write_report
from lpcfg.tuning.search import JOURNAL, tune
from lpcfg.tuning.space import Choice, Range

__all__ = ["add"]

#: The number of trials that are printed; all are in the table in the folder.
_SHOWN = 5


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "search for the parameters of an estimator with the highest F1 on development trees"
    declared = add_command(commands, "tune", _tune, about)
    commands.choices["tune"] = EstimatorCommand(declared.prog, about, _build_parser)


def _build_parser(
    prog: str, description: str | None, estimator: str | None
) -> argparse.ArgumentParser:
    name = estimator or DEFAULT_ESTIMATOR
    parser = argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog="Options of the estimator fix a parameter: --states 8 searches for the others. "
        "lpcfg tune --estimator NAME --help shows the options of an estimator.",
    )
    parser.set_defaults(run=_tune, parser=parser)
    parser.add_argument("train", help="training trees: a file, a folder, a pattern")
    parser.add_argument("dev", help="development trees, on which F1 is measured")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FOLDER",
        help="where trials, the best model, a table and pictures go; a search that was interrupted "
        "goes on, and several commands can work on one folder at once",
    )
    add_estimator_choice(parser)
    parser.add_argument(
        "--trials",
        type=count,
        default=50,
        metavar="N",
        help="the number of trials, with those that FOLDER already has (default: 50)",
    )
    parser.add_argument(
        "--timeout",
        type=number,
        metavar="SECONDS",
        help="begin no more trials after this time (default: no limit)",
    )
    parser.add_argument(
        "--search",
        action="append",
        default=[],
        type=_values,
        metavar="NAME=LOW:HIGH",
        help="the range of a parameter, or NAME=VALUE,VALUE,... for some values, in place of the "
        "values that are tried by default; can be repeated; binarize, vertical and horizontal of "
        "the tree transform are tried only if they are named",
    )
    parser.add_argument(
        "--sentences",
        type=count,
        metavar="N",
        help="use N development trees, at even distances (default: all)",
    )
    parser.add_argument(
        "--workers", type=count, default=1, metavar="N", help="the number of processes (default: 1)"
    )
    add_seed(parser, "the seed of the search and of the estimator")
    add_jobs(parser)
    add_reading(parser)
    add_quiet(parser)
    add_estimator_options(parser, name, hidden=estimator is None)
    return parser


def _values(text: str) -> tuple[str, Range | Choice]:
    """Values to try, as in ``ridge=0.1:2`` and ``features=compact,full``.

    >>> _values("ridge=0.1:2"), _values("smoothing-rules=5")
    (('ridge', Range(low=0.1, high=2)), ('smoothing__rules', Choice(values=(5,))))
    """
    name, _, values = text.partition("=")
    if not name or not values:
        raise argparse.ArgumentTypeError(f"expected NAME=LOW:HIGH or NAME=VALUE,..., not {text!r}")
    # The names of options have one hyphen where parts of parameters have two underscores.
    whole, hyphen, part = name.partition("-")
    parameter = f"{whole}__{part}" if hyphen and whole == "smoothing" else name.replace("-", "_")
    try:
        if ":" in values:
            low, high = (_value(each) for each in values.split(":"))
            if isinstance(low, str) or isinstance(high, str):
                raise ValueError
            return parameter, Range(low, high)
        return parameter, Choice(tuple(map(_value, values.split(","))))
    except (ValueError, InputError):
        raise argparse.ArgumentTypeError(
            f"expected a range of numbers such as 0.1:2, not {values!r}"
        ) from None


def _value(text: str) -> str | float:
    """An integer, or else a number, or else a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _tune(options: argparse.Namespace) -> None:
    folder = Path(options.output)
    check_folder(folder)
    for name in ("trials", "workers"):
        if getattr(options, name) < 1:
            raise InputError("must be at least 1", argument=f"--{name}")
    base = build_estimator(options)
    fixed = [name for name in estimator_options(options.estimator) if hasattr(options, name)]
    search = dict(options.search)
    if both := [name for name in fixed if name in search]:
        raise InputError(f"{both[0]} is fixed by an option; leave one out", argument="--search")
    read_report, dev_report = ReadReport(), ReadReport()
    cleaning = Cleaning()
    treebank = Treebank.read(
        options.train,
        cleaning=cleaning,
        transform=estimator_class(options.estimator).default_transform,
        **reading_options(options),
        report=read_report,
    )
    report(f"{options.train}: {read_report}", options.quiet)
    forest = read_forest(options.dev, **reading_options(options), report=dev_report)
    report(f"{options.dev}: {dev_report}", options.quiet)
    cleaned = cleaning.apply(forest).nonempty()
    gold = [tree for tree in cleaned.trees() if tree is not None]
    if not gold:
        raise TreebankError(f"no trees in {options.dev}")
    if options.sentences:
        gold = gold[:: max(1, len(gold) // options.sentences)][: options.sentences]

    def watched(rows: Iterable[Row]) -> Iterable[Row]:
        bar = tqdm(rows, disable=options.quiet or None, unit=" trials", total=options.trials)
        best = 0.0
        for row in bar:
            best = max(best, row.get("F1", 0.0))
            bar.set_postfix_str(f"best F1 {best:.2f}")
            yield row

    result = tune(
        base,
        treebank,
        gold,
        folder,
        search=search,
        fixed=fixed,
        trials=options.trials,
        timeout=options.timeout,
        seed=options.seed,
        workers=options.workers,
        n_jobs=options.jobs,
        progress=watched,
    )
    print(*table_lines(result.rows[:_SHOWN]), sep="\n")
    report(
        f"{len(result.rows)} trials completed and {result.stopped} stopped early, all in "
        f"{folder / JOURNAL}",
        options.quiet,
    )
    pictures = find_spec("matplotlib") is not None
    write_report(folder, result, pictures=pictures)
    if not pictures:
        report("no pictures: they need matplotlib, pip install 'lpcfg[plots]'", options.quiet)
    best = folder / "best.lpcfg"
    grammar = result.estimator.fit(treebank).grammar_
    save(grammar, best)
    f1 = evaluate_parser(Parser(grammar, n_jobs=options.jobs), gold).scores.f1
    report(f"{grammar}\nsaved to {best}, F1 {f1:.2f}; to train it again:", options.quiet)
    print(shlex.join(_command(options, result.estimator, best)))


def _command(options: argparse.Namespace, estimator: Estimator, model: Path) -> list[str]:
    """The command that trains the best model."""
    chosen: dict[str, object] = {}
    if isinstance(estimator, Transformed):
        transform, estimator = estimator.transform, estimator.estimator
        default = estimator.default_transform
        chosen = {
            name: getattr(transform, name)
            for name in ("binarize", "vertical", "horizontal")
            if getattr(transform, name) != getattr(default, name)
        }
    values = estimator.get_params()
    defaults = type(estimator)().get_params()
    chosen |= {
        name: values[name]
        for name in estimator_options(estimator.name)
        if values[name] != defaults[name] and isinstance(values[name], (str, int, float, tuple))
    }
    chosen |= {name: value.name for name, value in values.items() if isinstance(value, Estimator)}
    chosen |= given_files(options)
    words = ["lpcfg", "train", options.train, "-o", str(model), "--estimator", estimator.name]
    words += ["--seed", str(options.seed), *_reading_arguments(options)]
    for name, value in chosen.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name.replace('__', '-').replace('_', '-')}", text]
    return words


def _reading_arguments(options: argparse.Namespace) -> list[str]:
    """The options by which trees were read, without defaults."""
    parser = argparse.ArgumentParser()
    add_reading(parser)
    return [
        word
        for name, default in vars(parser.parse_args([])).items()
        if (value := getattr(options, name)) != default
        for word in (f"--{name.replace('_', '-')}", value)
    ]
