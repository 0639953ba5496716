"""The options of rerankers on the command line."""

from __future__ import annotations

import argparse
from typing import Any

from lpcfg.cli._common import count, given
from lpcfg.errors import InputError
from lpcfg.reranking.reranker import Reranker

__all__ = ["RERANKING", "add_reranking", "check_reranking", "reranking_options"]

#: Options that do nothing without ``--rerank``.
RERANKING = ("candidates", "folds")


def add_reranking(group: argparse._ArgumentGroup, about: str) -> None:
    """Declare the options of rerankers; ``about`` is the help of ``--rerank``.

    >>> parser = argparse.ArgumentParser()
    >>> add_reranking(parser.add_argument_group("reranking"), "choose")
    >>> parser.parse_args(["--rerank", "--folds", "3"]).folds
    3
    """
    defaults = Reranker()
    group.add_argument("--rerank", action="store_true", help=about)
    group.add_argument(
        "--candidates",
        type=count,
        metavar="K",
        help="the number of trees that each parser proposes to the reranker "
        f"(default: {defaults.candidates})",
    )
    group.add_argument(
        "--folds",
        type=count,
        metavar="N",
        help="the number of folds for cross-fitting: each fold is parsed by a grammar trained on "
        f"the others, and the reranker is trained on these parses (default: {defaults.folds})",
    )


def check_reranking(options: argparse.Namespace) -> None:
    """Raise an InputError for values that cannot be used, and for options without effect.

    >>> check_reranking(argparse.Namespace(rerank=False, candidates=None, folds=3, jobs=1))
    Traceback (most recent call last):
    lpcfg.errors.InputError: --folds does nothing without --rerank
    """
    for option in RERANKING:
        if getattr(options, option) is not None and not options.rerank:
            raise InputError(f"--{option} does nothing without --rerank", argument=f"--{option}")
    Reranker(**reranking_options(options)).validate()


def reranking_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options of :class:`~lpcfg.Reranker` that were given.

    >>> reranking_options(argparse.Namespace(candidates=None, folds=3, jobs=1))
    {'n_jobs': 1, 'folds': 3}
    """
    return {"n_jobs": options.jobs, **given(candidates=options.candidates, folds=options.folds)}
