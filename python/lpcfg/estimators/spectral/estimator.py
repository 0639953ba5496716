"""Spectral estimation of L-PCFGs (Cohen et al. 2012, 2013; Peng 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.errors import InputError
from lpcfg.estimators.features.emission_ratios import EmissionLikelihoodRatios
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.rule_nodes import RuleNodes
from lpcfg.estimators.spectral._moments import RuleMoments
from lpcfg.estimators.spectral._projections import Projections
from lpcfg.estimators.state_numbers import states_by_symbol
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.treebank.treebank import Treebank

__all__ = ["SpectralCut", "SpectralEstimator", "SpectralPath"]


@dataclass(frozen=True)
class SpectralCut:
    """What can be chosen after the projections are made, without much work.

    ``states``: most latent states of an interminal and of a preterminal.
    ``smoothing``: C of the interpolation weight sqrt(n) / (C + sqrt(n)) of rules seen n times.
    ``tolerance``: directions with a singular value below this part of the largest are dropped.
    ``ridge``: directions with a relative singular value s count s^2 / (s^2 + ridge^2) as much.
    ``min_count``, ``full_count``: symbols with up to so many nodes have one state, from so many all
    of them.
    ``word_smoothing``, ``class_smoothing``: strengths, in tokens, of the priors of what a word, or
    a class of words, tells about the state.

    The defaults were chosen on the development part of GUM.

    >>> SpectralCut().states
    (8, 8)
    """

    states: tuple[int, int] = (8, 8)
    smoothing: float = 5.0
    tolerance: float = 0.01
    ridge: float = 0.4
    min_count: int = 10
    full_count: int = 100
    word_smoothing: float = 2.0
    class_smoothing: float = 2.0

    def __post_init__(self) -> None:
        if min(self.states) < 1:
            raise InputError(f"numbers of states start at 1, not {min(self.states)}")
        if not 0 <= self.min_count <= self.full_count:
            raise InputError(
                f"min_count ({self.min_count}) must be between 0 and full_count ({self.full_count})"
            )
        for name in ("smoothing", "tolerance", "ridge", "word_smoothing", "class_smoothing"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")

    @classmethod
    def plain(cls) -> SpectralCut:
        """The numbers of states and the smoothing of Peng (2021), who has no ridge.

        >>> SpectralCut.plain().smoothing
        12.2
        """
        return cls(states=(13, 16), smoothing=12.2, ridge=0.0)


@dataclass(frozen=True, eq=False)
class SpectralPath:
    """Everything about a treebank that does not depend on the choices of a :class:`SpectralCut`.

    It keeps the backbone with its lexicon, the projections at the highest rank, to be truncated
    (Peng 2021, chapter 9), the nodes of each rule, and for each word and class of words the sum of
    its projections. The moments of rules are made anew by each cut: at the highest rank they would
    take many times the memory of the projections, and making them takes a fraction of a second.

    >>> from lpcfg import embedded_trees
    >>> path = SpectralEstimator(features="compact").path(Treebank.from_trees(embedded_trees()))
    >>> path.cut(SpectralCut(states=(2, 2))).latent.states.max() <= 2
    np.True_
    """

    projected: ProjectedTreebank
    provenance: Mapping[str, Any]

    @cached_property
    def projections(self) -> Projections:
        """The projections in the form that moments are made from.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.projections.relative_singular_values[:, 0]
        array([1.])
        """
        return Projections.from_nodes(self.projected.treebank.symbol, self.projected.projections)

    @cached_property
    def emission_ratios(self) -> EmissionLikelihoodRatios:
        """Emission likelihood ratios of the lexical rules.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.emission_ratios.mean[0]
        np.float32(1.0)
        """
        # The first column of the projections is 1, the others have no mean.
        outside = self.projections.outside
        leaves = self.projected.treebank.word >= 0
        return EmissionLikelihoodRatios(
            self.projected.words, outside[leaves], np.eye(1, outside.shape[1])[0]
        )

    @cached_property
    def rule_nodes(self) -> RuleNodes:
        """The nodes of each rule.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.rule_nodes.nodes
        array([], dtype=int64)
        """
        return RuleNodes.find(self.projected.treebank, self.projected.backbone.binary_rules)

    def states(self, cut: SpectralCut) -> NDArray[np.int64]:
        """How many states each symbol gets.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.states(SpectralCut())
        array([1])
        """
        allowed = states_by_symbol(
            self.projected.treebank, cut.states, cut.min_count, cut.full_count
        )
        found = np.count_nonzero(self.projections.relative_singular_values > cut.tolerance, axis=1)
        states: NDArray[np.int64] = np.minimum(allowed, np.maximum(found, 1))
        return states

    def cut(self, cut: SpectralCut | None = None) -> Grammar:
        """A grammar with the given numbers of states and smoothing.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.cut().latent.kind
        'linear'
        """
        chosen = cut or SpectralCut()
        provenance = {**self.provenance, "cut": asdict(chosen)}
        latent = self.latent_states(chosen)
        return replace(self.projected.backbone, latent=latent, provenance=provenance)

    def latent_states(self, cut: SpectralCut) -> LatentStates:
        """The latent parameters of such a grammar.

        >>> from lpcfg import Tree
        >>> path = SpectralEstimator().path(Treebank.from_trees([Tree("NN", "rain")]))
        >>> path.latent_states(SpectralCut()).roots
        array([1.], dtype=float32)
        """
        states, backbone = self.states(cut), self.projected.backbone
        kept = np.arange(self.projections.inside.shape[1]) < states[:, None]
        shrinkage = self.projections.shrinkage(cut.ridge)
        emissions = self.emission_ratios.emission_parameters(
            states, cut.word_smoothing, cut.class_smoothing, shrinkage=shrinkage
        )
        bank, nodes = self.projected.treebank, self.rule_nodes
        moments = RuleMoments(bank, nodes, self.projections, states, shrinkage, cut.smoothing)
        with one_thread():
            return LatentStates(
                kind="linear",
                states=states.astype(np.uint32),
                roots=moments.roots(backbone.roots)[kept],
                binary=moments.binary(backbone.binary_rules, backbone.binary_probabilities),
                binary_counts=states[backbone.binary_rules].prod(axis=1).astype(np.uint32),
                binary_positions=np.zeros(0, dtype=np.uint32),
                **emissions._asdict(),
            )


@dataclass
class SpectralEstimator(ProjectingEstimator):
    """L-PCFGs by the spectral method: statistically consistent, without local optima, fast.

    ``cut``: numbers of states and smoothing; to try several, keep the :class:`SpectralPath`. Other
    options are those of every
    :class:`~lpcfg.estimators.features.projected_treebank.ProjectingEstimator`.

    >>> from lpcfg import embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> SpectralEstimator().fit(treebank).grammar_.provenance["estimator"]
    'spectral'
    """

    cut: SpectralCut = field(default_factory=SpectralCut)

    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """One direction less than there may be states, for the first state is a constant.

        >>> from lpcfg import Tree
        >>> SpectralEstimator().ranks(Treebank.from_trees([Tree("NN", "rain")]))
        array([0])
        """
        return (
            states_by_symbol(treebank, self.cut.states, self.cut.min_count, self.cut.full_count) - 1
        )

    def options(self) -> dict[str, Any]:
        """The name of the estimator and the cut.

        >>> SpectralEstimator().options()["cut"]["states"]
        (8, 8)
        """
        return {"estimator": "spectral", "cut": asdict(self.cut)}

    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """The parameters of the cut; no random numbers are used here.

        >>> from lpcfg import Tree
        >>> projected = SpectralEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> SpectralEstimator().latent_states(projected, np.random.default_rng(0)).kind
        'linear'
        """
        if self.noise is not None:
            projected = projected.aligned()
        return SpectralPath(projected, {}).latent_states(self.cut)

    def path(self, treebank: Treebank, states: tuple[int, int] | None = None) -> SpectralPath:
        """Everything up to the cut, with room for so many states, by default those of ``cut``.

        Cuts of the path may ask for less, but not for more states than these, nor for states of
        symbols that ``min_count`` and ``full_count`` of ``cut`` give none.

        >>> from lpcfg import Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().path(treebank, states=(32, 32)).projections.inside.shape
        (1, 1)
        """
        room = replace(self, cut=replace(self.cut, states=states or self.cut.states))
        return SpectralPath(room.project(treebank), self.provenance(treebank))
