"""``lpcfg train --preset``: a model or an ensemble with one command."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lpcfg.cli._common import number, report
from lpcfg.cli._estimators import estimator_options, run_parameters
from lpcfg.errors import InputError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.presets import PRESETS
from lpcfg.estimators.registry import estimator_class
from lpcfg.estimators.spectral import SpectralEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load, save
from lpcfg.io.model_file import is_model_file
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_clusters import loaded_clusters
from lpcfg.treebank.treebank import Treebank
from lpcfg.tuning.treebank_defaults import MIN_TREES, TreebankDefaults, choose_defaults

#: The default CPU seconds of a search: a fraction of the training time of an ensemble.
_SEARCH = 120.0

#: The key of provenance with the settings that a search has chosen.
_CHOSEN = "chosen_settings"

#: The options of estimators that the members of presets have in common.
_SHARED = {"word_clusters"}

__all__ = ["add_preset", "check_preset", "is_ensemble", "train_preset"]


def add_preset(parser: argparse.ArgumentParser) -> None:
    """Declare ``--preset``.

    >>> parser = argparse.ArgumentParser()
    >>> add_preset(parser)
    >>> parser.parse_args(["--preset", "accurate"]).preset
    'accurate'
    """
    listed = "; ".join(f"{name}: {preset.description}" for name, preset in PRESETS.items())
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        metavar="NAME",
        help=f"train models that do well together, in place of --estimator. {listed}. MODEL is a "
        "folder if there are several; models that are there already are not trained again",
    )
    parser.add_argument(
        "--search",
        type=_seconds,
        metavar="SECONDS",
        help="with --preset, the CPU seconds in which Markovisation, word classes and the states "
        "of spectral grammars are chosen for this treebank by cross-validation; 0 keeps the "
        f"defaults (default: {_SEARCH:g})",
    )


def _seconds(text: str) -> float:
    """A type of arguments: a time, which is checked before a treebank is read."""
    seconds = number(text)
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number from 0, not {text!r}")
    return seconds


def check_preset(options: argparse.Namespace) -> None:
    """Raise an InputError for options of a single model.

    >>> check_preset(argparse.Namespace(estimator="em", preset="fast", noise=None, rerank=True))
    Traceback (most recent call last):
    lpcfg.errors.InputError: --preset and --rerank: choose one
    """
    others = [name for name in ("noise", "rerank") if getattr(options, name)]
    own = [name for name in estimator_options(options.estimator) if name not in _SHARED]
    others += [name for name in own if hasattr(options, name)]
    if others:
        option = others[0].replace("_", "-")
        raise InputError(f"--preset and --{option}: choose one", argument="--preset")


def is_ensemble(name: str | None) -> bool:
    """Whether a preset has several models, so that it is saved to a folder.

    >>> is_ensemble("accurate"), is_ensemble("fast"), is_ensemble(None)
    (True, False, False)
    """
    return name is not None and len(PRESETS[name].members) > 1


def train_preset(
    name: str,
    trees: Treebank,
    target: Path,
    options: argparse.Namespace,
    lexicon: LexiconOptions,
) -> None:
    """Train the models of a preset that are not there yet, and save each when it is trained."""
    preset = PRESETS[name]
    seconds = preset.seconds(len(trees), int((trees.word >= 0).sum()))
    report(f"{preset.description}: about {seconds:.0f} CPU seconds", options.quiet)
    several = is_ensemble(name)
    if several:
        target.mkdir(exist_ok=True)
    paths = [target / member.file_name(n) for n, member in enumerate(preset.members, start=1)]
    if not several:
        paths = [target]
    settings = _stored_settings(paths) if several else None
    if settings is None:
        binarize = any(member.binarize is None for member in preset.members)
        settings = _searched_settings(trees, options, lexicon, binarize=binarize)
    clusters = loaded_clusters(getattr(options, "word_clusters", None))
    for path, member in zip(paths, preset.members, strict=True):
        transform = settings.transform(member.transform(best=settings.binarize))
        treebank = trees.transformed(transform)
        is_spectral = SpectralEstimator.name in (member.estimator, member.latent)
        chosen = settings.spectral() if is_spectral else {}
        estimator = member.make(
            options.seed,
            lexicon=settings.lexicon(lexicon),
            word_clusters=clusters,
            **chosen,
            **run_parameters(
                estimator_class(member.estimator),
                seed=options.seed,
                jobs=options.jobs,
                quiet=options.quiet,
            ),
        )
        if several and is_model_file(path) and _is_done(path, estimator, treebank):
            report(f"{path} is there already", options.quiet)
            continue
        fitted = estimator.fit(treebank).grammar_
        grammar = replace(
            fitted, provenance={**fitted.provenance, _CHOSEN: dict(settings._asdict())}
        )
        save(grammar, path)
        report(f"{grammar}\nsaved to {path}, {path.stat().st_size / 1e6:.1f} MB", options.quiet)


def _searched_settings(
    trees: Treebank, options: argparse.Namespace, lexicon: LexiconOptions, *, binarize: bool
) -> TreebankDefaults:
    """The settings that a search chooses, with a report of its trials."""
    seconds = _SEARCH if options.search is None else options.search
    if seconds > 0 and len(trees) >= MIN_TREES:
        report(
            f"settings for this treebank, by F1 on held-out trees (--search {seconds:g}):",
            options.quiet,
        )
    settings = choose_defaults(
        trees,
        seconds=seconds,
        lexicon=lexicon,
        binarize=binarize,
        n_jobs=options.jobs,
        report=lambda trial: report(f"  {trial}", options.quiet),
    )
    report(f"chosen: {settings}", options.quiet)
    return settings


def _stored_settings(paths: Sequence[Path]) -> TreebankDefaults | None:
    """The settings of a model that is there already: all models of a folder have the same."""
    for path in paths:
        if is_model_file(path):
            grammar = load(path)
            if isinstance(grammar, Grammar) and _CHOSEN in grammar.provenance:
                return TreebankDefaults.from_dict(grammar.provenance[_CHOSEN])
    return None


def _is_done(path: Path, estimator: Estimator, treebank: Treebank) -> bool:
    """Whether a file has the model that would be trained; a different one is an error."""
    grammar = load(path)
    wanted = estimator.provenance(treebank)
    stored = grammar.provenance if isinstance(grammar, Grammar) else {}
    if any(stored.get(key) != value for key, value in wanted.items()):
        raise InputError(
            "this model was trained from other trees or with other options; name another folder",
            path=path,
        )
    return True
