"""Weights of the features of a conditional random field over trees (Hall et al. 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.errors import GrammarError
from lpcfg.treebank.symbol import Symbol

__all__ = ["CRFWeights", "FeatureLabels", "Loss", "coarse_label", "feature_labels"]

Loss = Literal["crf", "independent"]


#: The number of times that a word must be seen to have features of its own.
_FREQUENT = 3


#: The first version of feature templates with coarse labels.
_COARSE_LABELS = 4

#: What separates the parts of labels, and the length from which labels with digits are codes.
_SEPARATORS = ".:_|+"
_SHORTEST_CODE = 4


class FeatureLabels(NamedTuple):
    """The labels under which features see each symbol.

    Symbols with the same labels are of one kind: ``kinds`` has the kind of each symbol, and the
    labels of a kind are ``labels[offsets[kind] : offsets[kind + 1]]``.
    """

    kinds: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    labels: NDArray[np.uint32]


def coarse_label(label: str) -> str:
    """A label of a treebank without its finest part, such as gender and number.

    Labels with parts lose the last one. Positional codes, which have digits, keep their first two
    characters: the category and its type in those of EAGLES and of Prague.

    >>> [coarse_label(label) for label in ("grup.nom.ms", "ncms000", "NNMS1-----A----", "NP", ".")]
    ['grup.nom', 'nc', 'NN', 'NP', '.']
    """
    if len(label) >= _SHORTEST_CODE and any(map(str.isdigit, label)):
        return label[:2] if label[:2].isalpha() else label
    separators = [place for place, character in enumerate(label) if character in _SEPARATORS]
    return label[: separators[-1]] if separators and separators[-1] > 0 else label


def feature_labels(
    symbols: Sequence[Symbol], template_version: int = _core.crf_template_version
) -> FeatureLabels:
    """The labels of each symbol: itself, itself without annotation, and the tag of a preterminal.

    From version 4 of the feature templates on, both also without the finest parts of labels.

    >>> symbols = [Symbol(("NP",), ("S",)), Symbol(("NP",), ("VP",)), Symbol(("NP",), (), ("DT",))]
    >>> feature_labels(symbols).labels  # the first two differ in annotation only
    array([0, 1, 2, 1, 3, 4], dtype=uint32)
    >>> feature_labels([Symbol(("NP", "NN"), preterminal=True)]).labels
    array([0, 1, 2], dtype=uint32)
    >>> feature_labels([Symbol(("grup.nom.ms",)), Symbol(("grup.nom.fs",))]).labels
    array([0, 1, 2, 3, 4, 2], dtype=uint32)
    """
    names: dict[tuple[object, ...], int] = {}
    kinds: dict[tuple[int, ...], int] = {}
    kind_of_symbol = []
    for symbol in symbols:
        plain = (symbol.is_binarization, symbol.preterminal, symbol.labels)
        symbol_names: list[tuple[object, ...]] = [symbol, plain]
        coarse = tuple(map(coarse_label, symbol.labels))
        if template_version >= _COARSE_LABELS and coarse != symbol.labels:
            symbol_names.append(("coarse", symbol.is_binarization, symbol.preterminal, coarse))
            if symbol.preterminal and coarse[-1] != symbol.labels[-1]:
                symbol_names.append(("coarse tag", coarse[-1]))
        if symbol.preterminal:
            # The tag alone, whatever unary chain is above it. The core expects it last.
            symbol_names.append(("tag", symbol.labels[-1]))
        labels = tuple(names.setdefault(name, len(names)) for name in symbol_names)
        kind_of_symbol.append(kinds.setdefault(labels, len(kinds)))
    return FeatureLabels(
        np.array(kind_of_symbol, dtype=np.uint32),
        np.cumsum([0, *map(len, kinds)], dtype=np.uint32),
        np.array([label for labels in kinds for label in labels], dtype=np.uint32),
    )


@dataclass(frozen=True, eq=False)
class CRFWeights:
    """A CRF of trees given sentences (Hall et al. 2014), with the grammar as its prior.

    ``loss``: the objective of training. ``"crf"``: the probability of a tree is proportional to
    exp(weights . features) times its prior: its probability under the PCFG, or its approximate
    posterior under the latent states of the grammar. ``"independent"``: the label of
    each span has a separate distribution, as in span classification (del Canto 2021, part 2).
    ``prior_weight``: the exponent of the prior; 0 ignores it.
    ``vocabulary``: hashes of the words and suffixes that are frequent enough for features.
    ``weights``: the weights of all features, indexed by hashes of the features.
    ``cluster_words``, ``clusters``: hashes of words, and their word clusters from coarse to fine;
    empty for a model without word clusters.
    ``dependencies``: whether there are features of dependencies.
    ``template_version``: the version of the feature templates that the weights belong to.

    >>> CRFWeights("crf", 1.0, np.zeros(0, dtype=np.uint64), np.zeros(8, dtype=np.float32))
    <CRFWeights: crf loss, prior weight 1, 0 of 8 weights are not zero>
    """

    loss: Loss
    prior_weight: float
    vocabulary: NDArray[np.uint64]
    weights: NDArray[np.float32]
    cluster_words: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    clusters: NDArray[np.uint16] = field(
        default_factory=lambda: np.zeros((0, _core.crf_cluster_levels), dtype=np.uint16)
    )
    dependencies: bool = False
    template_version: int = _core.crf_template_version

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise GrammarError(f"loss must be {' or '.join(get_args(Loss))}, not {self.loss!r}")
        if not isinstance(self.prior_weight, (int, float)) or not 0 <= self.prior_weight < np.inf:
            raise GrammarError(f"prior_weight must be a number from 0, not {self.prior_weight!r}")

        # The core checks the arrays.

    def __repr__(self) -> str:
        used = f"{np.count_nonzero(self.weights)} of {len(self.weights)} weights are not zero"
        return f"<CRFWeights: {self.loss} loss, prior weight {self.prior_weight:g}, {used}>"

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Whether each word is frequent enough for features of its own.

        >>> often = np.array([9], dtype=np.uint32)
        >>> vocabulary = _core.crf_vocabulary(["rain"], often)
        >>> weights = np.zeros(8, dtype=np.float32)
        >>> CRFWeights("crf", 1.0, vocabulary, weights).knows(["Rain", "snow"])
        [True, False]
        """
        frequent = set(self.vocabulary.tolist())
        # As often as a word must be, but less often than a suffix must be, to be in a vocabulary.
        once = np.array([_FREQUENT], dtype=np.uint32)
        hashes = (_core.crf_vocabulary([word], once).tolist() for word in words)
        return [any(hash_value in frequent for hash_value in own) for own in hashes]

    def core(self, symbols: Sequence[Symbol]) -> _core.CRFModel:
        """The CRF of a grammar with these symbols, ready for parsing; its arrays are checked first.

        >>> none, weights = np.zeros(0, dtype=np.uint64), np.zeros(8, dtype=np.float32)
        >>> CRFWeights("crf", 1.0, none, weights).core([Symbol(("NP",))])
        <lpcfg._core.CRFModel object at ...>
        """
        features = feature_labels(symbols, self.template_version)
        return _core.CRFModel(
            loss=self.loss,
            prior_weight=self.prior_weight,
            template_version=self.template_version,
            vocabulary=self.vocabulary,
            cluster_words=self.cluster_words,
            clusters=self.clusters,
            kinds=features.kinds,
            label_offsets=features.offsets,
            labels=features.labels,
            weights=self.weights,
        )
