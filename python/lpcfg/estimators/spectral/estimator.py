"""Spectral estimation of L-PCFGs (Cohen et al. 2012, 2013; Peng 2021)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.common_parameters import (
    CLASS_SMOOTHING,
    FULL_COUNT,
    MIN_COUNT,
    STATES,
    WORD_SMOOTHING,
)
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.features.projected_treebank import (
    FEATURES,
    ProjectedTreebank,
    ProjectingEstimator,
)
from lpcfg.estimators.spectral.decomposition import SpectralDecomposition
from lpcfg.estimators.state_numbers import check_counts, states_by_symbol
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.parameters.constraints import Interval, Options, Pair
from lpcfg.parameters.parameterized import parameter, searched
from lpcfg.treebank.treebank import Treebank

__all__ = ["SpectralEstimator"]


@dataclass(repr=False, kw_only=True)
class SpectralEstimator(ProjectingEstimator):
    """Spectral L-PCFG estimation: statistically consistent, without local optima, fast.

    All smoothing vanishes as counts grow, so that with features that tell the states apart the
    estimates converge to the true probabilities. The defaults were chosen on the development part
    of GUM. To try several values of the hyper-parameters below without decomposing the treebank
    again, use :meth:`decompose`.

    >>> from lpcfg import embedded_trees
    >>> SpectralEstimator(states=(4, 4)).fit(embedded_trees()).grammar_.provenance["states"]
    [4, 4]
    """

    name = "spectral"
    description = "latent states by the spectral method: seconds of training, no local optima"
    progress_unit = "symbols"
    draws_numbers = False

    states: tuple[int, int] = field(
        default=(12, 12), metadata=searched(STATES, Pair(Interval(int, 2, 16)))
    )
    smoothing: float = field(
        default=5.0,
        metadata=parameter(
            Interval(float, 0),
            "C of the interpolation weight sqrt(n) / (C + sqrt(n)) of rules seen n times; the "
            "larger, the closer rare rules are to the rules of the PCFG",
            search=Interval(float, 0.5, 40),
        ),
    )
    tolerance: float = field(
        default=0.01,
        metadata=parameter(
            Interval(float, 0),
            "directions with a singular value below this fraction of the largest are dropped",
        ),
    )
    ridge: float = field(
        default=0.7,
        metadata=parameter(
            Interval(float, 0),
            "shrinkage: the weight of a direction with the singular value s is s^2 / (s^2 + "
            "(ridge * e)^2), where e is the value that noise alone would have, which falls with "
            "the number of nodes; 0 for no shrinkage",
            search=Interval(float, 0.1, 3),
        ),
    )
    features: str | FeatureSet = field(
        default="full", metadata=searched(FEATURES, Options("compact", "full"))
    )
    min_count: int = field(default=10, metadata=MIN_COUNT)
    full_count: int = field(default=100, metadata=FULL_COUNT)
    word_smoothing: float = field(default=2.0, metadata=WORD_SMOOTHING)
    class_smoothing: float = field(default=2.0, metadata=CLASS_SMOOTHING)

    @classmethod
    def plain(cls, **parameters: object) -> Self:
        """An estimator with the states, smoothing and features of Peng (2021), without ridge.

        ``parameters`` overrides these and other parameters, which have their usual defaults.

        >>> SpectralEstimator.plain(features="full")
        SpectralEstimator(states=(13, 16), smoothing=12.2, ridge=0.0)
        """
        peng = cls(states=(13, 16), smoothing=12.2, ridge=0.0, features="compact")
        return peng.set_params(**parameters)

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> SpectralEstimator(min_count=9, full_count=3).validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: SpectralEstimator: min_count must be at most full_count, 3, not 9
        """
        super().validate()
        check_counts(self)

    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """The largest number of states minus one, because the first state is a constant.

        ``treebank``: the training trees.

        >>> from lpcfg import Tree
        >>> SpectralEstimator().ranks(Treebank.from_trees([Tree("NN", "rain")]))
        array([0])
        """
        return states_by_symbol(treebank, self.states, self.min_count, self.full_count) - 1

    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """The parameters over latent states.

        ``projected``: the projections of the training trees.
        ``generator``: not used; the decomposition has drawn its random numbers before.

        >>> from lpcfg import Tree
        >>> projected = SpectralEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> SpectralEstimator().latent_states(projected, np.random.default_rng(0)).kind
        'linear'
        """
        if self.noise is not None:
            projected = projected.aligned()
        return SpectralDecomposition(projected, self).latent_states(self)

    def decompose(
        self, treebank: Treebank, states: tuple[int, int] | None = None
    ) -> SpectralDecomposition:
        """The decomposition of a treebank, from which many grammars can be computed quickly.

        ``states``: the largest numbers of states of later grammars, by default the ``states`` of
        the estimator. Symbols that have fewer states because of ``min_count`` and ``full_count`` of
        the estimator cannot have more later.

        >>> from lpcfg import Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> SpectralEstimator().decompose(treebank, states=(32, 32)).projections.inside.shape
        (1, 1)
        """
        if self.noise is not None:
            raise self.invalid("noise", "must be None: a decomposition has no noise; use fit")
        largest = self if states is None else replace(self, states=states)
        largest.validate()
        return SpectralDecomposition(largest.project(treebank), self)
