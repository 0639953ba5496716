"""L-PCFGs by the pivot method (Cohen & Collins 2014)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.errors import InputError
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import Smoothing
from lpcfg.estimators.features.node_projections import nodes_by_symbol
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.pivot._rules import NodeStates
from lpcfg.estimators.pivot._states import SideFeatures, SymbolStates, find_states
from lpcfg.estimators.rule_nodes import RuleNodes
from lpcfg.estimators.state_numbers import states_by_symbol
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["PivotEstimator"]


@dataclass
class PivotEstimator(ProjectingEstimator):
    """L-PCFGs whose states are told by pivot features: probabilities, without local optima.

    Where every state has inside and outside features of its own, estimates converge to the true
    parameters. As a start it saves EM most of its iterations: ``EMEstimator(start=grammar)``.
    Trees need not remember ancestors: use :attr:`transform`.

    ``states``: most latent states of an interminal and of a preterminal.
    ``dimensions``: of projections, for each state.
    ``share``: a pivot is a feature that at least this share of an average state's nodes have.
    ``iterations``: of the concave EM for each rule; fewer keep closer to independent states.
    ``matching``: of the concave EM that matches the states of inside and outside features.
    ``smoothing``: of what is rare, as by EM; see
    :class:`~lpcfg.estimators.em.smoothing.Smoothing`.
    ``min_count``, ``full_count``: symbols with up to so many nodes have one state, from so many all
    of them.

    Other options are those of every
    :class:`~lpcfg.estimators.features.projected_treebank.ProjectingEstimator`.

    >>> from lpcfg import embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> grammar = PivotEstimator(states=(2, 2), min_count=5, full_count=50).fit(treebank).grammar_
    >>> grammar.latent.kind, grammar.latent.states.max()
    ('probabilistic', np.uint32(2))
    """

    transform: ClassVar[Transform] = Transform(vertical=0)

    states: tuple[int, int] = (8, 8)
    dimensions: int = 2
    share: float = 0.02
    iterations: int = 10
    matching: int = 50
    smoothing: Smoothing = field(default_factory=Smoothing)
    min_count: int = 10
    full_count: int = 100

    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """So many dimensions for each state of symbols that may have several.

        >>> from lpcfg import Tree
        >>> PivotEstimator().ranks(Treebank.from_trees([Tree("NN", "rain")]))
        array([0])
        """
        self._check()
        most = self._most_states(treebank)
        return np.where(most > 1, self.dimensions * most, 0)

    def options(self) -> dict[str, Any]:
        """The name of the estimator and its options.

        >>> PivotEstimator().options()["estimator"]
        'pivot'
        """
        own = [option.name for option in fields(self)[len(fields(ProjectingEstimator)) :]]
        chosen = {name: getattr(self, name) for name in own}
        return {"estimator": "pivot", **chosen, "smoothing": asdict(self.smoothing)}

    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """Find the states of each symbol, then those of each rule.

        >>> from lpcfg import Tree
        >>> projected = PivotEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> PivotEstimator().latent_states(projected, np.random.default_rng(0)).roots
        array([1.], dtype=float32)
        """
        del generator  # nothing is left to chance after the projections
        bank, backbone = projected.treebank, projected.backbone
        with one_thread():
            states = self._symbol_states(projected)
            nodes = NodeStates(bank, projected.features, states)
            rules = RuleNodes.find(bank, backbone.binary_rules)
            expectations = nodes.expectations(rules, self.iterations, self.progress)
        trees = LatentTrees(bank, backbone, self.smoothing)
        parameters = trees.maximise(expectations, np.array([len(own.prior) for own in states]))
        latent = trees.grammar(parameters, expectations).latent
        assert latent is not None
        return latent

    def _symbol_states(self, projected: ProjectedTreebank) -> list[SymbolStates]:
        bank, projections = projected.treebank, projected.projections
        ranks = projections.ranks
        result = [
            SymbolStates.single(*(int(matrix.widths[symbol]) for matrix in projected.features))
            for symbol in range(len(bank.symbols))
        ]
        most = self._most_states(bank)
        own = nodes_by_symbol(bank.symbol, len(bank.symbols))
        for symbol in self.progress(np.flatnonzero((most > 1) & (ranks > 0)).tolist()):
            inside, outside = (
                SideFeatures(
                    matrix.columns[slice(*matrix.row_offsets[symbol : symbol + 2])],
                    int(matrix.widths[symbol]),
                )
                for matrix in projected.features
            )
            result[symbol] = find_states(
                inside,
                outside,
                (
                    projections.inside[own[symbol], : ranks[symbol]],
                    projections.outside[own[symbol], : ranks[symbol]],
                ),
                int(most[symbol]),
                min_pivot_frequency=self.share,
                iterations=self.matching,
            )
        return result

    def _most_states(self, treebank: Treebank) -> NDArray[np.int64]:
        return states_by_symbol(treebank, self.states, self.min_count, self.full_count)

    def _check(self) -> None:
        if min(self.states) < 1:
            raise InputError(f"numbers of states start at 1, not {min(self.states)}")
        for name in ("dimensions", "iterations", "matching"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.min_count <= self.full_count:
            raise InputError(
                f"min_count ({self.min_count}) must be between 0 and full_count ({self.full_count})"
            )
        if not self.share >= 0:
            raise InputError(f"share must not be negative, but is {self.share}")
