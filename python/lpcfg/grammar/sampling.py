"""Sample trees from a hand-written grammar."""

from __future__ import annotations

import math
import random
from bisect import bisect
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import GrammarError, InputError
from lpcfg.grammar.notation import Rule, RuleSet, Word
from lpcfg.treebank.tree import Tree

__all__ = ["expected_length", "expected_uses", "sample_trees"]

# How far the probabilities of a left side may be from one.
_ROUNDING = 1e-6

# The number of trees in a row that may be too long before sampling fails.
_MAX_ATTEMPTS = 10_000


def expected_uses(rules: RuleSet, longest: float = math.inf) -> NDArray[np.float64]:
    """The expected number of each nonterminal (column) in an expansion of another (row).

    Nonterminals are in the order of ``rules.totals()``; right-hand sides of more than ``longest``
    items are ignored. Sampling ends with probability one if the spectral radius is below one.

    >>> from lpcfg.grammar.notation import read_rules
    >>> expected_uses(read_rules("S -> S S [0.25] | 'a' [0.75]"))
    array([[0.5]])
    """
    ids = {left: identity for identity, left in enumerate(rules.totals())}
    uses = np.zeros((len(ids), len(ids)))
    for left, right, probability in rules.rules:
        for item in right:
            if isinstance(item, str) and len(right) <= longest:
                uses[ids[left], ids[item]] += probability
    return uses


def _may_not_terminate(uses: NDArray[np.float64]) -> bool:
    return bool(np.abs(np.linalg.eigvals(uses)).max() >= 1)


def expected_length(rules: RuleSet) -> float:
    """The mean number of words of a sampled sentence; infinite if sampling may never end.

    >>> from lpcfg.grammar.notation import read_rules
    >>> expected_length(read_rules("S -> 'a' S [0.5] | 'b' [0.5]"))
    2.0
    """
    uses = expected_uses(rules)
    if _may_not_terminate(uses):
        return math.inf
    words = dict.fromkeys(rules.totals(), 0.0)
    for left, right, probability in rules.rules:
        words[left] += probability * sum(isinstance(item, Word) for item in right)
    lengths = np.linalg.solve(np.eye(len(words)) - uses, list(words.values()))
    return float(lengths[list(words).index(rules.start)])


def sample_trees(
    rules: RuleSet, n: int, seed: int = 0, max_length: int | None = None
) -> list[Tree]:
    r"""Draw trees independently; trees longer than ``max_length`` words are drawn again.

    The same seed gives the same trees. A word beside other items gets a tag from
    :meth:`lpcfg.grammar.notation.RuleSet.word_labels`.

    >>> from lpcfg.grammar.notation import read_rules
    >>> rules = read_rules("S -> NP 'sleeps' \n NP -> 'she' | 'he'")
    >>> for tree in sample_trees(rules, 2, seed=1):
    ...     print(tree.words(), tree.tags())
    ['he', 'sleeps'] ['NP', 'sleeps']
    ['she', 'sleeps'] ['NP', 'sleeps']
    """
    for left, total in rules.totals().items():
        if abs(total - 1) > _ROUNDING:
            raise GrammarError(
                f"cannot sample from {left}: its probabilities add up to {total:g}, not to 1"
            )
    # A limit on the length bounds everything but chains of unary rules.
    if _may_not_terminate(expected_uses(rules, math.inf if max_length is None else 1)):
        raise GrammarError(
            "sampling from this grammar may never end: give max_length if there is none,"
            " or lower the probabilities of recursive rules"
        )
    sampler = _Sampler(rules, seed)
    trees: list[Tree] = []
    attempts = 0
    while len(trees) < n:
        tree = sampler.draw(max_length)
        if tree is not None:
            trees.append(tree)
            attempts = 0
        elif (attempts := attempts + 1) == _MAX_ATTEMPTS:
            raise InputError(
                f"{_MAX_ATTEMPTS} trees in a row had more than {max_length} words; raise the limit",
                argument="max_length",
            )
    return trees


class _Sampler:
    def __init__(self, rules: RuleSet, seed: int) -> None:
        self.start = rules.start
        self.word_labels = rules.word_labels()
        self.rules: dict[str, list[Rule]] = {}
        for rule in rules.rules:
            self.rules.setdefault(rule.left, []).append(rule)
        self.bounds = {
            left: list(accumulate(rule.probability for rule in choices))[:-1]
            for left, choices in self.rules.items()
        }
        # Python guarantees the same numbers for a seed in all versions.
        self.random = random.Random(seed).random

    def draw(self, max_length: int | None) -> Tree | None:
        """A tree, or None if it gets too long; with a stack, for trees of any depth."""
        waiting: list[str | Word | Rule] = [self.start]
        done: list[Tree] = []
        length = 1  # in words, if everything that is waiting became one word
        while waiting:
            item = waiting.pop()
            if isinstance(item, Rule):
                split = len(done) - len(item.right)
                done[split:] = [Tree(item.left, done[split:])]
            elif isinstance(item, Word):
                done.append(Tree(self.word_labels[item.text], item.text))
            else:
                rule = self.rules[item][bisect(self.bounds[item], self.random())]
                if len(rule.right) == 1 and isinstance(rule.right[0], Word):
                    done.append(Tree(rule.left, rule.right[0].text))
                else:
                    waiting.append(rule)
                    waiting.extend(reversed(rule.right))
                    length += len(rule.right) - 1
            if max_length is not None and length > max_length:
                return None
        return done[0]
