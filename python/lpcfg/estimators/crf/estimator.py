"""A conditional random field over trees, with features of the words of spans (Hall et al. 2014)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import get_args

import numpy as np

from lpcfg import _core
from lpcfg._columns import sum_weights
from lpcfg._threads import thread_count
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import (
    LEXICON,
    N_JOBS,
    PROGRESS,
    RANDOM_STATE,
)
from lpcfg.estimators.crf._training_charts import TrainingCharts, cross_fitting_folds
from lpcfg.estimators.crf.dependency_columns import check_dependencies
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.formats.dependencies import Dependencies, loaded_dependencies
from lpcfg.grammar.crf_weights import CRFWeights, Loss
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import refuse_unary_rules
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_clusters import WordClusters, clusters_record, loaded_clusters
from lpcfg.parameters.constraints import AnyOf, Instance, Interval, Options
from lpcfg.parameters.parameterized import parameter
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.options import MEMORY, Pruning, checked_pruning
from lpcfg.treebank.treebank import Treebank

__all__ = ["CRFEstimator", "TrainingWarning"]

#: The names of the estimators without latent states.
_WITHOUT_STATES = ("pcfg", "crf", "neural")


def _dependencies_record(dependencies: Dependencies | str | PathLike[str] | None) -> object:
    found = loaded_dependencies(dependencies)
    return None if found is None else {"sentences": len(found), "sha256": found.digest}


def _latent_record(latent: Estimator | None) -> object:
    return None if latent is None else {"estimator": latent.name, **latent.provenance_params()}


class TrainingWarning(UserWarning):
    """Some trees were not used for training.

    >>> TrainingWarning.__name__
    'TrainingWarning'
    """


@dataclass(repr=False, kw_only=True)
class CRFEstimator(Estimator):
    """A conditional random field over the trees in a chart that a grammar has pruned.

    Features are words, their most probable tags under the grammar, affixes and shapes at the
    borders of a span, around it and at its split point, and its length; they are conjoined with the
    label. The grammar is a PCFG or, with ``latent``, an L-PCFG. The posteriors of an L-PCFG on its
    own training trees are too sure, so it is cross-fitted: the chart of each training sentence is
    that of an L-PCFG that was trained on other trees.

    After ``fit``, ``log_likelihoods_`` has the mean log-probability of a tree in each epoch, before
    the gradient step with that tree, and ``too_large_`` the number of trees that were left out
    because their charts would take more than ``memory`` bytes; there is a warning if there are any.

    >>> from lpcfg import embedded_trees
    >>> estimator = CRFEstimator(epochs=2, bits=16).fit(embedded_trees())
    >>> estimator.log_likelihoods_[0] < estimator.log_likelihoods_[1]
    True
    >>> print(estimator.parser().parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    name = "crf"
    description = "a conditional random field: weights of features of words, on top of a grammar"
    progress_unit = "passes"

    loss: Loss = field(
        default="crf",
        metadata=parameter(
            Options(*get_args(Loss)),
            "crf maximises the conditional likelihood of trees, with the probabilities of the "
            "grammar as a prior; independent maximises the likelihood of the label of each span "
            "separately, as the classifier of del Canto (2021) does",
        ),
    )
    prior_weight: float = field(
        default=1.0,
        metadata=parameter(
            Interval(float, 0),
            "the exponent of the PCFG's probability of a tree in the score of the tree; with the "
            "loss independent it is 0, with latent states there is latent_weight instead",
            search=Interval(float, 0.5, 1.5),
        ),
    )
    latent: Estimator | None = field(
        default=None,
        metadata=parameter(
            Instance(Estimator, None),
            "an estimator of latent states (spectral, clustering, pivot, em or split-merge): the "
            "grammar has its latent states, and the prior of a tree is its posterior under them; "
            "without it, the prior is a PCFG",
            metavar="ESTIMATOR",
            provenance=_latent_record,
            nested=True,
        ),
    )
    latent_weight: float = field(
        default=0.5,
        metadata=parameter(
            Interval(float, 0),
            "with latent states: the exponent of the posterior of a tree in the score of the tree",
            search=Interval(float, 0.3, 1),
        ),
    )
    latent_folds: int = field(
        default=5,
        metadata=parameter(
            Interval(int, 2),
            "with latent states: the number of parts of the treebank; the chart of a training "
            "sentence is that of a grammar trained on the other parts",
        ),
    )
    epochs: int = field(
        default=3,
        metadata=parameter(
            Interval(int, 0),
            "the number of passes over all trees; training time grows with it",
            search=Interval(int, 1, 6),
        ),
    )
    learning_rate: float = field(
        default=0.01,
        metadata=parameter(
            Interval(float, 0, closed="neither"),
            "the step size of AdaGrad",
            search=Interval(float, 0.001, 0.1),
        ),
    )
    initial_accumulator: float = field(
        default=1.0,
        metadata=parameter(
            Interval(float, 0, closed="neither"),
            "the initial value of AdaGrad's sums of squared gradients; the larger, the smaller the "
            "first steps",
            search=Interval(float, 0.1, 10),
        ),
    )
    penalty: float = field(
        default=0.0,
        metadata=parameter(
            Interval(float, 0),
            "the strength of the L2 penalty, which is applied to weights when they are changed",
        ),
    )
    batch_size: int = field(
        default=32, metadata=parameter(Interval(int, 1), "the number of trees of a gradient step")
    )
    word_clusters: WordClusters | str | PathLike[str] | None = field(
        default=None,
        metadata=parameter(
            Instance(WordClusters, str, PathLike, None),
            "clusters of words that lpcfg words train has learnt from text, or their file; "
            "features of the clusters of words are added, which helps with words that the "
            "trees lack",
            metavar="FILE",
            provenance=clusters_record,
        ),
    )
    dependencies: Dependencies | str | PathLike[str] | None = field(
        default=None,
        metadata=parameter(
            Instance(Dependencies, str, PathLike, None),
            "the tags and dependencies of the sentences of the trees, or their file, in CoNLL-U or "
            "with four columns; adds features of heads and relations. Such a model needs the "
            "dependencies of sentences that it parses, so it is a teacher for others; the parser "
            "and the score of a fitted estimator know these",
            metavar="FILE",
            provenance=_dependencies_record,
        ),
    )
    bits: int = field(
        default=22,
        metadata=parameter(
            Interval(int, 0, 30),
            "features are hashed to 2 ** bits weights; with fewer bits, more features share a "
            "weight, and the model file is smaller",
        ),
    )
    prune: Pruning | float | None = field(
        default=Pruning(),
        metadata=parameter(
            AnyOf(Interval(float, 0, 1, "left"), Instance(Pruning, None)),
            "posterior thresholds below which the PCFG prunes the charts of training sentences, "
            "as in a Parser; without latent states, the nodes of gold trees are never pruned",
            option=False,
        ),
    )
    memory: int = field(
        default=MEMORY,
        metadata=parameter(
            Interval(int, 1, (1 << 63) - 1),
            "the largest number of bytes for the charts of one training sentence, as in a Parser; "
            "trees whose charts would take more are not used for training",
            option=False,
        ),
    )
    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)
    random_state: int = field(default=0, metadata=RANDOM_STATE)
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    log_likelihoods_: list[float] = field(init=False, repr=False, compare=False)
    too_large_: int = field(init=False, repr=False, compare=False)

    def without_effect(self) -> frozenset[str]:
        """The parameters of the other prior.

        >>> CRFEstimator().without_effect() == {"latent_weight", "latent_folds"}
        True
        """
        if self.latent is None:
            return frozenset({"latent_weight", "latent_folds"})
        return frozenset({"prior_weight"})

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> from lpcfg import SpectralEstimator
        >>> CRFEstimator(latent=SpectralEstimator(), loss="independent").validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: CRFEstimator: latent must be None with the loss independent
        """
        super().validate()
        if self.latent is not None and self.loss == "independent":
            raise self.invalid("latent", "must be None with the loss independent")
        if self.latent is not None and self.latent.name in _WITHOUT_STATES:
            raise self.invalid("latent", f"must estimate latent states, not {self.latent!r}")

    def parser(self) -> BaseParser:
        """A parser with the fitted grammar, which knows ``dependencies``.

        >>> from lpcfg import Tree
        >>> print(CRFEstimator(bits=8).fit([Tree("NN", "rain")]).parser().parse(words=["rain"]))
        (ROOT (NN rain))
        """
        from lpcfg.parsing.parser import Parser

        self._check_fitted("grammar_")
        return Parser(self.grammar_, n_jobs=self.n_jobs, dependencies=self.dependencies)

    def estimate(self, treebank: Treebank) -> Grammar:
        """Learn the weights of features by stochastic gradient descent.

        >>> from lpcfg import Tree
        >>> CRFEstimator(bits=8).estimate(Treebank.from_trees([Tree("NN", "rain")])).tags
        ('NN',)
        """
        latent = self.latent
        estimator = latent or PCFGEstimator(lexicon=self.lexicon)
        # A copy, because an estimator that the caller gave stays as it is.
        backbone = estimator.with_params().estimate(treebank)
        refuse_unary_rules(backbone.unary_rules, "features of spans")
        if latent is not None and (backbone.latent is None or backbone.is_conditional):
            raise self.invalid("latent", f"must estimate latent states, not {latent!r}")
        start = self._initial_weights(treebank)
        known = loaded_dependencies(self.dependencies)
        if known is not None:
            check_dependencies(treebank, known)
            start = replace(start, dependencies=True)
        trainer = _core.CRFTrainer(start.core(treebank.symbols), thread_count(self.n_jobs))
        charts = TrainingCharts(trainer, checked_pruning(self.prune), self.memory)
        folds = [] if latent is None else cross_fitting_folds(len(treebank), self.latent_folds)
        passes = iter(self.progress(range(len(folds) + self.epochs)))
        self.too_large_ = 0
        if latent is None:
            self.too_large_ = charts.add_gold_constrained(treebank, backbone, known)
        else:
            for (others, held_out), _ in zip(folds, passes, strict=False):
                grammar = latent.with_params().estimate(treebank.subset(others))
                self.too_large_ += charts.add_held_out(treebank.subset(held_out), grammar, known)
        if self.too_large_:
            warnings.warn(
                f"{self.too_large_} of {len(treebank.tree_offsets) - 1} trees are not used for "
                f"training: their charts would take more than {self.memory} bytes",
                TrainingWarning,
                stacklevel=2,
            )
        generator = np.random.default_rng(self.random_state)
        self.log_likelihoods_ = []
        for _ in passes:
            total = trainer.run(
                generator.permutation(len(trainer)),
                learning_rate=self.learning_rate,
                initial_accumulator=self.initial_accumulator,
                penalty=self.penalty,
                batch=self.batch_size,
            )
            self.log_likelihoods_.append(total / max(len(trainer), 1))
        return replace(
            backbone,
            crf_weights=replace(start, weights=trainer.weights()),
            provenance={
                **self.provenance(treebank),
                "learnt_from": len(trainer),
                "too_large": self.too_large_,
            },
        )

    def _initial_weights(self, treebank: Treebank) -> CRFWeights:
        """Weights of zero, with the frequent words of a treebank and word clusters."""
        leaves = np.flatnonzero(treebank.word >= 0)
        weights_of_leaves = treebank.node_weights(leaves)
        uses = np.rint(
            sum_weights(treebank.word[leaves], weights_of_leaves, len(treebank.words))
        ).astype(np.int64)
        vocabulary = _core.crf_vocabulary(list(treebank.words), uses.astype(np.uint32))
        weights = np.zeros(1 << self.bits, dtype=np.float32)
        prior_weight = self.prior_weight if self.latent is None else self.latent_weight
        if self.loss == "independent":
            prior_weight = 0.0
        start = CRFWeights(self.loss, prior_weight, vocabulary, weights)
        clusters = loaded_clusters(self.word_clusters)
        if clusters is None:
            return start
        keys = _core.crf_cluster_keys(list(clusters.words_))
        return replace(start, cluster_words=keys, clusters=clusters.clusters_)
