"""The latent states of a symbol by pivot features (Cohen & Collins 2014, section 5.3, figure 2).

Step 1 of the learning algorithm (figure 1). The states of a symbol are found twice: by inside
features that only one state generates, and by such outside features. The two decompositions number
their states differently; a concave maximisation finds how they correspond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import Weights, mean_rows, sum_weights
from lpcfg.estimators.pivot.anchors import AnchorStates, decompose_by_anchors
from lpcfg.estimators.pivot.concave_em import Stopping, maximise

__all__ = [
    "SideFeatures",
    "SymbolStates",
    "find_states",
    "informative_groups",
    "match_states",
]

Floats = NDArray[np.float64]


def informative_groups(columns: NDArray[np.integer]) -> tuple[int, ...]:
    """The feature groups (columns) in which nodes (rows) differ; others are uninformative.

    >>> informative_groups(np.array([[0, 2], [1, 2]]))
    (0,)
    """
    return tuple(np.flatnonzero(np.any(columns != columns[:1], axis=0)).tolist())


@dataclass(frozen=True, eq=False)
class SideFeatures:
    """The inside features, or the outside features, of the nodes of a symbol.

    ``columns``: the feature of each node (row) in each group; groups share no features.
    ``width``: the number of features.
    ``weights``: the weight of each node (default 1).

    >>> SideFeatures(np.array([[0, 2], [1, 2]]), width=3).counts
    array([1., 1., 2.])
    """

    columns: NDArray[np.integer]
    width: int
    weights: Weights = None

    @property
    def counts(self) -> NDArray[np.float64]:
        """The weight of the nodes that have each feature."""
        weights = None
        if self.weights is not None:
            weights = np.repeat(self.weights, self.columns.shape[1])
        return sum_weights(self.columns.ravel(), weights, self.width)

    @property
    def indicator(self) -> scipy.sparse.csr_array:
        """One-hot feature vectors of the nodes, as rows.

        >>> SideFeatures(np.array([[0, 2], [1, 2]]), width=3).indicator.toarray()
        array([[1., 0., 1.],
               [0., 1., 1.]])
        """
        rows, groups = self.columns.shape
        ends = np.arange(0, rows * groups + 1, groups)
        data = (np.ones(rows * groups), self.columns.ravel(), ends)
        return scipy.sparse.csr_array(data, shape=(rows, self.width))

    def find_states(
        self,
        others: NDArray[np.floating],
        states: int,
        min_pivot_frequency: float,
        n_jobs: int = 1,
    ) -> AnchorStates:
        """States by the pivots of this side, the algorithm of section 5.2.

        ``others``: projections of the features of the other side, the representation phi(g).
        ``min_pivot_frequency``: features may be pivots if they occur at no less than this fraction
        of the nodes of an average state.

        >>> side = SideFeatures(np.array([[0], [0], [1], [1], [2], [2]]), width=3)
        >>> others = np.array([[1.0], [1.0], [-1.0], [-1.0], [1.0], [-1.0]])
        >>> side.find_states(others, 2, min_pivot_frequency=0.1).posterior
        array([[1. , 0. ],
               [0. , 1. ],
               [0.5, 0.5]])
        """
        counts = self.counts
        rows = others.astype(np.float64)
        nodes = float(len(rows))
        if self.weights is not None:
            rows, nodes = rows * self.weights[:, None], float(self.weights.sum())
        points = (self.indicator.T @ rows) / np.where(counts > 0, counts, 1)[:, None]
        frequent = counts >= max(min_pivot_frequency * nodes / states, 1)
        if not frequent.any():
            frequent = counts == counts.max()
        return decompose_by_anchors(points, counts, states, frequent, n_jobs)


@dataclass(frozen=True, eq=False)
class SymbolStates:
    """The states h of a symbol a, and the likelihood ratios of features given each state.

    ``prior``: p(h | a).
    ``inside``: r(f | h, a) / p(f | a) of inside features f (rows) and states (columns).
    ``outside``: s(g | h, a) / p(g | a) of outside features g and states. Rows of ones are
    uninformative.

    >>> SymbolStates.single(2, 1).inside
    array([[1.],
           [1.]])
    """

    prior: NDArray[np.floating]
    inside: NDArray[np.floating]
    outside: NDArray[np.floating]

    def single_precision(self) -> SymbolStates:
        """The same in single precision.

        >>> SymbolStates.single(2, 1).single_precision().prior
        array([1.], dtype=float32)
        """
        values = (self.prior, self.inside, self.outside)
        return SymbolStates(*(array.astype(np.float32) for array in values))

    @classmethod
    def single(cls, inside: int, outside: int) -> SymbolStates:
        """A symbol with one state, given the numbers of inside and outside features.

        >>> SymbolStates.single(2, 1).prior
        array([1.])
        """
        return cls(np.ones(1), np.ones((inside, 1)), np.ones((outside, 1)))


def match_states(
    pairs: scipy.sparse.csr_array, posterior: Floats, likelihood: Floats, stopping: Stopping
) -> Floats:
    """t(h' | h): the states h' of outside features given the states h of inside features.

    Maximises equation 3 (figure 2, step 3) by EM: the sum over f, g of
    Q[f, g] log (sum over h, h' of r(h | f) t(h' | h) s(g | h')), which is concave in t.

    ``pairs``: Q, counts of pairs of an inside and an outside feature.
    ``posterior``: r(h | f) as rows.
    ``likelihood``: s(g | h') as rows, up to factors that do not depend on the state.

    >>> pairs = scipy.sparse.csr_array(np.array([[0.0, 5.0], [5.0, 0.0]]))
    >>> match_states(pairs, np.eye(2), np.eye(2), Stopping(50)).round(3)
    array([[0., 1.],
           [1., 0.]])
    """
    rows, columns = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr)), pairs.indices
    weights = pairs.astype(np.float64)
    start = np.full((posterior.shape[1], likelihood.shape[1]), 1 / likelihood.shape[1])

    def step(matched: NDArray[np.floating]) -> tuple[NDArray[np.floating], float]:
        fitted = np.einsum("ij,ij->i", (posterior @ matched)[rows], likelihood[columns])
        # Pairs that no states explain are left out.
        explained = fitted > 0
        weights.data[:] = 0
        np.divide(pairs.data, fitted, out=weights.data, where=explained)
        expected = matched * (posterior.T @ (weights @ likelihood))
        totals = expected.sum(axis=1, keepdims=True)
        objective = float(pairs.data[explained] @ np.log(fitted[explained]))
        return np.divide(expected, totals, out=matched.copy(), where=totals > 0), objective

    return maximise(step, start, stopping).astype(np.float64)


def find_states(
    inside: SideFeatures,
    outside: SideFeatures,
    projections: tuple[NDArray[np.floating], NDArray[np.floating]],
    states: int,
    *,
    min_pivot_frequency: float,
    stopping: Stopping,
    n_jobs: int = 1,
) -> SymbolStates:
    """The states of a symbol from the features and projections of its nodes (figure 2).

    States are numbered by the decomposition of inside features.

    ``projections``: of inside and of outside features, the representations phi of section 5.2.
    ``states``: the largest number of states; there are fewer if there are fewer pivots.
    ``min_pivot_frequency``: see :meth:`SideFeatures.find_states`.
    ``stopping``: of :func:`match_states`.

    >>> side = SideFeatures(np.array([[0], [0], [1], [1]]), width=2)
    >>> rows = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> options = {"min_pivot_frequency": 0.1, "stopping": Stopping(20)}
    >>> states = find_states(side, side, (rows, rows), 2, **options)
    >>> states.prior, states.outside.round(3)
    (array([0.5, 0.5]), array([[2., 0.],
           [0., 2.]]))
    """
    first = inside.find_states(projections[1], states, min_pivot_frequency, n_jobs)
    second = outside.find_states(projections[0], states, min_pivot_frequency, n_jobs)
    rows = outside.indicator
    if outside.weights is not None:
        rows = scipy.sparse.diags_array(outside.weights) @ rows
    pairs = (inside.indicator.T @ rows).tocsr()
    ratio = second.posterior / _group_means(outside, second.posterior)
    matched = match_states(pairs, first.posterior, ratio, stopping)
    prior = np.maximum(first.prior, np.finfo(np.float64).tiny)
    return SymbolStates(
        prior / prior.sum(),
        first.posterior / _group_means(inside, first.posterior),
        ratio @ matched.T,
    )


def _group_means(side: SideFeatures, posterior: Floats) -> Floats:
    """For each feature the mean over all nodes of p(h | feature), for the features of its group.

    By Bayes' rule, p(h | feature) divided by this mean is p(feature | h) / p(feature); the
    probabilities of the features of each group sum to one.
    """
    means = np.ones_like(posterior)
    for column in side.columns.T:
        mean = mean_rows(posterior[column], side.weights)
        means[column] = np.where(mean > 0, mean, 1)
    return means
