"""Grammars for the tests of parsing, and the enumeration of all trees of short sentences."""

import random
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

from hypothesis import strategies as st

from lpcfg import (
    Grammar,
    PCFGEstimator,
    SplitMergeEstimator,
    Tree,
    Treebank,
    embedded_trees,
)

WEATHER = "S -> NP VP \n NP -> 'it' | 'she' \n VP -> 'rained' | 'snowed'"

# An incomplete grammar: nothing else can be made of X and Y.
PAIR = "S -> X Y \n X -> 'x' \n Y -> 'y'"

# Every bracketing of a sentence is a tree, all as likely.
AMBIGUOUS = "S -> S S [0.4] | 'a' [0.6]"


@cache
def embedded_grammar() -> Grammar:
    """A grammar learnt from the embedded trees."""
    return PCFGEstimator().fit(Treebank.from_trees(embedded_trees(150))).grammar_


@cache
def embedded_latent_grammar() -> Grammar:
    """A grammar with latent states, learnt from the embedded trees."""
    return SplitMergeEstimator(cycles=1).fit(embedded_trees(150)).grammar_


def vocabulary_sentences(lengths: list[int]) -> list[list[str]]:
    """Sentences of words at random, most of them known to :func:`embedded_grammar`."""
    draw = random.Random(4)
    words = [*embedded_grammar().lexicon.words, "Xerxes", "unheard-of", "1984"]
    return [draw.choices(words, k=length) for length in lengths]


@dataclass(frozen=True)
class RandomGrammar:
    """Rules as plain data: nonterminals are upper case, words lower case."""

    rules: dict[str, dict[tuple[str, ...], float]]
    sentence: list[str]

    @property
    def text(self) -> str:
        lines = []
        for left, choices in self.rules.items():
            for right, probability in choices.items():
                items = " ".join(item if item.isupper() else f"'{item}'" for item in right)
                lines.append(f"{left} -> {items} [{probability!r}]")
        return "\n".join(lines)

    def trees(self) -> list[tuple[Tree, float]]:
        """All trees of the sentence with their probabilities, by the definition of a PCFG."""
        return self._derive("A", tuple(self.sentence))

    def _derive(self, item: str, words: tuple[str, ...]) -> list[tuple[Tree, float]]:
        if item.islower():
            # A word beside other items is its own tag.
            return [(Tree(item, item), 1.0)] if words == (item,) else []
        found = []
        for right, probability in self.rules[item].items():
            if len(right) == 1 and right[0].islower():
                if words == right:
                    found.append((Tree(item, right[0]), probability))
                continue
            for cuts in combinations(range(1, len(words)), len(right) - 1):
                bounds = (0, *cuts, len(words))
                parts = [
                    self._derive(child, words[start:end])
                    for child, start, end in zip(right, bounds, bounds[1:], strict=False)
                ]
                for chosen in product(*parts):
                    weight = probability
                    for _, part in chosen:
                        weight *= part
                    found.append((Tree(item, [tree for tree, _ in chosen]), weight))
        return found


@st.composite
def random_grammars(draw, nonterminals="ABC", words="xy", longest=5):
    """Small grammars with rules of one to three items, words among them.

    Unary rules lead to later nonterminals, and to each from one only: a chain between two
    nonterminals is then unique, as a parser shows but the best of several.
    """
    rules = {}
    has_parent = set()
    for number, left in enumerate(nonterminals):
        later = [n for n in nonterminals[number + 1 :] if n not in has_parent]
        sides = draw(
            st.lists(
                st.lists(st.sampled_from(nonterminals + words), min_size=2, max_size=3).map(tuple),
                max_size=3,
                unique=True,
            )
        )
        sides += [(word,) for word in draw(st.sets(st.sampled_from(words), min_size=1))]
        if later and draw(st.booleans()):
            child = draw(st.sampled_from(later))
            has_parent.add(child)
            sides.append((child,))
        weights = [draw(st.integers(1, 9)) for _ in sides]
        total = sum(weights) + draw(st.integers(0, 3))
        rules[left] = {side: w / total for side, w in zip(sides, weights, strict=True)}
    sentence = draw(st.lists(st.sampled_from(words), min_size=1, max_size=longest))
    return RandomGrammar(rules, sentence)


def labelled_spans(tree: Tree) -> list[tuple[str, int, int]]:
    """The labels of all nodes with the words they cover, in pre-order."""
    spans = []

    def visit(node: Tree, start: int) -> None:
        spans.append((node.label, start, start + len(node)))
        for child in node.children:
            visit(child, start)
            start += len(child)

    visit(tree, 0)
    return spans
