"""L-PCFGs by clustering of nodes (Narayan & Cohen 2015)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.estimators.clustering._clusters import cluster_nodes
from lpcfg.estimators.clustering._state_frequencies import StateFrequencies
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.state_numbers import states_by_symbol
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["ClusteringEstimator"]


@dataclass
class ClusteringEstimator(ProjectingEstimator):
    """L-PCFGs whose states are clusters of nodes: compact, quick to parse with, easy to look into.

    The projections of each symbol's nodes are clustered by k-means, and what the nodes of each
    cluster do is counted.

    ``states``: most clusters of an interminal and of a preterminal.
    ``rank``: how many directions of the inside, and as many of the outside, nodes are compared in.
    ``smoothing``: how far states that were seen rarely lean on the whole of their symbol, see
    :mod:`~lpcfg.estimators.clustering._state_frequencies`; 0 for plain relative frequencies, as in
    the paper.
    ``min_count``, ``full_count``: symbols with up to so many nodes have one state, from so many all
    of them.
    ``restarts``: the best of so many runs of k-means is taken.
    ``variance_scale``: how far a node between clusters counts for several of them, as in a mixture
    of Gaussians; 0 for one cluster each, as in the paper. See
    :func:`~lpcfg.estimators.clustering._clusters.cluster_nodes`.
    ``word_smoothing``, ``class_smoothing``: strengths, in tokens, of the priors of what a word, or
    a class of words, tells about the state.

    Other options are those of every
    :class:`~lpcfg.estimators.features.projected_treebank.ProjectingEstimator`. The defaults were
    chosen on the development part of GUM, with trees that remember no ancestors, for clusters tell
    these apart where it matters: use :attr:`transform`.

    >>> from lpcfg import embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> estimator = ClusteringEstimator(states=(4, 4), min_count=5, full_count=50)
    >>> grammar = estimator.fit(treebank).grammar_
    >>> grammar.latent.kind, grammar.latent.states.max()
    ('probabilistic', np.uint32(5))
    """

    transform: ClassVar[Transform] = Transform(vertical=0)

    states: tuple[int, int] = (24, 24)
    rank: int = 16
    smoothing: float = 2.0
    min_count: int = 50
    full_count: int = 500
    restarts: int = 10
    variance_scale: float = 1.0
    word_smoothing: float = 2.0
    class_smoothing: float = 2.0

    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """The rank for symbols that may have several clusters.

        >>> from lpcfg import Tree
        >>> ClusteringEstimator().ranks(Treebank.from_trees([Tree("NN", "rain")]))
        array([0])
        """
        self._check()
        return np.where(self._most_clusters(treebank) > 1, self.rank, 0)

    def options(self) -> dict[str, Any]:
        """The name of the estimator and its options.

        >>> ClusteringEstimator().options()["rank"]
        16
        """
        names = [field.name for field in fields(self)[len(fields(ProjectingEstimator)) :]]
        return {"estimator": "clustering", **{name: getattr(self, name) for name in names}}

    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """Cluster the nodes and count.

        >>> from lpcfg import Tree
        >>> projected = ClusteringEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> ClusteringEstimator().latent_states(projected, np.random.default_rng(0)).roots
        array([1.], dtype=float32)
        """
        clusters = cluster_nodes(
            projected.treebank.symbol,
            projected.projections,
            self._most_clusters(projected.treebank),
            generator,
            restarts=self.restarts,
            variance_scale=self.variance_scale,
            progress=self.progress,
        )
        frequencies = StateFrequencies(
            projected.treebank, projected.backbone, projected.words, clusters, self.smoothing
        )
        return frequencies.latent_states(self.word_smoothing, self.class_smoothing)

    def _most_clusters(self, treebank: Treebank) -> NDArray[np.int64]:
        return states_by_symbol(treebank, self.states, self.min_count, self.full_count)

    def _check(self) -> None:
        if min(self.states) < 1:
            raise InputError(f"numbers of states start at 1, not {min(self.states)}")
        for name in ("rank", "restarts"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.min_count <= self.full_count:
            raise InputError(
                f"min_count ({self.min_count}) must be between 0 and full_count ({self.full_count})"
            )
        for name in ("smoothing", "word_smoothing", "class_smoothing"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")
        if not 0 <= self.variance_scale < np.inf:
            raise InputError(
                f"variance_scale must be a number from 0 on, not {self.variance_scale}"
            )
