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
from lpcfg.estimators.crf.dependency_columns import DependencyColumns, dependency_columns
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.span_filter import training_emissions
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

#: The factor on the fraction of correct spans that the span filter may close in training. It was
#: trained on the same trees and is too sure of them: with 1, charts would lack wrong trees that the
#: filter lets pass in new sentences, and F1 on GUM is half a point lower.
_CLOSED_IN_TRAINING = 0.1


def _dependencies_record(dependencies: Dependencies | str | PathLike[str] | None) -> object:
    found = loaded_dependencies(dependencies)
    return None if found is None else {"sentences": len(found), "sha256": found.digest}


class TrainingWarning(UserWarning):
    """Some trees were not used for training.

    >>> TrainingWarning.__name__
    'TrainingWarning'
    """


@dataclass(repr=False, kw_only=True)
class CRFEstimator(Estimator):
    """A conditional random field over the trees in a chart that a PCFG has pruned.

    Features are words, their most probable tags under the PCFG, affixes and shapes at the borders
    of a span, around it and at its split point, and its length; they are conjoined with the label.

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
    description = "a conditional random field: weights of features of words, no latent states"
    progress_unit = "epochs"

    loss: Loss = field(
        default="crf",
        metadata=parameter(
            Options(*get_args(Loss)),
            "crf maximises the conditional likelihood of trees, with the probabilities of the PCFG "
            "as a prior; independent maximises the likelihood of the label of each span "
            "separately, as the classifier of del Canto (2021) does",
        ),
    )
    prior_weight: float = field(
        default=1.0,
        metadata=parameter(
            Interval(float, 0),
            "the exponent of the PCFG's probability of a tree in the score of the tree; with the "
            "loss independent it is 0",
            search=Interval(float, 0.5, 1.5),
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
            "as in a Parser; the nodes of gold trees are never pruned",
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
        prune = checked_pruning(self.prune)
        backbone = PCFGEstimator(lexicon=self.lexicon).estimate(treebank)
        refuse_unary_rules(backbone.unary_rules, "features of spans")
        leaves = np.flatnonzero(treebank.word >= 0)
        weights_of_leaves = treebank.node_weights(leaves)
        uses = np.rint(
            sum_weights(treebank.word[leaves], weights_of_leaves, len(treebank.words))
        ).astype(np.int64)
        vocabulary = _core.crf_vocabulary(list(treebank.words), uses.astype(np.uint32))
        weights = np.zeros(1 << self.bits, dtype=np.float32)
        prior_weight = self.prior_weight if self.loss == "crf" else 0.0
        start = CRFWeights(self.loss, prior_weight, vocabulary, weights)
        clusters = loaded_clusters(self.word_clusters)
        if clusters is not None:
            keys = _core.crf_cluster_keys(list(clusters.words_))
            start = replace(start, cluster_words=keys, clusters=clusters.clusters_)
        known = loaded_dependencies(self.dependencies)
        columns: DependencyColumns = {}
        if known is not None:
            columns = dependency_columns(treebank, known, backbone.tag_ids)
            start = replace(start, dependencies=True)
        trainer = _core.CRFTrainer(start.core(treebank.symbols), thread_count(self.n_jobs))
        self.too_large_ = trainer.add(
            backbone.core,
            spellings=list(treebank.words),
            word_column=treebank.word[leaves].astype(np.uint32),
            emissions=training_emissions(treebank, backbone.lexicon),
            word_offsets=np.searchsorted(leaves, treebank.tree_offsets),
            symbols=treebank.symbol,
            starts=treebank.start,
            ends=treebank.end,
            tree_offsets=treebank.tree_offsets,
            tree_weights=treebank.weights,
            coarse_threshold=prune.coarse,
            threshold=prune.fine,
            span_recall=1 - (1 - prune.spans) * _CLOSED_IN_TRAINING,
            memory=self.memory,
            span_filter=None if backbone.span_filter is None else backbone.span_filter.core,
            **columns,
        )
        if self.too_large_:
            warnings.warn(
                f"{self.too_large_} of {len(treebank.tree_offsets) - 1} trees are not used for "
                f"training: their charts would take more than {self.memory} bytes",
                TrainingWarning,
                stacklevel=2,
            )
        generator = np.random.default_rng(self.random_state)
        self.log_likelihoods_ = []
        for _ in self.progress(range(self.epochs)):
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
