"""Families of models with noise: their options and their training."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lpcfg.cli._common import count, given, number, progress, report, several
from lpcfg.errors import InputError, ModelFileError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.clustering.estimator import ClusteringEstimator
from lpcfg.estimators.features.noise import NOISE_KINDS
from lpcfg.estimators.noisy_models import NoisyModels, projecting
from lpcfg.io import examine
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["add_family", "check_folder", "family_defaults", "noisy_models", "train_family"]


def add_family(parser: argparse.ArgumentParser, about: str) -> None:
    """Declare the options of noise; ``about`` is the help of ``--noise``.

    >>> parser = argparse.ArgumentParser()
    >>> add_family(parser, "train several models")
    >>> options = parser.parse_args(["--noise", "add,mul", "--sigma", "0.1,0.2"])
    >>> options.noise, options.sigma
    (['add', 'mul'], [0.1, 0.2])
    """
    defaults = NoisyModels(ClusteringEstimator())
    group = parser.add_argument_group("several models with noise (spectral, clustering, pivot)")
    group.add_argument(
        "--noise",
        type=several(str),
        metavar="KIND[,KIND...]",
        help=f"{about}; the kinds are {', '.join(NOISE_KINDS)}",
    )
    group.add_argument(
        "--sigma",
        type=several(number),
        metavar="S[,S...]",
        help="the amounts of noise; models cycle through all kinds and amounts "
        f"(default: {','.join(map(str, defaults.sigmas))})",
    )
    group.add_argument(
        "--literal-noise",
        action="store_true",
        help="noise as literally in Narayan & Cohen (2015): of the same size in all coordinates, "
        "and after dropout only the remaining features are projected",
    )
    group.add_argument(
        "--models",
        type=count,
        metavar="N",
        help=f"the number of models (default: {defaults.models})",
    )


def family_defaults(estimator: type[Estimator]) -> dict[str, object]:
    """The defaults of an estimator that differ for families of models.

    One run of k-means is enough: with more, ensembles of many models do no better.

    >>> family_defaults(ClusteringEstimator)
    {'restarts': 1}
    """
    return {"restarts": 1} if "restarts" in estimator.parameters() else {}


def check_folder(target: Path) -> None:
    """Raise an InputError for a folder that cannot be made, before a model is trained for it.

    >>> check_folder(Path("missing", "models"))
    Traceback (most recent call last):
    lpcfg.errors.InputError: missing/models: there is no folder missing; make it first
    """
    if target.exists() and not target.is_dir():
        raise InputError("this is a file; name a folder for the models", path=target)
    if _kind(target) in ("reranker", "ensemble"):
        raise InputError(
            "this is the folder of a reranker or an ensemble, which would not use "
            "other models; name another folder",
            path=target,
        )
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent}; make it first", path=target)


def _kind(folder: Path) -> str | None:
    """The kind of model that a folder holds, if it holds one."""
    try:
        return examine(folder).kind
    except (FileNotFoundError, ModelFileError):
        return None


def train_family(family: NoisyModels, treebank: Treebank, target: Path, quiet: bool) -> None:
    """Train models with noise, and report where they were saved.

    >>> from lpcfg import PCFGEstimator, Tree
    >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
    >>> train_family(NoisyModels(PCFGEstimator()), treebank, Path("models"), quiet=True)
    Traceback (most recent call last):
    lpcfg.errors.InputError: estimator: only spectral, clustering and pivot support noise
    """
    files = family.train(treebank, target, report=lambda text: report(text, quiet))
    size = sum(file.stat().st_size for file in files)
    report(f"{len(files)} models in {target}, {size / 1e6:.1f} MB", quiet)


def noisy_models(
    estimator: Estimator,
    options: argparse.Namespace,
    transforms: Sequence[Transform] = (),
    features: Sequence[str] = (),
) -> NoisyModels:
    """The family of models of the command line; an error if the estimator does not support noise.

    >>> parser = argparse.ArgumentParser()
    >>> add_family(parser, "train several models")
    >>> options = parser.parse_args(["--models", "5"], argparse.Namespace(jobs=1))
    >>> noisy_models(ClusteringEstimator(), options).models
    5
    """
    family = NoisyModels(
        projecting(estimator),
        n_jobs=options.jobs,
        progress=lambda models: progress(models, options.quiet, unit=" models"),
        transforms=transforms,
        features=features,
        literal=options.literal_noise,
        **given(kinds=options.noise, sigmas=options.sigma, models=options.models),
    )
    # Invalid values are reported here, before a treebank is read.
    family.validate()
    if family.models < family.variants:
        report(
            f"{family.models} models have {family.models} of the {family.variants} pairs of a tree "
            "transform and a feature set",
            options.quiet,
        )
    return family
