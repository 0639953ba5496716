"""Tags of the words that the training trees of a parser have, and of those that they lack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Self

from lpcfg.evaluation.counts import percentage
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters
from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import normalized_word

__all__ = ["TagCounts", "tags_by_knowledge"]


@dataclass(frozen=True, slots=True)
class TagCounts:
    """The number of words and of correct tags; counts of parts of a treebank add up.

    >>> TagCounts(words=3, correct=2) + TagCounts(words=1, correct=1)
    TagCounts(words=4, correct=3)
    """

    words: int = 0
    """The number of words that are not punctuation."""
    correct: int = 0
    """The number of these words that have the tag of the gold tree."""

    def __add__(self, other: Self) -> TagCounts:
        return TagCounts(self.words + other.words, self.correct + other.correct)

    @property
    def accuracy(self) -> float:
        """Correct tags in percent of the words.

        >>> TagCounts(words=4, correct=3).accuracy
        75.0
        """
        return percentage(self.correct, self.words)

    def to_dict(self) -> dict[str, int | float]:
        """The counts and the accuracy, ready for JSON.

        >>> TagCounts(words=4, correct=3).to_dict()
        {'words': 4, 'correct': 3, 'accuracy': 75.0}
        """
        return {"words": self.words, "correct": self.correct, "accuracy": self.accuracy}


def tags_by_knowledge(
    grammar: Grammar,
    gold: Iterable[Tree],
    predicted: Iterable[Tree],
    parameters: EvalbParameters | str | PathLike[str] = NEW,
) -> tuple[TagCounts, TagCounts]:
    r"""The tags of known and of unknown words, counted as strict scores count them.

    A word is known if the lexicon of the grammar has it as it is written, up to the normal form
    of the grammar: if its training trees have it, unless the lexicon replaces rare words.

    >>> grammar = Grammar.from_string("S -> X Y \n X -> 'go' \n Y -> 'on'")
    >>> gold = [Tree.from_string("(S (X go) (Y up))")]
    >>> tags_by_knowledge(grammar, gold, [Tree.from_string("(S (X go) (X up))")])
    (TagCounts(words=1, correct=1), TagCounts(words=1, correct=0))
    """
    parameters = find_parameters(parameters)
    form, words, correct = grammar.normalization, [0, 0], [0, 0]
    for one, other in zip(gold, predicted, strict=True):
        # A tree over other words has no correct tag; only custom parsers return one.
        tags = other.tags() if len(other) == len(one) else [""] * len(one)
        for word, tag, found in zip(one.words(), one.tags(), tags, strict=True):
            if tag in parameters.delete_labels:
                continue
            unknown = normalized_word(word, form) not in grammar.lexicon
            words[unknown] += 1
            correct[unknown] += parameters.same_label(tag, found)
    return TagCounts(words[0], correct[0]), TagCounts(words[1], correct[1])
