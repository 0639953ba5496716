"""Counts of brackets, and the figures that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

__all__ = ["Brackets", "Tally", "percentage"]


def percentage(part: int, whole: int) -> float:
    """A part in percent of the whole; 0 if there is no whole.

    >>> percentage(1, 4), percentage(0, 0)
    (25.0, 0.0)
    """
    return 100.0 * part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Brackets:
    """How many brackets there are and how many of them match; counts of shards add up.

    >>> Brackets(matched=1, gold=2, predicted=2) + Brackets(gold=1, predicted=1)
    Brackets(matched=1, gold=3, predicted=3)
    """

    matched: int = 0
    gold: int = 0
    predicted: int = 0

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in fields(self)]
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def precision(self) -> float:
        """Matched brackets in percent of the predicted ones.

        >>> Brackets(matched=1, gold=2, predicted=4).precision
        25.0
        """
        return percentage(self.matched, self.predicted)

    @property
    def recall(self) -> float:
        """Matched brackets in percent of the gold ones.

        >>> Brackets(matched=1, gold=2, predicted=4).recall
        50.0
        """
        return percentage(self.matched, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if nothing matches.

        >>> Brackets(matched=1, gold=2, predicted=2).f1, Brackets().f1
        (50.0, 0.0)
        """
        return percentage(2 * self.matched, self.gold + self.predicted)

    def to_dict(self) -> dict[str, int | float]:
        """All counts and figures, ready for JSON.

        >>> Brackets(matched=1, gold=2, predicted=4).to_dict()["recall"]
        50.0
        """
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return counts | {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class Tally(Brackets):
    """The counts of some sentences, in which those that failed count in full.

    >>> tally = Tally(matched=1, gold=2, predicted=2, sentences=4, failed=1, exact=2)
    >>> tally.f1, tally.coverage, tally.exact_match
    (50.0, 75.0, 50.0)
    """

    unlabelled_matched: int = 0
    sentences: int = 0
    failed: int = 0
    exact: int = 0
    words: int = 0
    tags: int = 0
    """The number of words with the right tag."""

    @property
    def unlabelled(self) -> Brackets:
        """The same brackets, matched without regard to their labels.

        >>> Tally(matched=1, unlabelled_matched=2, gold=2, predicted=2).unlabelled.f1
        100.0
        """
        return Brackets(self.unlabelled_matched, self.gold, self.predicted)

    @property
    def coverage(self) -> float:
        """Sentences that did not fail, in percent of all.

        >>> Tally(sentences=4, failed=1).coverage
        75.0
        """
        return percentage(self.sentences - self.failed, self.sentences)

    @property
    def exact_match(self) -> float:
        """Sentences without a wrong or missing bracket, in percent of all.

        >>> Tally(sentences=4, exact=1).exact_match
        25.0
        """
        return percentage(self.exact, self.sentences)

    @property
    def tag_accuracy(self) -> float:
        """Right tags in percent of the words.

        >>> Tally(words=4, tags=3).tag_accuracy
        75.0
        """
        return percentage(self.tags, self.words)

    def to_dict(self) -> dict[str, int | float]:
        """All counts and figures, ready for JSON.

        >>> Tally(sentences=4, failed=1).to_dict()["coverage"]
        75.0
        """
        return Brackets.to_dict(self) | {
            "coverage": self.coverage,
            "exact_match": self.exact_match,
            "tag_accuracy": self.tag_accuracy,
            "unlabelled_precision": self.unlabelled.precision,
            "unlabelled_recall": self.unlabelled.recall,
            "unlabelled_f1": self.unlabelled.f1,
        }
