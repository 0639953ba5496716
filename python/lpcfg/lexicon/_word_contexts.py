"""Counts of words and their neighbours in text, and vectors of words that are learnt from them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError

__all__ = ["WordContexts", "canonical_vectors"]

#: The number that stands for the border of a sentence among the words of a text.
_BORDER = -1

#: Power iterations of the randomised SVD; more of them change the vectors little.
_POWER_ITERATIONS = 4


@dataclass(frozen=True)
class WordContexts:
    """The frequent words of a text, the most frequent ones first, and counts of their neighbours.

    ``words``: the words. ``count``: how often each occurs.
    ``neighbours``: for each word (row), how often each neighbour is to its left, and how often to
    its right. The neighbours are the most frequent words, all other words together, and the border
    of the sentence.

    >>> contexts = WordContexts.count_neighbours([["a", "dog"], ["a", "cat"]], 1, 1, 9)
    >>> contexts.words, contexts.count
    (('a', 'dog', 'cat'), array([2, 1, 1]))
    >>> contexts.neighbours.toarray()  # a, others, border to the left, and to the right
    array([[0., 0., 2., 0., 2., 0.],
           [1., 0., 0., 0., 0., 1.],
           [1., 0., 0., 0., 0., 1.]])
    """

    words: tuple[str, ...]
    count: NDArray[np.int64]
    neighbours: scipy.sparse.csr_array

    @classmethod
    def count_neighbours(
        cls, sentences: Iterable[Sequence[str]], min_count: int, contexts: int, max_words: int
    ) -> WordContexts:
        """Count the words of sentences and their neighbours.

        ``min_count``: words seen less often are left out.
        ``contexts``: the number of frequent words that are told apart as neighbours.
        ``max_words``: the largest number of words; the most frequent ones are kept.
        """
        words, text = _numbered(sentences)
        uses = np.bincount(text[text != _BORDER], minlength=len(words))
        order = np.argsort(-uses, kind="stable")
        kept = order[uses[order] >= min_count][:max_words]
        if len(kept) == 0:
            raise InputError(
                f"no word occurs {min_count} times: give more text or a smaller min_count",
                argument="sentences",
            )
        contexts = min(contexts, len(kept))
        row_of_word = _numbers(len(words), kept, default=-1)
        column_of_word = _numbers(len(words), kept[:contexts], default=contexts)
        # The last element of both is for the border, which has the number -1.
        rows = np.append(row_of_word, -1)[text]
        columns = np.append(column_of_word, contexts + 1)[text]
        shape = (len(kept), contexts + 2)
        left = _pairs(rows[1:], columns[:-1], shape)
        right = _pairs(rows[:-1], columns[1:], shape)
        return cls(
            tuple(words[number] for number in kept.tolist()),
            uses[kept],
            scipy.sparse.hstack([left, right], format="csr"),
        )


def _numbered(sentences: Iterable[Sequence[str]]) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct words, and the text as their numbers with borders around each sentence."""
    numbers: dict[str, int] = {}
    text = array("i", [_BORDER])
    for sentence in sentences:
        if isinstance(sentence, str):
            raise InputError(
                f"a sentence must be a list of words, not {sentence!r:.60}", argument="sentences"
            )
        if len(sentence):
            text.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
            text.append(_BORDER)
    return list(numbers), np.frombuffer(text, dtype=np.intc).astype(np.int32, copy=False)


def _numbers(size: int, chosen: NDArray[np.int64], default: int) -> NDArray[np.int64]:
    """The place of each number below ``size`` among the chosen ones, or the default."""
    places = np.full(size, default, dtype=np.int64)
    places[chosen] = np.arange(len(chosen))
    return places


def _pairs(
    rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]
) -> scipy.sparse.csr_array:
    known = rows >= 0
    counts = np.ones(int(known.sum()))
    return scipy.sparse.coo_array((counts, (rows[known], columns[known])), shape=shape).tocsr()


def canonical_vectors(
    counts: scipy.sparse.csr_array, dimensions: int, seed: int
) -> NDArray[np.float32]:
    """Vectors of words by canonical correlation analysis of words and neighbours, of length one.

    Both views are indicators, so that CCA is an SVD of counts that are divided by the square roots
    of the sums of their rows and columns (Stratos, Kim, Collins & Hsu 2014, section 4).

    >>> contexts = WordContexts.count_neighbours([["a", "dog"], ["a", "cat"]], 1, 9, 9)
    >>> vectors = canonical_vectors(contexts.neighbours, 2, seed=0)
    >>> bool(np.allclose(vectors[1], vectors[2]))
    True
    """
    from sklearn.utils.extmath import randomized_svd

    rows, columns = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    scaled = (
        scipy.sparse.diags_array(1 / np.sqrt(np.maximum(rows, 1)))
        @ counts
        @ scipy.sparse.diags_array(1 / np.sqrt(np.maximum(columns, 1)))
    )
    rank = min(dimensions, *counts.shape)
    basis, _, _ = randomized_svd(scaled, rank, n_iter=_POWER_ITERATIONS, random_state=seed)
    norms = np.linalg.norm(basis, axis=1, keepdims=True)
    vectors: NDArray[np.float32] = (basis / np.maximum(norms, np.finfo(np.float32).tiny)).astype(
        np.float32
    )
    return vectors
