"""What estimators that compare nodes by their features have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.features.lexical_rules import LexicalRules
from lpcfg.estimators.features.node_features import NodeFeatures
from lpcfg.estimators.features.node_projections import NodeProjections, project_nodes
from lpcfg.estimators.features.noise import Noise
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates, refuse_unary_rules
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.treebank import Treebank

__all__ = ["ProjectedTreebank", "ProjectingEstimator"]


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
        with one_thread():
            if noise.kind == "dropout":
                noisy = project_nodes(
                    symbol, self.features, clean.ranks, generator, noise=noise, progress=progress
                )
            else:
                noisy = clean.with_noise(symbol, noise, generator)
        return replace(self, projections=noisy)

    def aligned(self) -> ProjectedTreebank:
        """The same with aligned projections; see :meth:`.NodeProjections.aligned`.

        >>> from lpcfg import SpectralEstimator, Tree
        >>> projected = SpectralEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> projected.aligned().projections.ranks
        array([0])
        """
        with one_thread():
            return replace(self, projections=self.projections.aligned(self.treebank.symbol))


@dataclass
class ProjectingEstimator(ABC):
    """An estimator of L-PCFGs from projections of nodes, and the options that all of these have.

    ``features``: ``"compact"`` (Peng 2021), ``"full"`` (Cohen et al. 2013), or a set of one's own.
    ``kappa``, ``cutoff``: see :class:`~lpcfg.estimators.features.node_features.FeatureMatrix`.
    ``noise``: for a model that differs from others; see
    :class:`~lpcfg.estimators.features.noise.Noise`.
    ``random_state``: the seed; the same seed gives the same grammar.

    To estimate several grammars from the same projections, call :meth:`project` once and
    :meth:`estimate` with different options.
    """

    features: str | FeatureSet = "compact"
    kappa: float = 5.0
    cutoff: int = 1
    noise: Noise | None = None
    head_rules: HeadRules = field(default_factory=HeadRules)
    lexicon: LexiconOptions = field(default_factory=LexiconOptions)
    random_state: int = 0
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    grammar_: Grammar = field(init=False, repr=False, compare=False)

    @abstractmethod
    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """How many directions each symbol may have."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The name and the options of the estimator beyond those of this class, for provenance."""

    @abstractmethod
    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """Parameters over latent states, from projections that have their noise."""

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammar_` from a treebank.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> ClusteringEstimator().fit(Treebank.from_trees([Tree("NN", "rain")])).grammar_.tags
        ('NN',)
        """
        self.grammar_ = self.estimate(self.project(treebank))
        return self

    def project(self, treebank: Treebank) -> ProjectedTreebank:
        """All that does not depend on the noise, nor on options after the projections.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> ClusteringEstimator().project(Treebank.from_trees([Tree("NN", "rain")])).treebank
        <Treebank of 1 trees, 1 nodes, 1 symbols, 1 words>
        """
        backbone = PCFGEstimator(self.lexicon).fit(treebank).grammar_
        refuse_unary_rules(backbone.unary_rules)
        features = NodeFeatures.build(
            treebank,
            self.features,
            head_rules=self.head_rules,
            kappa=self.kappa,
            cutoff=self.cutoff,
        )
        with one_thread():
            projections = project_nodes(
                treebank.symbol,
                features,
                self.ranks(treebank),
                np.random.default_rng(self.random_state),
                progress=self.progress,
            )
        words = LexicalRules(treebank, backbone.lexicon, self.lexicon.rare)
        return ProjectedTreebank(treebank, backbone, words, features, projections)

    def estimate(self, projected: ProjectedTreebank) -> Grammar:
        """A grammar with the noise and the other options of this estimator.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> projected = ClusteringEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> ClusteringEstimator(noise=Noise("mul", 0.1)).estimate(projected).latent.states
        array([1], dtype=uint32)
        """
        seeds = [self.random_state, 0 if self.noise is None else self.noise.seed]
        generator = np.random.default_rng(seeds)
        noisy = projected
        if self.noise is not None:
            noisy = projected.with_noise(self.noise, generator, self.progress)
        return replace(
            projected.backbone,
            latent=self.latent_states(noisy, generator),
            provenance=self.provenance(projected.treebank),
        )

    def provenance(self, treebank: Treebank) -> dict[str, Any]:
        """What a grammar remembers of where it comes from, known before it is estimated.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> ClusteringEstimator(noise=Noise("add", 0.1)).provenance(bank)["noise"]
        {'kind': 'add', 'sigma': 0.1, 'seed': 0}
        """
        return {
            **self.options(),
            "features": FeatureSet.named(self.features).provenance,
            "kappa": self.kappa,
            "cutoff": self.cutoff,
            **({} if self.noise is None else {"noise": asdict(self.noise)}),
            "random_state": self.random_state,
            "lexicon": asdict(self.lexicon),
            **treebank.provenance,
        }
