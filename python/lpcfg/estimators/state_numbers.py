"""How many latent states each symbol has."""

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
    """How many states symbols deserve: one up to ``few`` nodes, all from ``many``, a line between.

    >>> states_by_frequency(np.array([10, 55, 100, 1000]), np.full(4, 13))
    array([ 1,  7, 13, 13])
    """
    part = np.clip((counts - min_count) / max(full_count - min_count, 1), 0.0, 1.0)
    return (1 + np.floor(part * (most - 1))).astype(np.int64)


def states_by_symbol(
    treebank: Treebank, most: tuple[int, int], min_count: int, full_count: int
) -> NDArray[np.int64]:
    """The same for the symbols of a treebank, of which interminals and preterminals differ.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(NP (DT the) (NN rain))")])
    >>> states_by_symbol(bank, (4, 2), min_count=0, full_count=1)
    array([2, 2, 4])
    """
    counts = np.bincount(treebank.symbol, minlength=len(treebank.symbols))
    wanted = np.array([most[symbol.preterminal] for symbol in treebank.symbols])
    return states_by_frequency(counts, wanted, min_count, full_count)
