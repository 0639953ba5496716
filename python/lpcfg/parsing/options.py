"""The options of parsers, and the checks of their values."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np

from lpcfg.errors import InputError

__all__ = [
    "COMBINATIONS",
    "DECODERS",
    "MEMORY",
    "ParserOptions",
    "Pruning",
    "check_choice",
    "check_memory",
    "checked_pruning",
]

#: The objectives that the tree of a parse can maximise; see :class:`lpcfg.Parser`.
DECODERS = ("max-f1", "max-recall", "max-rule", "viterbi")

#: The ways to combine several grammars; see :class:`lpcfg.Parser`.
COMBINATIONS = ("posteriors", "trees")

#: The default number of bytes for the charts of a sentence: enough for several hundred words.
MEMORY = 1 << 30


class Pruning(NamedTuple):
    """Pruning thresholds: posterior probabilities below which parts of the chart are pruned.

    Both are from 0, which prunes nothing, to below 1. Higher thresholds make parsing faster and
    less accurate.

    Parameters
    ----------
    coarse : float
        The threshold after the first pass, over classes of symbols that differ only in annotation
        (default 5e-4).
    fine : float
        The threshold after the second pass, over the symbols of the grammar (default 1e-3).

    Examples
    --------
    >>> Pruning(fine=1e-6)
    Pruning(coarse=0.0005, fine=1e-06)

    """

    coarse: float = 5e-4
    fine: float = 1e-3


class ParserOptions(TypedDict, total=False):
    """The options of a parser that are not stored with its grammars; see :class:`lpcfg.Parser`."""

    decoder: str
    combine: str
    prune: Pruning | float | None


def checked_pruning(prune: Pruning | float | None) -> Pruning:
    """Both thresholds, from any of the forms that :class:`lpcfg.Parser` accepts.

    >>> checked_pruning(None), checked_pruning(1e-4)
    (Pruning(coarse=0.0, fine=0.0), Pruning(coarse=0.0001, fine=0.0001))
    """
    if not isinstance(prune, Pruning):
        prune = Pruning(0.0, 0.0) if prune is None else Pruning(prune, prune)
    for name, threshold in prune._asdict().items():
        if not isinstance(threshold, (int, float, np.floating)) or not 0.0 <= threshold < 1.0:
            raise InputError(
                f"the {name} threshold must be from 0 to below 1, not {threshold!r}",
                argument="prune",
            )
    return prune


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise an :class:`InputError` unless the value of an argument is one of the choices.

    >>> check_choice("combine", "both", COMBINATIONS)
    Traceback (most recent call last):
    lpcfg.errors.InputError: combine: must be one of posteriors, trees, not 'both'
    """
    if value not in choices:
        raise InputError(f"must be one of {', '.join(choices)}, not {value!r}", argument=name)


def check_memory(memory: int) -> None:
    """Raise an :class:`InputError` unless this is a positive number of bytes below 2^63.

    >>> check_memory(0)
    Traceback (most recent call last):
    lpcfg.errors.InputError: memory: must be a positive number of bytes, not 0
    """
    if not isinstance(memory, int) or not 0 < memory < 1 << 63:
        raise InputError(f"must be a positive number of bytes, not {memory!r}", argument="memory")
