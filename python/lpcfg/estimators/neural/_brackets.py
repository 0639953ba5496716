"""The brackets of a treebank: labelled spans of trees before binarisation."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.grammar.neural_weights import SpanLabels
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.treebank import Treebank

__all__ = ["Brackets", "find_brackets"]


class Brackets(NamedTuple):
    """The brackets of all trees, one tree after the other; the labels are numbers in ``labels``."""

    labels: SpanLabels
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    numbers: NDArray[np.uint32]
    offsets: NDArray[np.int64]


def find_brackets(treebank: Treebank) -> Brackets:
    """The brackets of a treebank whose transform collapses unary chains.

    A chain of nodes over the same words is one label. What all trees have in common at the top, as
    a rule ``ROOT``, is the root of the labels and no part of them.

    >>> from lpcfg import Tree
    >>> tree = Tree.from_string("(S (NP (DT the) (NN sun)) (VP (VBZ shines)) (. .))")
    >>> brackets = find_brackets(Treebank.from_trees([tree]))
    >>> brackets.labels
    SpanLabels(chains=((), ('S',), ('NP',), ('VP',)), whole=(False, True, False, False),
               part=(True, False, True, True), root=('ROOT',))
    >>> list(zip(brackets.starts, brackets.ends, brackets.numbers))
    [(np.uint32(0), np.uint32(2), np.uint32(2)), (np.uint32(2), np.uint32(3), np.uint32(3)),
     (np.uint32(0), np.uint32(4), np.uint32(1))]
    """
    chains = [_chain(symbol) for symbol in treebank.symbols]
    is_root = treebank.parent < 0
    roots = Counter(treebank.symbol[is_root].tolist())
    tops = {chains[symbol][:1] for symbol in roots}
    root = tops.pop() if len(tops) == 1 else ()
    # The whole sentence has a label even if there is no chain below its root; a part has none.
    known: dict[tuple[str, ...] | None, int] = {(): 0}
    whole = np.zeros(len(chains), dtype=np.uint32)
    part = np.zeros(len(chains), dtype=np.uint32)
    for symbol, _ in roots.most_common():
        own = chains[symbol][len(root) :]
        whole[symbol] = known.setdefault(own or None, len(known))
    parts = Counter(treebank.symbol[~is_root].tolist())
    for symbol, _ in parts.most_common():
        part[symbol] = known.setdefault(chains[symbol], len(known))
    wholes = {int(whole[symbol]) for symbol in roots}
    within = {0, *(int(part[symbol]) for symbol in parts)}
    labels = SpanLabels(
        tuple(chain or () for chain in known),
        tuple(number in wholes for number in range(len(known))),
        tuple(number in within for number in range(len(known))),
        root,
    )
    numbers = np.where(is_root, whole[treebank.symbol], part[treebank.symbol])
    brackets = np.flatnonzero(numbers > 0)
    return Brackets(
        labels,
        treebank.start[brackets].astype(np.uint32),
        treebank.end[brackets].astype(np.uint32),
        numbers[brackets],
        np.searchsorted(brackets, treebank.tree_offsets),
    )


def _chain(symbol: Symbol) -> tuple[str, ...]:
    """The labels of phrases that a symbol stands for."""
    if symbol.is_binarization:
        return ()
    return symbol.labels[:-1] if symbol.preterminal else symbol.labels
