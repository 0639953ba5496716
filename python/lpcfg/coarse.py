"""Classes of symbols for the first pruning pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lpcfg.symbol import Symbol

__all__ = ["coarse_classes"]


def coarse_classes(symbols: Sequence[Symbol]) -> NDArray[np.uint32]:
    """Merge symbols that differ only in their annotation.

    A phrase is known by the label at the top of its chain, which is what its parent sees. The
    nodes that binarisation made of it are a class of their own, and so is each plain tag.

    >>> noun = Symbol(("NN",), preterminal=True)
    >>> coarse_classes([Symbol(("NP",), ("S",)), Symbol(("NP",), ("VP",)), noun])
    array([0, 0, 1], dtype=uint32)
    """
    ids: dict[tuple[str, str], int] = {}
    return np.array([ids.setdefault(_key(s), len(ids)) for s in symbols], dtype=np.uint32)


def _key(symbol: Symbol) -> tuple[str, str]:
    if symbol.siblings is not None:
        return "part", symbol.labels[0]
    if symbol.preterminal and len(symbol.labels) == 1:
        return "tag", symbol.labels[0]
    return "phrase", symbol.labels[0]
