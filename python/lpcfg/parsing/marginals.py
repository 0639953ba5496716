"""Tables of the marginal probabilities of labelled spans, and their means.

Some treebanks use a label both for phrases and as a tag: a phrase label over a word, a tag over
several words. Tables therefore have a row for the phrase and another for the preterminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpcfg.treebank.tree import Tree

__all__ = [
    "MarginalTable",
    "NodeSpan",
    "marginal_table",
    "mean_marginals",
    "node_spans",
    "span_probabilities",
    "tree_marginals",
]

#: A structured array with the fields ``start``, ``end``, ``label``, ``probability`` and
#: ``preterminal``.
MarginalTable: TypeAlias = NDArray[np.void]

#: A node of a tree: its label, its start and end, and whether it is a preterminal.
NodeSpan: TypeAlias = tuple[str, int, int, bool]


def marginal_table(
    start: ArrayLike,
    end: ArrayLike,
    label: ArrayLike,
    probability: ArrayLike,
    preterminal: ArrayLike,
) -> MarginalTable:
    """A table from its columns; ``preterminal`` says which labels are tags of words.

    >>> print(marginal_table([0, 1], [2, 2], ["S", "VBD"], [1.0, 0.5], [False, True]))
    [(0, 2, 'S', 1. , False) (1, 2, 'VBD', 0.5,  True)]
    """
    names = np.asarray(label, dtype=np.str_)
    fields = [
        ("start", "i4"),
        ("end", "i4"),
        ("label", names.dtype),
        ("probability", "f8"),
        ("preterminal", "?"),
    ]
    table = np.empty(len(names), dtype=fields)
    table["start"], table["end"] = start, end
    table["label"], table["probability"] = names, probability
    table["preterminal"] = preterminal
    return table


def node_spans(tree: Tree) -> list[NodeSpan]:
    """The nodes of a tree in pre-order, by label, span, and whether they are preterminals.

    >>> node_spans(Tree.from_string("(NP (NP rain))"))
    [('NP', 0, 1, False), ('NP', 0, 1, True)]
    """
    spans = zip(tree.spans(preterminals=True), tree.nodes(), strict=True)
    return [(*span, node.is_preterminal) for span, node in spans]


def tree_marginals(tree: Tree) -> MarginalTable:
    """The labelled spans of a tree as marginals, each with the probability 1.

    >>> print(tree_marginals(Tree.from_string("(S (PRP it) (VBD rained))")))
    [(0, 2, 'S', 1., False) (0, 1, 'PRP', 1.,  True) (1, 2, 'VBD', 1.,  True)]
    """
    labels, starts, ends, preterminals = zip(*dict.fromkeys(node_spans(tree)), strict=True)
    return marginal_table(starts, ends, labels, 1.0, preterminals)


def mean_marginals(
    tables: Sequence[MarginalTable], weights: ArrayLike | None = None
) -> MarginalTable:
    """The weighted mean probability of each labelled span, which is 0 where a table lacks it.

    >>> one, two = (marginal_table([0], [2], [label], [1.0], [False]) for label in ("S", "NP"))
    >>> print(mean_marginals([one, two], [3, 1]))
    [(0, 2, 'NP', 0.25, False) (0, 2, 'S', 0.75, False)]
    """
    factors = np.ones(len(tables)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = np.concatenate(list(tables))
    sizes = [len(table) for table in tables]
    mass = rows["probability"] * np.repeat(factors / factors.sum(), sizes)
    names, label = np.unique(rows["label"], return_inverse=True)
    width = int(rows["end"].max(initial=0)) + 1
    spans = rows["start"].astype(np.int64) * width + rows["end"]
    keys = (spans * len(names) + label) * 2 + rows["preterminal"]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    mean = rows[first]
    mean["probability"] = np.bincount(inverse, weights=mass, minlength=len(first))
    return mean


def span_probabilities(table: MarginalTable) -> dict[NodeSpan, float]:
    """The probability of each labelled span: label, start, end, and whether it is a preterminal.

    >>> span_probabilities(marginal_table([0], [2], ["S"], [0.5], [False]))
    {('S', 0, 2, False): 0.5}
    """
    return {
        (label, start, end, preterminal): probability
        for start, end, label, probability, preterminal in table.tolist()
    }
