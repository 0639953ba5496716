"""Scaled inside and outside features of all nodes (Peng 2021, sections 3.2.3, 3.2.4 and 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import Weights, stable_order, sum_weights
from lpcfg.estimators.features._tree_nodes import Column, TreeNodes
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.lexicon.word_clusters import WordClusters
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.treebank import Treebank

__all__ = ["FeatureMatrix", "NodeFeatures"]

# The key of all infrequent features of a group. Other keys are hashes from 0 on, or -1.
_INFREQUENT = -2


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """One-hot features of the nodes of each symbol: Phi(a) or Psi(a) of Peng (2021, section 4.2).

    Each symbol a has a separate sparse block, with a row for each of its nodes. A feature that
    occurs ``count`` times at the M nodes of a symbol has the value sqrt(M / (count + kappa)) (Peng
    2021, equation 3.2, where M is the number of all nodes; only the ratio of values matters).
    Every node has one feature of each feature group.

    >>> symbol = np.array([0, 1, 0])
    >>> matrix = FeatureMatrix.build(symbol, [np.array([7, 7, -1])], kappa=0)
    >>> matrix.block(0).toarray().round(3)
    array([[1.414, 0.   ],
           [0.   , 1.414]])
    """

    values: NDArray[np.float64]  # nodes sorted by symbol x groups
    columns: NDArray[np.int32]  # the same shape; counted from the first column of the symbol
    row_offsets: NDArray[np.int64]  # by symbol
    widths: NDArray[np.int64]  # the number of columns of each symbol

    @classmethod
    def build(
        cls,
        symbol: NDArray[np.integer],
        keys: Sequence[Column],
        *,
        kappa: float | None = 5.0,
        cutoff: int = 1,
        weights: Weights = None,
        symbols: int = 0,
    ) -> FeatureMatrix:
        """Encode the keys that each feature group gives each node.

        ``kappa``: added to the counts of features, so that rare features do not dominate the SVD;
        None for features that are not scaled.
        ``cutoff``: features that occur less often at the nodes of a symbol are merged into one
        feature of their group.
        ``weights``: the weight of each node in all counts (default 1).
        ``symbols``: the number of symbols, if the last ones may have no nodes.

        >>> keys = [np.array([1, 2, 3, 3])]
        >>> FeatureMatrix.build(np.zeros(4, dtype=int), keys, cutoff=2).widths
        array([2])
        """
        sizes = np.bincount(symbol, minlength=symbols)
        order = stable_order(symbol)
        rows = symbol[order].astype(np.int64)
        sorted_weights = None if weights is None else weights[order]
        totals = sum_weights(symbol, weights)
        encoded: list[Column] = []
        owners: list[Column] = []
        counts: list[NDArray[np.float64]] = []
        width = 0
        for key in keys:
            column, count = _encode(rows, key[order], sorted_weights)
            if cutoff > 1:
                frequent = np.where(count[column] < cutoff, _INFREQUENT, key[order])
                column, count = _encode(rows, frequent, sorted_weights)
            owner = np.empty(len(count), dtype=np.int64)
            owner[column] = rows
            encoded.append(column + width)
            width += len(count)
            owners.append(owner)
            counts.append(count)
        count, owner = np.concatenate(counts), np.concatenate(owners)
        widths = np.bincount(owner, minlength=len(sizes))
        by_owner = stable_order(owner)
        index = np.empty(len(owner), dtype=np.int32)
        index[by_owner] = np.arange(len(owner)) - np.repeat(np.cumsum(widths) - widths, widths)
        value = np.ones(len(count))
        if kappa is not None:
            value = np.sqrt(totals[owner] / (count + kappa))
        columns = np.stack(encoded, axis=1)
        return cls(
            values=value[columns],
            columns=index[columns],
            row_offsets=np.concatenate([[0], np.cumsum(sizes)]),
            widths=widths,
        )

    def block(self, symbol: int) -> scipy.sparse.csr_array:
        """The feature vectors of a symbol's nodes, as rows.

        >>> FeatureMatrix.build(np.array([0, 0]), [np.array([1, 1])]).block(0).shape
        (2, 1)
        """
        rows = slice(*self.row_offsets[symbol : symbol + 2])
        groups = self.columns.shape[1]
        size = rows.stop - rows.start
        return scipy.sparse.csr_array(
            (
                self.values[rows].ravel(),
                self.columns[rows].ravel(),
                np.arange(0, size * groups + 1, groups, dtype=np.int32),
            ),
            shape=(size, int(self.widths[symbol])),
        )


def _encode(symbol: Column, key: Column, weights: Weights) -> tuple[Column, NDArray[np.float64]]:
    """Number the distinct pairs of symbol and key, and count them; symbols are sorted."""
    column, size = _core.number_pairs(symbol, key)
    return column, sum_weights(column, weights, size)


class NodeFeatures(NamedTuple):
    """The feature functions phi (inside tree) and psi (outside tree) of all nodes of a treebank.

    >>> from lpcfg import Tree
    >>> features = NodeFeatures.build(Treebank.from_trees([Tree("NN", "rain")]))
    >>> features.inside.widths
    array([3])
    """

    inside: FeatureMatrix
    outside: FeatureMatrix

    @classmethod
    def build(
        cls,
        treebank: Treebank,
        features: str | FeatureSet = "compact",
        *,
        head_rules: HeadRules | None = None,
        word_clusters: WordClusters | None = None,
        kappa: float = 5.0,
        cutoff: int = 1,
    ) -> NodeFeatures:
        """Extract and scale the features of a feature set; see :meth:`FeatureMatrix.build`.

        With ``word_clusters``, there are features of clusters in addition to those of the set.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> NodeFeatures.build(bank, FeatureSet(("word",), ("parent",))).outside.widths
        array([1])
        """
        nodes = TreeNodes(treebank, head_rules, word_clusters)
        chosen = FeatureSet.named(features)
        if word_clusters is not None:
            chosen = chosen.with_clusters()
        return cls(
            *(
                FeatureMatrix.build(
                    treebank.symbol,
                    keys,
                    kappa=kappa if chosen.scaled else None,
                    cutoff=cutoff,
                    weights=treebank.node_weights(),
                    symbols=len(treebank.symbols),
                )
                for keys in (chosen.inside_keys(nodes), chosen.outside_keys(nodes))
            )
        )
