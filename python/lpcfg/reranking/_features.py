"""Sparse features of candidate trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.tree import Tree

__all__ = ["CONJUNCTIONS", "FeatureRows", "extract_features"]

#: Labels of what stands between coordinated phrases.
CONJUNCTIONS = frozenset(["CC", "CONJP", "KON"])


class FeatureRows(NamedTuple):
    """Features of trees, a row for each, with the hashes of the features as keys.

    >>> rows = FeatureRows(np.array([0, 1]), np.array([7], np.uint32), np.array([2], np.uint32))
    >>> rows.matrix(np.array([5, 7], np.uint32)).toarray()
    array([[0., 2.]])
    """

    offsets: NDArray[np.int64]
    keys: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    def matrix(self, vocabulary: NDArray[np.uint32]) -> scipy.sparse.csr_array:
        """The rows as a matrix whose columns are the keys of a sorted vocabulary.

        >>> keys, counts = np.array([3, 7], np.uint32), np.array([1, 2], np.uint32)
        >>> FeatureRows(np.array([0, 2]), keys, counts).matrix(keys[:1]).toarray()
        array([[1.]])
        """
        places = np.searchsorted(vocabulary, self.keys)
        known = np.zeros(len(self.keys), dtype=bool)
        inside = places < len(vocabulary)
        known[inside] = vocabulary[places[inside]] == self.keys[inside]
        offsets = np.concatenate([[0], np.cumsum(known)])[self.offsets]
        values = self.counts[known].astype(np.float64)
        shape = (len(self.offsets) - 1, len(vocabulary))
        return scipy.sparse.csr_array((values, places[known], offsets), shape=shape)

    def sentence_keys(self, sentence_offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The keys, each as often as there are sentences in which it tells candidates apart.

        >>> keys, counts = np.array([3, 3, 7, 3], np.uint32), np.ones(4, np.uint32)
        >>> rows = FeatureRows(np.array([0, 1, 3, 4]), keys, counts)
        >>> rows.sentence_keys(np.array([0, 2, 3]))  # two candidates, then one
        array([3, 7, 3], dtype=uint32)
        """
        sentences = np.repeat(
            np.arange(len(sentence_offsets) - 1), np.diff(self.offsets[sentence_offsets])
        )
        both = np.unique(sentences.astype(np.uint64) << np.uint64(32) | self.keys)
        return both.astype(np.uint32)


def extract_features(
    candidates: Sequence[Sequence[Tree]], heads: HeadRules | None = None, n_jobs: int = -1
) -> FeatureRows:
    """The features of the candidate trees of sentences, beyond what all of a sentence have.

    The patterns are in the core (``rust/src/rerank/templates.rs``).

    >>> flat, deep = "(S (A a) (B b) (C c))", "(S (A a) (X (B b) (C c)))"
    >>> rows = extract_features([[Tree.from_string(flat), Tree.from_string(deep)]])
    >>> len(rows.offsets), len(rows.keys) == len(rows.counts)
    (3, True)
    >>> extract_features([[Tree.from_string(flat)]]).keys  # nothing to tell apart
    array([], dtype=uint32)
    """
    rules = heads or HeadRules()
    forest = Forest.from_trees(tree for trees in candidates for tree in trees)
    names = forest.label_names
    step, from_right = rules.tables(names, names)
    offsets, keys, counts = _core.candidate_features(
        forest.columns,
        np.cumsum([0, *map(len, candidates)], dtype=np.int64),
        head_step=step.astype(np.uint32),
        from_right=from_right,
        punctuation=np.array([name in rules.punctuation for name in names], dtype=bool),
        conjunction=np.array([name in CONJUNCTIONS for name in names], dtype=bool),
        threads=thread_count(n_jobs),
    )
    return FeatureRows(offsets, keys, counts)
