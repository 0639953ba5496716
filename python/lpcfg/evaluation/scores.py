"""Scores of parses against a treebank: strict and EVALB scores, in total and by group."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import fsum
from typing import Any, NamedTuple, TypeVar

from lpcfg import _html
from lpcfg.errors import InputError
from lpcfg.evaluation._evalb_comparison import EvalbResult, compare
from lpcfg.evaluation._score_table import LabelTable, LengthTable, summary_rows, summary_table
from lpcfg.evaluation.bracketing import Bracketing, Scorable
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.evalb import EvalbSummary, in_pairs
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters
from lpcfg.evaluation.strict import StrictResult, StrictSummary, compare_strictly
from lpcfg.treebank.sentence_lines import read_gold_and_predicted

__all__ = ["Failure", "Scores", "SentenceScore", "evaluate"]

BUCKET = 10
# Sentences scored at a time, so that memory does not grow with the treebank.
SHARD = 1000
MAX_FAILURES_SHOWN = 5

Key = TypeVar("Key", int, str)
Counts = TypeVar("Counts", bound=BracketCounts)


class Failure(NamedTuple):
    """A sentence that counts as zero, by its number from 1, and the reason.

    >>> str(Failure(3, "there is no tree"))
    'sentence 3: there is no tree'
    """

    sentence: int
    reason: str

    def __str__(self) -> str:
        return f"sentence {self.sentence}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SentenceScore(BracketCounts):
    """The strict counts of one sentence.

    >>> SentenceScore(matched=1, gold=2, predicted=2, length=3).f1
    50.0
    """

    length: int = 0
    """The number of words of the gold tree, punctuation included."""
    exact: bool = False
    """Whether every bracket is right."""


@dataclass(frozen=True, repr=False)
class Scores:
    """Strict and EVALB scores of parses; the scores of parts of a treebank add up.

    ``f1``, ``precision`` and the other properties are strict scores in percent: a sentence that
    failed counts as zero, and the root bracket never counts (see :mod:`lpcfg.evaluation.strict`).
    ``evalb`` has the scores of EVALB, which ignores such sentences and counts the root bracket
    unless its parameters delete that label (they do not delete ROOT).

    >>> from lpcfg.treebank.tree import Tree
    >>> tree = Tree("ROOT", [Tree("NP", [Tree("NN", "rain")])])
    >>> scores = evaluate([tree], [tree]) + evaluate([tree], [None])
    >>> scores.precision, scores.recall, scores.coverage
    (100.0, 50.0, 50.0)
    >>> Scores() + scores == scores
    True
    """

    parameters: EvalbParameters | None = None
    """The EVALB parameters of all scores; None if nothing was scored."""
    lengths: tuple[tuple[int, StrictSummary], ...] = ()
    """Strict counts by sentence length, in buckets of ten; the key is the greatest length."""
    labels: tuple[tuple[str, BracketCounts], ...] = ()
    """Strict counts by the label of the bracket."""
    failures: tuple[Failure, ...] = ()
    """The sentences that count as zero, with the reasons."""
    evalb: EvalbSummary = field(default_factory=EvalbSummary)
    """The totals of EVALB over all sentences."""
    evalb_short: EvalbSummary = field(default_factory=EvalbSummary)
    """The totals of EVALB over sentences up to its cut-off length (40 words by default)."""
    by_sentence: tuple[SentenceScore, ...] = ()
    """The strict counts of each sentence, in the order of the gold trees."""

    def __add__(self, other: Scores) -> Scores:
        if not isinstance(other, Scores):
            return NotImplemented
        if self.parameters is None:
            return other
        if other.parameters is None:
            return self
        if self.parameters != other.parameters:
            raise InputError(
                "cannot add scores that were computed with different parameters",
                argument="parameters",
            )
        moved = (Failure(self.sentences + number, reason) for number, reason in other.failures)
        return Scores(
            self.parameters,
            _merged(self.lengths, other.lengths),
            _merged(self.labels, other.labels),
            (*self.failures, *moved),
            self.evalb + other.evalb,
            self.evalb_short + other.evalb_short,
            self.by_sentence + other.by_sentence,
        )

    @cached_property
    def total(self) -> StrictSummary:
        """The counts behind the strict scores.

        >>> Scores().total == StrictSummary()
        True
        """
        return sum((summary for _, summary in self.lengths), StrictSummary())

    @property
    def sentences(self) -> int:
        """The number of gold trees.

        >>> Scores().sentences
        0
        """
        return self.total.sentences

    @property
    def precision(self) -> float:
        """Matched brackets in percent of the predicted ones.

        >>> Scores().precision
        0.0
        """
        return self.total.precision

    @property
    def recall(self) -> float:
        """Matched brackets in percent of the gold ones, including gold ones of failed sentences.

        >>> Scores().recall
        0.0
        """
        return self.total.recall

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; sentences that failed count as zero.

        >>> Scores().f1
        0.0
        """
        return self.total.f1

    @property
    def mean_sentence_f1(self) -> float:
        """The mean of the F1 of each sentence, in percent, where every sentence counts the same.

        A sentence without brackets has F1 100 if it has not failed.

        >>> from lpcfg.treebank.tree import Tree
        >>> short = Tree.from_string("(S (NP (NN rain)) (VP (VBD fell)))")
        >>> flat = Tree.from_string("(S (NN rain) (VBD fell))")
        >>> scores = evaluate([short, short], [short, flat])
        >>> round(scores.f1, 2), round(scores.mean_sentence_f1, 2)
        (80.0, 75.0)
        """
        f1 = [100.0 if each.exact else each.f1 for each in self.by_sentence]
        return fsum(f1) / len(f1) if f1 else 0.0

    @property
    def exact_match(self) -> float:
        """Sentences without a wrong or missing bracket, in percent of all.

        >>> Scores().exact_match
        0.0
        """
        return self.total.exact_match

    @property
    def tag_accuracy(self) -> float:
        """Words with the correct tag, in percent of all words except punctuation.

        >>> Scores().tag_accuracy
        0.0
        """
        return self.total.tag_accuracy

    @property
    def coverage(self) -> float:
        """Sentences with a tree over the words of the gold tree, in percent of all.

        >>> Scores().coverage
        0.0
        """
        return self.total.coverage

    @property
    def unlabelled(self) -> BracketCounts:
        """The counts and scores of brackets without their labels.

        >>> Scores().unlabelled.f1
        0.0
        """
        return self.total.unlabelled

    @property
    def by_length(self) -> LengthTable:
        """Counts and scores by the number of words in the gold tree; it prints as a table.

        >>> from lpcfg.treebank.tree import Tree
        >>> evaluate([Tree("NN", "rain")], [None]).by_length["1-10"].failed
        1
        """
        return LengthTable(
            (f"{last - BUCKET + 1}-{last}", summary) for last, summary in self.lengths
        )

    @property
    def by_label(self) -> LabelTable:
        """Counts and scores by label, the most frequent first; it prints as a table.

        >>> from lpcfg.treebank.tree import Tree
        >>> tree = Tree("NP", [Tree("NN", "rain")])
        >>> evaluate([tree], [tree]).by_label["NP"].f1
        100.0
        """
        return LabelTable(sorted(self.labels, key=lambda row: (-row[1].gold, row[0])))

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON.

        >>> sorted(Scores().to_dict())[:3]
        ['by_label', 'by_length', 'correct_tags']
        """
        return self.total.to_dict() | {
            "mean_sentence_f1": self.mean_sentence_f1,
            "evalb": self.evalb.to_dict(),
            "evalb_short": self.evalb_short.to_dict(),
            "evalb_cutoff_length": self.parameters and self.parameters.cutoff_length,
            "by_length": {length: summary.to_dict() for length, summary in self.by_length.items()},
            "by_label": {label: counts.to_dict() for label, counts in self.by_label.items()},
            "failures": [failure._asdict() for failure in self.failures],
        }

    def __repr__(self) -> str:
        return (
            f"<Scores of {self.sentences} sentences: precision {self.precision:.2f}, "
            f"recall {self.recall:.2f}, F1 {self.f1:.2f}>"
        )

    def _repr_html_(self) -> str:
        """The summary as notebooks show it."""
        cutoff = (self.parameters or NEW).cutoff_length
        heading, *rows = summary_rows(self.total, self.evalb, self.evalb_short, cutoff)
        failed = f"coverage {self.coverage:.2f}: {len(self.failures)} of {self.sentences} failed"
        return _html.table(rows, heading) + _html.caption(failed)

    def __str__(self) -> str:
        """A summary for the terminal; ``by_length`` and ``by_label`` print as tables too."""
        cutoff = (self.parameters or NEW).cutoff_length
        lines = [
            summary_table(self.total, self.evalb, self.evalb_short, cutoff),
            f"mean F1 of a sentence {self.mean_sentence_f1:.2f}",
            f"coverage {self.coverage:.2f}: {len(self.failures)} of {self.sentences} failed",
            *(f"  {failure}" for failure in self.failures[:MAX_FAILURES_SHOWN]),
        ]
        if len(self.failures) > MAX_FAILURES_SHOWN:
            lines.append(f"  and {len(self.failures) - MAX_FAILURES_SHOWN} more")
        return "\n".join(lines)


def _merged(
    first: tuple[tuple[Key, Counts], ...], second: tuple[tuple[Key, Counts], ...]
) -> tuple[tuple[Key, Counts], ...]:
    merged = dict(first)
    for key, counts in second:
        merged[key] = merged[key] + counts if key in merged else counts
    return tuple(sorted(merged.items()))


def evaluate(
    gold: Iterable[Scorable] | str | os.PathLike[str],
    predicted: Iterable[Scorable] | str | os.PathLike[str],
    parameters: EvalbParameters | str | os.PathLike[str] = NEW,
) -> Scores:
    """Score predicted trees against gold ones.

    - ``gold``: the trees of the treebank, or the path of a file.
    - ``predicted``: the same number of predictions, in the same order. A prediction is a tree, a
      sequence of trees if a parser found fragments only, or None (or a tree without words) if it
      found nothing. Or the path of a file, if ``gold`` is one: a blank line, or ``(())``, is a
      sentence without a tree.
    - ``parameters``: EVALB parameters: ``"new"`` (the default), ``"COLLINS"``, the path of a .prm
      file, or an object. LABELED and QUOTE_LABEL affect the scores of EVALB alone; MAX_ERROR
      and DEBUG affect the report of :func:`lpcfg.evaluation.evalb.evalb` and no score.

    >>> from lpcfg.treebank.tree import Tree
    >>> rain, fell = Tree("NP", [Tree("NN", "rain")]), Tree("VBD", "fell")
    >>> gold = Tree("ROOT", [Tree("S", [rain, Tree("VP", [fell])])])
    >>> print(evaluate([gold, gold], [Tree("ROOT", [Tree("S", [rain, fell])]), None]))
                           sentences  precision  recall     F1  exact   tags
    all sentences                  2     100.00   33.33  50.00   0.00  50.00
      without labels               2     100.00   33.33  50.00
    EVALB                          1     100.00   75.00  85.71   0.00 100.00
    EVALB, up to 40 words          1     100.00   75.00  85.71   0.00 100.00
    mean F1 of a sentence 40.00
    coverage 50.00: 1 of 2 failed
      sentence 2: there is no tree
    """
    chosen = find_parameters(parameters)
    pairs = in_pairs(*_trees(gold, predicted))
    scores = Scores()
    while shard := list(islice(pairs, SHARD)):
        scores += _evaluate_shard(shard, chosen)
    return scores


def _trees(
    gold: Iterable[Scorable] | str | os.PathLike[str],
    predicted: Iterable[Scorable] | str | os.PathLike[str],
) -> tuple[Iterable[Scorable], Iterable[Scorable]]:
    """The trees of both sides, read if they are paths."""
    paths = str, os.PathLike
    if isinstance(gold, paths) and isinstance(predicted, paths):
        return read_gold_and_predicted(gold, predicted)
    if isinstance(gold, paths) or isinstance(predicted, paths):
        # Blank lines are sentences without a tree only if both files have a line per sentence.
        raise InputError("expected two paths, or the trees of both sides", argument="predicted")
    return gold, predicted


def _evaluate_shard(
    pairs: Iterable[tuple[Scorable, Scorable]], parameters: EvalbParameters
) -> Scores:
    strict: list[StrictResult] = []
    evalb: list[EvalbResult] = []
    for gold, predicted in pairs:
        gold_brackets, predicted_brackets = Bracketing.of(gold), Bracketing.of(predicted)
        strict.append(compare_strictly(gold_brackets, predicted_brackets, parameters))
        evalb.append(compare(gold_brackets, predicted_brackets, parameters))
    numbered = enumerate(strict, start=1)
    return Scores(
        parameters,
        _count_lengths(strict),
        _count_labels(strict),
        tuple(Failure(number, result.failure) for number, result in numbered if result.failure),
        EvalbSummary.of(evalb),
        EvalbSummary.of(result for result in evalb if result.length <= parameters.cutoff_length),
        tuple(map(_sentence_score, strict)),
    )


def _sentence_score(result: StrictResult) -> SentenceScore:
    return SentenceScore(
        len(result.matched),
        len(result.gold),
        len(result.predicted),
        result.length,
        result.exact,
    )


def _count_lengths(results: Iterable[StrictResult]) -> tuple[tuple[int, StrictSummary], ...]:
    buckets: defaultdict[int, list[StrictResult]] = defaultdict(list)
    for result in results:
        last_length = -(-max(result.length, 1) // BUCKET) * BUCKET
        buckets[last_length].append(result)
    return tuple(
        (last_length, StrictSummary.of(buckets[last_length])) for last_length in sorted(buckets)
    )


def _count_labels(results: Iterable[StrictResult]) -> tuple[tuple[str, BracketCounts], ...]:
    matched: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for result in results:
        matched.update(label for _, _, label in result.matched)
        gold.update(label for _, _, label in result.gold)
        predicted.update(label for _, _, label in result.predicted)
    return tuple(
        (label, BracketCounts(matched[label], gold[label], predicted[label]))
        for label in sorted(gold | predicted)
    )
