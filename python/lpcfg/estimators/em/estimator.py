"""Expectation-maximisation for L-PCFGs (Matsuzaki et al. 2005)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import (
    FULL_COUNT,
    LEXICON,
    MIN_COUNT,
    N_JOBS,
    PROGRESS,
    RANDOM_STATE,
    STATES,
)
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.em.smoothing import SMOOTHING, Smoothing
from lpcfg.estimators.em.state_parameters import StateMap, StateParameters, map_states
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.state_numbers import check_counts, states_by_symbol
from lpcfg.grammar.grammar import Grammar
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.parameters.constraints import Function, Instance, Interval, Pair
from lpcfg.parameters.parameterized import parameter, searched
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["EMEstimator", "break_symmetry"]


def break_symmetry(
    parameters: StateParameters, amount: float, generator: np.random.Generator
) -> StateParameters:
    """The parameters, each times a random number between 1 - amount and 1 + amount.

    Without it, states with equal parameters would stay equal.

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


def _start_record(start: Grammar | None) -> object:
    """The provenance of the grammar that training starts from."""
    return {"estimator": PCFGEstimator.name} if start is None else dict(start.provenance)


@dataclass(repr=False, kw_only=True)
class EMEstimator(Estimator):
    """L-PCFG estimation by expectation-maximisation over trees, which finds a local optimum.

    After ``fit``, ``log_likelihoods_`` has the log-likelihood of the training trees before each
    iteration. ``scores_`` has the log-likelihood of the held-out trees, or the value of the
    monitor, after each iteration.

    >>> from lpcfg import embedded_trees
    >>> estimator = EMEstimator(states=(2, 2), iterations=5, min_count=1, full_count=10)
    >>> _ = estimator.fit(embedded_trees())
    >>> estimator.log_likelihoods_[0] < estimator.log_likelihoods_[-1]
    True
    """

    name = "em"
    description = "latent states by expectation-maximisation"
    progress_unit = "iterations"
    default_transform = Transform(vertical=0)

    states: tuple[int, int] = field(
        default=(8, 8), metadata=searched(STATES, Pair(Interval(int, 2, 16)))
    )
    start: Grammar | None = field(
        default=None,
        metadata=parameter(
            Instance(Grammar, None),
            "a grammar with probabilities (no CRF, no network) to start from, trained on the same "
            "trees by this or another estimator; None for the PCFG with random states",
            metavar="MODEL",
            provenance=_start_record,
        ),
    )
    iterations: int = field(
        default=30,
        metadata=parameter(
            Interval(int, 0),
            "the number of iterations; with held-out trees or a monitor, the largest number",
            search=Interval(int, 5, 50),
        ),
    )
    min_count: int = field(default=10, metadata=MIN_COUNT)
    full_count: int = field(default=100, metadata=FULL_COUNT)
    symmetry_breaking: float = field(
        default=0.5,
        metadata=parameter(
            Interval(float, 0, 1, "left"),
            "at the start, parameters are multiplied by random factors between 1 minus and 1 plus "
            "this; without it, the states of a symbol would stay equal",
        ),
    )
    smoothing: Smoothing = field(default_factory=Smoothing, metadata=SMOOTHING)
    held_out: float = field(
        default=0.0,
        metadata=parameter(
            Interval(float, 0, 1, "left"),
            "the fraction of the trees that is held out; training stops when their likelihood has "
            "not risen for patience iterations, and the best grammar is kept",
        ),
    )
    monitor: Callable[[Grammar], float] | None = field(
        default=None,
        metadata=parameter(
            Function(optional=True),
            "a function that scores a grammar, such as F1 on development trees; it replaces the "
            "likelihood of held-out trees",
            option=False,
            provenance=lambda monitor: None if monitor is None else "custom",
        ),
    )
    patience: int = field(
        default=3,
        metadata=parameter(
            Interval(int, 0),
            "the number of iterations without a better score after which training stops",
        ),
    )
    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)
    random_state: int = field(default=0, metadata=RANDOM_STATE)
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    log_likelihoods_: list[float] = field(init=False, repr=False, compare=False)
    scores_: list[float] = field(init=False, repr=False, compare=False)

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> EMEstimator(held_out=0.1, monitor=lambda grammar: 0.0).validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: EMEstimator: monitor must be None if trees are held_out
        """
        super().validate()
        check_counts(self)
        if self.start is not None and self.start.is_conditional:
            raise self.invalid(
                "start",
                "must be a grammar with probabilities; a CRF has weights of features and a neural "
                "model has a network, from which EM cannot start",
            )
        if self.held_out and self.monitor is not None:
            raise self.invalid("monitor", "must be None if trees are held_out")

    def estimate(self, treebank: Treebank) -> Grammar:
        """Run EM from the start, and return the last or the best grammar.

        >>> from lpcfg import Tree
        >>> EMEstimator().estimate(Treebank.from_trees([Tree("NN", "rain")])).tags
        ('NN',)
        """
        generator = np.random.default_rng(self.random_state)
        backbone = self.start or PCFGEstimator(lexicon=self.lexicon).estimate(treebank)
        order = generator.permutation(len(treebank))
        held_out = np.sort(order[: int(self.held_out * len(treebank))])
        training = np.sort(order[len(held_out) :])
        trees, others = (
            LatentTrees(treebank, backbone, self.smoothing, chosen=chosen, n_jobs=self.n_jobs)
            for chosen in (training, held_out)
        )
        parameters = self.initial_parameters(trees, treebank, generator)
        self.log_likelihoods_, self.scores_ = [], []
        best = parameters
        for _ in self.progress(range(self.iterations)):
            expectations = trees.expect(parameters)
            self.log_likelihoods_.append(expectations.log_likelihood)
            parameters = trees.maximise(expectations, parameters.states)
            if self.monitor is not None:
                self.scores_.append(self.monitor(trees.grammar(parameters)))
            elif len(held_out):
                expected = others.expect(trees.smoothed(parameters))
                self.scores_.append(expected.log_likelihood)
            if not self.scores_ or self.scores_[-1] == max(self.scores_):
                best = parameters
            elif len(self.scores_) - np.argmax(self.scores_) > self.patience:
                break
        provenance = {
            **self.provenance(treebank),
            "iterations_run": len(self.log_likelihoods_),
        }
        return replace(trees.grammar(best), provenance=provenance)

    def initial_parameters(
        self, trees: LatentTrees, treebank: Treebank, generator: np.random.Generator
    ) -> StateParameters:
        """The parameters before the first iteration.

        ``treebank``: the training trees. ``generator``: the source of the noise that makes states
        differ.

        >>> from lpcfg import Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> estimator = EMEstimator(states=(2, 2), min_count=0, full_count=1)
        >>> estimator.initial_parameters(trees, bank, np.random.default_rng(0)).states
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
        start = map_states(trees.one_state(), maps, rules, symbols)
        return trees.normalised(break_symmetry(start, self.symmetry_breaking, generator))
