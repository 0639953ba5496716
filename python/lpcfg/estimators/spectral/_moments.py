"""Smoothed rule parameters from moments of projections (Peng 2021, sections 3.2.6 and 3.2.7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets, sum_weights
from lpcfg.estimators.rule_nodes import RuleNodes, interpolation
from lpcfg.estimators.spectral._projections import Projections
from lpcfg.treebank.treebank import Treebank

__all__ = ["RuleMoments"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RuleMoments:
    """Parameters t and pi: rule probabilities times moments of the projections of their nodes.

    Z is the outside projection of a rule's parent node, Y the inside projection of each child. The
    means of both over all nodes of a symbol are the first unit vector.

    ``rule_nodes``: the nodes of each binary rule.
    ``states``: the number of states of each symbol.
    ``shrinkage``: factors of Z by symbol and state, see :meth:`.Projections.shrinkage`.
    ``smoothing``: C of the interpolation weight sqrt(n) / (C + sqrt(n)) of rules seen n times.
    """

    treebank: Treebank
    rule_nodes: RuleNodes
    projections: Projections
    states: NDArray[np.int64]
    shrinkage: Floats
    smoothing: float

    def binary(self, rules: NDArray[np.integer], probabilities: NDArray[np.float64]) -> Floats:
        """The tensors t(a -> b c) of the binary rules, flat and concatenated.

        Each is the rule's probability (Peng 2021, equation 3.8) times the interpolated moment
        w E3 + (1 - w) (w E2 + (1 - w) (w E1 + (1 - w) E0)) (equations 3.14 to 3.16): E3 is the
        mean of Z (x) Y (x) Y over the rule's nodes (3.7), E2 the mean of the three products of a
        pairwise moment and the third mean (3.11), E1 the product of the three means (3.12) and E0
        the product of the symbols' means (3.13).
        """
        bank = self.treebank
        order, bounds = self.rule_nodes
        parent = self.projections.outside[order] * self.shrinkage[bank.symbol[order]]
        left = self.projections.inside[bank.left[order]]
        right = self.projections.inside[bank.right[order]]
        numbers = np.diff(bounds)
        counts = numbers.astype(np.float64)
        weights = bank.node_weights(order)
        own = np.ones(0, dtype=np.float32)
        if weights is not None:
            own = weights.astype(np.float32)
            counts = sum_weights(np.repeat(np.arange(len(numbers)), numbers), weights, len(numbers))
        means = [_means(rows, bounds, counts, own) for rows in (parent, left, right)]
        sizes = self.states[rules]
        begins = offsets(sizes.prod(axis=1))
        tensors = np.empty(begins[-1], dtype=np.float32)
        weights_of_moments = interpolation(counts, self.smoothing)
        columns = (sizes, begins, bounds, numbers, counts, weights_of_moments, probabilities)
        for rule, ((a, b, c), begin, start, number, count, w, probability) in enumerate(
            # Begins and bounds have one value more than there are rules.
            zip(*(column[: len(rules)].tolist() for column in columns), strict=True)
        ):
            mean_a, mean_b, mean_c = means[0][rule, :a], means[1][rule, :b], means[2][rule, :c]
            tensor = tensors[begin : begin + a * b * c].reshape(a, b, c)
            products = mean_b[:, None] * mean_c
            if number == 1:
                # With one node, E3 = E2 = E1.
                np.multiply.outer(mean_a, (1 - (1 - w) ** 3) * products, out=tensor)
            else:
                nodes = slice(start, start + number)
                z, y_left, y_right = parent[nodes, :a], left[nodes, :b], right[nodes, :c]
                pairs = (y_left[:, :, None] * y_right[:, None, :]).reshape(number, b * c)
                if len(own):
                    z, y_left = z * own[nodes, None], y_left * own[nodes, None]
                np.matmul((w / count) * z.T, pairs, out=tensor.reshape(a, b * c))
                second = w * (1 - w) / (3 * count)
                pair = second * (y_left.T @ y_right) + (w * (1 - w) ** 2) * products
                tensor += mean_a[:, None, None] * pair
                tensor += (second * (z.T @ left[nodes, :b]))[:, :, None] * mean_c
                tensor += (second * (z.T @ y_right))[:, None, :] * mean_b[:, None]
            tensor[0, 0, 0] += (1 - w) ** 3
            tensor *= np.float32(probability)
        return tensors

    def roots(self, probabilities: NDArray[np.float64]) -> Floats:
        """pi(a) as rows: the root probability of each symbol times the mean Y of its roots.

        Peng (2021, equation 3.10).
        """
        roots = np.flatnonzero(self.treebank.parent < 0)
        inside = self.projections.inside
        sums = np.zeros((len(probabilities), inside.shape[1]), dtype=np.float64)
        rows: NDArray[np.floating] = inside[roots]
        if (weights := self.treebank.node_weights(roots)) is not None:
            rows = rows * weights[:, None]
        np.add.at(sums, self.treebank.symbol[roots], rows)
        # The first column of Y is 1, so the first column of the sums is the weight of the roots.
        counts = np.where(sums[:, 0] > 0, sums[:, 0], 1)
        vectors = sums * (probabilities / counts)[:, None]
        return vectors.astype(np.float32)


def _means(
    rows: Floats, bounds: NDArray[np.int64], counts: NDArray[np.float64], weights: Floats
) -> Floats:
    """The means of blocks of rows; there are no weights if all of them are 1."""
    if not len(rows):
        return rows
    weighted = rows * weights[:, None] if len(weights) else rows
    sums = np.add.reduceat(weighted, bounds[:-1], axis=0)
    return (sums / counts[:, None]).astype(np.float32)
