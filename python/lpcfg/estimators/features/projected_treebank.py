"""Treebanks with projections of the features of their nodes, and estimators that use them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import (
    LEXICON,
    PROGRESS,
    RANDOM_STATE,
)
from lpcfg.estimators.features.feature_sets import FEATURE_SETS, FeatureSet
from lpcfg.estimators.features.lexical_rules import LexicalRules
from lpcfg.estimators.features.node_features import NodeFeatures
from lpcfg.estimators.features.node_projections import NodeProjections, project_nodes
from lpcfg.estimators.features.noise import Noise
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates, refuse_unary_rules
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_clusters import WordClusters, clusters_record, loaded_clusters
from lpcfg.parameters.constraints import AnyOf, Instance, Interval, Options
from lpcfg.parameters.parameterized import parameter
from lpcfg.profiling import phase
from lpcfg.treebank.head_rules import HEAD_RULES, HeadRules, resolve_head_rules
from lpcfg.treebank.treebank import Treebank

__all__ = ["FEATURES", "ProjectedTreebank", "ProjectingEstimator"]

FEATURES = parameter(
    AnyOf(Options(*FEATURE_SETS), Instance(FeatureSet)),
    "the features of nodes: compact, six groups (Peng 2021), full, fifteen groups (Cohen "
    "et al. 2013), four, four groups on each side without scaling (Matejovicova 2018), or a custom "
    "feature set",
    provenance=lambda features: FeatureSet.named(features).provenance,
)


@dataclass(frozen=True, eq=False)
class ProjectedTreebank:
    """A treebank, its PCFG, and the projections of its nodes' features.

    >>> from lpcfg import SpectralEstimator, Tree
    >>> bank = Treebank.from_trees([Tree("NN", "rain")])
    >>> SpectralEstimator().project(bank).projections.inside.shape
    (1, 0)
    """

    treebank: Treebank
    backbone: Grammar
    words: LexicalRules
    features: NodeFeatures
    projections: NodeProjections

    def with_noise(
        self,
        noise: Noise,
        generator: np.random.Generator,
        progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    ) -> ProjectedTreebank:
        """The same with noise in the projections; only dropout decomposes the features again.

        >>> from lpcfg import SpectralEstimator, Tree
        >>> projected = SpectralEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> noisy = projected.with_noise(Noise("add", 0.1), np.random.default_rng(0))
        >>> noisy.projections.inside.any()
        np.False_
        """
        symbol, clean = self.treebank.symbol, self.projections
        weights = self.treebank.node_weights()
        with one_thread():
            if noise.kind == "dropout":
                noisy = project_nodes(
                    symbol,
                    self.features,
                    clean.ranks,
                    generator,
                    noise=noise,
                    weights=weights,
                    progress=progress,
                )
            else:
                noisy = clean.with_noise(symbol, noise, generator, weights)
        return replace(self, projections=noisy)

    def aligned(self) -> ProjectedTreebank:
        """The same with aligned projections; see :meth:`.NodeProjections.aligned`.

        >>> from lpcfg import SpectralEstimator, Tree
        >>> projected = SpectralEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> projected.aligned().projections.ranks
        array([0])
        """
        with one_thread():
            aligned = self.projections.aligned(self.treebank.symbol, self.treebank.node_weights())
        return replace(self, projections=aligned)


def _head_rules_record(rules: HeadRules | str | PathLike[str]) -> object:
    """The name of rules, or the rules themselves."""
    if rules in HEAD_RULES:
        return rules
    if not isinstance(rules, HeadRules):
        rules = HeadRules.read(rules)
    if rules == HeadRules():
        return "collins"
    return rules.to_json()


@dataclass(repr=False, kw_only=True)
class ProjectingEstimator(Estimator):
    """The base class of estimators that find latent states in projections of node features.

    To estimate several grammars from the same projections, call :meth:`project` once, and then
    :meth:`estimate_projected` of estimators that differ only in parameters that the projections do
    not depend on.
    """

    #: Whether :meth:`latent_states` draws random numbers, so that models without noise may differ.
    draws_numbers: ClassVar[bool] = True

    features: str | FeatureSet = field(default="compact", metadata=FEATURES)
    kappa: float = field(
        default=5.0,
        metadata=parameter(
            Interval(float, 0),
            "a feature that n of the N nodes of a symbol have is scaled by sqrt(N / (n + kappa)); "
            "the larger kappa, the smaller the weight of rare features",
        ),
    )
    cutoff: int = field(
        default=1,
        metadata=parameter(
            Interval(int, 0),
            "features that occur at fewer nodes of a symbol are merged into one feature",
        ),
    )
    noise: Noise | None = field(
        default=None,
        metadata=parameter(
            Instance(Noise, None),
            "noise in features or projections, for models of an ensemble with different errors",
            option=False,
            nested=True,
        ),
    )
    head_rules: HeadRules | str | PathLike[str] = field(
        default="auto",
        metadata=parameter(
            Instance(HeadRules, str, PathLike),
            "how features find the head of a phrase: collins for English, learnt from the "
            "treebank, auto for collins if it knows the labels of most phrases and learnt "
            "otherwise, the tables ctb, ftb, keyaki and negra, or a file of head rules",
            metavar="RULES",
            provenance=_head_rules_record,
        ),
    )
    word_clusters: WordClusters | str | PathLike[str] | None = field(
        default=None,
        metadata=parameter(
            Instance(WordClusters, str, PathLike, None),
            "clusters of words that lpcfg words train has learnt from text, or their file, as "
            "features of the head of a phrase and of the words around it; parsing does not need "
            "them",
            metavar="FILE",
            provenance=clusters_record,
        ),
    )
    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)
    random_state: int = field(default=0, metadata=RANDOM_STATE)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    @abstractmethod
    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """The largest number of singular vectors of each symbol."""

    @abstractmethod
    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """Parameters over latent states, from projections to which noise has been added."""

    def estimate(self, treebank: Treebank) -> Grammar:
        """Project the nodes of a treebank, and estimate a grammar from the projections.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> ClusteringEstimator().estimate(Treebank.from_trees([Tree("NN", "rain")])).tags
        ('NN',)
        """
        return self.estimate_projected(self.project(treebank))

    def project(self, treebank: Treebank) -> ProjectedTreebank:
        """The projections, which depend neither on noise nor on parameters of later steps.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> ClusteringEstimator().project(Treebank.from_trees([Tree("NN", "rain")])).treebank
        <Treebank of 1 trees, 1 nodes, 1 symbols, 1 words>
        """
        with phase("PCFG, lexicon"):
            backbone = PCFGEstimator(lexicon=self.lexicon).estimate(treebank)
        refuse_unary_rules(backbone.unary_rules)
        with phase("features"):
            features = NodeFeatures.build(
                treebank,
                self.features,
                head_rules=resolve_head_rules(self.head_rules, treebank),
                word_clusters=loaded_clusters(self.word_clusters),
                kappa=self.kappa,
                cutoff=self.cutoff,
            )
        with phase("SVD, projections"), one_thread():
            projections = project_nodes(
                treebank.symbol,
                features,
                self.ranks(treebank),
                np.random.default_rng(self.random_state),
                weights=treebank.node_weights(),
                progress=self.progress,
            )
        words = LexicalRules(treebank, backbone.lexicon, self.lexicon.rare)
        return ProjectedTreebank(treebank, backbone, words, features, projections)

    def estimate_projected(self, projected: ProjectedTreebank) -> Grammar:
        """A grammar with the noise and the other parameters of this estimator.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> projected = ClusteringEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> noisy = ClusteringEstimator(noise=Noise("mul", 0.1))
        >>> noisy.estimate_projected(projected).latent.states
        array([1], dtype=uint32)
        """
        seeds = [self.random_state, 0 if self.noise is None else self.noise.seed]
        generator = np.random.default_rng(seeds)
        noisy = projected
        if self.noise is not None:
            noisy = projected.with_noise(self.noise, generator, self.progress)
        with phase("latent parameters"):
            latent = self.latent_states(noisy, generator)
        return replace(
            projected.backbone,
            latent=latent,
            provenance=self.provenance(projected.treebank),
        )
