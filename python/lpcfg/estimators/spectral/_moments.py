"""Rule parameters from projected nodes: moments, and their interpolation (Peng 2021, 3.2.6-7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.rule_nodes import RuleNodes, interpolation
from lpcfg.estimators.spectral._projections import Projections
from lpcfg.treebank.treebank import Treebank

__all__ = ["RuleMoments"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RuleMoments:
    """The parameters of rules: their probabilities times moments of their nodes' projections.

    Z is the outside projection of a rule's node, Y that of each child's inside; the means of both
    over all nodes of a symbol are the first unit vector.

    >>> from lpcfg import Tree
    >>> bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
    >>> ones = np.ones((3, 1), dtype=np.float32)
    >>> projections = Projections(ones, ones, np.ones((3, 1)))
    >>> rules = bank.symbol[[[2, 0, 1]]]
    >>> found = RuleNodes.find(bank, rules)
    >>> moments = RuleMoments(bank, found, projections, np.ones(3, int), ones, 1.0)
    >>> moments.binary(rules, np.array([0.25]))
    array([0.25], dtype=float32)
    """

    treebank: Treebank
    found: RuleNodes
    projections: Projections
    states: NDArray[np.int64]  # by symbol
    trust: Floats  # by symbol and state: what Z is multiplied by
    smoothing: float

    def binary(self, rules: NDArray[np.integer], probabilities: NDArray[np.float64]) -> Floats:
        """The tensors of the binary rules that nodes were found for, one after the other.

        Each is the probability times E = w E3 + (1 - w) (w E2 + (1 - w) (w E1 + (1 - w) E0)),
        where E3 is the mean of Z (x) Y (x) Y over the rule's nodes, E2 the mean of the three
        products of a pair's moment with the mean of the third, E1 the product of the three means
        and E0 that of the symbols' means.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("A", "a")])
        >>> ones = np.ones((1, 1), dtype=np.float32)
        >>> rules = np.zeros((0, 3), dtype=int)
        >>> found, projections = RuleNodes.find(bank, rules), Projections(ones, ones, ones)
        >>> moments = RuleMoments(bank, found, projections, np.ones(1, int), ones, 1.0)
        >>> moments.binary(rules, np.zeros(0)).shape
        (0,)
        """
        bank = self.treebank
        order, bounds = self.found
        parent = self.projections.outside[order] * self.trust[bank.symbol[order]]
        left = self.projections.inside[bank.left[order]]
        right = self.projections.inside[bank.right[order]]
        means = [_means(rows, bounds) for rows in (parent, left, right)]
        counts = np.diff(bounds)
        sizes = self.states[rules]
        offsets = np.concatenate([[0], np.cumsum(sizes.prod(axis=1))])
        tensors = np.empty(offsets[-1], dtype=np.float32)
        columns = (sizes, offsets, bounds, counts, interpolation(counts, self.smoothing))
        for rule, ((a, b, c), offset, start, count, w) in enumerate(
            # Offsets and bounds have an end beyond the last rule.
            zip(*(column[: len(rules)].tolist() for column in columns), strict=True)
        ):
            mean_a, mean_b, mean_c = means[0][rule, :a], means[1][rule, :b], means[2][rule, :c]
            tensor = tensors[offset : offset + a * b * c].reshape(a, b, c)
            products = mean_b[:, None] * mean_c
            if count == 1:
                # One node: the three moments are the same.
                np.multiply.outer(mean_a, (1 - (1 - w) ** 3) * products, out=tensor)
            else:
                nodes = slice(start, start + count)
                z, y_left, y_right = parent[nodes, :a], left[nodes, :b], right[nodes, :c]
                pairs = (y_left[:, :, None] * y_right[:, None, :]).reshape(count, b * c)
                np.matmul((w / count) * z.T, pairs, out=tensor.reshape(a, b * c))
                second = w * (1 - w) / (3 * count)
                pair = second * (y_left.T @ y_right) + (w * (1 - w) ** 2) * products
                tensor += mean_a[:, None, None] * pair
                tensor += (second * (z.T @ y_left))[:, :, None] * mean_c
                tensor += (second * (z.T @ y_right))[:, None, :] * mean_b[:, None]
            tensor[0, 0, 0] += (1 - w) ** 3
        tensors *= np.repeat(probabilities.astype(np.float32), np.diff(offsets))
        return tensors

    def roots(self, probabilities: NDArray[np.float64]) -> Floats:
        """A row for each symbol: its root probability times the mean Y of roots.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("A", "a")])
        >>> ones = np.ones((1, 1), dtype=np.float32)
        >>> found = RuleNodes.find(bank, np.zeros((0, 3), dtype=int))
        >>> projections = Projections(ones, ones, ones)
        >>> moments = RuleMoments(bank, found, projections, np.ones(1, int), ones, 1.0)
        >>> moments.roots(np.array([0.5]))
        array([[0.5]], dtype=float32)
        """
        roots = np.flatnonzero(self.treebank.parent < 0)
        inside = self.projections.inside
        sums = np.zeros((len(probabilities), inside.shape[1]), dtype=np.float64)
        np.add.at(sums, self.treebank.symbol[roots], inside[roots])
        # The first column of the projections is 1, so that of the sums is the count.
        vectors = sums * (probabilities / np.maximum(sums[:, 0], 1))[:, None]
        return vectors.astype(np.float32)


def _means(rows: Floats, bounds: NDArray[np.int64]) -> Floats:
    if not len(rows):
        return rows
    sums = np.add.reduceat(rows, bounds[:-1], axis=0)
    return (sums / np.diff(bounds)[:, None]).astype(np.float32)
