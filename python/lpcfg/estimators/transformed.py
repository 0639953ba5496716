"""An estimator with a tree transform of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.constraints import Instance
from lpcfg.estimators.parameters import parameter
from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["Transformed"]


@dataclass(repr=False)
class Transformed(Estimator):
    """An estimator that learns from trees in another transform than others do, for an ensemble.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> left = Transformed(PCFGEstimator(), Transform(binarize="left")).fit(embedded_trees())
    >>> left.grammar_.transform.binarize
    'left'
    >>> left.get_params()["transform__binarize"]
    'left'
    """

    name = "transformed"
    description = "another estimator, with a tree transform of its own"

    estimator: Estimator = field(
        metadata=parameter(
            Instance(Estimator), "what learns the grammar", option=False, nested=True
        )
    )
    transform: Transform = field(
        metadata=parameter(
            Instance(Transform),
            "the transform of the trees that it learns from",
            option=False,
            nested=True,
        )
    )

    def estimate(self, treebank: Treebank) -> Grammar:
        """The grammar of the trees of a treebank, whatever its own transform is.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> Transformed(PCFGEstimator(), Transform()).estimate(treebank).tags
        ('NN',)
        """
        return self.estimator.estimate(treebank.transformed(self.transform))

    def provenance(self, treebank: Treebank) -> dict[str, Any]:
        """That of the estimator, for the treebank in this transform.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> Transformed(PCFGEstimator(), Transform()).provenance(treebank)["estimator"]
        'pcfg'
        """
        return self.estimator.provenance(treebank.transformed(self.transform))
