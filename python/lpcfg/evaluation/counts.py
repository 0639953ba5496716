"""Counts of matched, gold and predicted brackets: precision, recall and F1."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

__all__ = ["BracketCounts", "percentage"]


def percentage(part: int, whole: int) -> float:
    """A part in percent of the whole; 0 if there is no whole.

    >>> percentage(1, 4), percentage(0, 0)
    (25.0, 0.0)
    """
    return 100.0 * part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class BracketCounts:
    """Numbers of matched, gold and predicted brackets; counts of parts of a treebank add up.

    >>> BracketCounts(matched=1, gold=2, predicted=2) + BracketCounts(gold=1, predicted=1)
    BracketCounts(matched=1, gold=3, predicted=3)
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

        >>> BracketCounts(matched=1, gold=2, predicted=4).precision
        25.0
        """
        return percentage(self.matched, self.predicted)

    @property
    def recall(self) -> float:
        """Matched brackets in percent of the gold ones.

        >>> BracketCounts(matched=1, gold=2, predicted=4).recall
        50.0
        """
        return percentage(self.matched, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if nothing matches.

        >>> BracketCounts(matched=1, gold=2, predicted=2).f1, BracketCounts().f1
        (50.0, 0.0)
        """
        return percentage(2 * self.matched, self.gold + self.predicted)

    def to_dict(self) -> dict[str, int | float]:
        """All counts and scores, ready for JSON.

        >>> BracketCounts(matched=1, gold=2, predicted=4).to_dict()["recall"]
        50.0
        """
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return counts | {"precision": self.precision, "recall": self.recall, "f1": self.f1}
