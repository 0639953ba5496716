"""Coarse classes of symbols for coarse-to-fine pruning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lpcfg.treebank.symbol import Symbol

__all__ = ["coarse_classes"]


def coarse_classes(
    symbols: Sequence[Symbol], weights: NDArray[np.float64], min_fraction: float = 0.002
) -> NDArray[np.uint32]:
    """Give symbols that differ only in their annotation the same class, and all rare labels one.

    The class of a phrase is the label at the top of its unary chain, which its parent sees.
    Binarisation nodes and phrases never share a class, and each tag is a class.

    ``weights``: the count of each symbol.
    ``min_fraction``: phrase labels with a lower fraction of all phrases share a class, and so do
    rare labels of binarisation nodes. Every class takes time in every span, and rare classes prune
    little. Default 0.002.

    >>> phrases = [Symbol(("NP",), ("S",)), Symbol(("NP",), ("VP",))]
    >>> coarse_classes([*phrases, Symbol(("NN",), preterminal=True)], np.ones(3))
    array([0, 0, 1], dtype=uint32)
    """
    keys = [_key(symbol) for symbol in symbols]
    totals: Counter[_Key] = Counter()
    kinds: Counter[str] = Counter()
    for key, weight in zip(keys, weights.tolist(), strict=True):
        totals[key] += weight
        kinds[key[0]] += weight
    ids: dict[_Key, int] = {}
    classes = []
    for kind, label in keys:
        rare = kind != "tag" and totals[kind, label] < min_fraction * kinds[kind]
        classes.append(ids.setdefault((kind, None if rare else label), len(ids)))
    return np.array(classes, dtype=np.uint32)


_Key = tuple[str, str | None]


def _key(symbol: Symbol) -> _Key:
    if symbol.siblings is not None:
        return "part", symbol.labels[0]
    if symbol.preterminal and len(symbol.labels) == 1:
        return "tag", symbol.labels[0]
    return "phrase", symbol.labels[0]
