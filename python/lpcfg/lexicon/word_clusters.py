"""Words by their neighbours in text: spectral word vectors, and nested clusters of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._k_means import improve_centres, nearest_centres
from lpcfg._options import check_positive
from lpcfg._threads import one_thread
from lpcfg.errors import InputError
from lpcfg.io import load, save
from lpcfg.lexicon._word_contexts import WordContexts, canonical_vectors

__all__ = ["LEVELS", "Neighbour", "WordClusters", "clusters_record", "loaded_clusters"]

#: The number of levels of clusters.
LEVELS = 3

#: The largest number of clusters: they are stored in two bytes.
_MAX_CLUSTERS = 1 << 16

#: Vectors are stored in one byte for each dimension.
_LARGEST = 127


class Neighbour(NamedTuple):
    """A word that occurs in similar contexts, and the cosine of the two vectors.

    >>> Neighbour("cat", 0.9).word
    'cat'
    """

    word: str
    cosine: float


@dataclass(eq=False)
class WordClusters:
    """Word vectors and clusters of words, learnt from text without trees.

    The vector of a word is learnt from the words to its left and right, by canonical correlation
    analysis (Stratos et al. 2014). k-means puts words with similar vectors into clusters, starting
    from the most frequent words; Ward's method joins these clusters into fewer and larger ones.
    Parsers learn from them about words that their treebanks do not have: see ``word_clusters`` of
    :class:`lpcfg.CRFEstimator`.

    ``n_clusters``: three numbers of clusters, from coarse to fine; default 64, 256 and 1024.
    ``dimensions``: the number of dimensions of vectors; default 100.
    ``contexts``: the number of frequent words that are told apart as neighbours; default 3000.
    ``min_count``: words seen less often have no vectors; default 3.
    ``max_words``: the largest number of words with vectors; default 50000.
    ``random_state``: the seed; the same seed gives the same result on any number of threads.

    After :meth:`fit`, ``words_`` has the words, the most frequent ones first, ``counts_`` how often
    they occur, ``vectors_`` their vectors, in whole numbers from -127 to 127, and ``clusters_``
    their clusters, one column for each level.

    >>> text = ["a dog saw a cat .", "the cat saw the dog .", "a dog heard the cat ."]
    >>> model = WordClusters((2, 3, 4), dimensions=3, min_count=1)
    >>> model = model.fit(sentence.split() for sentence in text)
    >>> model
    <WordClusters: 7 words, 3 dimensions, 2, 3 and 3 clusters>
    >>> model.neighbours("dog", 1)[0].word
    'cat'
    """

    n_clusters: Sequence[int] = (64, 256, 1024)
    dimensions: int = 100
    contexts: int = 3000
    min_count: int = 3
    max_words: int = 50_000
    random_state: int = 0

    words_: tuple[str, ...] = field(init=False, repr=False)
    counts_: NDArray[np.int64] = field(init=False, repr=False)
    vectors_: NDArray[np.int8] = field(init=False, repr=False)
    clusters_: NDArray[np.uint16] = field(init=False, repr=False)

    def __repr__(self) -> str:
        if not hasattr(self, "words_"):
            return f"<WordClusters: not fitted, {_listed(self.n_clusters)} clusters>"
        found = [len(np.unique(column)) for column in self.clusters_.T]
        return (
            f"<WordClusters: {len(self.words_)} words, {self.vectors_.shape[1]} dimensions, "
            f"{_listed(found)} clusters>"
        )

    def fit(self, sentences: Iterable[Sequence[str]]) -> Self:
        """Learn vectors and clusters from sentences, each a list of words.

        >>> WordClusters().fit([["too", "little", "text"]])
        Traceback (most recent call last):
        lpcfg.errors.InputError: sentences: no word occurs 3 times: give more text or a smaller
        min_count
        """
        self._validate()
        found = WordContexts.count_neighbours(
            sentences, self.min_count, self.contexts, self.max_words
        )
        with one_thread():
            vectors = canonical_vectors(found.neighbours, self.dimensions, self.random_state)
            clusters = _nested_clusters(vectors, found.count, self.n_clusters)
        self.words_, self.counts_, self.clusters_ = found.words, found.count, clusters
        self.vectors_ = np.rint(vectors * _LARGEST).astype(np.int8)
        self.__dict__.pop("_numbers", None)
        return self

    def _validate(self) -> None:
        for name in ("dimensions", "contexts", "min_count", "max_words"):
            check_positive(name, getattr(self, name))
        numbers = list(self.n_clusters)
        allowed = all(isinstance(n, Integral) and 1 <= n <= _MAX_CLUSTERS for n in numbers)
        if len(numbers) != LEVELS or not allowed or numbers != sorted(numbers):
            raise InputError(
                f"must be {LEVELS} ascending integers from 1 to {_MAX_CLUSTERS}, not "
                f"{self.n_clusters!r}",
                argument="n_clusters",
            )

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words_)}

    def _number(self, word: str) -> int | None:
        return self._numbers.get(word, self._numbers.get(word.lower()))

    def clusters(self, word: str) -> tuple[int, ...] | None:
        """The clusters of a word, from coarse to fine; None if the text has the word too rarely.

        A word that is not known as it is written has the clusters of its lower-case form.

        >>> text = [["a", "dog", "saw", "a", "cat"], ["a", "cat", "saw", "a", "dog"]]
        >>> model = WordClusters((2, 3, 3), dimensions=2, min_count=1).fit(text)
        >>> model.clusters("Dog") == model.clusters("cat"), model.clusters("rain")
        (True, None)
        """
        number = self._number(word)
        return None if number is None else tuple(self.clusters_[number].tolist())

    def members(self, cluster: int, level: int = LEVELS - 1) -> list[str]:
        """The words of a cluster, the most frequent ones first; level 0 is the coarsest.

        >>> text = [["a", "dog", "saw", "a", "cat"], ["a", "cat", "saw", "a", "dog"]]
        >>> model = WordClusters((2, 3, 3), dimensions=2, min_count=1).fit(text)
        >>> model.members(model.clusters("dog")[-1])
        ['dog', 'cat']
        """
        if not 0 <= level < LEVELS:
            raise InputError(f"must be from 0 to {LEVELS - 1}, not {level!r}", argument="level")
        return [
            self.words_[number] for number in np.flatnonzero(self.clusters_[:, level] == cluster)
        ]

    def neighbours(self, word: str, k: int = 10) -> list[Neighbour]:
        """The ``k`` words with the most similar vectors, the most similar one first.

        There are none for a word that the text has too rarely.

        >>> text = [["a", "dog", "saw", "a", "cat"], ["a", "cat", "saw", "a", "dog"]]
        >>> model = WordClusters((2, 3, 3), dimensions=2, min_count=1).fit(text)
        >>> [word for word, cosine in model.neighbours("dog", 1)], model.neighbours("rain")
        (['cat'], [])
        """
        check_positive("k", k)
        number = self._number(word)
        if number is None:
            return []
        vectors = self.vectors_.astype(np.float32)
        norms = np.maximum(np.linalg.norm(vectors, axis=1), 1)
        cosines = vectors @ vectors[number] / (norms * norms[number])
        cosines[number] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(k, len(cosines) - 1)]
        return [Neighbour(self.words_[other], float(cosines[other])) for other in best]

    def summary(self, clusters: int = 10, words: int = 8) -> str:
        """The number of words and clusters, and some words of the largest fine clusters.

        >>> text = [["a", "dog", "saw", "a", "cat"], ["a", "cat", "saw", "a", "dog"]]
        >>> print(WordClusters((2, 3, 3), dimensions=2, min_count=1).fit(text).summary(1))
        4 words, 2 dimensions, 2, 3 and 3 clusters
          1: dog cat
        """
        lines = [repr(self).removeprefix("<WordClusters: ").removesuffix(">")]
        tokens = np.bincount(self.clusters_[:, -1], weights=self.counts_)
        sizes = np.bincount(self.clusters_[:, -1])
        lines += [
            f"  {cluster}: {' '.join(self.members(cluster)[:words])}"
            for cluster in np.lexsort((-tokens, -sizes))[:clusters].tolist()
        ]
        return "\n".join(lines)

    def provenance(self) -> dict[str, object]:
        """What model files record of the clusters that they were trained with.

        >>> model = WordClusters((1, 1, 1), min_count=1).fit([["la", "la", "la"]])
        >>> model.provenance()
        {'n_clusters': [1, 1, 1], 'words': 1, 'tokens': 3}
        """
        return {
            "n_clusters": [int(number) for number in self.n_clusters],
            "words": len(self.words_),
            "tokens": int(self.counts_.sum()),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the vectors and clusters to one file.

        >>> import tempfile, pathlib
        >>> model = WordClusters((1, 1, 1), min_count=1).fit([["la", "la", "la"]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "words.lpcfg")
        ...     model.save(path)
        ...     WordClusters.load(path).words_
        ('la',)
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WordClusters:
        """Load a file that :meth:`save` has written to ``path``.

        >>> WordClusters.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        return load(path, WordClusters)


def loaded_clusters(clusters: WordClusters | str | PathLike[str] | None) -> WordClusters | None:
    """The clusters themselves, where the path of their file may be given instead.

    >>> loaded_clusters(None) is None
    True
    """
    if isinstance(clusters, (str, PathLike)):
        clusters = WordClusters.load(clusters)
    if clusters is None:
        return None
    if not isinstance(clusters, WordClusters):
        raise InputError(
            f"must be a WordClusters or the path of one, not {clusters!r}", argument="word_clusters"
        )
    if not hasattr(clusters, "words_"):
        raise InputError("they are not fitted; call fit first", argument="word_clusters")
    return clusters


def clusters_record(clusters: WordClusters | str | PathLike[str] | None) -> object:
    """The record of clusters, or of those in a file, in the provenance of a model.

    >>> clusters_record(None) is None
    True
    """
    found = loaded_clusters(clusters)
    return None if found is None else found.provenance()


def _nested_clusters(
    vectors: NDArray[np.float32], count: NDArray[np.int64], numbers: Sequence[int]
) -> NDArray[np.uint16]:
    """The clusters of each word on all levels; words are in the order of their frequency."""
    *coarse, fine = (min(number, len(vectors)) for number in numbers)
    # Rare words have noisy vectors, and frequent ones must not be all that matters.
    centres = improve_centres(vectors, np.sqrt(count), vectors[:fine])
    labels = nearest_centres(vectors, centres)
    if fine == 1:
        return np.zeros((len(vectors), len(numbers)), dtype=np.uint16)
    # SciPy loads these modules when they are used. Most trainings do not, and loading takes longer
    # than reading a treebank.
    hierarchy, distance = scipy.cluster.hierarchy, scipy.spatial.distance
    tree = hierarchy.linkage(distance.pdist(centres.astype(np.float64)), "ward")
    levels = [hierarchy.fcluster(tree, number, "maxclust")[labels] - 1 for number in coarse]
    return np.stack([*levels, labels], axis=1).astype(np.uint16)


def _listed(numbers: Iterable[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}"
