"""EVALB over a whole treebank: its totals and the report it prints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import zip_longest

from lpcfg.errors import InputError
from lpcfg.evaluation._evalb_comparison import EvalbResult, Status, compare
from lpcfg.evaluation.bracketing import Bracketing, Scorable
from lpcfg.evaluation.counts import BracketCounts, percentage
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters

__all__ = ["EvalbReport", "EvalbSummary", "evalb", "in_pairs"]

HEADING = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
"""


@dataclass(frozen=True, slots=True)
class EvalbSummary(BracketCounts):
    """EVALB's totals over sentences; the totals of parts of a treebank add up.

    >>> correct = EvalbResult(3, Status.VALID, matched=2, gold=2, predicted=2)
    >>> wrong = EvalbResult(3, Status.VALID, matched=1, gold=2, predicted=2)
    >>> summary = EvalbSummary.of([correct, wrong]) + EvalbSummary.of([])
    >>> summary.f1, summary.exact_match, summary.sentences
    (75.0, 50.0, 2)
    """

    sentences: int = 0
    errors: int = 0
    skips: int = 0
    exact: int = 0
    crossing: int = 0
    no_crossing: int = 0
    two_or_less_crossing: int = 0
    words: int = 0
    correct_tags: int = 0

    @classmethod
    def of(cls, results: Iterable[EvalbResult]) -> EvalbSummary:
        """Add up sentences.

        >>> EvalbSummary.of([EvalbResult(3, Status.SKIP)]).skips
        1
        """
        results = list(results)
        valid = [result for result in results if result.status == Status.VALID]
        return cls(
            sentences=len(results),
            errors=sum(result.status == Status.ERROR for result in results),
            skips=sum(result.status == Status.SKIP for result in results),
            matched=sum(result.matched for result in valid),
            gold=sum(result.gold for result in valid),
            predicted=sum(result.predicted for result in valid),
            exact=sum(result.exact for result in valid),
            crossing=sum(result.crossing for result in valid),
            no_crossing=sum(result.crossing == 0 for result in valid),
            two_or_less_crossing=sum(result.crossing <= 2 for result in valid),
            words=sum(result.words for result in valid),
            correct_tags=sum(result.correct_tags for result in valid),
        )

    @property
    def valid(self) -> int:
        """The number of valid sentences, over which the averages are taken.

        >>> EvalbSummary(sentences=5, errors=1, skips=1).valid
        3
        """
        return self.sentences - self.errors - self.skips

    @property
    def exact_match(self) -> float:
        """Sentences without a wrong or missing bracket, in percent of the valid ones.

        >>> EvalbSummary(sentences=4, exact=1).exact_match
        25.0
        """
        return percentage(self.exact, self.valid)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets per sentence.

        >>> EvalbSummary(sentences=4, crossing=2).average_crossing
        0.5
        """
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def tag_accuracy(self) -> float:
        """Correct tags in percent of the words that were not deleted.

        >>> EvalbSummary(words=4, correct_tags=3).tag_accuracy
        75.0
        """
        return percentage(self.correct_tags, self.words)

    def to_dict(self) -> dict[str, int | float]:
        """All counts and figures, ready for JSON.

        >>> EvalbSummary(sentences=4, errors=1).to_dict()["valid"]
        3
        """
        return BracketCounts.to_dict(self) | {
            "valid": self.valid,
            "exact_match": self.exact_match,
            "average_crossing": self.average_crossing,
            "tag_accuracy": self.tag_accuracy,
        }

    def __str__(self) -> str:
        """The block of lines that EVALB prints below a title."""
        f1 = 2 * self.precision * self.recall / (self.precision + self.recall or float("nan"))
        return (
            f"Number of sentence        = {self.sentences:6d}\n"
            f"Number of Error sentence  = {self.errors:6d}\n"
            f"Number of Skip  sentence  = {self.skips:6d}\n"
            f"Number of Valid sentence  = {self.valid:6d}\n"
            f"Bracketing Recall         = {self.recall:6.2f}\n"
            f"Bracketing Precision      = {self.precision:6.2f}\n"
            f"Bracketing FMeasure       = {f1:6.2f}\n"
            f"Complete match            = {self.exact_match:6.2f}\n"
            f"Average crossing          = {self.average_crossing:6.2f}\n"
            f"No crossing               = {percentage(self.no_crossing, self.valid):6.2f}\n"
            f"2 or less crossing        = "
            f"{percentage(self.two_or_less_crossing, self.valid):6.2f}\n"
            f"Tagging accuracy          = {self.tag_accuracy:6.2f}\n"
        )


@dataclass(frozen=True)
class EvalbReport:
    """The report of EVALB; ``str`` gives the text that it prints to standard output.

    >>> from lpcfg.treebank.tree import Tree
    >>> tree = Tree("TOP", [Tree("NP", [Tree("NN", "rain")])])
    >>> print(str(evalb([tree], [tree])).splitlines()[3])
       1    1    0  100.00 100.00     1      1    1      0      1     1   100.00
    """

    parameters: EvalbParameters
    sentences: tuple[EvalbResult, ...]
    stopped: bool
    """Whether there were too many errors: EVALB then prints no summary."""

    @property
    def messages(self) -> list[str]:
        """The lines that EVALB writes to standard error.

        >>> from lpcfg.treebank.tree import Tree
        >>> evalb([Tree("NN", "rain")], [Tree("NN", "snow")]).messages
        ['1 : Words unmatch (rain|snow)']
        """
        numbered = enumerate(self.sentences, start=1)
        return [f"{number} : {result.error}" for number, result in numbered if result.error]

    @property
    def all(self) -> EvalbSummary:
        """The summary of all sentences.

        >>> evalb([], []).all.sentences
        0
        """
        return EvalbSummary.of(self.sentences)

    @property
    def short(self) -> EvalbSummary:
        """The summary of the sentences up to the cut-off length.

        >>> evalb([], []).short == EvalbSummary()
        True
        """
        cutoff = self.parameters.cutoff_length
        return EvalbSummary.of(result for result in self.sentences if result.length <= cutoff)

    def __str__(self) -> str:
        # EVALB exits before it prints the sentence whose error exceeds the limit.
        shown = self.sentences[:-1] if self.stopped else self.sentences
        lines = "".join(_line(number, result) for number, result in enumerate(shown, start=1))
        if self.stopped:
            return HEADING + lines
        total = self.all
        rule = "=" * 76
        brackets = (
            f"                {total.recall:6.2f} {total.precision:6.2f} {total.matched:6d} "
            f"{total.gold:5d} {total.predicted:5d}  {total.crossing:5d}"
            if total.gold and total.predicted
            else ""
        )
        return (
            f"{HEADING}{lines}{rule}\n"
            f"{brackets}  {total.words:5d} {total.correct_tags:5d}   {total.tag_accuracy:6.2f}\n"
            f"=== Summary ===\n\n-- All --\n{total}\n"
            f"-- len<={self.parameters.cutoff_length} --\n{self.short}"
        )


def _line(number: int, result: EvalbResult) -> str:
    line = (
        f"{number:4d}  {result.length:3d}    {result.status:d}  "
        f"{percentage(result.matched, result.gold):6.2f} "
        f"{percentage(result.matched, result.predicted):6.2f}   {result.matched:3d}    "
        f"{result.gold:3d}  {result.predicted:3d}    {result.crossing:3d}   "
        f"{result.words:4d}  {result.correct_tags:4d}   "
        f"{percentage(result.correct_tags, result.words):6.2f}\n"
    )
    return line + (f"{result.listing}\n" if result.listing else "")


class _End(Enum):
    """Marks the end of the shorter of two sequences of trees, where None is a value."""

    END = auto()


def in_pairs(
    gold: Iterable[Scorable], predicted: Iterable[Scorable]
) -> Iterator[tuple[Scorable, Scorable]]:
    """Pairs of gold and predicted trees; there must be the same number of both.

    >>> list(in_pairs([None], [None, None]))
    Traceback (most recent call last):
    lpcfg.errors.InputError: predicted: 1 gold trees but 2 predicted ones; ...
    """
    gold_count = predicted_count = 0
    for first, second in zip_longest(gold, predicted, fillvalue=_End.END):
        gold_count += first is not _End.END
        predicted_count += second is not _End.END
        if first is not _End.END and second is not _End.END:
            yield first, second
    if gold_count != predicted_count:
        raise InputError(
            f"{gold_count} gold trees but {predicted_count} predicted ones; "
            "give None, or an empty tree, for a sentence without a prediction",
            argument="predicted",
        )


def evalb(
    gold: Iterable[Scorable],
    predicted: Iterable[Scorable],
    parameters: EvalbParameters | str | os.PathLike[str] = NEW,
) -> EvalbReport:
    """Compare trees as EVALB does, sentence by sentence.

    The trees are changed only as the parameters specify. In particular, a root bracket counts like
    any other unless its label is in ``delete_labels``: the built-in parameters, like the files they
    are named after, delete TOP (``new`` also S1) but not ROOT.

    >>> from lpcfg.treebank.tree import Tree
    >>> tree = Tree("ROOT", [Tree("NP", [Tree("NN", "rain")])])
    >>> evalb([tree], [tree]).all.gold
    2
    """
    chosen = find_parameters(parameters)
    results: list[EvalbResult] = []
    errors = 0
    stopped = False
    for first, second in in_pairs(gold, predicted):
        results.append(compare(Bracketing.of(first), Bracketing.of(second), chosen))
        if results[-1].status == Status.ERROR:
            errors += 1
            if chosen.max_error is not None and errors > chosen.max_error + 1:
                stopped = True
                break
    return EvalbReport(chosen, tuple(results), stopped)
