"""The clusters of words that a model of unknown words keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import GrammarError

__all__ = ["ClusteredWords"]


@dataclass(frozen=True, eq=False)
class ClusteredWords:
    """Words, and the numbers of their clusters from coarse to fine, without their vectors.

    ``words``: the words.
    ``clusters``: a row for each word, a column for each level.

    >>> ClusteredWords(("dog", "cat"), np.array([[0, 3], [0, 4]]))
    <ClusteredWords: 2 words, 2 levels>
    """

    words: tuple[str, ...]
    clusters: NDArray[np.uint16]

    def __post_init__(self) -> None:
        if self.clusters.ndim != 2 or len(self.clusters) != len(self.words):
            raise GrammarError("clustered words need a row of clusters for each word")
        if len(set(self.words)) != len(self.words):
            raise GrammarError("clustered words have a word more than once")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClusteredWords):
            return NotImplemented
        return self.words == other.words and np.array_equal(self.clusters, other.clusters)

    def __repr__(self) -> str:
        levels = self.clusters.shape[1]
        return f"<ClusteredWords: {len(self.words)} words, {levels} levels>"

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def features(self, word: str) -> list[str]:
        """A feature for each level; those of the lower-case form if the word has no clusters.

        >>> clustered = ClusteredWords(("dog", "cat"), np.array([[0, 3], [0, 4]]))
        >>> clustered.features("Cat"), clustered.features("bird")
        (['v0:0', 'v1:4'], [])
        """
        row = self._rows.get(word, self._rows.get(word.lower()))
        if row is None:
            return []
        return [f"v{level}:{number}" for level, number in enumerate(self.clusters[row].tolist())]
