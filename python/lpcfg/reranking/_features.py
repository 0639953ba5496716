"""Sparse features of candidate trees, based on Charniak & Johnson (2005).

They are counts of patterns such as rules with their context, heads and their dependents, and the
length of the right branch; the templates are in the core (``rust/src/rerank/templates.rs``).
"""

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

#: Labels of conjunctions, which stand between coordinated phrases.
CONJUNCTIONS = frozenset(["CC", "CONJP", "KON"])


class FeatureRows(NamedTuple):
    """A sparse row of features for each tree; the keys are hashes of the features.

    The row of tree ``t`` is from ``offsets[t]`` to ``offsets[t + 1]`` in ``keys`` and ``counts``.

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
        columns = np.searchsorted(vocabulary, self.keys)
        known = np.zeros(len(self.keys), dtype=bool)
        inside = columns < len(vocabulary)
        known[inside] = vocabulary[columns[inside]] == self.keys[inside]
        offsets = np.concatenate([[0], np.cumsum(known)])[self.offsets]
        values = self.counts[known].astype(np.float64)
        shape = (len(self.offsets) - 1, len(vocabulary))
        return scipy.sparse.csr_array((values, columns[known], offsets), shape=shape)

    def sentence_keys(self, sentence_offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Every key once for each sentence whose candidates differ in it.

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
    """The features of the k-best lists of sentences.

    Only differences within a list matter, so the smallest count of a feature among the candidates
    of a sentence is subtracted from all of them.

    - ``candidates``: the candidate trees of each sentence.
    - ``heads``: the head rules; by default the rules for English.
    - ``n_jobs``: the number of threads; -1 for all cores.

    >>> flat, deep = "(S (A a) (B b) (C c))", "(S (A a) (X (B b) (C c)))"
    >>> rows = extract_features([[Tree.from_string(flat), Tree.from_string(deep)]])
    >>> len(rows.offsets), len(rows.keys) == len(rows.counts)
    (3, True)
    >>> extract_features([[Tree.from_string(flat)]]).keys  # one candidate has no difference
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
