"""Vocabularies, and counts of bigrams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError

__all__ = ["UNKNOWN", "Corpus", "Vocabulary"]

#: Texts, each a sequence of words; bigrams do not cross from one text to the next.
Corpus = Sequence[Sequence[str]]

#: The number of all words that are not in a vocabulary.
UNKNOWN = 0


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of a language model: words numbered from 1; 0 stands for unknown words.

    >>> vocabulary = Vocabulary(("a", "dog"))
    >>> vocabulary.encode(["a", "cat"])
    array([1, 0])
    """

    words: tuple[str, ...]

    @classmethod
    def from_corpus(cls, corpus: Corpus, min_count: int = 1) -> Vocabulary:
        """The words with at least ``min_count`` occurrences, in order of first occurrence.

        >>> Vocabulary.from_corpus(["a dog saw a cat".split()], min_count=2).words
        ('a',)
        """
        counts = Counter(chain.from_iterable(corpus))
        return cls(tuple(word for word, count in counts.items() if count >= min_count))

    def __len__(self) -> int:
        return 1 + len(self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word.

        >>> Vocabulary(("a", "dog")).numbers
        {'a': 1, 'dog': 2}
        """
        return {word: number for number, word in enumerate(self.words, start=1)}

    def encode(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of words.

        >>> Vocabulary(("a", "dog")).encode("dog eats dog".split())
        array([2, 0, 2])
        """
        if isinstance(words, str):
            raise InputError(
                f"expected a sequence of words, not one string: {words[:40]!r}", argument="words"
            )
        return np.array([self.numbers.get(word, UNKNOWN) for word in words], dtype=np.int64)

    def count_bigrams(self, corpus: Corpus) -> scipy.sparse.csr_array:
        """Counts of bigrams: first words are rows, second words columns.

        >>> counts = Vocabulary(("a", "dog")).count_bigrams([["a", "dog"], ["a", "dog", "barks"]])
        >>> counts.toarray()
        array([[0., 0., 0.],
               [0., 0., 2.],
               [1., 0., 0.]], dtype=float32)
        """
        encoded = [self.encode(words) for words in corpus]
        firsts = np.concatenate([np.zeros(0, np.int64), *(words[:-1] for words in encoded)])
        seconds = np.concatenate([np.zeros(0, np.int64), *(words[1:] for words in encoded)])
        ones = np.ones(len(firsts), dtype=np.float32)
        # The conversion to CSR adds the counts of equal pairs.
        pairs = scipy.sparse.coo_array((ones, (firsts, seconds)), shape=(len(self), len(self)))
        return pairs.tocsr()
