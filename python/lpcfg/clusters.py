"""Cluster the nodes of each symbol by their projections (Narayan & Cohen 2015, step 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from lpcfg.node_projections import NodeProjections, nodes_by_symbol
from lpcfg.threads import one_thread

__all__ = ["cluster_nodes"]


def cluster_nodes(
    symbol: NDArray[np.integer],
    projections: NodeProjections,
    clusters: NDArray[np.integer],
    generator: np.random.Generator,
    *,
    restarts: int = 10,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> NDArray[np.int64]:
    """The cluster of each node among those of its symbol, the largest first.

    ``clusters``: how many each symbol may have; where fewer projections differ, it has fewer.
    ``restarts``: the best of so many runs of k-means is taken.

    >>> rows = np.array([[0], [0], [9], [9.5], [9]], dtype=np.float32)
    >>> projections = NodeProjections(rows, rows, np.ones((1, 1)), np.ones(1))
    >>> cluster_nodes(np.zeros(5, int), projections, np.array([2]), np.random.default_rng(0))
    array([1, 1, 0, 0, 0])
    """
    found = np.zeros(len(symbol), dtype=np.int64)
    # Seeds are drawn for all symbols, so that no symbol's clusters depend on another's.
    seeds = generator.integers(2**31, size=len(clusters)).tolist()
    nodes, ranks = nodes_by_symbol(symbol, len(clusters)), projections.ranks
    with one_thread():
        for chosen in progress(np.flatnonzero((clusters > 1) & (ranks > 0)).tolist()):
            own = nodes[chosen]
            points = np.hstack(
                [rows[own, : ranks[chosen]] for rows in (projections.inside, projections.outside)]
            )
            found[own] = _k_means(points, int(clusters[chosen]), restarts, seeds[chosen])
    return found


def _k_means(
    points: NDArray[np.float32], clusters: int, restarts: int, seed: int
) -> NDArray[np.int64]:
    # Loading scikit-learn takes a second, which only training should cost.
    from sklearn.cluster import KMeans

    # Many nodes have the same features: each distinct point is worked on once, with its weight.
    distinct, place, weight = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    means = KMeans(min(clusters, len(distinct)), n_init=restarts, random_state=seed)
    label = means.fit(distinct, sample_weight=weight.astype(np.float32)).labels_[place.ravel()]
    _, label, size = np.unique(label, return_inverse=True, return_counts=True)
    ranking = np.empty(len(size), dtype=np.int64)
    ranking[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return ranking[label]
