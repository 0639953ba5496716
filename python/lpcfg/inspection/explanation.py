"""Describe latent states by their typical rules, words and contexts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.inspection._expected_counts import ExpectedCounts, Floats

__all__ = ["StateExplanation", "explain_states", "find_symbol"]


@dataclass(frozen=True)
class StateExplanation:
    """The most typical rules, words and contexts of a latent state.

    ``name``: the symbol with the number of the state.
    ``prior``: P(state | symbol).
    ``rules``: the right-hand sides of the most probable rules, with their probabilities given the
    state.
    ``words``: words that are more frequent below this state than below other states of its symbol.
    ``contexts``: the most probable rules above the state, with their probabilities given the state;
    ``_`` stands for the state.

    >>> print(StateExplanation("NP[1]", 0.25, (("DT NN", 0.5),), ("the",), (("S -> _ VP", 1.0),)))
    NP[1]  25.0 %
      rules     50.0 % DT NN
      words     the
      contexts  100.0 % S -> _ VP
    """

    name: str
    prior: float
    rules: tuple[tuple[str, float], ...]
    words: tuple[str, ...]
    contexts: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        lines = [f"{self.name}  {100 * self.prior:.1f} %"]
        for title, items in (
            ("rules", _listed(self.rules)),
            ("words", self.words),
            ("contexts", _listed(self.contexts)),
        ):
            if items:
                lines.append(f"  {title:<9} {', '.join(items)}")
        return "\n".join(lines)


def _listed(items: Iterable[tuple[str, float]]) -> list[str]:
    return [f"{100 * probability:.1f} % {name}" for name, probability in items]


def find_symbol(grammar: Grammar, name: str) -> tuple[int, list[str]]:
    r"""The symbol with a name, or the most frequent one with that label and the names of others.

    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> find_symbol(grammar, "NP")
    (1, [])
    >>> find_symbol(grammar, "PP")
    Traceback (most recent call last):
    lpcfg.errors.InputError: symbol: none has the name or label PP; there are NP, S, VP
    """
    names = [str(symbol) for symbol in grammar.symbols]
    if name in names:
        return names.index(name), []
    weights = np.ones(len(names)) if grammar.weights is None else grammar.weights
    having = [
        number
        for number in np.argsort(-weights, kind="stable").tolist()
        if name in grammar.symbols[number].labels and not grammar.symbols[number].is_binarization
    ]
    if not having:
        raise InputError(
            f"none has the name or label {name}; there are {', '.join(grammar.labels)}",
            argument="symbol",
        )
    return having[0], [names[number] for number in having[1:]]


def explain_states(grammar: Grammar, name: str, limit: int = 5) -> list[StateExplanation]:
    """Describe the states of a symbol, the most frequent ones first.

    ``name``: the name of the symbol or its label, see :func:`find_symbol`.
    ``limit``: the largest number of rules, of words and of contexts (default 5).

    >>> from lpcfg import ClusteringEstimator, Treebank, embedded_trees
    >>> bank = Treebank.from_trees(embedded_trees())
    >>> grammar = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50).fit(bank).grammar_
    >>> states = explain_states(grammar, "NP^S")
    >>> len(states), round(sum(state.prior for state in states), 3)
    (3, 1.0)
    """
    number, _ = find_symbol(grammar, name)
    counts = ExpectedCounts(grammar)
    states = np.arange(*counts.latent.state_offsets[number : number + 2])
    priors = counts.states[states] / max(counts.states[states].sum(), np.finfo(float).tiny)
    names = [str(symbol) for symbol in grammar.symbols]
    root = np.zeros(len(counts.states))
    root[states] = priors
    average = counts.emissions(counts.subtree_states(root))
    explained = []
    for state in np.argsort(-priors, kind="stable").tolist():
        root[states] = 0
        root[states[state]] = 1
        emissions = counts.emissions(counts.subtree_states(root))
        explained.append(
            StateExplanation(
                name=f"{names[number]}[{state}]",
                prior=float(priors[state]),
                rules=_rules(counts, states[state], names, limit),
                words=_typical_words(grammar, emissions, average, limit),
                contexts=_contexts(counts, states[state], names, limit),
            )
        )
    return explained


def _rules(
    counts: ExpectedCounts, state: int, names: list[str], limit: int
) -> tuple[tuple[str, float], ...]:
    rule, states, values = counts.rules
    rows = states[:, 0] == state
    totals = np.bincount(rule[rows], values[rows], minlength=len(counts.grammar.binary_rules))
    children = counts.grammar.binary_rules[:, 1:].tolist()
    return tuple(
        (" ".join(names[child] for child in children[best]), float(totals[best]))
        for best in _largest(totals, limit)
    )


def _contexts(
    counts: ExpectedCounts, state: int, names: list[str], limit: int
) -> tuple[tuple[str, float], ...]:
    rule, states, values = counts.rules
    rules = counts.grammar.binary_rules
    contexts = [("the root of a tree", float(counts.latent.roots[state]))]
    for side in (1, 2):
        rows = states[:, side] == state
        weights = counts.states[states[rows, 0]] * values[rows]
        totals = np.bincount(rule[rows], weights, minlength=len(rules))
        for best in _largest(totals, limit):
            parent, *children = (names[symbol] for symbol in rules[best].tolist())
            children[side - 1] = "_"
            contexts.append((f"{parent} -> {' '.join(children)}", float(totals[best])))
    total = max(float(counts.states[state]), np.finfo(float).tiny)
    most_probable = sorted(contexts, key=lambda context: -context[1])[:limit]
    return tuple((context, weight / total) for context, weight in most_probable if weight > 0)


def _typical_words(
    grammar: Grammar, emissions: Floats, average: Floats, limit: int
) -> tuple[str, ...]:
    """Words more frequent than on average, by their terms of the Kullback-Leibler divergence."""
    words = slice(len(grammar.lexicon.words))
    ratio = np.divide(emissions, average, out=np.ones_like(emissions), where=average > 0)[words]
    scores = emissions[words] * np.log(np.maximum(ratio, np.finfo(float).tiny))
    return tuple(grammar.lexicon.words[word] for word in _largest(scores, limit))


def _largest(values: NDArray[np.number], limit: int) -> list[int]:
    """The indices of the largest values above zero."""
    order = np.argsort(-values, kind="stable")[:limit]
    return [int(index) for index in order if values[index] > 0]
