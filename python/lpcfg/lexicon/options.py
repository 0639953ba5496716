"""Parameters of the estimation of lexicons: word classes and smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Literal, get_args

from lpcfg.errors import InputError
from lpcfg.parameters.constraints import Instance
from lpcfg.parameters.parameterized import parameter

if TYPE_CHECKING:
    from lpcfg.lexicon.word_clusters import WordClusters

__all__ = ["LEXICON", "LexiconOptions", "UnknownWords"]

Classes = Literal["english", "learnt", "tag"]
UnknownWords = Literal["classes", "log-linear"]


@dataclass(frozen=True)
class LexiconOptions:
    """Parameters of the estimation of a lexicon.

    ``classes``: the classes of rare and unknown words. ``"learnt"``: shapes and suffixes that
    predict the tags of the treebank's rare words, for any language. ``"english"``: the signatures
    of the Berkeley parser (Peng 2021, chapter 6). ``"tag"``: the tags themselves, for sentences
    whose tags are known (Cohen et al. 2013). Default ``"learnt"``.
    ``unknown_words``: how unknown words get the probabilities of their tags. ``"classes"``: from
    their classes. ``"log-linear"``: a log-linear model of prefixes, suffixes and shapes changes
    those of the class for each word; see :mod:`lpcfg.lexicon.tag_model`. Default ``"classes"``.
    ``word_clusters``: clusters of words that ``lpcfg words train`` has learnt from text, or the
    path of their file, which is read at once. The log-linear model has features of them, which
    helps with words that the treebank lacks and the text has. Default None.
    ``rare``: words that occur at most this often are counted for their classes, and the log-linear
    model learns from them. Default 20.
    ``replace``: whether rare words are replaced by their classes, and so unknown to the lexicon.
    Default False: they also have entries as words.
    ``lowercase_initial``: whether unknown words at the beginning of a sentence are replaced by
    their lower-case forms if these are known. Default True.
    ``word_smoothing``: the prior count, in tokens, of the word's class in P(tag | word); 0 uses
    relative frequencies. Default 0.4.
    ``class_smoothing``: the prior count of the more general class in P(tag | class). Default 30.
    ``chain_smoothing``: the prior count of P(symbol | tag) in P(symbol | tag, emission), where
    symbols are unary chains above a tag. Default 5.
    ``prune``: entries that are due to smoothing alone are dropped if P(symbol | emission) is lower.
    Higher values make smaller lexicons. Default 1e-4.
    ``class_limit``: the largest number of learnt classes. Default 200.
    ``class_support``: the smallest number of distinct words of a learnt class. Default 10.

    The defaults were chosen by F1 and lexicon size on the development part of GUM.

    >>> LexiconOptions.plain(rare=5).replace
    True
    """

    classes: Classes = "learnt"
    unknown_words: UnknownWords = "classes"
    word_clusters: WordClusters | str | PathLike[str] | None = None
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
        for name, choices in (("classes", Classes), ("unknown_words", UnknownWords)):
            if getattr(self, name) not in get_args(choices):
                raise InputError(
                    f"{name} must be one of {', '.join(get_args(choices))}, "
                    f"not {getattr(self, name)!r}",
                    argument=name,
                )
        if self.unknown_words == "log-linear" and self.classes == "tag":
            raise InputError(
                "a log-linear model has no use where the classes are tags; choose other classes",
                argument="unknown_words",
            )
        if self.word_clusters is not None and self.unknown_words != "log-linear":
            raise InputError(
                "only a log-linear model has features of word clusters; set "
                'unknown_words="log-linear"',
                argument="word_clusters",
            )
        if self.word_clusters is not None:
            # Imported only here, because it loads SciPy.
            from lpcfg.lexicon.word_clusters import loaded_clusters

            object.__setattr__(self, "word_clusters", loaded_clusters(self.word_clusters))
        for name in ("rare", "class_limit", "class_support"):
            if getattr(self, name) < 0:
                raise InputError(
                    f"{name} must not be negative, but is {getattr(self, name)}", argument=name
                )
        for name in ("word_smoothing", "class_smoothing", "chain_smoothing"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(
                    f"{name} must be a finite number from 0, not {getattr(self, name)}",
                    argument=name,
                )
        if not 0 <= self.prune < 1:
            raise InputError(
                f"prune must be a probability below 1, not {self.prune}", argument="prune"
            )

    @classmethod
    def plain(cls, classes: Classes = "english", rare: int = 5) -> LexiconOptions:
        """Rare words replaced by their classes, without smoothing (Peng 2021, chapter 6).

        ``rare``: words that occur at most this often are counted for their classes.

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


#: The declaration of a parameter ``lexicon``.
LEXICON = parameter(
    Instance(LexiconOptions),
    "the classes of rare and unknown words, and the smoothing of the lexicon",
    option=False,
    nested=True,
)
