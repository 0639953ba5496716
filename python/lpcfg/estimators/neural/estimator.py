"""A neural classifier of spans over a recurrent encoder (del Canto 2021; Stern et al. 2017)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import sum_weights
from lpcfg._threads import thread_count
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import LEXICON, N_JOBS, PROGRESS, RANDOM_STATE
from lpcfg.estimators.neural._brackets import find_brackets
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import refuse_unary_rules
from lpcfg.grammar.neural_weights import NeuralLoss, NeuralSizes, NeuralWeights
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_clusters import WordClusters, clusters_record, loaded_clusters
from lpcfg.parameters.constraints import AnyOf, Instance, Interval, Options
from lpcfg.parameters.parameterized import parameter
from lpcfg.treebank.treebank import Treebank

__all__ = ["NeuralEstimator"]

#: Gradients with a larger norm are scaled to this norm.
_LARGEST_NORM = 5.0

#: The fraction of training in which the learning rate rises from 0.
_WARM_UP = 0.05

#: Characters that are in fewer words are unknown.
_MIN_CHARACTER_COUNT = 2

#: The probability that a training sentence is read with its tags.
_GIVEN_TAGS = 0.1

#: The number of gradient steps by default, and the fewest and the most epochs for them.
_STEPS = 6400
_FEWEST_EPOCHS = 10
_MOST_EPOCHS = 100

#: Large treebanks have fewer epochs: as many as this number of gradient steps needs, or a few.
_MOST_STEPS = 40_000
_FEWEST_EPOCHS_OF_ALL = 3

#: The decay of the running mean of parameters, which is the result.
_AVERAGE_DECAY = 0.999


@dataclass(repr=False, kw_only=True)
class NeuralEstimator(Estimator):
    """A recurrent network that reads a sentence and scores the labels of all its spans.

    A word is its embedding, what a bidirectional LSTM reads from its characters and, with
    ``word_clusters``, a vector learnt from text. Layers of bidirectional LSTMs read the words; the
    first one predicts tags. A span is the difference of what they have read at its two borders, and
    a network with one hidden layer scores its labels. The score of a tree is the sum of the scores
    of its spans.

    After ``fit``, ``losses_`` has the mean loss of a tree in each epoch, which includes that of its
    tags.

    >>> from lpcfg import embedded_trees
    >>> estimator = NeuralEstimator(epochs=4, word_states=24, span_size=24, learning_rate=0.01)
    >>> estimator = estimator.fit(embedded_trees())
    >>> estimator.losses_[0] > estimator.losses_[-1]
    True
    """

    name = "neural"
    description = "a neural network that reads words and characters and scores spans"
    progress_unit = "epochs"

    loss: NeuralLoss = field(
        default="crf",
        metadata=parameter(
            Options(*get_args(NeuralLoss)),
            "crf maximises the probability of trees among all trees of their sentences; "
            "independent maximises the probability of the label of each span separately, as the "
            "classifier of del Canto (2021) does",
        ),
    )
    epochs: int | None = field(
        default=None,
        metadata=parameter(
            AnyOf(Interval(int, 0), Instance(None)),
            "the number of passes over all trees; training time grows with it. By default it is "
            "10; up to 100 for small treebanks, so that there are 6400 gradient steps, and down to "
            "3 for large ones, whose steps are bounded by 40,000",
        ),
    )
    learning_rate: float = field(
        default=0.0015,
        metadata=parameter(
            Interval(float, 0, closed="neither"),
            "the highest step size of Adam; it falls to 0 at the end of training",
            search=Interval(float, 0.0003, 0.006),
        ),
    )
    batch_size: int = field(
        default=16, metadata=parameter(Interval(int, 1), "the number of trees of a gradient step")
    )
    word_size: int = field(
        default=100, metadata=parameter(Interval(int, 1, 4096), "the size of embeddings of words")
    )
    min_count: int = field(
        default=2,
        metadata=parameter(
            Interval(int, 1),
            "words that are seen less often have no embedding and are read by their characters; "
            "the larger, the smaller the model",
        ),
    )
    character_states: int = field(
        default=50,
        metadata=parameter(
            Interval(int, 0, 4096),
            "the size of the states that read the characters of a word, in each direction; with 0, "
            "characters are not read",
        ),
    )
    word_states: int = field(
        default=200,
        metadata=parameter(
            Interval(int, 1, 4096),
            "the size of the states that read the words of a sentence, in each direction; training "
            "and parsing time grow with its square",
            search=Interval(int, 100, 400),
        ),
    )
    layers: int = field(
        default=2,
        metadata=parameter(
            Interval(int, 1, 16), "the number of layers of states that read the words of a sentence"
        ),
    )
    span_size: int = field(
        default=200,
        metadata=parameter(
            Interval(int, 1, 4096), "the size of the hidden layer of the classifier of spans"
        ),
    )
    dropout: float = field(
        default=0.3,
        metadata=parameter(
            Interval(float, 0, 1, "left"),
            "the probability with which inputs and outputs of layers are set to 0 in training; the "
            "fewer trees, the more it helps",
            search=Interval(float, 0, 0.6),
        ),
    )
    recurrent_dropout: float = field(
        default=0.2,
        metadata=parameter(
            Interval(float, 0, 1, "left"),
            "the probability with which what states hand on to the next word is set to 0 in "
            "training",
            search=Interval(float, 0, 0.5),
        ),
    )
    word_dropout: float = field(
        default=0.8,
        metadata=parameter(
            Interval(float, 0),
            "a word that occurs n times is unknown in training with probability w / (w + n), where "
            "w is this number",
            search=Interval(float, 0.1, 4),
        ),
    )
    tag_weight: float = field(
        default=0.5,
        metadata=parameter(Interval(float, 0), "the weight of the loss of tags"),
    )
    none_ratio: float = field(
        default=3.0,
        metadata=parameter(
            Interval(float, 0),
            "with the loss independent, the number of spans without brackets that are sampled for "
            "each bracket",
        ),
    )
    word_clusters: WordClusters | str | PathLike[str] | None = field(
        default=None,
        metadata=parameter(
            Instance(WordClusters, str, PathLike, None),
            "word vectors that lpcfg words train has learnt from text, or their file; they help "
            "with words that the trees lack",
            metavar="FILE",
            provenance=clusters_record,
        ),
    )
    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)
    random_state: int = field(default=0, metadata=RANDOM_STATE)
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    losses_: list[float] = field(init=False, repr=False, compare=False)

    def estimate(self, treebank: Treebank) -> Grammar:
        """Learn the parameters of the network by stochastic gradient descent.

        >>> from lpcfg import Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> NeuralEstimator(epochs=1, word_states=4).estimate(treebank).tags
        ('NN',)
        """
        backbone = PCFGEstimator(lexicon=self.lexicon).estimate(treebank)
        refuse_unary_rules(backbone.unary_rules, "a classifier of spans")
        brackets = find_brackets(treebank)
        leaves = np.flatnonzero(treebank.word >= 0)
        word = treebank.word[leaves].astype(np.uint32)
        weights = treebank.node_weights(leaves)
        present = None if weights is None else (weights > 0).astype(np.float64)
        counts = sum_weights(word, present, len(treebank.words))
        clusters = loaded_clusters(self.word_clusters)
        parameters = NeuralWeights(
            loss=self.loss,
            sizes=NeuralSizes(
                words=self.word_size,
                character_states=self.character_states,
                word_states=self.word_states,
                layers=self.layers,
                spans=self.span_size,
            ),
            words=[treebank.words[number] for number in np.flatnonzero(counts >= self.min_count)],
            characters=_frequent_characters(treebank.words),
            tags=backbone.tags,
            labels=brackets.labels,
            values=np.zeros(0, dtype=np.float32),
            vector_words=() if clusters is None else clusters.words_,
            vectors=np.zeros((0, 0), dtype=np.int8) if clusters is None else clusters.vectors_,
        )
        tags = np.array([backbone.tag_ids.get(s.labels[-1], 0) for s in treebank.symbols])
        trainer = _core.NeuralTrainer(
            parameters.network(),
            spellings=list(treebank.words),
            word_column=word,
            tags=tags[treebank.symbol[leaves]].astype(np.uint32),
            word_offsets=np.searchsorted(leaves, treebank.tree_offsets),
            starts=brackets.starts,
            ends=brackets.ends,
            labels=brackets.numbers,
            span_offsets=brackets.offsets,
            tree_weights=_tree_weights(treebank),
            none_ratio=self.none_ratio if self.loss == "independent" else None,
            tag_weight=self.tag_weight,
            dropout=(self.dropout, self.recurrent_dropout, self.dropout, self.dropout),
            word_dropout=self.word_dropout,
            given_tags=_GIVEN_TAGS,
            seed=self.random_state,
            threads=thread_count(self.n_jobs),
        )
        self.losses_ = []
        epochs = self.epochs_for(len(treebank))
        for epoch in self.progress(range(epochs)):
            total = trainer.run(
                epoch,
                batch=self.batch_size,
                learning_rates=(self._rate(epoch, epochs), self._rate(epoch + 1, epochs)),
                largest_norm=_LARGEST_NORM,
                average_decay=_AVERAGE_DECAY,
            )
            self.losses_.append(total / len(treebank))
        return replace(
            backbone,
            span_filter=None,
            # Half precision is enough, and the model file has half the size.
            neural_weights=replace(
                parameters, values=trainer.values().astype(np.float16).astype(np.float32)
            ),
            provenance=self.provenance(treebank),
        )

    def epochs_for(self, trees: int) -> int:
        """The number of passes over a treebank with this many trees.

        >>> NeuralEstimator().epochs_for(10_224), NeuralEstimator().epochs_for(1_000)
        (11, 100)
        """
        if self.epochs is not None:
            return self.epochs
        needed = math.ceil(_STEPS * self.batch_size / trees)
        possible = max(_MOST_STEPS * self.batch_size // trees, _FEWEST_EPOCHS_OF_ALL)
        return min(max(needed, _FEWEST_EPOCHS), _MOST_EPOCHS, possible)

    def _rate(self, epoch: int, epochs: int) -> float:
        """The learning rate before an epoch: it rises at first, then falls as a cosine does."""
        time = epoch / epochs
        warm_up = max(_WARM_UP, 1 / epochs)
        if time < warm_up:
            return self.learning_rate * (0.1 + 0.9 * time / warm_up)
        if warm_up >= 1:
            return 0.0
        return self.learning_rate * (1 + math.cos(math.pi * (time - warm_up) / (1 - warm_up))) / 2


def _frequent_characters(words: Iterable[str]) -> str:
    counts = Counter(character for word in words for character in word)
    return "".join(sorted(c for c, count in counts.items() if count >= _MIN_CHARACTER_COUNT))


def _tree_weights(treebank: Treebank) -> NDArray[np.float32]:
    """Weights with a mean of 1 over trees that have one, so that gradients have the usual sizes."""
    weights = treebank.weights
    if weights is None:
        return np.ones(len(treebank), dtype=np.float32)
    scaled: NDArray[np.float64] = weights * (np.count_nonzero(weights) / weights.sum())
    return scaled.astype(np.float32)
