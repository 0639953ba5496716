"""An estimator that transforms its training trees in another way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lpcfg.estimators.base import Estimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.parameters.constraints import Instance
from lpcfg.parameters.parameterized import parameter
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["Transformed"]


@dataclass(repr=False)
class Transformed(Estimator):
    """An estimator with another tree transform, for an ensemble of differently binarised models.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> left = Transformed(PCFGEstimator(), Transform(binarize="left")).fit(embedded_trees())
    >>> left.grammar_.transform.binarize
    'left'
    >>> left.get_params()["transform__binarize"]
    'left'
    """

    name = "transformed"
    description = "another estimator, with a different tree transform"

    estimator: Estimator = field(
        metadata=parameter(
            Instance(Estimator), "the estimator of the grammar", option=False, nested=True
        )
    )
    transform: Transform = field(
        metadata=parameter(
            Instance(Transform),
            "the transform of the training trees",
            option=False,
            nested=True,
        )
    )

    def estimate(self, treebank: Treebank) -> Grammar:
        """Transform the trees of a treebank again, and estimate a grammar from them.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> Transformed(PCFGEstimator(), Transform()).estimate(treebank).tags
        ('NN',)
        """
        return self.estimator.estimate(treebank.transformed(self.transform))

    def provenance(self, treebank: Treebank) -> dict[str, Any]:
        """The provenance of the estimator, for the treebank in this transform.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> Transformed(PCFGEstimator(), Transform()).provenance(treebank)["estimator"]
        'pcfg'
        """
        return self.estimator.provenance(treebank.transformed(self.transform))
