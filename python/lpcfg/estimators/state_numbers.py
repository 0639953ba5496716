"""The number of latent states of each symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpcfg.treebank.treebank import Treebank

__all__ = ["states_by_frequency", "states_by_symbol"]


def states_by_frequency(
    counts: NDArray[np.integer],
    most: NDArray[np.integer],
    min_count: int = 10,
    full_count: int = 100,
) -> NDArray[np.int64]:
    """The number of states of each symbol, by its number of nodes.

    Symbols with up to ``min_count`` nodes have one state, those with at least ``full_count`` nodes
    have ``most``, and the number rises linearly in between.

    >>> states_by_frequency(np.array([10, 55, 100, 1000]), np.full(4, 13))
    array([ 1,  7, 13, 13])
    """
    part = np.clip((counts - min_count) / max(full_count - min_count, 1), 0.0, 1.0)
    return (1 + np.floor(part * (most - 1))).astype(np.int64)


def states_by_symbol(
    treebank: Treebank, most: tuple[int, int], min_count: int, full_count: int
) -> NDArray[np.int64]:
    """The same for the symbols of a treebank; ``most`` is that of interminals and preterminals.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(NP (DT the) (NN rain))")])
    >>> states_by_symbol(bank, (4, 2), min_count=0, full_count=1)
    array([2, 2, 4])
    """
    counts = np.bincount(treebank.symbol, minlength=len(treebank.symbols))
    wanted = np.array([most[symbol.preterminal] for symbol in treebank.symbols])
    return states_by_frequency(counts, wanted, min_count, full_count)
