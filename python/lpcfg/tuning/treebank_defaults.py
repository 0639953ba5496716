"""Defaults that follow the treebank: transforms, words and states by cross-validation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from lpcfg.errors import InputError
from lpcfg.estimators.spectral import SpectralDecomposition, SpectralEstimator
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.lexicon.options import LexiconOptions, UnknownWords
from lpcfg.parsing.parser import Parser
from lpcfg.treebank.transform import Direction, Transform
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = ["MIN_TREES", "DefaultsTrial", "TreebankDefaults", "choose_defaults"]

#: There is no search on treebanks with fewer trees: F1 on a part of them says too little.
MIN_TREES = 200

#: A tenth of the trees is held out in a fold, but no more than the first number, nor less than the
#: second one, or a quarter of the trees.
_HELD_OUT = 500
_FEWEST_HELD_OUT = 100

#: How many parts of the trees are held out, one after the other.
_FOLDS = 2

# The next numbers are points of F1 for the largest number of held-out trees; with fewer trees they
# grow as chance does.

#: Settings whose F1 on the first fold is lower than the best by more than this are given up.
_HOPELESS = 1.0

#: What F1 must gain for other settings than the defaults: less may be chance.
_MARGIN = 0.15

#: The same for Markovisation, on which all members of an ensemble depend, and for states: more of
#: them make parsing slower and models larger.
_LARGE_MARGIN = 0.5


class TreebankDefaults(NamedTuple):
    """Settings that depend on the treebank: how fine symbols, word classes and states should be.

    ``vertical``, ``horizontal``: the orders of Markovisation; see :class:`~lpcfg.Transform`.
    ``class_limit``, ``class_support``: the number of classes of unknown words, and of words in a
    class; ``unknown_words``: how unknown words get the probabilities of their tags; see
    :class:`~lpcfg.lexicon.options.LexiconOptions`.
    ``states``, ``smoothing``, ``ridge``: of spectral grammars; see
    :class:`~lpcfg.SpectralEstimator`.
    ``binarize``: the side to which the trees of a single spectral grammar branch. Members of an
    ensemble have their own sides, so that they make different errors.

    >>> TreebankDefaults()
    TreebankDefaults(vertical=1, horizontal=1, class_limit=200, class_support=10,
                     unknown_words='classes', states=12, smoothing=5.0, ridge=0.7,
                     binarize='right')
    """

    vertical: int = 1
    horizontal: int = 1
    class_limit: int = 200
    class_support: int = 10
    unknown_words: UnknownWords = "classes"
    states: int = 12
    smoothing: float = 5.0
    ridge: float = 0.7
    binarize: Direction = "right"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The settings that a model stores.

        >>> TreebankDefaults.from_dict(TreebankDefaults(vertical=0)._asdict()).vertical
        0
        """
        return cls(**values)

    def transform(self, transform: Transform) -> Transform:
        """A transform with no more Markovisation than these settings have.

        >>> TreebankDefaults(horizontal=0).transform(Transform(vertical=0)).horizontal
        0
        """
        horizontal = transform.horizontal
        return replace(
            transform,
            vertical=min(transform.vertical, self.vertical),
            horizontal=self.horizontal if horizontal is None else min(horizontal, self.horizontal),
        )

    def lexicon(self, options: LexiconOptions) -> LexiconOptions:
        """The options of a lexicon with these word classes.

        >>> TreebankDefaults(class_limit=50).lexicon(LexiconOptions()).class_limit
        50
        """
        return replace(
            options,
            class_limit=self.class_limit,
            class_support=self.class_support,
            unknown_words=self.unknown_words,
        )

    def spectral(self) -> dict[str, Any]:
        """The parameters of a spectral estimator with these settings.

        >>> TreebankDefaults(states=16).spectral()
        {'states': (16, 16), 'smoothing': 5.0, 'ridge': 0.7}
        """
        return {
            "states": (self.states, self.states),
            "smoothing": self.smoothing,
            "ridge": self.ridge,
        }

    def __str__(self) -> str:
        """Markovisation and word classes, and what is not as by default."""
        parts = [
            f"vertical {self.vertical}, horizontal {self.horizontal}",
            f"up to {self.class_limit} word classes",
        ]
        if self.unknown_words != _USUAL.unknown_words:
            parts.append(f"{self.unknown_words} unknown words")
        if self.binarize != _USUAL.binarize:
            parts.append(f"binarised to the {self.binarize}")
        parts += [
            f"{name} {getattr(self, name):g}"
            for name in _AFTERWARDS
            if getattr(self, name) != getattr(_USUAL, name)
        ]
        return ", ".join(parts)


#: The settings of the estimators themselves.
_USUAL = TreebankDefaults()

#: With 200 trees of any of four treebanks, Markovisation loses 1.5 to 8 points of F1.
_SMALL = TreebankDefaults(vertical=0, horizontal=0, unknown_words="log-linear")

#: Settings that are used after the decomposition of a treebank.
_AFTERWARDS = ("states", "smoothing", "ridge")


@dataclass(frozen=True)
class DefaultsTrial:
    """Settings and their F1 on held-out trees.

    ``seconds``: the CPU seconds of training and parsing, without trials of the same settings on
    other folds.
    """

    settings: TreebankDefaults
    f1: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.settings}: F1 {self.f1:.2f}, {self.seconds:.1f} CPU s"


_MARKOVISATION = ((1, 1), (0, 0), (1, 0), (0, 1))

_WORD_CLASSES = ((3000, 5), (1000, 10))

_STATES = (16, 24, 8)

_SHRINKAGE: tuple[dict[str, Any], ...] = (
    {"ridge": 0.5},
    {"ridge": 1.0},
    {"smoothing": 2.0},
    {"smoothing": 10.0},
)


def choose_defaults(
    treebank: Treebank,
    *,
    seconds: float = 120.0,
    lexicon: LexiconOptions | None = None,
    binarize: bool = False,
    n_jobs: int = -1,
    report: Callable[[DefaultsTrial], object] = lambda trial: None,
) -> TreebankDefaults:
    """Choose settings for a treebank, one after the other, by F1 on held-out trees.

    These are Markovisation, word classes, the model of unknown words, the side of binarisation if
    it is asked for, and the states, the ridge and the smoothing of spectral grammars.

    Spectral grammars are trained in seconds, and other estimators prefer much the same transforms
    and words. Each setting is trained on the trees outside a tenth (500 trees at most) and scored
    on those; the better ones are also scored on a second tenth. The defaults stay unless others are
    better by more than chance; other orders of Markovisation and numbers of states have to gain
    half a point. Trees are never drawn at random, so the result is always the same, unless the time
    is up. Treebanks with fewer than 200 trees have no Markovisation.

    ``seconds``: the CPU seconds after which no other trial is begun; 0 gives the defaults.
    ``lexicon``: the other options of the lexicon; its ``unknown_words`` are tried first.
    ``binarize``: whether to choose the side of binarisation.
    ``report``: is called with each trial.

    >>> from lpcfg import embedded_trees
    >>> choose_defaults(Treebank.from_trees(embedded_trees(30)))  # too few trees for a search
    TreebankDefaults(vertical=0, horizontal=0, class_limit=200, class_support=10,
                     unknown_words='log-linear', states=12, smoothing=5.0, ridge=0.7,
                     binarize='right')
    """
    lexicon = lexicon or LexiconOptions()
    if not 0 <= seconds < np.inf:
        raise InputError(f"must be a finite number from 0, not {seconds}", argument="seconds")
    defaults = TreebankDefaults(unknown_words=lexicon.unknown_words)
    if seconds == 0:
        return defaults
    if len(treebank) < MIN_TREES:
        # Where tags are the classes, a model of tags has no use.
        words = lexicon.unknown_words if lexicon.classes == "tag" else _SMALL.unknown_words
        return _SMALL._replace(unknown_words=words)
    search = _Search(treebank, seconds, lexicon, n_jobs, report)
    orders = [defaults._replace(vertical=v, horizontal=h) for v, h in _MARKOVISATION]
    best = search.best(orders, margin=_LARGE_MARGIN)
    classes = [
        best._replace(class_limit=limit, class_support=support) for limit, support in _WORD_CLASSES
    ]
    best = search.best([best, *classes])
    # Where tags are the classes, a model of tags has no use.
    if lexicon.classes != "tag" and best.unknown_words == "classes":
        best = search.best([best, best._replace(unknown_words="log-linear")])
    if binarize:
        best = search.best([best, best._replace(binarize="left")])
    states = (best._replace(states=number) for number in _STATES)
    best = search.best([best, *states], margin=_LARGE_MARGIN)
    return search.best([best, *(best._replace(**changed) for changed in _SHRINKAGE)])


class _Search:
    """Trials on folds of a treebank, until the time is up; none is run twice."""

    def __init__(
        self,
        treebank: Treebank,
        seconds: float,
        lexicon: LexiconOptions,
        n_jobs: int,
        report: Callable[[DefaultsTrial], object],
    ) -> None:
        self.trees = treebank.trees()
        self.weights = treebank.weights
        self.lexicon = lexicon
        self.n_jobs = n_jobs
        self.report = report
        self.deadline = time.process_time() + seconds
        self.counts: dict[tuple[TreebankDefaults, int], BracketCounts] = {}
        self.longest = 0.0
        # The settings and the fold of the last decomposition: only one is kept in memory.
        self.decomposed: tuple[TreebankDefaults, int, int] | None = None
        self.decomposition: SpectralDecomposition | None = None
        self.chance = math.sqrt(_HELD_OUT / len(self._held_out(0)[1]))

    def best(
        self, settings: Sequence[TreebankDefaults], margin: float = _MARGIN
    ) -> TreebankDefaults:
        """The settings with the highest F1 on all folds; the first, unless others gain more."""
        first = settings[0]
        tried = list(self._tried(settings, 0))
        if first not in tried:
            return first
        top = max(self._f1(each, 1) for each in tried)
        lowest = top - _HOPELESS * self.chance
        promising = [each for each in tried if self._f1(each, 1) > lowest]
        folds = 1
        # Only settings that were tried on the same folds can be compared.
        while folds < _FOLDS and len(promising) > 1:
            if list(self._tried(promising, folds)) != promising:
                break
            folds += 1
        best = max(promising, key=lambda each: self._f1(each, folds))
        if (
            first in promising
            and self._f1(best, folds) <= self._f1(first, folds) + margin * self.chance
        ):
            return first
        return best

    def _tried(self, settings: Sequence[TreebankDefaults], fold: int) -> Iterator[TreebankDefaults]:
        """The settings that were tried on a fold before the time is up."""
        for each in settings:
            if (each, fold) not in self.counts:
                if time.process_time() + self.longest > self.deadline:
                    return
                self._run(each, fold)
            yield each

    def _run(self, settings: TreebankDefaults, fold: int) -> None:
        begun = time.process_time()
        start, held_out = self._held_out(fold)
        # What comes after a decomposition needs no other one.
        structure = settings._replace(**{name: getattr(_USUAL, name) for name in _AFTERWARDS})
        # An SVD takes longer for more states, so the first trials have those of the defaults.
        states = max(_STATES) if settings.spectral() != _USUAL.spectral() else _USUAL.states
        if self.decomposition is None or self.decomposed != (structure, fold, states):
            rest = self.trees[:start] + self.trees[start + len(held_out) :]
            # From the trees: a part of the treebank would know the words of the whole.
            treebank = Treebank.from_trees(
                rest,
                cleaning=False,
                transform=settings.transform(Transform(binarize=settings.binarize)),
            )
            if self.weights is not None:
                kept = np.delete(self.weights, np.s_[start : start + len(held_out)])
                treebank = treebank.weighted(kept)
            self.decomposition = None
            estimator = SpectralEstimator(lexicon=settings.lexicon(self.lexicon))
            self.decomposition = estimator.decompose(treebank, states=(states, states))
            self.decomposed = structure, fold, states
        grammar = self.decomposition.grammar(**settings.spectral())
        parser = Parser(grammar, n_jobs=self.n_jobs)
        self.counts[settings, fold] = evaluate_parser(parser, held_out).scores.total
        spent = time.process_time() - begun
        self.longest = max(self.longest, spent)
        self.report(DefaultsTrial(settings, self.counts[settings, fold].f1, spent))

    def _held_out(self, fold: int) -> tuple[int, list[Tree]]:
        """The trees of a fold and the number of trees before them."""
        start = len(self.trees) * fold // 2 // _FOLDS + len(self.trees) // 4
        trees = len(self.trees)
        size = min(max(trees // 10, _FEWEST_HELD_OUT), trees // 4, _HELD_OUT)
        return start, self.trees[start : start + size]

    def _f1(self, settings: TreebankDefaults, folds: int) -> float:
        """F1 over the first folds."""
        found = [self.counts[settings, fold] for fold in range(folds)]
        return sum(found[1:], start=found[0]).f1
