"""The options of parsers, and the checks of their values."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np

from lpcfg.errors import InputError

__all__ = [
    "COMBINATIONS",
    "DECODERS",
    "MAX_LENGTH",
    "MEMORY",
    "ParserOptions",
    "Pruning",
    "check_choice",
    "check_decoder",
    "check_memory",
    "check_timeout",
    "checked_pruning",
    "timeout_share",
]

#: The objectives that the tree of a parse can maximise; see :class:`lpcfg.Parser`.
DECODERS = ("max-f1", "max-recall", "max-rule", "viterbi")

#: Those of neural networks, whose trees have no rules.
_NEURAL_DECODERS = ("max-f1", "max-recall")

#: The ways to combine several grammars; see :class:`lpcfg.Parser`.
COMBINATIONS = ("posteriors", "trees")

#: The default number of bytes for the charts of a sentence: enough for several hundred words.
MEMORY = 1 << 30


#: The default number of words up to which a sentence is parsed as a whole. The time of a chart
#: grows with the cube of the number of words.
MAX_LENGTH = 200


#: The largest timeout, in seconds: about thirty years.
_MAX_TIMEOUT = 1e9


class Pruning(NamedTuple):
    """Pruning: which parts of the chart are not filled, or are dropped between passes.

    The thresholds ``coarse``, ``fine`` and ``members`` are from 0, which prunes nothing, to below
    1. Higher thresholds make parsing faster and less accurate.

    Parameters
    ----------
    coarse : float
        The threshold after the first pass, over classes of symbols that differ only in annotation
        (default 5e-4).
    fine : float
        The threshold after the second pass, over the symbols of the grammar (default 1e-3).
    spans : float
        The fraction of correct spans, measured on trees that were held out of training, that the
        span filter of a grammar leaves open before the first pass (default 0.995). From 0.9, which
        is fastest, to 1, which uses no filter. If no tree is found, all spans are opened.
    members : float or None
        Of several models, what the first considers less probable than this is closed for the
        others: labelled spans of the members of an :class:`~lpcfg.Ensemble`, whose first pass is
        left out, and items of grammars over one chart. With 0, and if several candidates are
        wanted, models do not depend on each other. With None (default), this is 3e-3 for members
        of an ensemble that come after a neural network, which parse twice as fast and hardly
        differ, and 0 for others: after a grammar, F1 falls by 0.1 to 0.4 points.

    Examples
    --------
    >>> Pruning(fine=1e-6)
    Pruning(coarse=0.0005, fine=1e-06, spans=0.995, members=None)

    """

    coarse: float = 5e-4
    fine: float = 1e-3
    spans: float = 0.995
    members: float | None = None


class ParserOptions(TypedDict, total=False):
    """The options of :class:`lpcfg.Parser` that ensembles store with their members."""

    decoder: str
    combine: str
    prune: Pruning | float | None


def checked_pruning(prune: Pruning | float | None) -> Pruning:
    """All thresholds, from any of the forms that :class:`lpcfg.Parser` accepts.

    >>> checked_pruning(None)
    Pruning(coarse=0.0, fine=0.0, spans=1.0, members=0.0)
    >>> checked_pruning(1e-4)
    Pruning(coarse=0.0001, fine=0.0001, spans=1.0, members=0.0)
    """
    if not isinstance(prune, Pruning):
        threshold = 0.0 if prune is None else prune
        prune = Pruning(threshold, threshold, 1.0, 0.0)
    for name in ("coarse", "fine", "members"):
        threshold = getattr(prune, name)
        if name == "members" and threshold is None:
            continue
        if not isinstance(threshold, (int, float, np.floating)) or not 0.0 <= threshold < 1.0:
            raise InputError(
                f"the {name} threshold must be from 0 to below 1, not {threshold!r}",
                argument="prune",
            )
    if not isinstance(prune.spans, (int, float, np.floating)) or not 0.9 <= prune.spans <= 1.0:
        raise InputError(
            f"the fraction of spans left open must be from 0.9 to 1, not {prune.spans!r}",
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


def check_decoder(decoder: str, *, latent: bool, neural: bool) -> None:
    """Raise an :class:`InputError` for a decoder that a grammar does not have.

    ``latent``: whether the grammar has latent states. ``neural``: whether it is a neural network.

    >>> check_decoder("viterbi", latent=False, neural=True)
    Traceback (most recent call last):
    lpcfg.errors.InputError: decoder: a neural network has max-f1 and max-recall, not viterbi
    """
    check_choice("decoder", decoder, DECODERS)
    if decoder == "viterbi" and latent:
        raise InputError(
            "the best tree of a grammar with latent states cannot be found by viterbi; "
            "use max-f1, max-recall or max-rule",
            argument="decoder",
        )
    if neural and decoder not in _NEURAL_DECODERS:
        raise InputError(
            f"a neural network has {' and '.join(_NEURAL_DECODERS)}, not {decoder}",
            argument="decoder",
        )


def check_memory(memory: int) -> None:
    """Raise an :class:`InputError` unless this is a positive number of bytes below 2^63.

    >>> check_memory(0)
    Traceback (most recent call last):
    lpcfg.errors.InputError: memory: must be a positive number of bytes, not 0
    """
    if not isinstance(memory, int) or not 0 < memory < 1 << 63:
        raise InputError(f"must be a positive number of bytes, not {memory!r}", argument="memory")


def check_timeout(timeout: float | None) -> None:
    """Raise an :class:`InputError` unless this is a positive number of seconds or None.

    >>> check_timeout(-1)
    Traceback (most recent call last):
    lpcfg.errors.InputError: timeout: must be a positive number of seconds, not -1
    """
    if timeout is None:
        return
    if not isinstance(timeout, (int, float, np.floating)) or not 0 < timeout <= _MAX_TIMEOUT:
        raise InputError(
            f"must be a positive number of seconds, not {timeout!r}", argument="timeout"
        )


def timeout_share(timeout: float | None, parsers: int) -> float | None:
    """The time that each of several parsers has for a sentence, one after the other.

    >>> timeout_share(3.0, 2), timeout_share(None, 2)
    (1.5, None)
    """
    return None if timeout is None else timeout / parsers
