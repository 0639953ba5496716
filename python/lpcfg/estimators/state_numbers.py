"""The number of latent states of each symbol, by its frequency."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import sum_weights
from lpcfg.errors import InputError
from lpcfg.treebank.treebank import Treebank

__all__ = ["check_counts", "states_by_frequency", "states_by_symbol"]


class _Counts(Protocol):
    min_count: int
    full_count: int

    def invalid(self, name: str, problem: str) -> InputError: ...


def check_counts(estimator: _Counts) -> None:
    """Raise an InputError if ``min_count`` of an estimator is larger than ``full_count``.

    >>> from lpcfg import EMEstimator
    >>> check_counts(EMEstimator(min_count=5, full_count=5))
    """
    if estimator.min_count > estimator.full_count:
        raise estimator.invalid(
            "min_count",
            f"must be at most full_count, {estimator.full_count}, not {estimator.min_count}",
        )


def states_by_frequency(
    counts: NDArray[np.number],
    largest: NDArray[np.integer],
    min_count: int = 10,
    full_count: int = 100,
) -> NDArray[np.int64]:
    """Numbers of states: one up to ``min_count`` nodes, all from ``full_count``, linear between.

    >>> states_by_frequency(np.array([10, 55, 100, 1000]), np.full(4, 13))
    array([ 1,  7, 13, 13])
    """
    fraction = np.clip((counts - min_count) / max(full_count - min_count, 1), 0.0, 1.0)
    states: NDArray[np.int64] = (1 + np.floor(fraction * (largest - 1))).astype(np.int64)
    return states


def states_by_symbol(
    treebank: Treebank, largest: tuple[int, int], min_count: int, full_count: int
) -> NDArray[np.int64]:
    """Numbers of states by frequency in a treebank; ``largest`` is for phrases and for tags.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(NP (DT the) (NN rain))")])
    >>> states_by_symbol(bank, (4, 2), min_count=0, full_count=1)
    array([2, 2, 4])
    """
    counts = sum_weights(treebank.symbol, treebank.node_weights(), len(treebank.symbols))
    wanted = np.array([largest[symbol.preterminal] for symbol in treebank.symbols])
    return states_by_frequency(counts, wanted, min_count, full_count)
