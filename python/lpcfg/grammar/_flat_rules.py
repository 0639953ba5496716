"""Convert rules of any arity into the binary, unary and lexical rules that a chart parser uses.

Derivations correspond one to one, and keep their probabilities:

- Right-hand sides of more than two items are binarised from the left. The symbol of the remaining
  items has these as its siblings, and expands in one way only.
- A nonterminal that rewrites to words as well as to other items becomes two symbols, a preterminal
  and an interminal. A rule with such a child becomes one rule for each of them, with its
  probability divided in proportion to the probabilities of their rules.
- Unary rules are kept or collapsed. Each chain of collapsed rules becomes a symbol, as in collapsed
  treebanks, and probability is divided in the same way. Collapsed rules must not form cycles.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import GrammarError
from lpcfg.grammar.notation import Rule, RuleSet, Word
from lpcfg.treebank.symbol import Symbol

__all__ = ["FlatRules", "flatten_rules"]


@dataclass(frozen=True)
class FlatRules:
    """Rules over numbered symbols; rows of ``binary_rules`` are (parent, left, right).

    >>> from lpcfg.grammar.notation import read_rules
    >>> rules = flatten_rules(read_rules("S -> 'a' S [0.4] | 'b' [0.6]"))
    >>> [str(symbol) for symbol in rules.symbols], rules.root
    (['S', 'S', 'a'], array([0.4, 0.6, 0. ]))
    """

    symbols: tuple[Symbol, ...]
    root: NDArray[np.float64]
    binary_rules: NDArray[np.int32]
    binary_probabilities: NDArray[np.float64]
    unary_rules: NDArray[np.int32]
    unary_probabilities: NDArray[np.float64]
    lexical_rules: tuple[tuple[int, str, float], ...]


class _Variant(NamedTuple):
    """One of the symbols that a nonterminal becomes."""

    symbol: Symbol
    bottom: str  # the nonterminal at the end of its chain, whose rules it has
    probability: float  # P(symbol | nonterminal)
    scale: float  # a factor of the probabilities of those rules


def flatten_rules(rules: RuleSet, *, collapse_unary: bool = False) -> FlatRules:
    r"""Binarise a set of rules, and collapse unary rules with ``collapse_unary``.

    Nonterminals that cannot be reached from the start symbol are left out.

    >>> from lpcfg.grammar.notation import read_rules
    >>> text = "S -> VP | VP N \n VP -> V N N \n V -> 'give' \n N -> 'dogs' | 'jam'"
    >>> flat = flatten_rules(read_rules(text))
    >>> [str(symbol) for symbol in flat.symbols]
    ['S', 'VP', 'N', 'V', '@VP[N,N]']
    >>> flat.binary_rules.tolist(), flat.unary_rules.tolist()
    ([[0, 1, 2], [1, 3, 4], [4, 2, 2]], [[0, 1]])
    >>> [str(symbol) for symbol in flatten_rules(read_rules(text), collapse_unary=True).symbols]
    ['S', 'S+VP', 'VP', 'N', 'V', '@VP[N,N]']
    """
    return _Flattening(rules, collapse_unary).result()


class _Flattening:
    """The state of :func:`flatten_rules`: symbols are numbered at first use, expanded in order."""

    def __init__(self, rules: RuleSet, collapse_unary: bool) -> None:
        self.start = rules.start
        self.collapse_unary = collapse_unary
        self.word_labels = rules.word_labels()
        left_sides = rules.totals()
        self.words: dict[str, list[Rule]] = {left: [] for left in left_sides}
        self.unaries: dict[str, list[Rule]] = {left: [] for left in left_sides}
        self.phrases: dict[str, list[Rule]] = {left: [] for left in left_sides}
        for rule in rules.rules:
            kind = self.phrases
            if len(rule.right) == 1:
                kind = self.words if isinstance(rule.right[0], Word) else self.unaries
            kind[rule.left].append(rule)
        self.variants = {left: self._variants_of(left) for left in left_sides}
        self.ids: dict[Symbol, int] = {}
        self.waiting: deque[Callable[[], None]] = deque()
        # The probabilities of a rule that is written twice are added.
        self.binary: defaultdict[tuple[int, int, int], float] = defaultdict(float)
        self.unary: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.lexical: defaultdict[tuple[int, str], float] = defaultdict(float)

    def _variants_of(self, left: str) -> list[_Variant]:
        weighted: list[tuple[Symbol, float, float]] = []  # with probability of the chain, and mass
        chains: list[tuple[tuple[str, ...], float]] = [((left,), 1.0)]
        while chains:
            chain, weight = chains.pop()
            bottom = chain[-1]
            phrases = _mass(self.phrases[bottom])
            if self.collapse_unary:
                chains.extend(reversed(list(self._longer_chains(chain, weight))))
            else:
                phrases += _mass(self.unaries[bottom])
            if phrases:
                weighted.append((Symbol(chain), weight, weight * phrases))
            words = _mass(self.words[bottom])
            if words:
                weighted.append((Symbol(chain, preterminal=True), weight, weight * words))
        total = sum(mass for _, _, mass in weighted)
        return [
            _Variant(symbol, symbol.labels[-1], mass / total, weight * total / mass)
            for symbol, weight, mass in weighted
        ]

    def _longer_chains(
        self, chain: tuple[str, ...], weight: float
    ) -> Iterator[tuple[tuple[str, ...], float]]:
        for rule in self.unaries[chain[-1]]:
            child = str(rule.right[0])
            if child in chain:
                raise GrammarError(
                    f"the unary rules {' -> '.join((*chain, child))} form a cycle:"
                    f" such chains cannot be collapsed; remove one of the rules"
                )
            yield (*chain, child), weight * rule.probability

    def result(self) -> FlatRules:
        roots = [
            (self._id_of_variant(variant), variant.probability)
            for variant in self.variants[self.start]
        ]
        while self.waiting:
            self.waiting.popleft()()
        root = np.zeros(len(self.ids))
        for identity, probability in roots:
            root[identity] = probability
        return FlatRules(
            symbols=tuple(self.ids),
            root=root,
            binary_rules=np.array(list(self.binary), dtype=np.int32).reshape(-1, 3),
            binary_probabilities=np.array(list(self.binary.values()), dtype=np.float64),
            unary_rules=np.array(list(self.unary), dtype=np.int32).reshape(-1, 2),
            unary_probabilities=np.array(list(self.unary.values()), dtype=np.float64),
            lexical_rules=tuple((*key, probability) for key, probability in self.lexical.items()),
        )

    def _id(self, symbol: Symbol, expand: Callable[[int], None]) -> int:
        if symbol not in self.ids:
            self.ids[symbol] = len(self.ids)
            self.waiting.append(partial(expand, self.ids[symbol]))
        return self.ids[symbol]

    def _id_of_variant(self, variant: _Variant) -> int:
        return self._id(variant.symbol, partial(self._expand_variant, variant))

    def _expand_variant(self, variant: _Variant, identity: int) -> None:
        if variant.symbol.preterminal:
            for rule in self.words[variant.bottom]:
                self._emit(identity, rule.right[0], rule.probability * variant.scale)
            return
        for rule in self.phrases[variant.bottom]:
            self._expand(identity, rule.left, rule.right, rule.probability * variant.scale)
        if not self.collapse_unary:
            for rule in self.unaries[variant.bottom]:
                for child, fraction in self._ids_of_item(rule.right[0]):
                    self.unary[identity, child] += rule.probability * variant.scale * fraction

    def _expand(
        self, parent: int, label: str, right: tuple[str | Word, ...], probability: float
    ) -> None:
        first, *rest = right
        for left_id, left_fraction in self._ids_of_item(first):
            for right_id, right_fraction in self._ids_of_rest(label, tuple(rest)):
                self.binary[parent, left_id, right_id] += (
                    probability * left_fraction * right_fraction
                )

    def _ids_of_item(self, item: str | Word) -> list[tuple[int, float]]:
        """The symbols that an item of a right-hand side becomes, with their probabilities."""
        if isinstance(item, str):
            return [
                (self._id_of_variant(variant), variant.probability)
                for variant in self.variants[item]
            ]
        symbol = Symbol((self.word_labels[item.text],), preterminal=True)
        return [(self._id(symbol, partial(self._emit, item=item, probability=1.0)), 1.0)]

    def _ids_of_rest(self, label: str, rest: tuple[str | Word, ...]) -> list[tuple[int, float]]:
        if len(rest) == 1:
            return self._ids_of_item(rest[0])
        siblings = tuple(
            self.word_labels[item.text] if isinstance(item, Word) else item for item in rest
        )
        symbol = Symbol((label,), siblings=siblings)
        expand = partial(self._expand, label=label, right=rest, probability=1.0)
        return [(self._id(symbol, expand), 1.0)]

    def _emit(self, identity: int, item: str | Word, probability: float) -> None:
        assert isinstance(item, Word)
        self.lexical[identity, item.text] += probability


def _mass(rules: list[Rule]) -> float:
    return math.fsum(rule.probability for rule in rules)
