"""Head rules learnt from a treebank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from lpcfg.treebank.treebank import Treebank

__all__ = ["learn_head_table"]

Step = tuple[Literal["left", "right"], tuple[str, ...]]

#: Added to the number of phrases: a label that was seen a few times is no good evidence.
_PRIOR = 5.0


def learn_head_table(treebank: Treebank) -> Mapping[str, tuple[Step, ...]]:
    """For the phrases of each label, a search for the labels of children, the best heads first.

    A head is the child that a phrase is seldom without, and that few other phrases have. The score
    of a label is the fraction of phrases with such a child, times the pointwise mutual information
    of the two. The search starts from the side where such children usually are.

    >>> from lpcfg import Tree
    >>> trees = ["(PP (P in) (NP (D the) (N rain)))", "(NP (N sun))", "(NP (D a) (A big) (N sea))"]
    >>> table = learn_head_table(Treebank.from_trees(map(Tree.from_string, trees)))
    >>> table["NP"][0], table["PP"][0]
    (('right', ('N',)), ('left', ('P',)))
    """
    symbols = treebank.symbols
    labels = sorted({label for symbol in symbols for label in symbol.labels})
    ids = {label: number for number, label in enumerate(labels)}
    is_part = np.array([symbol.is_binarization for symbol in symbols])[treebank.symbol]
    top = np.array([ids[symbol.labels[0]] for symbol in symbols])[treebank.symbol]
    bottom = np.array([ids[symbol.labels[-1]] for symbol in symbols])[treebank.symbol]
    # The phrase of each node: its nearest ancestor that is no binarisation node.
    phrase = treebank.parent.astype(np.int64)
    while np.any(climbing := (phrase >= 0) & is_part[phrase]):
        phrase[climbing] = treebank.parent[phrase[climbing]]
    child = np.flatnonzero((phrase >= 0) & ~is_part)
    phrase = phrase[child]
    size = len(labels)
    pairs = bottom[phrase] * size + top[child]
    # A phrase with several children of one label has them once.
    once = np.unique(phrase * (size * size) + pairs) % (size * size)
    having = np.bincount(once, minlength=size * size).reshape(size, size).astype(float)
    phrases = np.bincount(bottom[np.unique(phrase)], minlength=size).astype(float)
    # How far right the child is: 0 for the first, 1 for the last.
    before = treebank.start[child] - treebank.start[phrase]
    after = treebank.end[phrase] - treebank.end[child]
    total = np.bincount(pairs, weights=before / (before + after), minlength=size * size)
    number = np.bincount(pairs, minlength=size * size)
    place = (total / np.maximum(number, 1)).reshape(size, size)
    # Unary chains are single nodes.
    for symbol, count in zip(
        symbols, np.bincount(treebank.symbol, minlength=len(symbols)), strict=True
    ):
        for upper, lower in zip(symbol.labels, symbol.labels[1:], strict=False):
            having[ids[upper], ids[lower]] += count
            phrases[ids[upper]] += count
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(
            having * having.sum() / (having.sum(axis=0) * having.sum(axis=1, keepdims=True))
        )
        score = np.where(having > 0, having / (phrases[:, None] + _PRIOR) * information, -np.inf)
    table: dict[str, tuple[Step, ...]] = {}
    for parent in np.flatnonzero(phrases).tolist():
        ranked = np.argsort(-score[parent], kind="stable")[: int((having[parent] > 0).sum())]
        steps: list[Step] = [
            ("right" if place[parent, label] >= 0.5 else "left", (labels[label],))
            for label in ranked.tolist()
        ]
        table[labels[parent]] = (*steps, (steps[0][0], ()))
    return table
