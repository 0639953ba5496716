"""Hierarchical splitting and merging of states (Petrov et al. 2006)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets, sum_weights
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import (
    LEXICON,
    N_JOBS,
    PROGRESS,
    RANDOM_STATE,
)
from lpcfg.estimators.em.estimator import break_symmetry
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import SMOOTHING, Smoothing
from lpcfg.estimators.em.state_parameters import StateMap, StateParameters, map_states
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.parameters.constraints import Function, Interval
from lpcfg.parameters.parameterized import parameter
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["SplitMergeEstimator"]


@dataclass(repr=False, kw_only=True)
class SplitMergeEstimator(Estimator):
    """L-PCFG estimation by splitting and merging of states with EM (Petrov et al. 2006).

    In each cycle every state is split in two, EM runs, the splits with the smallest gain in
    likelihood are undone, EM runs again, the rules of the states of a symbol are interpolated with
    their mean, and EM runs once more. Roots of trees are not split. States learn their contexts, so
    trees need no vertical Markovisation (:attr:`default_transform`).

    After ``fit``, ``log_likelihoods_`` has a list for each cycle: the log-likelihood of the trees
    before each iteration.

    >>> from lpcfg import embedded_trees
    >>> estimator = SplitMergeEstimator(cycles=2, min_count=5).fit(embedded_trees())
    >>> estimator.grammar_.latent.states.max() <= 4
    np.True_
    """

    name = "split-merge"
    description = "latent states by splitting, EM and merging"
    progress_unit = "cycles"
    default_transform = Transform(vertical=0)

    cycles: int = field(
        default=3,
        metadata=parameter(
            Interval(int, 0),
            "the number of cycles; each can double the number of states, and takes longer than the "
            "previous one",
            search=Interval(int, 1, 4),
        ),
    )
    split_iterations: int = field(
        default=20, metadata=parameter(Interval(int, 0), "iterations of EM after splitting")
    )
    merge_iterations: int = field(
        default=10, metadata=parameter(Interval(int, 0), "iterations of EM after merging")
    )
    mix_iterations: int = field(
        default=3, metadata=parameter(Interval(int, 0), "iterations of EM after mixing")
    )
    merge_fraction: float = field(
        default=0.5,
        metadata=parameter(
            Interval(float, 0, 1),
            "the fraction of the splits that is undone in each cycle; the larger, the fewer states",
            search=Interval(float, 0.3, 0.8),
        ),
    )
    mixing: float = field(
        default=0.01,
        metadata=parameter(
            Interval(float, 0, 1),
            "the weight of the mean over its symbol's states in the rules of each state",
            search=Interval(float, 0.001, 0.1),
        ),
    )
    symmetry_breaking: float = field(
        default=0.5,
        metadata=parameter(
            Interval(float, 0, 1),
            "after a split, parameters are multiplied by random factors between 1 minus and 1 plus "
            "this; without it, the two states would stay equal",
        ),
    )
    min_count: int = field(
        default=20,
        metadata=parameter(
            Interval(int, 0), "symbols with fewer nodes in the treebank are not split"
        ),
    )
    smoothing: Smoothing = field(default_factory=Smoothing, metadata=SMOOTHING)
    each_cycle: Callable[[int, Grammar], None] | None = field(
        default=None,
        metadata=parameter(
            Function(optional=True),
            "called with the number of each cycle and its grammar, for instance to save it",
            option=False,
            provenance=False,
        ),
    )
    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)
    random_state: int = field(default=0, metadata=RANDOM_STATE)
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    log_likelihoods_: list[list[float]] = field(init=False, repr=False, compare=False)

    def estimate(self, treebank: Treebank) -> Grammar:
        """Run all cycles, and return the grammar of the last.

        >>> from lpcfg import Tree
        >>> SplitMergeEstimator().estimate(Treebank.from_trees([Tree("NN", "rain")])).tags
        ('NN',)
        """
        generator = np.random.default_rng(self.random_state)
        backbone = PCFGEstimator(lexicon=self.lexicon).estimate(treebank)
        trees = LatentTrees(treebank, backbone, self.smoothing, n_jobs=self.n_jobs)
        counts = sum_weights(treebank.symbol, treebank.node_weights(), len(treebank.symbols))
        # Roots of trees have no context that could distinguish their states.
        splits = (counts >= self.min_count) & (backbone.roots == 0)
        parameters = trees.one_state()
        self.log_likelihoods_ = []
        provenance = self.provenance(treebank)
        grammar = replace(trees.grammar(parameters), provenance={**provenance, "cycles": 0})
        for cycle in self.progress(range(1, self.cycles + 1)):
            self.log_likelihoods_.append([])
            maps = [
                StateMap.split(states) if split else StateMap.same(states)
                for states, split in zip(parameters.states.tolist(), splits, strict=True)
            ]
            split = self._remap(trees, parameters, maps)
            parameters = trees.normalised(break_symmetry(split, self.symmetry_breaking, generator))
            parameters = self._run_em(trees, parameters, self.split_iterations)
            maps = _merging(parameters, trees.merge_losses(parameters), splits, self.merge_fraction)
            parameters = self._remap(trees, parameters, maps)
            parameters = self._run_em(trees, parameters, self.merge_iterations)
            parameters = self._mix(trees, parameters)
            parameters = self._run_em(trees, parameters, self.mix_iterations)
            # The grammar is the one that training with this number of cycles gives.
            grammar = replace(
                trees.grammar(self._mix(trees, parameters)),
                provenance={**provenance, "cycles": cycle},
            )
            if self.each_cycle is not None:
                self.each_cycle(cycle, grammar)
        return grammar

    def _run_em(
        self, trees: LatentTrees, parameters: StateParameters, iterations: int
    ) -> StateParameters:
        for _ in range(iterations):
            expectations = trees.expect(parameters)
            self.log_likelihoods_[-1].append(expectations.log_likelihood)
            parameters = trees.maximise(expectations, parameters.states)
        return parameters

    def _remap(
        self, trees: LatentTrees, parameters: StateParameters, maps: list[StateMap]
    ) -> StateParameters:
        return map_states(
            parameters, maps, trees.backbone.binary_rules, trees.lexical_rules.symbols
        )

    def _mix(self, trees: LatentTrees, parameters: StateParameters) -> StateParameters:
        """Interpolate the rules of the states of a symbol with their mean."""
        maps = []
        for states in parameters.states.tolist():
            same = np.eye(states, dtype=np.float32)
            shared = np.full_like(same, self.mixing / states)
            maps.append(StateMap(np.float32(1 - self.mixing) * same + shared, same))
        # Emissions are smoothed separately.
        return replace(
            self._remap(trees, parameters, maps), emission_ratios=parameters.emission_ratios
        )


def _merging(
    parameters: StateParameters,
    losses: NDArray[np.float64],
    splits: NDArray[np.bool_],
    fraction: float,
) -> list[StateMap]:
    """Undo the given fraction of the splits, starting with the smallest losses."""
    starts = offsets(parameters.states)
    index = np.arange(starts[-1]) - np.repeat(starts[:-1], parameters.states)
    pairs = np.flatnonzero(np.repeat(splits, parameters.states) & (index % 2 == 0))
    merged = np.zeros(starts[-1], dtype=bool)
    merged[pairs[np.argsort(losses[pairs], kind="stable")][: int(fraction * len(pairs))]] = True
    bounds = starts[1:-1]
    return [
        StateMap.merge(merged_states, priors)
        for merged_states, priors in zip(
            np.split(merged, bounds), np.split(parameters.state_priors, bounds), strict=True
        )
    ]
