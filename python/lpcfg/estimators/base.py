"""The base classes of estimators, which are fitted to trees and scored on trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.parameters.parameterized import Parameterized
from lpcfg.treebank.inputs import Trees, as_treebank, as_trees
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.parsing.base import BaseParser

__all__ = ["BaseEstimator", "Estimator"]


@dataclass(repr=False)
class BaseEstimator(Parameterized, ABC):
    """An estimator of one grammar or several: it is fitted to trees, and then makes a parser.

    It follows the conventions of scikit-learn, so that ``clone``, ``cross_val_score`` and
    ``GridSearchCV`` work, but does not import it. ``__init__`` only stores the parameters; ``fit``
    checks them.

    >>> from sklearn.model_selection import cross_val_score
    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> (cross_val_score(PCFGEstimator(), embedded_trees(), cv=3) > 0.7).all()
    np.True_
    """

    #: The transform that ``fit`` applies to training trees, unless they are a Treebank already.
    default_transform: ClassVar[Transform] = Transform()

    def fit(self, trees: Trees, y: object = None) -> Self:
        """Learn from trees.

        ``trees``: a :class:`~lpcfg.Treebank`, which is taken as it is; or trees, or the path or
        paths of files of trees, to which :attr:`default_transform` is applied. ``y`` is not used.

        >>> from lpcfg import PCFGEstimator, embedded_trees
        >>> PCFGEstimator().fit(embedded_trees()).grammar_.tags[:3]
        (',', '.', 'CC')
        """
        self.validate()
        self._fit(self._treebank(trees))
        return self

    def _treebank(self, trees: Trees) -> Treebank:
        return as_treebank(trees, self.default_transform)

    @abstractmethod
    def _fit(self, treebank: Treebank) -> None:
        """Learn from a treebank; parameters have been checked."""

    @abstractmethod
    def parser(self) -> BaseParser:
        """A parser with the fitted grammar or grammars."""

    def _check_fitted(self, result: str) -> None:
        if not hasattr(self, result):
            raise InputError(f"{type(self).__name__}: call fit first, there is no {result} yet")

    def score(self, trees: Trees, y: object = None) -> float:
        """The labelled F1 of the parser on the words of some trees, as a fraction from 0 to 1.

        It is the F1 of :func:`lpcfg.evaluate` divided by 100, for scikit-learn expects scores of
        at most 1. The trees are cleaned in the same way as the training trees. ``y`` is not used.

        >>> from lpcfg import PCFGEstimator, embedded_trees
        >>> trees = embedded_trees()
        >>> 0.7 < PCFGEstimator().fit(trees[:200]).score(trees[200:]) < 1
        True
        """
        # The evaluation is not needed for training.
        from lpcfg.evaluation.parser_scores import evaluate_parser

        parser = self.parser()
        cleaned = parser.grammar.provenance.get("cleaning")
        gold = as_trees(trees, parser.grammar.cleaning if cleaned else None)
        return evaluate_parser(parser, gold).scores.f1 / 100


@dataclass(repr=False)
class Estimator(BaseEstimator):
    """An estimator of one grammar from a treebank; the base class of all registered estimators.

    A subclass has a :attr:`name`, a :attr:`description`, declared parameters, and the method
    :meth:`estimate`. An entry in :mod:`lpcfg.estimators.registry` makes it available to the command
    line and to experiments.

    After ``fit``, ``grammar_`` is the grammar.
    """

    #: The name of the estimator on the command line and in model files.
    name: ClassVar[str]
    #: A description in one line.
    description: ClassVar[str]
    #: The name of the steps that ``progress`` counts.
    progress_unit: ClassVar[str] = "steps"

    grammar_: Grammar = field(init=False, repr=False, compare=False)

    def _fit(self, treebank: Treebank) -> None:
        self.grammar_ = self.estimate(treebank)

    @abstractmethod
    def estimate(self, treebank: Treebank) -> Grammar:
        """Estimate a grammar from a treebank; :meth:`fit` checks the parameters and calls this."""

    def parser(self) -> BaseParser:
        """A parser with the fitted grammar.

        >>> from lpcfg import PCFGEstimator, embedded_trees
        >>> parser = PCFGEstimator().fit(embedded_trees()).parser()
        >>> print(parser.parse(words="The dog saw him .".split()))
        (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
        """
        from lpcfg.parsing.parser import Parser

        self._check_fitted("grammar_")
        return Parser(self.grammar_, n_jobs=getattr(self, "n_jobs", -1))

    def provenance(self, treebank: Treebank) -> dict[str, Any]:
        """The record in a model file: the estimator, all its parameters, and the treebank.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> provenance = ClusteringEstimator(rank=8).provenance(bank)
        >>> provenance["estimator"], provenance["rank"], provenance["trees"]
        ('clustering', 8, 1)
        """
        return {"estimator": self.name, **self.provenance_params(), **treebank.provenance}
