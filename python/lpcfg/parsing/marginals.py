"""Tables of the marginal probabilities of labelled spans, and their means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpcfg.treebank.tree import Tree

__all__ = [
    "MarginalTable",
    "marginal_table",
    "mean_marginals",
    "span_probabilities",
    "tree_marginals",
]

#: A structured array with the fields ``start``, ``end``, ``label`` and ``probability``.
MarginalTable: TypeAlias = NDArray[np.void]


def marginal_table(
    start: ArrayLike, end: ArrayLike, label: ArrayLike, probability: ArrayLike
) -> MarginalTable:
    """A table from its columns.

    >>> print(marginal_table([0, 1], [2, 2], ["S", "VP"], [1.0, 0.5]))
    [(0, 2, 'S', 1. ) (1, 2, 'VP', 0.5)]
    """
    names = np.asarray(label, dtype=np.str_)
    fields = [("start", "i4"), ("end", "i4"), ("label", names.dtype), ("probability", "f8")]
    table = np.empty(len(names), dtype=fields)
    table["start"], table["end"] = start, end
    table["label"], table["probability"] = names, probability
    return table


def tree_marginals(tree: Tree) -> MarginalTable:
    """The labelled spans of a tree as marginals, each with the probability 1.

    >>> print(tree_marginals(Tree.from_string("(S (PRP it) (VBD rained))")))
    [(0, 2, 'S', 1.) (0, 1, 'PRP', 1.) (1, 2, 'VBD', 1.)]
    """
    rows = dict.fromkeys(tree.spans(preterminals=True))
    labels, starts, ends = zip(*rows, strict=True)
    return marginal_table(starts, ends, labels, 1.0)


def mean_marginals(
    tables: Sequence[MarginalTable], weights: ArrayLike | None = None
) -> MarginalTable:
    """The weighted mean probability of each labelled span, which is 0 where a table lacks it.

    >>> one, two = (marginal_table([0], [2], [label], [1.0]) for label in ("S", "NP"))
    >>> print(mean_marginals([one, two], [3, 1]))
    [(0, 2, 'NP', 0.25) (0, 2, 'S', 0.75)]
    """
    factors = np.ones(len(tables)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = np.concatenate(list(tables))
    sizes = [len(table) for table in tables]
    mass = rows["probability"] * np.repeat(factors / factors.sum(), sizes)
    names, label = np.unique(rows["label"], return_inverse=True)
    width = int(rows["end"].max(initial=0)) + 1
    spans = rows["start"].astype(np.int64) * width + rows["end"]
    keys = spans * len(names) + label
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    mean = rows[first]
    mean["probability"] = np.bincount(inverse, weights=mass, minlength=len(first))
    return mean


def span_probabilities(table: MarginalTable) -> dict[tuple[str, int, int], float]:
    """The probability of each labelled span: label, start and end.

    >>> span_probabilities(marginal_table([0], [2], ["S"], [0.5]))
    {('S', 0, 2): 0.5}
    """
    rows = table.tolist()
    return {(label, start, end): probability for start, end, label, probability in rows}
