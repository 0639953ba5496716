"""Explain latent states to people: what they do, which words they like, where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.inspection._state_uses import Floats, StateUses

__all__ = ["StateExplanation", "explain_states", "find_symbol"]


@dataclass(frozen=True)
class StateExplanation:
    """What is most typical of a latent state.

    ``share``: the part of its symbol's nodes that are in this state.
    ``rules``, ``contexts``: the likeliest, each with its probability given the state.
    ``words``: those that are more frequent below this state than below others of its symbol.

    >>> print(StateExplanation("NP[1]", 0.25, (("DT NN", 0.5),), ("the",), (("S -> _ VP", 1.0),)))
    NP[1]  25.0 %
      rules     50.0 % DT NN
      words     the
      contexts  100.0 % S -> _ VP
    """

    name: str
    share: float
    rules: tuple[tuple[str, float], ...]
    words: tuple[str, ...]
    contexts: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        lines = [f"{self.name}  {100 * self.share:.1f} %"]
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
    r"""The symbol of a name, or else the commonest one with that label, and others that have it.

    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> find_symbol(grammar, "NP")
    (1, [])
    >>> find_symbol(grammar, "PP")
    Traceback (most recent call last):
    lpcfg.errors.InputError: no symbol is called PP, nor has one this label; there are NP, S, VP
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
            f"no symbol is called {name}, nor has one this label; "
            f"there are {', '.join(grammar.labels)}"
        )
    return having[0], [names[number] for number in having[1:]]


def explain_states(grammar: Grammar, name: str, most: int = 5) -> list[StateExplanation]:
    """The states of a symbol, which is found as by :func:`find_symbol`, the commonest first.

    ``most``: how many rules, words and contexts are named.

    >>> from lpcfg import ClusteringEstimator, Treebank, embedded_trees
    >>> bank = Treebank.from_trees(embedded_trees())
    >>> grammar = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50).fit(bank).grammar_
    >>> states = explain_states(grammar, "NP^S")
    >>> len(states), round(sum(state.share for state in states), 3)
    (3, 1.0)
    """
    number, _ = find_symbol(grammar, name)
    uses = StateUses(grammar)
    own = np.arange(*uses.latent.state_offsets[number : number + 2])
    shares = uses.visits[own] / max(uses.visits[own].sum(), np.finfo(float).tiny)
    names = [str(symbol) for symbol in grammar.symbols]
    start = np.zeros(len(uses.visits))
    start[own] = shares
    average = uses.words(uses.expected(start))
    explained = []
    for state in np.argsort(-shares, kind="stable").tolist():
        start[own] = 0
        start[own[state]] = 1
        explained.append(
            StateExplanation(
                name=f"{names[number]}[{state}]",
                share=float(shares[state]),
                rules=_rules(uses, own[state], names, most),
                words=_typical(grammar, uses.words(uses.expected(start)), average, most),
                contexts=_contexts(uses, own[state], names, most),
            )
        )
    return explained


def _rules(
    uses: StateUses, state: int, names: list[str], most: int
) -> tuple[tuple[str, float], ...]:
    rule, states, values = uses.rules
    own = states[:, 0] == state
    totals = np.bincount(rule[own], values[own], minlength=len(uses.grammar.binary_rules))
    children = uses.grammar.binary_rules[:, 1:].tolist()
    return tuple(
        (" ".join(names[child] for child in children[best]), float(totals[best]))
        for best in _largest(totals, most)
    )


def _contexts(
    uses: StateUses, state: int, names: list[str], most: int
) -> tuple[tuple[str, float], ...]:
    rule, states, values = uses.rules
    rules = uses.grammar.binary_rules
    found = [("the root of a tree", float(uses.latent.roots[state]))]
    for side in (1, 2):
        own = states[:, side] == state
        weights = uses.visits[states[own, 0]] * values[own]
        totals = np.bincount(rule[own], weights, minlength=len(rules))
        for best in _largest(totals, most):
            parent, *children = (names[symbol] for symbol in rules[best].tolist())
            children[side - 1] = "_"
            found.append((f"{parent} -> {' '.join(children)}", float(totals[best])))
    total = max(float(uses.visits[state]), np.finfo(float).tiny)
    likeliest = sorted(found, key=lambda context: -context[1])[:most]
    return tuple((context, weight / total) for context, weight in likeliest if weight > 0)


def _typical(grammar: Grammar, found: Floats, average: Floats, most: int) -> tuple[str, ...]:
    """Words that are found more often than on average: by how much, times how often."""
    known = slice(len(grammar.lexicon.words))
    ratio = np.divide(found, average, out=np.ones_like(found), where=average > 0)[known]
    scores = found[known] * np.log(np.maximum(ratio, np.finfo(float).tiny))
    return tuple(grammar.lexicon.words[word] for word in _largest(scores, most))


def _largest(values: NDArray[np.number], most: int) -> list[int]:
    """The places of the largest values above zero."""
    order = np.argsort(-values, kind="stable")[:most]
    return [int(place) for place in order if values[place] > 0]
