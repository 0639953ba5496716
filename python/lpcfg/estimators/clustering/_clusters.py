"""Cluster the nodes of each symbol by their projections (Narayan & Cohen 2015, step 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.estimators.features.node_projections import NodeProjections, nodes_by_symbol

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

__all__ = ["NodeClusters", "cluster_nodes"]


class NodeClusters(NamedTuple):
    """The clusters of nodes among those of their symbols: a column for each node.

    A node is in each of its clusters with a share; these add up to 1.

    >>> NodeClusters(np.array([[2, 0]]), np.ones((1, 2))).cluster.shape  # two nodes, a cluster each
    (1, 2)
    """

    cluster: NDArray[np.int64]
    share: NDArray[np.float64]


def cluster_nodes(
    symbol: NDArray[np.integer],
    projections: NodeProjections,
    clusters: NDArray[np.integer],
    generator: np.random.Generator,
    *,
    restarts: int = 10,
    variance_scale: float = 0.0,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> NodeClusters:
    """The clusters of each node among those of its symbol, the largest first.

    ``clusters``: how many each symbol may have; where fewer projections differ, it has fewer.
    ``restarts``: the best of so many runs of k-means is taken.
    ``variance_scale``: where it is zero, each node is in one cluster. Otherwise clusters are
    Gaussians, all of one variance in all directions, which is so many times that of the nodes
    around the centres; a node is in the likeliest clusters, up to four that have a twentieth of it
    or more.

    >>> rows = np.array([[0], [0], [9], [9.5], [9]], dtype=np.float32)
    >>> projections = NodeProjections(rows, rows, np.ones((1, 1)), np.ones(1))
    >>> cluster_nodes(np.zeros(5, int), projections, np.array([2]), np.random.default_rng(0))
    NodeClusters(cluster=array([[1, 1, 0, 0, 0]]), share=array([[1., 1., 1., 1., 1.]]))
    """
    # A node that is in no cluster of many is in the only one.
    found = np.zeros((_MOST, len(symbol)), dtype=np.int64)
    share = np.zeros(found.shape)
    share[0] = 1
    # Seeds are drawn for all symbols, so that no symbol's clusters depend on another's.
    seeds = generator.integers(2**31, size=len(clusters)).tolist()
    nodes, ranks = nodes_by_symbol(symbol, len(clusters)), projections.ranks
    # Loading scikit-learn takes a second, which only training should cost. It is loaded before
    # threads are limited: a library that is loaded later would use all of them.
    from sklearn.cluster import KMeans

    with one_thread():
        for chosen in progress(np.flatnonzero((clusters > 1) & (ranks > 0)).tolist()):
            own = nodes[chosen]
            points = np.hstack(
                [rows[own, : ranks[chosen]] for rows in (projections.inside, projections.outside)]
            )
            means = KMeans(int(clusters[chosen]), n_init=restarts, random_state=seeds[chosen])
            likeliest, shares = _shares(points, means, variance_scale)
            places = slice(likeliest.shape[1])
            found[places, own] = likeliest.T
            share[places, own] = shares.T
    used = share.any(axis=1)
    return NodeClusters(np.where(share > 0, found, 0)[used], share[used])


#: A node is in no more clusters than this, and in none of which it has less than this of it.
_MOST = 4
_LEAST = 0.05


def _shares(
    points: NDArray[np.float32], means: KMeans, variance_scale: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The likeliest clusters of each point, and how much of it is in each; large ones are first."""
    # Many nodes have the same features: each distinct point is worked on once, with its weight.
    distinct, place, weight = _distinct_points(points)
    means.set_params(n_clusters=min(means.n_clusters, len(distinct)))
    means.fit(distinct, sample_weight=weight.astype(np.float32))
    shares = np.eye(means.n_clusters)[means.labels_]
    variance = variance_scale * means.inertia_ / points.size
    if variance > 0:
        squares = means.transform(distinct).astype(np.float64) ** 2
        # k-means may leave a cluster empty, in which no point is.
        with np.errstate(divide="ignore"):
            logs = np.log(weight @ shares) - squares / (2 * variance)
        shares = scipy.special.softmax(logs, axis=1)
    likeliest = np.argsort(-shares, axis=1, kind="stable")[:, :_MOST]
    kept = np.take_along_axis(shares, likeliest, axis=1)
    # The likeliest stays, however little of a point is in each of many.
    kept[:, 1:][kept[:, 1:] < _LEAST] = 0
    kept /= kept.sum(axis=1, keepdims=True)
    sizes = np.bincount(likeliest.ravel(), (weight[:, None] * kept).ravel(), means.n_clusters)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[likeliest][place], kept[place]


def _distinct_points(
    points: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows; which of them each row is; how many it counts."""
    # One number for each row sorts many times faster than the row does. Of 64 bits, those of two
    # rows that differ are all but never the same, and if they were, only a point would be moved.
    # Zero is added to make zeros of minus zeros.
    bits = np.ascontiguousarray(points + np.float32(0)).view(np.uint32).astype(np.uint64)
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64)
    keys = bits @ (2 * factors + 1)
    _, first, place, count = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return points[first], place, count
