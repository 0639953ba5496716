"""L-PCFGs by the pivot method (Cohen & Collins 2014)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lpcfg._threads import one_thread
from lpcfg.estimators.common_parameters import (
    FULL_COUNT,
    MIN_COUNT,
    STATES,
)
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import SMOOTHING, Smoothing
from lpcfg.estimators.features.node_projections import nodes_by_symbol
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.pivot._rules import NodeStates
from lpcfg.estimators.pivot._states import SideFeatures, SymbolStates, find_states
from lpcfg.estimators.pivot.concave_em import Stopping
from lpcfg.estimators.rule_nodes import RuleNodes
from lpcfg.estimators.state_numbers import check_counts, states_by_symbol
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.parameters.constraints import Interval, Pair
from lpcfg.parameters.parameterized import parameter, searched
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["PivotEstimator"]


@dataclass(repr=False, kw_only=True)
class PivotEstimator(ProjectingEstimator):
    """L-PCFG estimation by pivot features: probabilities, without local optima.

    A pivot is a feature that only one state generates. If every state has inside and outside
    pivots, estimates converge to the true parameters. EM needs fewer iterations if it starts from
    this grammar: ``EMEstimator(start=grammar)``. Trees need no vertical Markovisation
    (:attr:`default_transform`).

    >>> from lpcfg import embedded_trees
    >>> estimator = PivotEstimator(states=(2, 2), min_count=5, full_count=50)
    >>> latent = estimator.fit(embedded_trees()).grammar_.latent
    >>> latent.kind, latent.states.max()
    ('probabilistic', np.uint32(2))
    """

    name = "pivot"
    description = "latent states by pivot features: probabilities to start em from"
    default_transform = Transform(vertical=0)

    states: tuple[int, int] = field(
        default=(8, 8), metadata=searched(STATES, Pair(Interval(int, 2, 32)))
    )
    dimensions: int = field(
        default=2,
        metadata=parameter(
            Interval(int, 1), "the number of directions of the projections for each state"
        ),
    )
    min_pivot_frequency: float = field(
        default=0.02,
        metadata=parameter(
            Interval(float, 0),
            "a feature can be a pivot if at least this fraction of the nodes of an average state "
            "have it; with larger values there are fewer candidates, with more reliable statistics",
            search=Interval(float, 0.002, 0.2),
        ),
    )
    iterations: int = field(
        default=1000,
        metadata=parameter(
            Interval(int, 1),
            "the largest number of steps of the concave EM of each rule, and of the one that "
            "matches the states of inside and outside features",
        ),
    )
    tolerance: float = field(
        default=10.0,
        metadata=parameter(
            Interval(float, 0),
            "concave EM stops when a step raises the log-likelihood of the nodes of the rule or "
            "symbol by less than this; with larger values, the states of the nodes of rare rules "
            "stay closer to independence; it vanishes as counts grow",
            search=Interval(float, 0.1, 100),
        ),
    )
    smoothing: Smoothing = field(default_factory=Smoothing, metadata=SMOOTHING)
    min_count: int = field(default=10, metadata=MIN_COUNT)
    full_count: int = field(default=100, metadata=FULL_COUNT)

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> PivotEstimator(dimensions=0).validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: PivotEstimator: dimensions must be an integer from 1 to ...
        """
        super().validate()
        check_counts(self)

    def ranks(self, treebank: Treebank) -> NDArray[np.int64]:
        """The ranks of symbols that may have several states: ``dimensions`` times their number.

        ``treebank``: the training trees.

        >>> from lpcfg import Tree
        >>> PivotEstimator().ranks(Treebank.from_trees([Tree("NN", "rain")]))
        array([0])
        """
        largest = self._largest_numbers(treebank)
        return np.where(largest > 1, self.dimensions * largest, 0)

    def latent_states(
        self, projected: ProjectedTreebank, generator: np.random.Generator
    ) -> LatentStates:
        """Find the states of each symbol, then the state probabilities of each rule.

        ``generator``: not used; the method draws no random numbers.

        >>> from lpcfg import Tree
        >>> projected = PivotEstimator().project(Treebank.from_trees([Tree("NN", "rain")]))
        >>> PivotEstimator().latent_states(projected, np.random.default_rng(0)).roots
        array([1.], dtype=float32)
        """
        del generator  # the steps after the projections are deterministic
        bank, backbone = projected.treebank, projected.backbone
        with one_thread():
            states = self._symbol_states(projected)
            nodes = NodeStates(bank, projected.features, states)
            rules = RuleNodes.find(bank, backbone.binary_rules)
            stopping = Stopping(self.iterations, self.tolerance)
            expectations = nodes.expectations(rules, stopping, self.progress)
        trees = LatentTrees(bank, backbone, self.smoothing)
        numbers = np.array([len(symbol.prior) for symbol in states])
        parameters = trees.maximise(expectations, numbers)
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
        largest = self._largest_numbers(bank)
        nodes = nodes_by_symbol(bank.symbol, len(bank.symbols))
        weights = bank.node_weights()
        for symbol in self.progress(np.flatnonzero((largest > 1) & (ranks > 0)).tolist()):
            inside, outside = (
                SideFeatures(
                    matrix.columns[slice(*matrix.row_offsets[symbol : symbol + 2])],
                    int(matrix.widths[symbol]),
                    None if weights is None else weights[nodes[symbol]],
                )
                for matrix in projected.features
            )
            result[symbol] = find_states(
                inside,
                outside,
                (
                    projections.inside[nodes[symbol], : ranks[symbol]],
                    projections.outside[nodes[symbol], : ranks[symbol]],
                ),
                int(largest[symbol]),
                min_pivot_frequency=self.min_pivot_frequency,
                stopping=Stopping(self.iterations, self.tolerance),
            )
        return result

    def _largest_numbers(self, treebank: Treebank) -> NDArray[np.int64]:
        return states_by_symbol(treebank, self.states, self.min_count, self.full_count)
