"""Smoothing of the grammars that EM, split-merge training and the pivot algorithm estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets
from lpcfg.errors import InputError
from lpcfg.estimators.common_parameters import CLASS_SMOOTHING, WORD_SMOOTHING
from lpcfg.estimators.em.state_parameters import StateParameters
from lpcfg.estimators.rule_nodes import interpolation
from lpcfg.parameters.constraints import Instance, Interval
from lpcfg.parameters.parameterized import parameter

__all__ = ["SMOOTHING", "Smoothing", "smooth_rules"]

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of rules and emissions: how far estimates of rare events back off.

    ``rules``: C of the interpolation weight sqrt(n) / (C + sqrt(n)) of the tensor of a rule seen n
    times; the remaining weight goes to estimates in which the states of the rule are independent,
    see :func:`smooth_rules`. Applied to the final grammar, not between iterations. Higher values
    bring the grammar closer to its backbone PCFG; 0 leaves the tensors unchanged. Default 5.
    ``words``: the prior count, in tokens, of the word's class in P(state | word). Applied in every
    iteration. Higher values bring rare words closer to their classes; 0 uses the relative
    frequencies of the word alone. Default 2.
    ``classes``: the prior count, in tokens, of the symbol in P(state | word class). Applied in
    every iteration. It affects unknown and rare words only. Default 2.
    ``rare``: words that occur at most this often are counted for their classes, and so determine
    the states of unknown words. Higher values make classes more reliable, and less typical of
    unknown words. Default 20.

    >>> Smoothing(rules=0.0)
    Smoothing(rules=0.0, words=2.0, classes=2.0, rare=20)
    """

    rules: float = 5.0
    words: float = 2.0
    classes: float = 2.0
    rare: int = 20

    def __post_init__(self) -> None:
        for name in ("rules", "words", "classes", "rare"):
            if not getattr(self, name) >= 0:
                value = getattr(self, name)
                raise InputError(f"{name} must not be negative, but is {value}", argument=name)

    @classmethod
    def none(cls) -> Smoothing:
        """No smoothing: with plain relative frequencies, EM never lowers the likelihood.

        >>> Smoothing.none()
        Smoothing(rules=0.0, words=0.0, classes=0.0, rare=20)
        """
        return cls(0.0, 0.0, 0.0)


#: The declaration of the parameter ``smoothing`` of estimators.
SMOOTHING = parameter(
    Instance(Smoothing),
    "how far estimates of rare events back off to estimates of more frequent events",
    nested=True,
    parts={
        "rules": parameter(
            Interval(float, 0),
            "how far the rules of a state back off to the rules of its symbol, at the end of "
            "training",
            search=Interval(float, 0.5, 40),
        ),
        "words": WORD_SMOOTHING,
        "classes": CLASS_SMOOTHING,
        "rare": parameter(
            Interval(int, 0),
            "words seen up to this number of times count for the classes of unknown words",
        ),
    },
)


def smooth_rules(
    parameters: StateParameters,
    rules: NDArray[np.integer],
    counts: NDArray[np.number],
    probabilities: NDArray[np.float64],
    smoothing: float,
) -> Floats:
    """The tensors of binary rules, interpolated with tensors of independent states.

    For a rule seen n times, with w = sqrt(n) / (C + sqrt(n)), a tensor backs off with weight 1 - w
    to P(rule | parent's state) P(children's states | rule). In turn, the first factor backs off to
    the rule's probability in the backbone PCFG, and the second to the product of the distributions
    of the left and of the right child's state given the rule, which backs off to the product of
    the state priors. This is the interpolation of moments of Cohen et al. (2013; Peng 2021, section
    3.2.7) for probabilities: the rules of each state still sum to one.

    ``counts``, ``probabilities``: of each rule, in the treebank and in the backbone.
    ``smoothing``: C.

    >>> one = np.ones(1, dtype=np.float32)
    >>> parameters = StateParameters(np.array([2]), one, one.repeat(8) / 4, one, np.full(2, 0.5))
    >>> smooth_rules(parameters, np.zeros((1, 3), int), np.array([1]), one, 1.0).sum()
    np.float32(2.0)
    """
    weights = interpolation(counts, smoothing)
    priors = [
        part.astype(np.float32)
        for part in np.split(parameters.state_priors, offsets(parameters.states)[1:-1])
    ]
    tensors = [np.empty(0, dtype=np.float32)]
    state_offsets = offsets(parameters.states)
    totals = np.zeros(state_offsets[-1], dtype=np.float32)
    columns = (rules.tolist(), parameters.tensors(rules), weights, probabilities)
    for (a, b, c), tensor, weight, probability in zip(*columns, strict=True):
        weight, rest = np.float32(weight), np.float32(1 - weight)
        rule_given_state = tensor.sum(axis=(1, 2))
        children = np.tensordot(priors[a], tensor, 1)
        children /= max(children.sum(), np.finfo(np.float32).tiny)
        independent = np.outer(children.sum(axis=1), children.sum(axis=0))
        children = weight * children + rest * (
            weight * independent + rest * np.outer(priors[b], priors[c])
        )
        rule_given_state = weight * rule_given_state + rest * np.float32(probability)
        smoothed = weight * tensor + (rest * rule_given_state)[:, None, None] * children
        totals[state_offsets[a] : state_offsets[a + 1]] += smoothed.sum(axis=(1, 2))
        tensors.append(smoothed)
    scale = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
    for rule, (a, _, _) in enumerate(rules.tolist(), start=1):
        tensors[rule] *= scale[state_offsets[a] : state_offsets[a + 1], None, None]
    return np.concatenate([tensor.ravel() for tensor in tensors])
