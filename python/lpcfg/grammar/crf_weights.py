"""Weights of features of the words at the borders of spans, beside the rules of a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.errors import GrammarError
from lpcfg.treebank.symbol import Symbol

__all__ = ["CRFWeights", "FeatureLabels", "Loss", "feature_labels"]

Loss = Literal["crf", "independent"]


class FeatureLabels(NamedTuple):
    """By which labels features know symbols: the kind of each, and the labels of all kinds."""

    kinds: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    labels: NDArray[np.uint32]


def feature_labels(symbols: Sequence[Symbol]) -> FeatureLabels:
    """What features can tell apart: symbols, what these are in the plain tree, and tags.

    >>> symbols = [Symbol(("NP",), ("S",)), Symbol(("NP",), ("VP",)), Symbol(("NP",), (), ("DT",))]
    >>> feature_labels(symbols).labels  # the first two are the same in the plain tree
    array([0, 1, 2, 1, 3, 4], dtype=uint32)
    >>> feature_labels([Symbol(("NP", "NN"), preterminal=True)]).labels
    array([0, 1, 2], dtype=uint32)
    """
    names: dict[tuple[object, ...], int] = {}
    kinds: dict[tuple[int, ...], int] = {}
    kind_of_symbol = []
    for symbol in symbols:
        plain = (symbol.is_binarization, symbol.preterminal, symbol.labels)
        own: list[tuple[object, ...]] = [symbol, plain]
        if symbol.preterminal:
            # A tag is known whatever phrases the word makes up by itself. The core expects it last.
            own.append(("tag", symbol.labels[-1]))
        labels = tuple(names.setdefault(name, len(names)) for name in own)
        kind_of_symbol.append(kinds.setdefault(labels, len(kinds)))
    return FeatureLabels(
        np.array(kind_of_symbol, dtype=np.uint32),
        np.cumsum([0, *map(len, kinds)], dtype=np.uint32),
        np.array([label for labels in kinds for label in labels], dtype=np.uint32),
    )


@dataclass(frozen=True, eq=False)
class CRFWeights:
    """A linear model of trees given sentences (Hall et al. 2014), beside the rules of a grammar.

    ``loss``: ``"crf"`` if a tree has the probability exp(weights . features) times that under the
    grammar, divided by the sum over all trees; ``"independent"`` if labels of spans have
    probabilities, each by itself.
    ``prior_weight``: to which power the probability under the grammar counts.
    ``vocabulary``: the hashes of frequent words and suffixes.
    ``weights``: those of all features, each at a place that its hash says.

    >>> CRFWeights("crf", 1.0, np.zeros(0, dtype=np.uint64), np.zeros(8, dtype=np.float32)).loss
    'crf'
    """

    loss: Loss
    prior_weight: float
    vocabulary: NDArray[np.uint64]
    weights: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Check the loss and the prior weight; the core checks the arrays."""
        if self.loss not in get_args(Loss):
            raise GrammarError(f"loss must be {' or '.join(get_args(Loss))}, not {self.loss!r}")
        if not isinstance(self.prior_weight, (int, float)) or not 0 <= self.prior_weight < np.inf:
            raise GrammarError(f"prior_weight must be a number from 0, not {self.prior_weight!r}")

    def core(self, symbols: Sequence[Symbol]) -> _core.CRFModel:
        """The model for a grammar with these symbols, after all numbers have been checked.

        >>> none, weights = np.zeros(0, dtype=np.uint64), np.zeros(8, dtype=np.float32)
        >>> CRFWeights("crf", 1.0, none, weights).core([Symbol(("NP",))])
        <lpcfg._core.CRFModel object at ...>
        """
        known = feature_labels(symbols)
        return _core.CRFModel(
            loss=self.loss,
            prior_weight=self.prior_weight,
            vocabulary=self.vocabulary,
            kinds=known.kinds,
            label_offsets=known.offsets,
            labels=known.labels,
            weights=self.weights,
        )
