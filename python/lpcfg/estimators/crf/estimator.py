"""Trees weighed by features of the words at the borders of their spans (Hall et al. 2014)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Self, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import distinct_rows
from lpcfg._threads import thread_count
from lpcfg.errors import InputError
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.grammar.crf_weights import CRFWeights, Loss
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import refuse_unary_rules
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_table import initial_words
from lpcfg.parsing.parser import Pruning, checked_pruning
from lpcfg.treebank.treebank import Treebank

__all__ = ["CRFEstimator"]

#: The most weights there can be, as a power of two.
_MOST_BITS = 30


@dataclass
class CRFEstimator:
    """A linear model of trees given their words, beside a PCFG that prunes.

    Features are words, their likeliest tags according to the PCFG, affixes and shapes at the
    borders of a span and around it, its length, and the same of the place where it is split; they
    are conjoined with the label.

    ``loss``: ``"crf"`` makes trees likely: a conditional random field over the trees that the
    grammar leaves, whose probabilities count, too. ``"independent"`` makes labels of spans likely,
    each by itself, as does the classifier of del Canto (2021); trees are then found in what
    it says of the spans of a sentence.
    ``prior_weight``: to which power the probability of a tree under the grammar counts (crf).
    ``epochs``: how often all trees are seen.
    ``learning_rate``, ``initial_accumulator``: the step size of AdaGrad, and the value that its
    sums of squared gradients start from.
    ``penalty``: how strongly weights are drawn to zero when they are changed.
    ``batch``: how many trees make a step.
    ``bits``: there are two to the power of this many weights; features share them by chance.
    ``prune``: what the grammar leaves of the chart of a sentence to learn from; as for
    :class:`~lpcfg.parsing.parser.Parser`. Trees that it does not leave are not learnt from.
    ``random_state``: the seed; the same seed gives the same model on any number of threads.

    After ``fit``, ``log_likelihoods_`` has the mean log-probability of a tree in each epoch, before
    it was learnt from.

    >>> from lpcfg import Parser, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> estimator = CRFEstimator(epochs=2, bits=16).fit(treebank)
    >>> estimator.log_likelihoods_[0] < estimator.log_likelihoods_[1]
    True
    >>> print(Parser(estimator.grammar_).parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    loss: Loss = "crf"
    prior_weight: float = 1.0
    epochs: int = 3
    learning_rate: float = 0.01
    initial_accumulator: float = 1.0
    penalty: float = 0.0
    batch: int = 32
    bits: int = 22
    prune: Pruning | float | None = Pruning()  # noqa: RUF009 - immutable
    lexicon: LexiconOptions = field(default_factory=LexiconOptions)
    random_state: int = 0
    n_jobs: int = -1
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    grammar_: Grammar = field(init=False, repr=False, compare=False)
    log_likelihoods_: list[float] = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammar_` from a treebank.

        >>> from lpcfg import Tree
        >>> CRFEstimator(bits=8).fit(Treebank.from_trees([Tree("NN", "rain")])).grammar_.tags
        ('NN',)
        """
        self._check()
        prune = checked_pruning(self.prune)
        backbone = PCFGEstimator(self.lexicon).fit(treebank).grammar_
        refuse_unary_rules(backbone.unary_rules, "features of spans")
        uses = np.bincount(treebank.word[treebank.word >= 0], minlength=len(treebank.words))
        vocabulary = _core.crf_vocabulary(list(treebank.words), uses.astype(np.uint32))
        weights = np.zeros(1 << self.bits, dtype=np.float32)
        base = self.prior_weight if self.loss == "crf" else 0.0
        start = CRFWeights(self.loss, base, vocabulary, weights)
        trainer = _core.CRFTrainer(start.core(treebank.symbols), thread_count(self.n_jobs))
        leaves = np.flatnonzero(treebank.word >= 0)
        trainer.add(
            backbone.core,
            spellings=list(treebank.words),
            word_column=treebank.word[leaves].astype(np.uint32),
            emissions=_emissions(treebank, backbone.lexicon, uses),
            word_offsets=np.searchsorted(leaves, treebank.tree_offsets),
            symbols=treebank.symbol,
            starts=treebank.start,
            ends=treebank.end,
            tree_offsets=treebank.tree_offsets,
            coarse_threshold=prune.coarse,
            threshold=prune.fine,
        )
        generator = np.random.default_rng(self.random_state)
        self.log_likelihoods_ = []
        for _ in self.progress(range(self.epochs)):
            total = trainer.run(
                generator.permutation(len(trainer)),
                learning_rate=self.learning_rate,
                initial_accumulator=self.initial_accumulator,
                penalty=self.penalty,
                batch=self.batch,
            )
            self.log_likelihoods_.append(total / max(len(trainer), 1))
        options = (
            "loss",
            "epochs",
            "learning_rate",
            "initial_accumulator",
            "penalty",
            "batch",
            "random_state",
        )
        self.grammar_ = replace(
            backbone,
            crf_weights=replace(start, weights=trainer.weights()),
            provenance={
                **backbone.provenance,
                "estimator": "span",
                "prior_weight": base,
                **{name: getattr(self, name) for name in options},
                "learnt_from": len(trainer),
            },
        )
        return self

    def _check(self) -> None:
        if self.loss not in get_args(Loss):
            raise InputError(f"loss must be {' or '.join(get_args(Loss))}, not {self.loss!r}")
        if self.epochs < 0:
            raise InputError(f"epochs must not be negative, but is {self.epochs}")
        if not 0 <= self.prior_weight < np.inf:
            raise InputError(f"prior_weight must be a number from 0, not {self.prior_weight}")
        if self.batch < 1:
            raise InputError(f"batch must be a number of trees from 1, not {self.batch}")
        if not 0 <= self.bits <= _MOST_BITS:
            raise InputError(f"bits must be from 0 to {_MOST_BITS}, not {self.bits}")
        for name in ("learning_rate", "initial_accumulator"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} must be a positive number, not {getattr(self, name)}")
        if not 0 <= self.penalty < np.inf:
            raise InputError(f"penalty must be a number from 0, not {self.penalty}")


def _emissions(trees: Treebank, lexicon: Lexicon, uses: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The emissions of all tokens.

    Words that are used once are taken for unknown, as they would be without their sentence:
    otherwise nothing would be learnt about unknown words.
    """
    leaves = trees.word >= 0
    initial = initial_words(trees.words, trees.word[leaves], trees.start[leaves])
    (words, initials), rows, _ = distinct_rows(trees.word[leaves], initial)
    ids = [
        (lexicon.emission if uses[word] > 1 else lexicon.class_emission)(
            trees.words[word], bool(is_initial)
        )
        for word, is_initial in zip(words.tolist(), initials.tolist(), strict=True)
    ]
    return np.array(ids, dtype=np.uint32)[rows]
