"""The parameters of a neural classifier of spans (del Canto 2021, part 2; Stern et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.errors import GrammarError, InputError

__all__ = ["NeuralLoss", "NeuralSizes", "NeuralWeights", "SpanLabels"]

NeuralLoss = Literal["crf", "independent"]

#: Far above any network that can be trained: a larger size is an error in a file.
_LARGEST_SIZE = 1 << 16


class NeuralSizes(NamedTuple):
    """The sizes of a network.

    ``words``, ``characters``, ``tags``: of the embeddings of words, characters and tags.
    ``character_states``, ``word_states``: of the states that read the characters of a word and the
    words of a sentence, in each direction; no characters are read with 0.
    ``layers``: the number of layers that read words.
    ``spans``: of the hidden layer of the classifier of spans.

    >>> NeuralSizes().layers
    2
    """

    words: int = 100
    characters: int = 32
    character_states: int = 50
    word_states: int = 200
    layers: int = 2
    tags: int = 32
    spans: int = 200


class SpanLabels(NamedTuple):
    """The labels of spans: chains of node labels from the top. The first one is no bracket.

    ``whole``, ``part``: for each label whether a whole sentence and whether a part of one may have
    it. ``root``: the labels of nodes above the label of every whole sentence.

    >>> SpanLabels((), ("NP",)).is_valid
    False
    """

    chains: tuple[tuple[str, ...], ...]
    whole: tuple[bool, ...]
    part: tuple[bool, ...] = ()
    root: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the first label is no bracket, and each label has its places."""
        return self.chains[:1] == ((),) and len(self.chains) == len(self.whole) == len(self.part)


@dataclass(frozen=True, eq=False)
class NeuralWeights:
    """A network that scores the labels of spans, with all that parsing needs.

    ``loss``: the objective of training. ``"crf"``: trees have probabilities given the sentence, in
    proportion to the exponential of the sum of the scores of their spans. ``"independent"``: the
    label of each span has a separate distribution (del Canto 2021, part 2).
    ``words``, ``characters``: those with embeddings. ``tags``: the tags that it predicts.
    ``values``: all parameters in one vector, in the order of the core.
    ``vector_words``, ``vectors``: given word vectors, which are not trained, in 127ths.

    >>> labels = SpanLabels(((), ("S",)), (False, True), (True, True))
    >>> NeuralWeights("crf", NeuralSizes(), (), "", ("NN",), labels, np.zeros(0, np.float32))
    <NeuralWeights: crf loss, 0 parameters, 2 labels>
    """

    loss: NeuralLoss
    sizes: NeuralSizes
    words: Sequence[str]
    characters: str
    tags: tuple[str, ...]
    labels: SpanLabels
    values: NDArray[np.float32]
    vector_words: Sequence[str] = ()
    vectors: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))

    def __post_init__(self) -> None:
        if self.loss not in get_args(NeuralLoss):
            names = " or ".join(get_args(NeuralLoss))
            raise GrammarError(f"loss must be {names}, not {self.loss!r}")
        if not self.labels.is_valid:
            raise GrammarError("the first label of spans must be no bracket, and each has places")
        for name, size in self.sizes._asdict().items():
            if not 0 <= size <= _LARGEST_SIZE:
                raise GrammarError(
                    f"the size {name} of a neural network must be from 0 to {_LARGEST_SIZE}, "
                    f"not {size}"
                )

    def __repr__(self) -> str:
        sizes = f"{len(self.values)} parameters, {len(self.labels.chains)} labels"
        return f"<NeuralWeights: {self.loss} loss, {sizes}>"

    def network(self) -> _core.NeuralNetwork:
        """The network without its parameters.

        >>> labels = SpanLabels(((), ("S",)), (False, True), (True, True))
        >>> empty = np.zeros(0, np.float32)
        >>> len(NeuralWeights("crf", NeuralSizes(), (), "", ("NN",), labels, empty).network())
        1769031
        """
        return _core.NeuralNetwork(
            words=list(self.words),
            characters=self.characters,
            vector_words=list(self.vector_words),
            vectors=self.vectors,
            word_size=self.sizes.words,
            character_size=self.sizes.characters,
            character_hidden=self.sizes.character_states,
            hidden=self.sizes.word_states,
            layers=self.sizes.layers,
            tag_size=self.sizes.tags,
            span_hidden=self.sizes.spans,
            tags=len(self.tags),
            whole=list(self.labels.whole),
            part=list(self.labels.part),
        )

    def core(self, node_labels: Sequence[tuple[str, bool]]) -> _core.NeuralModel:
        """The network ready for parsing; everything is checked first.

        ``node_labels``: the labels of nodes, each with whether the node is a preterminal.

        >>> labels = SpanLabels(((), ("S",)), (False, True), (True, True))
        >>> values = np.zeros(1769031, np.float32)
        >>> weights = NeuralWeights("crf", NeuralSizes(), (), "", ("NN",), labels, values)
        >>> weights.core([("NN", True), ("S", False)])
        <lpcfg._core.NeuralModel object at ...>
        """
        numbers = {node: number for number, node in enumerate(node_labels)}
        try:
            chains = [[numbers[label, False] for label in chain] for chain in self.labels.chains]
            root = [numbers[label, False] for label in self.labels.root]
            tags = [numbers[tag, True] for tag in self.tags]
        except KeyError as error:
            raise GrammarError(
                f"no node of the grammar has the label {error.args[0][0]!r}"
            ) from None
        try:
            return _core.NeuralModel(
                self.network(),
                values=self.values,
                independent=self.loss == "independent",
                chains=chains,
                root=root,
                tag_labels=tags,
            )
        except InputError as error:
            raise GrammarError(f"the neural network is not valid: {error}") from None
