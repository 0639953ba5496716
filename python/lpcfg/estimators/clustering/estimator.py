"""L-PCFGs by clustering of nodes (Narayan & Cohen 2015)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.clustering._clusters import cluster_nodes
from lpcfg.estimators.clustering._state_frequencies import StateFrequencies
from lpcfg.estimators.common_parameters import (
    CLASS_SMOOTHING,
    FULL_COUNT,
    MIN_COUNT,
    STATES,
    WORD_SMOOTHING,
)
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.state_numbers import check_counts, states_by_symbol
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.parameters.constraints import Interval, Pair
from lpcfg.parameters.parameterized import parameter, searched
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["ClusteringEstimator"]


@dataclass(repr=False, kw_only=True)
class ClusteringEstimator(ProjectingEstimator):
    """L-PCFG estimation by clustering of nodes: compact, fast to parse with, easy to inspect.

    The projections of each symbol's nodes are clustered by k-means, and rules and words are counted
    by cluster.

    The defaults were chosen on the development part of GUM, for trees without vertical
    Markovisation (:attr:`default_transform`), because clusters learn the relevant contexts.

    >>> from lpcfg import embedded_trees
    >>> estimator = ClusteringEstimator(states=(4, 4), min_count=5, full_count=50)
    >>> latent = estimator.fit(embedded_trees()).grammar_.latent
    >>> latent.kind, latent.states.max()
    ('probabilistic', np.uint32(5))
    """

    name = "clustering"
    description = "latent states by k-means clustering of nodes: easy to inspect"
    progress_unit = "symbols"
    default_transform = Transform(vertical=0)

    states: tuple[int, int] = field(
        default=(24, 24), metadata=searched(STATES, Pair(Interval(int, 4, 32)))
    )
    rank: int = field(
        default=16,
        metadata=parameter(
            Interval(int, 1),
            "the number of directions of inside features, and of outside features, in which nodes "
            "are compared",
            search=Interval(int, 8, 32),
        ),
    )
    smoothing: float = field(
        default=2.0,
        metadata=parameter(
            Interval(float, 0),
            "how far the rules of rare states back off to the rules of their symbol; 0 for "
            "relative frequencies, as in the paper",
            search=Interval(float, 0.2, 20),
        ),
    )
    min_count: int = field(default=50, metadata=MIN_COUNT)
    full_count: int = field(default=500, metadata=FULL_COUNT)
    restarts: int = field(
        default=1,
        metadata=parameter(
            Interval(int, 1), "k-means is run this number of times, and the best run is kept"
        ),
    )
    variance_scale: float = field(
        default=1.0,
        metadata=parameter(
            Interval(float, 0),
            "clusters are Gaussians with this multiple of the variance of nodes around their "
            "centres, so that a node counts for several clusters; 0 assigns each node to one "
            "cluster, as in the paper",
            search=Interval(float, 0.2, 4),
        ),
    )
    word_smoothing: float = field(default=2.0, metadata=WORD_SMOOTHING)
    class_smoothing: float = field(default=2.0, metadata=CLASS_SMOOTHING)

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> ClusteringEstimator(restarts=0).validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: ClusteringEstimator: restarts must be an integer from 1 to ...
        """
        super().validate()
        check_counts(self)

    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """The rank for symbols that may have several clusters.

        ``treebank``: the training trees.

        >>> from lpcfg import Tree
        >>> ClusteringEstimator().ranks(Treebank.from_trees([Tree("NN", "rain")]))
        array([0])
        """
        return np.where(self._largest_numbers(treebank) > 1, self.rank, 0)

    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """Cluster the nodes and count.

        ``generator``: the source of random numbers for k-means.

        >>> from lpcfg import Tree
        >>> projected = ClusteringEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> ClusteringEstimator().latent_states(projected, np.random.default_rng(0)).roots
        array([1.], dtype=float32)
        """
        clusters = cluster_nodes(
            projected.treebank.symbol,
            projected.projections,
            self._largest_numbers(projected.treebank),
            generator,
            restarts=self.restarts,
            variance_scale=self.variance_scale,
            weights=projected.treebank.node_weights(),
            progress=self.progress,
        )
        frequencies = StateFrequencies(
            projected.treebank, projected.backbone, projected.words, clusters, self.smoothing
        )
        return frequencies.latent_states(self.word_smoothing, self.class_smoothing)

    def _largest_numbers(self, treebank: Treebank) -> NDArray[np.int64]:
        return states_by_symbol(treebank, self.states, self.min_count, self.full_count)
