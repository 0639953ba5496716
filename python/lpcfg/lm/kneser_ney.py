"""Interpolated Kneser-Ney n-gram models, to compare models with latent states with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lpcfg._options import check_positive
from lpcfg.errors import InputError
from lpcfg.lm.vocabulary import UNKNOWN, Corpus, Vocabulary

__all__ = ["KneserNey"]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Level(NamedTuple):
    """The counts of the n-grams of one order; n-grams and their histories are sorted numbers."""

    grams: Numbers
    counts: Numbers
    histories: Numbers
    totals: Floats
    #: The weight of the next lower order after each history.
    backoff: Floats
    discount: float


@dataclass
class KneserNey:
    """An n-gram model with interpolated Kneser-Ney smoothing (Kneser & Ney 1995).

    A fixed discount is taken from the count of every n-gram, and what this leaves after a history
    goes to the next lower order. Below the highest order, n-grams are counted by the number of
    different words before them. The discounts are those of Ney et al. (1994), n1 / (n1 + 2 n2), by
    the numbers of n-grams with counts one and two. Single words are interpolated with the uniform
    distribution over the vocabulary, in which all unknown words are one.

    ``order``: 2 for bigrams, 3 for trigrams; default 2.
    ``min_count``: words seen less often are unknown words; default 2.

    After :meth:`fit`, ``vocabulary_`` has the words.

    >>> text = "a dog saw a cat and a cat saw a dog".split()
    >>> model = KneserNey(2).fit([text])
    >>> model.probabilities(["saw"], ["a", "dog"]).round(3)
    array([0.857, 0.029])
    """

    order: int = 2
    min_count: int = 2

    vocabulary_: Vocabulary = field(init=False, repr=False, compare=False)
    _levels: list[_Level] = field(init=False, repr=False, compare=False)

    def fit(self, corpus: Corpus) -> Self:
        """Count n-grams in texts, each a sequence of words; n-grams do not cross texts.

        >>> KneserNey(3).fit(["a rose is a rose is a rose".split()]).vocabulary_.words
        ('a', 'rose', 'is')
        """
        check_positive("order", self.order)
        self.vocabulary_ = Vocabulary.from_corpus(corpus, self.min_count)
        size = len(self.vocabulary_)
        if self.order * math.log2(size) > 62:
            raise InputError(f"order {self.order} is too high for {size} words", argument="order")
        encoded = [self.vocabulary_.encode(words) for words in corpus]
        keys = [_keys(_windows(words, self.order), size) for words in encoded]
        grams, counts = np.unique(
            np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True
        )
        if not len(grams):
            raise InputError(f"no text has {self.order} words", argument="corpus")
        levels = [_level(grams, counts, size)]
        for order in range(self.order - 1, 0, -1):
            # Each different n-gram of the order above counts once for what follows its first word.
            grams, counts = np.unique(grams % size**order, return_counts=True)
            levels.append(_level(grams, counts, size))
        self._levels = levels[::-1]
        return self

    def probabilities(self, history: Sequence[str], words: Sequence[str]) -> Floats:
        """P(word | history) for each word; words beyond the order of the model do not matter.

        >>> model = KneserNey(2).fit(["a rose is a rose is a rose".split()])
        >>> round(float(model.probabilities(["a"], ["a", "rose", "is", "iris"]).sum()), 6)
        1.0
        """
        before = self.vocabulary_.encode(history)[max(0, len(history) - self.order + 1) :]
        after = self.vocabulary_.encode(words)
        return self._probability(np.hstack([np.tile(before, (len(after), 1)), after[:, None]]))

    def perplexity(self, corpus: Corpus) -> float:
        """The exponential of minus the mean log-probability of the known words.

        As for :class:`~lpcfg.lm.AggregateBigram`, unknown words, and the first word of each text,
        are not scored.

        >>> model = KneserNey(2).fit(["a dog saw a cat and a cat saw a dog".split()])
        >>> round(model.perplexity([["a", "dog", "saw", "an", "owl"]]), 3)
        1.807
        """
        return math.exp(-self.score(corpus))

    def score(self, corpus: Corpus) -> float:
        """The mean log-probability of the known words: the higher, the better.

        >>> model = KneserNey(2).fit(["a dog saw a cat and a cat saw a dog".split()])
        >>> round(model.score([["a", "dog", "saw", "an", "owl"]]), 3)
        -0.592
        """
        logarithms = []
        for words in map(self.vocabulary_.encode, corpus):
            # The first words of a text have shorter histories.
            for length in range(min(2, self.order), self.order + 1):
                windows = _windows(words, length)
                own = windows[length == 1 :] if length == self.order else windows[:1]
                known = own[own[:, -1] != UNKNOWN]
                logarithms.append(np.log(self._probability(known)))
        found = np.concatenate([np.zeros(0), *logarithms])
        if not len(found):
            raise InputError("there is no known word that follows another word", argument="corpus")
        return float(found.mean())

    def _probability(self, grams: Numbers) -> Floats:
        """P(last word | the words before it) for each row."""
        size, order = len(self.vocabulary_), grams.shape[1]
        lower = self._probability(grams[:, 1:]) if order > 1 else np.full(len(grams), 1 / size)
        level = self._levels[order - 1]
        keys = _keys(grams, size)
        counts = _found(level.grams, level.counts, keys, 0.0)
        totals = _found(level.histories, level.totals, keys // size, 0.0)
        backoff = _found(level.histories, level.backoff, keys // size, 1.0)
        seen = np.maximum(counts - level.discount, 0) / np.where(totals > 0, totals, 1)
        probability: Floats = seen + backoff * lower
        return probability


def _windows(words: Numbers, length: int) -> Numbers:
    """All runs of ``length`` words, as rows."""
    if len(words) < length:
        return np.zeros((0, length), np.int64)
    return np.lib.stride_tricks.sliding_window_view(words, length)


def _keys(grams: Numbers, size: int) -> Numbers:
    """A number for each row: the history is the number divided by the size of the vocabulary."""
    keys = np.zeros(len(grams), np.int64)
    for column in grams.T:
        keys = keys * size + column
    return keys


def _level(grams: Numbers, counts: Numbers, size: int) -> _Level:
    ones, twos = (np.count_nonzero(counts == count) for count in (1, 2))
    # Texts so short that no n-gram occurs once have nothing to discount.
    discount = ones / (ones + 2 * twos) if ones else 0.0
    histories, starts = np.unique(grams // size, return_index=True)
    totals = np.add.reduceat(counts.astype(np.float64), starts)
    taken = np.add.reduceat(np.minimum(counts, discount).astype(np.float64), starts)
    return _Level(grams, counts, histories, totals, taken / totals, discount)


def _found(keys: Numbers, values: NDArray[np.generic], wanted: Numbers, missing: float) -> Floats:
    """The values of keys, which are sorted, or ``missing``."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], missing).astype(np.float64)
