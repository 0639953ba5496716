"""The latent states of a symbol by pivot features (Cohen & Collins 2014, section 5).

A state is found from both sides of a node: by inside features that only it brings forth, seen
through what is around them, and by outside features likewise. The two sides number their states
differently; what they share is found by a concave maximisation (figure 2, step 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.estimators.pivot.anchors import AnchorStates, decompose_by_anchors

__all__ = [
    "SideFeatures",
    "SymbolStates",
    "find_states",
    "informative_groups",
    "match_states",
]

Floats = NDArray[np.float64]


def informative_groups(columns: NDArray[np.integer]) -> tuple[int, ...]:
    """The groups (columns) in which the features of nodes (rows) differ; others tell nothing.

    >>> informative_groups(np.array([[0, 2], [1, 2]]))
    (0,)
    """
    return tuple(np.flatnonzero(np.any(columns != columns[:1], axis=0)).tolist())


@dataclass(frozen=True, eq=False)
class SideFeatures:
    """The features that the nodes of a symbol have on one side, inside or outside.

    ``columns``: a row for each node with the number of its feature in each group; no two groups
    share a number.

    >>> SideFeatures(np.array([[0, 2], [1, 2]]), width=3).counts
    array([1, 1, 2])
    """

    columns: NDArray[np.integer]
    width: int

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many nodes have each feature.

        >>> SideFeatures(np.array([[0, 2], [1, 2]]), width=3).counts
        array([1, 1, 2])
        """
        return np.bincount(self.columns.ravel(), minlength=self.width)

    @property
    def indicator(self) -> scipy.sparse.csr_array:
        """Nodes by features: one where a node has a feature.

        >>> SideFeatures(np.array([[0, 2], [1, 2]]), width=3).indicator.toarray()
        array([[1., 0., 1.],
               [0., 1., 1.]])
        """
        rows, groups = self.columns.shape
        ends = np.arange(0, rows * groups + 1, groups)
        data = (np.ones(rows * groups), self.columns.ravel(), ends)
        return scipy.sparse.csr_array(data, shape=(rows, self.width))

    def find_states(
        self, others: NDArray[np.floating], states: int, share: float, n_jobs: int = 1
    ) -> AnchorStates:
        """States by the features of this side, given projections of the nodes' other side.

        A pivot is a feature that at least this share of an average state's nodes have.

        >>> side = SideFeatures(np.array([[0], [0], [1], [1], [2], [2]]), width=3)
        >>> others = np.array([[1.0], [1.0], [-1.0], [-1.0], [1.0], [-1.0]])
        >>> side.find_states(others, 2, share=0.1).posterior
        array([[1. , 0. ],
               [0. , 1. ],
               [0.5, 0.5]])
        """
        counts = self.counts
        points = (self.indicator.T @ others.astype(np.float64)) / np.maximum(counts, 1)[:, None]
        frequent = counts >= max(share * len(self.columns) / states, 1)
        if not frequent.any():
            frequent = counts == counts.max()
        return decompose_by_anchors(points, counts, states, frequent, n_jobs)


@dataclass(frozen=True, eq=False)
class SymbolStates:
    """The states of a symbol, and what each feature of a node tells about its state.

    ``prior``: P(state | symbol).
    ``inside``, ``outside``: for each feature a row of P(feature | state) / P(feature), all ones
    for what tells nothing.

    >>> SymbolStates.single(2, 1).inside
    array([[1.],
           [1.]])
    """

    prior: NDArray[np.floating]
    inside: NDArray[np.floating]
    outside: NDArray[np.floating]

    def single_precision(self) -> SymbolStates:
        """The same in less memory.

        >>> SymbolStates.single(2, 1).single_precision().prior
        array([1.], dtype=float32)
        """
        values = (self.prior, self.inside, self.outside)
        return SymbolStates(*(array.astype(np.float32) for array in values))

    @classmethod
    def single(cls, inside: int, outside: int) -> SymbolStates:
        """One state, given the numbers of features.

        >>> SymbolStates.single(2, 1).prior
        array([1.])
        """
        return cls(np.ones(1), np.ones((inside, 1)), np.ones((outside, 1)))


def match_states(
    pairs: scipy.sparse.csr_array, firsts: Floats, seconds: Floats, iterations: int
) -> Floats:
    """P(second side's state | first side's state), from counts of pairs of features.

    Maximises sum Q[f, g] log sum r(h | f) t(h' | h) s(g | h') over t, which is concave, by EM.

    ``firsts``: P(state | feature) as rows; ``seconds``: P(feature | state), up to factors that do
    not depend on the state.

    >>> pairs = scipy.sparse.csr_array(np.array([[0.0, 5.0], [5.0, 0.0]]))
    >>> match_states(pairs, np.eye(2), np.eye(2), iterations=50).round(3)
    array([[0., 1.],
           [1., 0.]])
    """
    rows, columns = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr)), pairs.indices
    weights = pairs.astype(np.float64)
    matched = np.full((firsts.shape[1], seconds.shape[1]), 1 / seconds.shape[1])
    for _ in range(iterations):
        likelihood = np.einsum("ij,ij->i", (firsts @ matched)[rows], seconds[columns])
        # What is impossible teaches nothing.
        weights.data[:] = 0
        np.divide(pairs.data, likelihood, out=weights.data, where=likelihood > 0)
        expected = matched * (firsts.T @ (weights @ seconds))
        totals = expected.sum(axis=1, keepdims=True)
        matched = np.divide(expected, totals, out=matched, where=totals > 0)
    return matched


def find_states(
    inside: SideFeatures,
    outside: SideFeatures,
    projections: tuple[NDArray[np.floating], NDArray[np.floating]],
    states: int,
    *,
    share: float,
    iterations: int,
    n_jobs: int = 1,
) -> SymbolStates:
    """The states of a symbol from the features and projections of its nodes (figure 2).

    There may be fewer states than asked for. States are numbered as the inside features find them.

    >>> side = SideFeatures(np.array([[0], [0], [1], [1]]), width=2)
    >>> rows = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> found = find_states(side, side, (rows, rows), 2, share=0.1, iterations=20)
    >>> found.prior, found.outside.round(3)
    (array([0.5, 0.5]), array([[2., 0.],
           [0., 2.]]))
    """
    first = inside.find_states(projections[1], states, share, n_jobs)
    second = outside.find_states(projections[0], states, share, n_jobs)
    pairs = (inside.indicator.T @ outside.indicator).tocsr()
    ratio = second.posterior / _group_means(outside, second.posterior)
    matched = match_states(pairs, first.posterior, ratio, iterations)
    prior = np.maximum(first.prior, np.finfo(np.float64).tiny)
    return SymbolStates(
        prior / prior.sum(),
        first.posterior / _group_means(inside, first.posterior),
        ratio @ matched.T,
    )


def _group_means(side: SideFeatures, posterior: Floats) -> Floats:
    """For each feature the mean of P(state | feature) over all nodes, of its group's features.

    Divided by it, P(state | feature) is P(feature | state) / P(feature), with probabilities of
    features that add up to one in every group.
    """
    means = np.ones_like(posterior)
    for column in side.columns.T:
        mean = posterior[column].mean(axis=0)
        means[column] = np.where(mean > 0, mean, 1)
    return means
