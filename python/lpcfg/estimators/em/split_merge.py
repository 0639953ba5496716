"""Hierarchical splitting and merging of states (Petrov et al. 2006)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets
from lpcfg.errors import InputError
from lpcfg.estimators.em.estimator import break_symmetry
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import Smoothing
from lpcfg.estimators.em.state_parameters import StateMap, StateParameters, map_states
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["SplitMergeEstimator"]


@dataclass
class SplitMergeEstimator:
    """L-PCFGs whose states grow where the treebank asks for them.

    In each of the ``cycles`` every state is split in two that differ by ``symmetry_breaking``, EM
    runs for
    ``split_iterations``, the fraction ``merge_fraction`` of the splits that gain least is undone,
    and EM runs for ``merge_iterations``; then the rules of each state take the part ``mixing`` from
    the mean of its symbol's states, and EM runs for ``mix_iterations``.

    ``min_count``: symbols with fewer nodes are not split; nor are the roots of trees.
    ``smoothing``: of the grammars that come out; within training it is that of words alone.
    ``each_cycle``: called with the number of the cycle and its grammar, for instance to save it.
    ``random_state``: the seed; the same seed gives the same grammar.

    States find out about their context by themselves, so trees had better not say much of it:
    use :attr:`transform`, which remembers no ancestors.

    After ``fit``, ``log_likelihoods_`` has a list for each cycle: that of the trees before each
    iteration.

    >>> from lpcfg import embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees(), transform=SplitMergeEstimator.transform)
    >>> estimator = SplitMergeEstimator(cycles=2, min_count=5).fit(treebank)
    >>> estimator.grammar_.latent.states.max() <= 4
    np.True_
    """

    transform: ClassVar[Transform] = Transform(vertical=0)

    cycles: int = 3
    split_iterations: int = 20
    merge_iterations: int = 10
    mix_iterations: int = 3
    merge_fraction: float = 0.5
    mixing: float = 0.01
    symmetry_breaking: float = 0.5
    min_count: int = 20
    smoothing: Smoothing = field(default_factory=Smoothing)
    each_cycle: Callable[[int, Grammar], None] | None = None
    lexicon: LexiconOptions = field(default_factory=LexiconOptions)
    random_state: int = 0
    n_jobs: int = -1
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    grammar_: Grammar = field(init=False, repr=False, compare=False)
    log_likelihoods_: list[list[float]] = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammar_` from a treebank.

        >>> from lpcfg import Tree
        >>> SplitMergeEstimator().fit(Treebank.from_trees([Tree("NN", "rain")])).grammar_.tags
        ('NN',)
        """
        self._check()
        generator = np.random.default_rng(self.random_state)
        backbone = PCFGEstimator(self.lexicon).fit(treebank).grammar_
        trees = LatentTrees(treebank, backbone, self.smoothing, n_jobs=self.n_jobs)
        counts = np.bincount(treebank.symbol, minlength=len(treebank.symbols))
        # What stands at the top of a tree has no context to tell states apart.
        splits = (counts >= self.min_count) & (backbone.roots == 0)
        parameters = trees.one_state()
        self.log_likelihoods_ = []
        self.grammar_ = self._grammar(trees, parameters, 0)
        for cycle in self.progress(range(1, self.cycles + 1)):
            self.log_likelihoods_.append([])
            maps = [
                StateMap.split(states) if split else StateMap.same(states)
                for states, split in zip(parameters.states.tolist(), splits, strict=True)
            ]
            parameters = break_symmetry(
                self._remap(trees, parameters, maps), self.symmetry_breaking, generator
            )
            parameters = self._climb(trees, parameters, self.split_iterations)
            maps = _merging(parameters, trees.merge_losses(parameters), splits, self.merge_fraction)
            parameters = self._remap(trees, parameters, maps)
            parameters = self._climb(trees, parameters, self.merge_iterations)
            parameters = self._mix(trees, parameters)
            parameters = self._climb(trees, parameters, self.mix_iterations)
            self.grammar_ = self._grammar(trees, self._mix(trees, parameters), cycle)
            if self.each_cycle is not None:
                self.each_cycle(cycle, self.grammar_)
        return self

    def _check(self) -> None:
        counts = ("cycles", "split_iterations", "merge_iterations", "mix_iterations", "min_count")
        for name in counts:
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")
        for name in ("merge_fraction", "mixing", "symmetry_breaking"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} must be from 0 to 1, not {getattr(self, name)}")

    def _climb(
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
        """Let the states of a symbol share a little of their rules."""
        maps = []
        for states in parameters.states.tolist():
            same = np.eye(states, dtype=np.float32)
            shared = np.full_like(same, self.mixing / states)
            maps.append(StateMap(np.float32(1 - self.mixing) * same + shared, same))
        # Words have their own smoothing.
        return replace(
            self._remap(trees, parameters, maps), emission_ratios=parameters.emission_ratios
        )

    def _grammar(self, trees: LatentTrees, parameters: StateParameters, cycle: int) -> Grammar:
        fields = (
            "split_iterations",
            "merge_iterations",
            "mix_iterations",
            "merge_fraction",
            "mixing",
        )
        options = {
            name: getattr(self, name) for name in (*fields, "symmetry_breaking", "min_count")
        }
        provenance = {
            **trees.backbone.provenance,
            "estimator": "split-merge",
            "cycles": cycle,
            **options,
            "smoothing": asdict(self.smoothing),
            "random_state": self.random_state,
        }
        return replace(trees.grammar(parameters), provenance=provenance)


def _merging(
    parameters: StateParameters,
    losses: NDArray[np.float64],
    splits: NDArray[np.bool_],
    part: float,
) -> list[StateMap]:
    """Undo the given part of the splits, those with the least loss."""
    starts = offsets(parameters.states)
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], parameters.states)
    pairs = np.flatnonzero(np.repeat(splits, parameters.states) & (place % 2 == 0))
    merged = np.zeros(starts[-1], dtype=bool)
    merged[pairs[np.argsort(losses[pairs], kind="stable")][: int(part * len(pairs))]] = True
    bounds = starts[1:-1]
    return [
        StateMap.merge(own, priors)
        for own, priors in zip(
            np.split(merged, bounds), np.split(parameters.state_priors, bounds), strict=True
        )
    ]
