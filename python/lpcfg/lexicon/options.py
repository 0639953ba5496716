"""Options of the lexicon: how words are classed and smoothed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from lpcfg.errors import InputError

__all__ = ["LexiconOptions"]

Classes = Literal["english", "learnt", "tag"]


@dataclass(frozen=True)
class LexiconOptions:
    """How words are classed and smoothed.

    ``rare``: words seen up to so often feed the counts of their classes.
    ``replace``: rare words are replaced by their classes and not known themselves.
    ``lowercase_initial``: see :class:`lpcfg.lexicon.lexicon.Lexicon`.
    ``word_smoothing``, ``class_smoothing``, ``chain_smoothing``: strengths, in tokens, of the
    priors of P(tag | word), P(tag | class) and P(symbol | tag, emission).
    ``prune``: entries that are due to smoothing alone go if P(symbol | emission) is lower.
    ``class_limit``, ``class_support``: see :meth:`LearntClasses.learn`.

    The defaults were chosen on the development part of GUM, size of the table included.

    >>> LexiconOptions.plain(rare=5).replace
    True
    """

    classes: Classes = "learnt"
    rare: int = 20
    replace: bool = False
    lowercase_initial: bool = True
    word_smoothing: float = 0.4
    class_smoothing: float = 30.0
    chain_smoothing: float = 5.0
    prune: float = 1e-4
    class_limit: int = 200
    class_support: int = 10

    def __post_init__(self) -> None:
        if self.classes not in get_args(Classes):
            choices = ", ".join(get_args(Classes))
            raise InputError(f"classes must be one of {choices}, not {self.classes!r}")
        for name in ("rare", "class_limit", "class_support"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")
        for name in ("word_smoothing", "class_smoothing", "chain_smoothing"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(
                    f"{name} must be a finite number from 0, not {getattr(self, name)}"
                )
        if not 0 <= self.prune < 1:
            raise InputError(f"prune must be a probability below 1, not {self.prune}")

    @classmethod
    def plain(cls, classes: Classes = "english", rare: int = 5) -> LexiconOptions:
        """Rare words replaced by their classes, relative frequencies, no smoothing (Peng 2021).

        >>> LexiconOptions.plain().word_smoothing
        0.0
        """
        return cls(
            classes=classes,
            rare=rare,
            replace=True,
            lowercase_initial=False,
            word_smoothing=0.0,
            class_smoothing=0.0,
            chain_smoothing=0.0,
        )
