"""``lpcfg ensemble``: make a weighted ensemble of models."""

from __future__ import annotations

import argparse
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_parsing,
    add_quiet,
    add_reading,
    file_path,
    load_parser,
    number,
    progress,
    reading_options,
    report,
)
from lpcfg.io.formats import check_new_folder
from lpcfg.io.models import save
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.treebank.reader import ReadReport, read_forest
from lpcfg.tuning.ensemble_weights import EnsembleWeights, learn_weights

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "make a weighted ensemble of models, with weights that are given or learnt from trees"
    parser = add_command(commands, "ensemble", _make, about)
    parser.add_argument(
        "models", nargs="+", type=file_path, help="model files and folders of models: the members"
    )
    parser.add_argument(
        "-o", "--output", type=file_path, required=True, metavar="FOLDER",
        help="the folder to make; it has copies of the models",
    )  # fmt: skip
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument(
        "--weights",
        type=lambda text: [number(item) for item in text.split(",")],
        metavar="W,W,...",
        help="the weight of each member, above 0",
    )
    chosen.add_argument(
        "--trees",
        nargs="+",
        metavar="TREEBANK",
        help="learn the weights that have the highest F1 on these gold trees, which no member may "
        "have learnt from; members that do not help are left out",
    )
    add_reading(parser)
    add_parsing(parser)
    add_quiet(parser)


def _make(options: argparse.Namespace) -> None:
    check_new_folder(options.output)
    members = [load_parser(path, options) for path in options.models]
    combine = options.combine or "posteriors"
    weights = options.weights or [1.0] * len(members)
    ensemble = Ensemble(members, weights=weights, combine=combine, n_jobs=options.jobs)
    if options.trees:
        found = _learnt(ensemble, options)
        print(_table(options.models, found))
        kept = [number for number, weight in enumerate(found.weights) if weight > 0]
        ensemble = Ensemble(
            [ensemble.members[number] for number in kept],
            weights=[found.weights[number] for number in kept],
            combine=combine,
            n_jobs=options.jobs,
        )
    save(ensemble, options.output)
    size = sum(file.stat().st_size for file in Path(options.output).rglob("*.lpcfg"))
    report(f"saved to {options.output}, {size / 1e6:.1f} MB", options.quiet)


def _learnt(ensemble: Ensemble, options: argparse.Namespace) -> EnsembleWeights:
    read_report = ReadReport()
    forest = read_forest(options.trees, **reading_options(options), report=read_report)
    report(str(read_report), options.quiet)
    cleaned = ensemble.grammar.cleaning.apply(forest).nonempty()
    return learn_weights(
        ensemble,
        [tree for tree in cleaned.trees() if tree is not None],
        progress=lambda rounds: progress(rounds, options.quiet, unit=" rounds"),
    )


def _table(names: list[str], found: EnsembleWeights) -> str:
    """The members with their F1 and weights, and F1 of the ensemble."""
    equal, learnt = "together, equal weights", "together, these weights"
    width = max(map(len, [*names, equal, learnt]))
    rows = [f"{'':{width}}     F1  weight"]
    for name, f1, weight in zip(names, found.member_f1, found.weights, strict=True):
        rows.append(f"{name:{width}}  {f1:5.2f}  {weight:6}")
    rows.append(f"{equal:{width}}  {found.equal_f1:5.2f}")
    rows.append(f"{learnt:{width}}  {found.f1:5.2f}")
    return "\n".join(rows)
