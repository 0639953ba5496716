"""The inside and outside features of all nodes of a treebank."""

from __future__ import annotations

from typing import NamedTuple

from lpcfg.estimators.features._feature_matrix import FeatureMatrix
from lpcfg.estimators.features._tree_nodes import TreeNodes
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.treebank import Treebank

__all__ = ["NodeFeatures"]


class NodeFeatures(NamedTuple):
    """Two views of each node: what is below it and what is around it.

    >>> from lpcfg import Tree
    >>> features = NodeFeatures.build(Treebank.from_trees([Tree("NN", "rain")]))
    >>> features.inside.widths
    array([3])
    """

    inside: FeatureMatrix
    outside: FeatureMatrix

    @classmethod
    def build(
        cls,
        treebank: Treebank,
        features: str | FeatureSet = "compact",
        *,
        head_rules: HeadRules | None = None,
        kappa: float = 5.0,
        cutoff: int = 1,
    ) -> NodeFeatures:
        """Encode the groups of a feature set as feature matrices.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> NodeFeatures.build(bank, FeatureSet(("word",), ("parent",))).outside.widths
        array([1])
        """
        nodes, chosen = TreeNodes(treebank, head_rules), FeatureSet.named(features)
        return cls(
            *(
                FeatureMatrix.build(treebank.symbol, keys, kappa=kappa, cutoff=cutoff)
                for keys in (chosen.inside_keys(nodes), chosen.outside_keys(nodes))
            )
        )
