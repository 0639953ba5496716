"""The part of ``lpcfg train`` that trains several models with noise."""

from __future__ import annotations

import argparse
from pathlib import Path

from lpcfg.clustering import ClusteringEstimator
from lpcfg.commands.common import count, progress, say
from lpcfg.errors import InputError
from lpcfg.estimator import Estimator
from lpcfg.noise import NOISES
from lpcfg.noisy_models import NoisyModels
from lpcfg.projected_treebank import ProjectingEstimator
from lpcfg.treebank import Treebank

__all__ = ["add_family", "check_folder", "noisy_models", "train_family"]


def add_family(parser: argparse.ArgumentParser) -> None:
    """Declare the options of noise.

    >>> parser = argparse.ArgumentParser()
    >>> add_family(parser)
    >>> options = parser.parse_args(["--noise", "add,mul", "--sigma", "0.1,0.2"])
    >>> options.noise, options.sigma
    (['add', 'mul'], [0.1, 0.2])
    """
    defaults = NoisyModels(ClusteringEstimator())
    group = parser.add_argument_group("several models (spectral, clustering)")
    group.add_argument(
        "--noise",
        type=lambda text: text.split(","),
        metavar="KIND[,KIND...]",
        help="train models that differ by noise, and save them to the folder MODEL, which other "
        f"commands take in place of one model; the kinds are {', '.join(NOISES)}. Models that are "
        "there already are not trained again",
    )
    group.add_argument(
        "--sigma",
        type=_numbers,
        default=defaults.sigmas,
        metavar="S[,S...]",
        help="how much noise; models take turns with all kinds and amounts "
        f"(default: {','.join(map(str, defaults.sigmas))})",
    )
    group.add_argument(
        "--models",
        type=count,
        default=defaults.models,
        metavar="N",
        help=f"how many models there are with noise (default: {defaults.models})",
    )


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def check_folder(target: Path) -> None:
    """Complain about a folder that cannot be made, before work is put into its content.

    >>> check_folder(Path("missing", "models"))
    Traceback (most recent call last):
    lpcfg.errors.InputError: missing/models: there is no folder missing; make it first
    """
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: this is a file; name a folder for the models")
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}; make it first")


def train_family(
    options: argparse.Namespace, estimator: Estimator, treebank: Treebank, target: Path
) -> None:
    """Train models with noise, and say where they are.

    >>> from lpcfg import PCFGEstimator, Tree
    >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
    >>> train_family(argparse.Namespace(), PCFGEstimator(), treebank, Path("models"))
    Traceback (most recent call last):
    lpcfg.errors.InputError: noise goes with the estimators spectral, clustering and pivot
    """
    family = noisy_models(estimator, options)
    files = family.train(treebank, target, say=lambda text: say(text, options.quiet))
    size = sum(file.stat().st_size for file in files)
    say(f"{len(files)} models in {target}, {size / 1e6:.1f} MB", options.quiet)


def noisy_models(estimator: Estimator, options: argparse.Namespace) -> NoisyModels:
    """The family of models that was asked for.

    >>> parser = argparse.ArgumentParser()
    >>> add_family(parser)
    >>> options = parser.parse_args(["--models", "5"], argparse.Namespace(jobs=1))
    >>> noisy_models(ClusteringEstimator(), options).models
    5
    """
    if not isinstance(estimator, ProjectingEstimator):
        raise InputError("noise goes with the estimators spectral, clustering and pivot")
    return NoisyModels(
        estimator,
        kinds=options.noise or NOISES,
        sigmas=options.sigma,
        models=options.models,
        n_jobs=options.jobs,
        progress=lambda models: progress(models, options.quiet, unit=" models"),
    )
