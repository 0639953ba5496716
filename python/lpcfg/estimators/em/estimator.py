"""Expectation-maximisation for L-PCFGs (Matsuzaki et al. 2005)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import Smoothing
from lpcfg.estimators.em.state_parameters import StateMap, StateParameters, map_states
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.state_numbers import states_by_symbol
from lpcfg.grammar.grammar import Grammar
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.treebank.treebank import Treebank

__all__ = ["EMEstimator", "break_symmetry"]


def break_symmetry(
    parameters: StateParameters, amount: float, generator: np.random.Generator
) -> StateParameters:
    """The parameters, each multiplied by a number between 1 - noise and 1 + noise.

    States that are alike would stay alike without it.

    >>> one = np.ones(1, dtype=np.float32)
    >>> parameters = StateParameters(np.array([1]), one, one[:0], one[:, None], one)
    >>> abs(break_symmetry(parameters, 0.1, np.random.default_rng(0)).roots - 1) <= 0.1
    array([ True])
    """

    def perturbed(values: NDArray[np.float32]) -> NDArray[np.float32]:
        factors = generator.random(values.shape, dtype=np.float32)
        return values * (np.float32(1 - amount) + np.float32(2 * amount) * factors)

    return replace(
        parameters,
        roots=perturbed(parameters.roots),
        binary=perturbed(parameters.binary),
        emission_ratios=perturbed(parameters.emission_ratios),
    )


@dataclass
class EMEstimator:
    """L-PCFGs by EM over the trees of a treebank: probabilities, found by climbing.

    ``states``: most latent states of an interminal and of a preterminal.
    ``start``: a probabilistic grammar to go on from, trained on the same trees: one by another
    estimator, or one that was saved before. Without it, the PCFG with noise.
    ``iterations``: how many; with a held-out part or a ``monitor``, at most.
    ``min_count``, ``full_count``: symbols with up to so many nodes have one state, from so many all
    of them.
    ``symmetry_breaking``: how much the parameters of like states differ at the start.
    ``held_out``: the part of the trees that is not learnt from; training stops when these have not
    become likelier for ``patience`` iterations, and keeps the best grammar.
    ``monitor``: the same with a number of one's own, such as F1 on other trees, given a grammar.
    ``random_state``: the seed; the same seed gives the same grammar.

    After ``fit``, ``log_likelihoods_`` has that of the trees learnt from before each iteration,
    ``scores_`` that of held-out trees, or the monitor's number, after each.

    >>> from lpcfg import embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> estimator = EMEstimator(states=(2, 2), iterations=5, min_count=1, full_count=10)
    >>> _ = estimator.fit(treebank)
    >>> estimator.log_likelihoods_[0] < estimator.log_likelihoods_[-1]
    True
    """

    states: tuple[int, int] = (8, 8)
    start: Grammar | None = None
    iterations: int = 30
    min_count: int = 10
    full_count: int = 100
    symmetry_breaking: float = 0.5
    smoothing: Smoothing = field(default_factory=Smoothing)
    held_out: float = 0.0
    monitor: Callable[[Grammar], float] | None = None
    patience: int = 3
    lexicon: LexiconOptions = field(default_factory=LexiconOptions)
    random_state: int = 0
    n_jobs: int = -1
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    grammar_: Grammar = field(init=False, repr=False, compare=False)
    log_likelihoods_: list[float] = field(init=False, repr=False, compare=False)
    scores_: list[float] = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammar_` from a treebank.

        >>> from lpcfg import Tree
        >>> EMEstimator().fit(Treebank.from_trees([Tree("NN", "rain")])).grammar_.tags
        ('NN',)
        """
        self._check()
        generator = np.random.default_rng(self.random_state)
        backbone = self.start or PCFGEstimator(self.lexicon).fit(treebank).grammar_
        order = generator.permutation(len(treebank))
        held_out = np.sort(order[: int(self.held_out * len(treebank))])
        learnt = np.sort(order[len(held_out) :])
        trees, others = (
            LatentTrees(treebank, backbone, self.smoothing, chosen=chosen, n_jobs=self.n_jobs)
            for chosen in (learnt, held_out)
        )
        parameters = self.first(trees, treebank, generator)
        self.log_likelihoods_, self.scores_ = [], []
        best = parameters
        for _ in self.progress(range(self.iterations)):
            expectations = trees.expect(parameters)
            self.log_likelihoods_.append(expectations.log_likelihood)
            parameters = trees.maximise(expectations, parameters.states)
            if self.monitor is not None:
                self.scores_.append(self.monitor(trees.grammar(parameters)))
            elif len(held_out):
                likely = others.expect(trees.smoothed(parameters)).log_likelihood
                self.scores_.append(likely)
            if not self.scores_ or self.scores_[-1] == max(self.scores_):
                best = parameters
            elif len(self.scores_) - np.argmax(self.scores_) > self.patience:
                break
        grammar = trees.grammar(best)
        provenance = {
            **backbone.provenance,
            "estimator": "em",
            "start": "pcfg" if self.start is None else self.start.provenance.get("estimator"),
            "states": list(self.states),
            "iterations": len(self.log_likelihoods_),
            "smoothing": asdict(self.smoothing),
            "symmetry_breaking": self.symmetry_breaking,
            "random_state": self.random_state,
        }
        self.grammar_ = replace(grammar, provenance=provenance)
        return self

    def _check(self) -> None:
        if self.start is not None and self.start.crf_weights is not None:
            raise InputError(
                "start: a span model has weights of features, from which EM cannot go on; "
                "name a grammar of another estimator"
            )
        if min(self.states) < 1:
            raise InputError(f"numbers of states start at 1, not {min(self.states)}")
        if not 0 <= self.held_out < 1:
            raise InputError(f"held_out must be from 0 to below 1, not {self.held_out}")
        if self.held_out and self.monitor is not None:
            raise InputError("training can stop by held_out trees or by a monitor, not by both")
        for name in ("iterations", "patience"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must not be negative, but is {getattr(self, name)}")
        if not 0 <= self.symmetry_breaking < 1:
            raise InputError(
                f"symmetry_breaking must be from 0 to below 1, not {self.symmetry_breaking}"
            )

    def first(
        self, trees: LatentTrees, treebank: Treebank, generator: np.random.Generator
    ) -> StateParameters:
        """The parameters before the first iteration.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> estimator = EMEstimator(states=(2, 2), min_count=0, full_count=1)
        >>> estimator.first(trees, bank, np.random.default_rng(0)).states
        array([2])
        """
        if self.start is not None and self.start.latent is not None:
            return trees.parameters_of(self.start.latent)
        states = states_by_symbol(treebank, self.states, self.min_count, self.full_count).tolist()
        maps = [
            StateMap(np.ones((count, 1), np.float32), np.full((1, count), 1 / count, np.float32))
            for count in states
        ]
        rules, symbols = trees.backbone.binary_rules, trees.lexical_rules.symbols
        return break_symmetry(
            map_states(trees.one_state(), maps, rules, symbols), self.symmetry_breaking, generator
        )
