"""The decomposition behind spectral grammars: computed once, used for many grammars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.errors import InputError
from lpcfg.estimators.features.emission_ratios import EmissionLikelihoodRatios
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank
from lpcfg.estimators.rule_nodes import RuleNodes
from lpcfg.estimators.spectral._moments import RuleMoments
from lpcfg.estimators.spectral._projections import Projections
from lpcfg.estimators.state_numbers import states_by_symbol
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates

if TYPE_CHECKING:
    from lpcfg.estimators.spectral.estimator import SpectralEstimator

__all__ = ["SpectralDecomposition"]

#: The hyper-parameters that are used after the decomposition.
HYPERPARAMETERS = (
    "states",
    "smoothing",
    "tolerance",
    "ridge",
    "min_count",
    "full_count",
    "word_smoothing",
    "class_smoothing",
)


@dataclass(frozen=True, eq=False)
class SpectralDecomposition:
    """The spectral decomposition of a treebank, from which many grammars are computed quickly.

    It keeps everything that does not depend on the hyper-parameters: the backbone PCFG with its
    lexicon, the projections at the highest rank, of which a grammar takes the first directions
    (Peng 2021, chapter 9), the nodes of each rule, and for each word and word class the sum of its
    projections. The moments of rules are computed again for each grammar: at the highest rank they
    would take many times the memory of the projections, and computing them takes a fraction of a
    second.

    ``projected``: the training trees with the projections of their nodes.
    ``estimator``: the default hyper-parameters of :meth:`grammar`.

    >>> from lpcfg import SpectralEstimator, Treebank, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> decomposition = SpectralEstimator().decompose(treebank)
    >>> for ridge in (0.1, 0.4):
    ...     print(decomposition.grammar(states=(2, 2), ridge=ridge).latent.states.max())
    2
    2
    """

    projected: ProjectedTreebank
    estimator: SpectralEstimator

    def grammar(self, **hyperparameters: object) -> Grammar:
        """A grammar with the given hyper-parameters, without computing the decomposition again.

        They are ``states``, ``smoothing``, ``tolerance``, ``ridge``, ``min_count``, ``full_count``,
        ``word_smoothing`` and ``class_smoothing`` of :class:`~lpcfg.SpectralEstimator`. Symbols
        cannot have more states than the decomposition has directions for.

        >>> from lpcfg import SpectralEstimator, Tree, Treebank
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank).grammar(ridge=0.2).provenance["ridge"]
        0.2
        """
        if other := [name for name in hyperparameters if name not in HYPERPARAMETERS]:
            raise InputError(
                f"{other[0]} cannot be changed after the decomposition; only "
                f"{', '.join(HYPERPARAMETERS)} can",
                argument=other[0],
            )
        chosen = self.estimator.with_params(**hyperparameters)
        chosen.validate()
        return replace(
            self.projected.backbone,
            latent=self.latent_states(chosen),
            provenance=chosen.provenance(self.projected.treebank),
        )

    @cached_property
    def projections(self) -> Projections:
        """The projections from which moments are computed.

        >>> from lpcfg import SpectralEstimator, Tree, Treebank
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank).projections.relative_singular_values[:, 0]
        array([1.])
        """
        return Projections.from_nodes(self.projected.treebank.symbol, self.projected.projections)

    @cached_property
    def emission_ratios(self) -> EmissionLikelihoodRatios:
        """The emission likelihood ratios of words and word classes.

        >>> from lpcfg import SpectralEstimator, Tree, Treebank
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank).emission_ratios.mean[0]
        np.float32(1.0)
        """
        # The first column of the projections is 1, and the means of the others are zero.
        outside = self.projections.outside
        leaves = self.projected.treebank.word >= 0
        return EmissionLikelihoodRatios(
            self.projected.words, outside[leaves], np.eye(1, outside.shape[1])[0]
        )

    @cached_property
    def rule_nodes(self) -> RuleNodes:
        """The nodes of each rule.

        >>> from lpcfg import SpectralEstimator, Tree, Treebank
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank).rule_nodes.nodes
        array([], dtype=int64)
        """
        return RuleNodes.find(self.projected.treebank, self.projected.backbone.binary_rules)

    def states(self, estimator: SpectralEstimator) -> NDArray[np.int64]:
        """The number of states of each symbol.

        ``estimator``: the estimator whose numbers of states are asked for.

        >>> from lpcfg import SpectralEstimator, Tree, Treebank
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank).states(SpectralEstimator())
        array([1])
        """
        allowed = states_by_symbol(
            self.projected.treebank, estimator.states, estimator.min_count, estimator.full_count
        )
        relative = self.projections.relative_singular_values
        significant = np.count_nonzero(relative > estimator.tolerance, axis=1)
        states: NDArray[np.int64] = np.minimum(allowed, np.maximum(significant, 1))
        return states

    def latent_states(self, estimator: SpectralEstimator) -> LatentStates:
        """The latent parameters of a grammar with the hyper-parameters of an estimator.

        >>> from lpcfg import SpectralEstimator, Tree, Treebank
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank).latent_states(SpectralEstimator()).roots
        array([1.], dtype=float32)
        """
        states, backbone = self.states(estimator), self.projected.backbone
        kept = np.arange(self.projections.inside.shape[1]) < states[:, None]
        shrinkage = self.projections.shrinkage(estimator.ridge)
        emissions = self.emission_ratios.emission_parameters(
            states, estimator.word_smoothing, estimator.class_smoothing, shrinkage=shrinkage
        )
        moments = RuleMoments(
            self.projected.treebank,
            self.rule_nodes,
            self.projections,
            states,
            shrinkage,
            estimator.smoothing,
        )
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
