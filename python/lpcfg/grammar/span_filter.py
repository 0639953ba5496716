"""The parameters of a span filter, which closes spans before a chart is filled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core

__all__ = ["SpanFilter"]


@dataclass(frozen=True, eq=False)
class SpanFilter:
    """A conditional random field over binary bracketings without labels.

    It reads the words at the borders of a span and gives the span a probability. Spans whose
    probability is low are closed: the parser fills no cell for them. Such chart constraints (Roark
    & Hollingshead 2008, Bodenstab et al. 2011) take little time and save most of a parser's.

    ``word_tags``: the most probable tag of each word and word class of the lexicon, as a number.
    ``word_tag_sets``: the number of the set of its probable tags.
    ``border_weights``: the weights of features of one border, indexed by hashes.
    ``pair_weights``: the weights of features of both borders, indexed by hashes.
    ``thresholds``: the probabilities below which one in ten thousand, and so on up to one in ten,
    of the correct spans lie in trees that were held out.

    >>> weights = np.zeros(8, dtype=np.float32)
    >>> tags = np.zeros(3, dtype=np.uint32)
    >>> SpanFilter(tags, tags, weights, weights, np.full(25, 0.01, dtype=np.float32))
    <SpanFilter: 3 words, 0 weights are not zero>
    """

    word_tags: NDArray[np.uint32]
    word_tag_sets: NDArray[np.uint32]
    border_weights: NDArray[np.float32]
    pair_weights: NDArray[np.float32]
    thresholds: NDArray[np.float32]

    def __repr__(self) -> str:
        weights = np.count_nonzero(self.border_weights) + np.count_nonzero(self.pair_weights)
        return f"<SpanFilter: {len(self.word_tags)} words, {weights} weights are not zero>"

    @cached_property
    def core(self) -> _core.SpanFilter:
        """The filter ready for parsing; its arrays are checked first.

        >>> weights, tags = np.zeros(8, dtype=np.float32), np.zeros(3, dtype=np.uint32)
        >>> thresholds = np.full(25, 0.01, dtype=np.float32)
        >>> round(SpanFilter(tags, tags, weights, weights, thresholds).core.threshold(0.99), 3)
        0.01
        """
        return _core.SpanFilter(
            word_tags=self.word_tags,
            word_tag_sets=self.word_tag_sets,
            border_weights=self.border_weights,
            pair_weights=self.pair_weights,
            thresholds=self.thresholds,
        )
