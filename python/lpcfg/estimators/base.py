"""What all estimators of grammars have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, Self

from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["Estimator", "Fitted", "Transformed"]


class Fitted(Protocol):
    """What ``fit`` returns."""

    grammar_: Grammar


class Estimator(Protocol):
    """What learns a grammar."""

    def fit(self, treebank: Treebank) -> Fitted:
        """Learn a grammar, which becomes ``grammar_``."""


@dataclass
class Transformed:
    """An estimator that learns from trees in another form than others do, for an ensemble.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> left = Transformed(PCFGEstimator(), Transform(binarize="left")).fit(treebank)
    >>> left.grammar_.transform.binarize
    'left'
    """

    estimator: Estimator
    transform: Transform

    grammar_: Grammar = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Learn a grammar from the trees of a treebank, whatever its own transform is.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> Transformed(PCFGEstimator(), Transform()).fit(treebank).grammar_.tags
        ('NN',)
        """
        self.grammar_ = self.estimator.fit(treebank.transformed(self.transform)).grammar_
        return self
