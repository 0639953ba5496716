"""Cluster the projections of each symbol's nodes (Narayan & Cohen 2015, figure 2, step 2).

Matejovicova (2018, section 2.2, step 3) describes the same algorithm. Nodes may also be assigned
softly, by the posteriors of a Gaussian mixture, as Narayan & Cohen suggest in section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import Weights, sum_weights
from lpcfg._k_means import k_means, squared_distances
from lpcfg._threads import one_thread
from lpcfg.estimators.features.node_projections import NodeProjections, nodes_by_symbol

__all__ = ["NodeClusters", "cluster_nodes"]


class NodeClusters(NamedTuple):
    """The clusters of each node, among the clusters of its symbol.

    Columns are nodes. Row k has the k-th most probable cluster of each node, and its responsibility
    for the node: P(cluster | node), which sums to 1 over the rows.
    """

    cluster: NDArray[np.int64]
    responsibility: NDArray[np.float64]


def cluster_nodes(
    symbol: NDArray[np.integer],
    projections: NodeProjections,
    clusters: NDArray[np.integer],
    generator: np.random.Generator,
    *,
    restarts: int = 1,
    variance_scale: float = 0.0,
    weights: Weights = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> NodeClusters:
    """Cluster the nodes of each symbol by k-means; clusters are numbered by size, largest first.

    The points are the concatenations of inside and outside projections.

    ``clusters``: the largest number of clusters of each symbol; there are fewer if there are fewer
    distinct points.
    ``restarts``: the number of k-means runs with different initial centres; the best one is used.
    ``variance_scale``: 0 assigns each node to one cluster. Otherwise clusters are the components of
    a mixture of spherical Gaussians with a common variance: this number times the mean squared
    distance of the points from their centres per dimension. A node has up to four clusters: the
    most probable one, and others whose responsibilities are at least 0.05.
    ``weights``: the weight of each node (default 1).

    >>> rows = np.array([[0], [0], [9], [9.5], [9]], dtype=np.float32)
    >>> projections = NodeProjections(rows, rows, np.ones((1, 1)), *np.ones((2, 1)))
    >>> cluster_nodes(np.zeros(5, int), projections, np.array([2]), np.random.default_rng(0))
    NodeClusters(cluster=array([[1, 1, 0, 0, 0]]),
                 responsibility=array([[1., 1., 1., 1., 1.]]))
    """
    # Symbols that are not clustered have one cluster.
    cluster = np.zeros((_MAX_CLUSTERS, len(symbol)), dtype=np.int64)
    responsibility = np.zeros(cluster.shape)
    responsibility[0] = 1
    # Drawn for all symbols, so that the clusters of a symbol do not depend on other symbols.
    seeds = generator.integers(2**31, size=len(clusters)).tolist()
    nodes, ranks = nodes_by_symbol(symbol, len(clusters)), projections.ranks
    with one_thread():
        for chosen in progress(np.flatnonzero((clusters > 1) & (ranks > 0)).tolist()):
            columns = nodes[chosen]
            sides = (projections.inside, projections.outside)
            points = np.hstack([side[columns, : ranks[chosen]] for side in sides])
            best, posterior = _cluster_points(
                points,
                int(clusters[chosen]),
                np.random.default_rng(seeds[chosen]),
                restarts,
                variance_scale,
                None if weights is None else weights[columns],
            )
            rows = slice(best.shape[1])
            cluster[rows, columns] = best.T
            responsibility[rows, columns] = posterior.T
    used = responsibility.any(axis=1)
    return NodeClusters(np.where(responsibility > 0, cluster, 0)[used], responsibility[used])


#: The largest number of clusters of a node, and their smallest responsibility.
_MAX_CLUSTERS = 4
_MIN_RESPONSIBILITY = 0.05


def _cluster_points(
    points: NDArray[np.float32],
    clusters: int,
    generator: np.random.Generator,
    restarts: int,
    variance_scale: float,
    weights: Weights,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The most probable clusters of each point, and their responsibilities."""
    # Many nodes have the same features: distinct points are clustered, weighted by their counts.
    distinct, row = _distinct_points(points)
    weight = sum_weights(row, weights)
    centres = k_means(distinct, weight, min(clusters, len(distinct)), generator, restarts)
    squares = squared_distances(distinct, centres)
    closest = squares.argmin(axis=1)
    inertia = weight @ squares[np.arange(len(squares)), closest]
    posterior = np.eye(len(centres))[closest]
    variance = variance_scale * inertia / (weight.sum() * points.shape[1])
    if variance > 0:
        # The prior of a cluster that k-means left empty is zero.
        with np.errstate(divide="ignore"):
            logs = np.log(weight @ posterior) - squares / (2 * variance)
        posterior = scipy.special.softmax(logs, axis=1)
    best = np.argsort(-posterior, axis=1, kind="stable")[:, :_MAX_CLUSTERS]
    kept = np.take_along_axis(posterior, best, axis=1)
    # The most probable cluster is always kept.
    kept[:, 1:][kept[:, 1:] < _MIN_RESPONSIBILITY] = 0
    kept /= kept.sum(axis=1, keepdims=True)
    sizes = np.bincount(best.ravel(), (weight[:, None] * kept).ravel(), len(centres))
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[best][row], kept[row]


def _distinct_points(
    points: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The distinct rows, and the index of each row among them."""
    # Sorting a 64-bit hash per row is many times faster than sorting rows. A collision is very
    # improbable, and would only move a point. Adding zero turns negative zeros into zeros.
    bits = np.ascontiguousarray(points + np.float32(0)).view(np.uint32).astype(np.uint64)
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64)
    keys = bits @ (2 * factors + 1)
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    return points[first], row
