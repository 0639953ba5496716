"""Scores of parses against a treebank: a summary that can be added up, printed and saved."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from lpcfg.errors import InputError
from lpcfg.evaluation._evalb import SentenceResult, compare
from lpcfg.evaluation._score_table import LabelTable, LengthTable, summary_table
from lpcfg.evaluation.bracketing import Scorable, outline
from lpcfg.evaluation.counts import Brackets, Tally
from lpcfg.evaluation.evalb import EvalbSummary, in_pairs
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters
from lpcfg.evaluation.strict import StrictResult, compare_strictly

__all__ = ["Failure", "Scores", "evaluate"]

BUCKET = 10
# Sentences scored at a time, so that memory does not grow with the treebank.
SHARD = 1000
FAILURES_SHOWN = 5

Key = TypeVar("Key", int, str)
Counts = TypeVar("Counts", bound=Brackets)


class Failure(NamedTuple):
    """A sentence that counts as zero, by its number from 1, and why.

    >>> str(Failure(3, "there is no tree"))
    'sentence 3: there is no tree'
    """

    sentence: int
    reason: str

    def __str__(self) -> str:
        return f"sentence {self.sentence}: {self.reason}"


@dataclass(frozen=True)
class Scores:
    """What :func:`evaluate` found; the scores of shards add up to those of the whole.

    The figures of the class itself (``f1`` and so on, in percent) leave no sentence out: one that
    failed counts as zero, and the root bracket counts never; :mod:`lpcfg.evaluation.strict` has the
    details.
    ``evalb`` has the figures of EVALB, which drops such sentences and counts a root that its
    parameters do not delete (ROOT is one), and ``evalb_short`` those up to its cut-off length.

    >>> from lpcfg.treebank.tree import Tree
    >>> tree = Tree("ROOT", [Tree("NP", [Tree("NN", "rain")])])
    >>> scores = evaluate([tree], [tree]) + evaluate([tree], [None])
    >>> scores.precision, scores.recall, scores.coverage
    (100.0, 50.0, 50.0)
    >>> Scores() + scores == scores
    True
    """

    parameters: EvalbParameters | None = None
    """What was used to score; None if nothing was scored."""
    lengths: tuple[tuple[int, Tally], ...] = ()
    """Counts by the greatest length in a bucket of lengths."""
    labels: tuple[tuple[str, Brackets], ...] = ()
    """Counts by the label of the bracket."""
    failures: tuple[Failure, ...] = ()
    evalb: EvalbSummary = field(default_factory=EvalbSummary)
    evalb_short: EvalbSummary = field(default_factory=EvalbSummary)

    def __add__(self, other: Scores) -> Scores:
        if not isinstance(other, Scores):
            return NotImplemented
        if self.parameters is None:
            return other
        if other.parameters is None:
            return self
        if self.parameters != other.parameters:
            raise InputError("cannot add scores that were computed with different parameters")
        moved = (Failure(self.sentences + number, reason) for number, reason in other.failures)
        return Scores(
            self.parameters,
            _merged(self.lengths, other.lengths),
            _merged(self.labels, other.labels),
            (*self.failures, *moved),
            self.evalb + other.evalb,
            self.evalb_short + other.evalb_short,
        )

    @cached_property
    def total(self) -> Tally:
        """The counts behind the headline figures.

        >>> Scores().total == Tally()
        True
        """
        return sum((tally for _, tally in self.lengths), Tally())

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
        """Matched brackets in percent of the gold ones, those of failed sentences included.

        >>> Scores().recall
        0.0
        """
        return self.total.recall

    @property
    def f1(self) -> float:
        """The headline: the harmonic mean of precision and recall over all sentences.

        >>> Scores().f1
        0.0
        """
        return self.total.f1

    @property
    def exact_match(self) -> float:
        """Sentences without a wrong or missing bracket, in percent of all.

        >>> Scores().exact_match
        0.0
        """
        return self.total.exact_match

    @property
    def tag_accuracy(self) -> float:
        """Words with the right tag, in percent of all that are not punctuation.

        >>> Scores().tag_accuracy
        0.0
        """
        return self.total.tag_accuracy

    @property
    def coverage(self) -> float:
        """Sentences with a tree over the right words, in percent of all.

        >>> Scores().coverage
        0.0
        """
        return self.total.coverage

    @property
    def unlabelled(self) -> Brackets:
        """The counts and figures of brackets without their labels.

        >>> Scores().unlabelled.f1
        0.0
        """
        return self.total.unlabelled

    @property
    def by_length(self) -> LengthTable:
        """Counts and figures by the number of words in the gold tree; it prints as a table.

        >>> from lpcfg.treebank.tree import Tree
        >>> evaluate([Tree("NN", "rain")], [None]).by_length["1-10"].failed
        1
        """
        return LengthTable((f"{last - BUCKET + 1}-{last}", tally) for last, tally in self.lengths)

    @property
    def by_label(self) -> LabelTable:
        """Counts and figures by label, the most frequent first; it prints as a table.

        >>> from lpcfg.treebank.tree import Tree
        >>> tree = Tree("NP", [Tree("NN", "rain")])
        >>> evaluate([tree], [tree]).by_label["NP"].f1
        100.0
        """
        return LabelTable(sorted(self.labels, key=lambda row: (-row[1].gold, row[0])))

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON.

        >>> sorted(Scores().to_dict())[:3]
        ['by_label', 'by_length', 'coverage']
        """
        return self.total.to_dict() | {
            "evalb": self.evalb.to_dict(),
            "evalb_short": self.evalb_short.to_dict(),
            "evalb_cutoff_length": self.parameters and self.parameters.cutoff_length,
            "by_length": {length: tally.to_dict() for length, tally in self.by_length.items()},
            "by_label": {label: counts.to_dict() for label, counts in self.by_label.items()},
            "failures": [failure._asdict() for failure in self.failures],
        }

    def __str__(self) -> str:
        """A summary for the terminal; ``by_length`` and ``by_label`` print as tables too."""
        cutoff = (self.parameters or NEW).cutoff_length
        lines = [
            summary_table(self.total, self.evalb, self.evalb_short, cutoff),
            f"coverage {self.coverage:.2f}: {len(self.failures)} of {self.sentences} failed",
            *(f"  {failure}" for failure in self.failures[:FAILURES_SHOWN]),
        ]
        if len(self.failures) > FAILURES_SHOWN:
            lines.append(f"  and {len(self.failures) - FAILURES_SHOWN} more")
        return "\n".join(lines)


def _merged(
    first: tuple[tuple[Key, Counts], ...], second: tuple[tuple[Key, Counts], ...]
) -> tuple[tuple[Key, Counts], ...]:
    merged = dict(first)
    for key, counts in second:
        merged[key] = merged[key] + counts if key in merged else counts
    return tuple(sorted(merged.items()))


def evaluate(
    gold: Iterable[Scorable],
    predicted: Iterable[Scorable],
    parameters: EvalbParameters | str | os.PathLike[str] = NEW,
) -> Scores:
    """Score predicted trees against gold ones.

    A prediction may be a tree, None or a tree without words where there is none, or a sequence of
    trees where a parser found fragments only. Parameters are those of EVALB, built in (``new``,
    ``COLLINS``) or from a .prm file. LABELED and QUOTE_LABEL concern the EVALB figures alone;
    MAX_ERROR and DEBUG concern the report of :func:`lpcfg.evaluation.evalb.evalb` and not scores.

    >>> from lpcfg.treebank.tree import Tree
    >>> rain, fell = Tree("NP", [Tree("NN", "rain")]), Tree("VBD", "fell")
    >>> gold = Tree("ROOT", [Tree("S", [rain, Tree("VP", [fell])])])
    >>> print(evaluate([gold, gold], [Tree("ROOT", [Tree("S", [rain, fell])]), None]))
                           sentences  precision  recall     F1  exact   tags
    all sentences                  2     100.00   33.33  50.00   0.00  50.00
      without labels               2     100.00   33.33  50.00
    EVALB                          1     100.00   75.00  85.71   0.00 100.00
    EVALB, up to 40 words          1     100.00   75.00  85.71   0.00 100.00
    coverage 50.00: 1 of 2 failed
      sentence 2: there is no tree
    """
    chosen = find_parameters(parameters)
    pairs = in_pairs(gold, predicted)
    scores = Scores()
    while shard := list(islice(pairs, SHARD)):
        scores += _evaluate_shard(shard, chosen)
    return scores


def _evaluate_shard(
    pairs: Iterable[tuple[Scorable, Scorable]], parameters: EvalbParameters
) -> Scores:
    strict: list[StrictResult] = []
    evalb: list[SentenceResult] = []
    for gold, predicted in pairs:
        gold_brackets, predicted_brackets = outline(gold), outline(predicted)
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
    )


def _count_lengths(results: Iterable[StrictResult]) -> tuple[tuple[int, Tally], ...]:
    buckets: defaultdict[int, list[StrictResult]] = defaultdict(list)
    for result in results:
        last_length = -(-max(result.length, 1) // BUCKET) * BUCKET
        buckets[last_length].append(result)
    return tuple((last_length, _tally(buckets[last_length])) for last_length in sorted(buckets))


def _tally(results: list[StrictResult]) -> Tally:
    return Tally(
        matched=sum(len(result.matched) for result in results),
        gold=sum(len(result.gold) for result in results),
        predicted=sum(len(result.predicted) for result in results),
        unlabelled_matched=sum(result.unlabelled_matched for result in results),
        sentences=len(results),
        failed=sum(bool(result.failure) for result in results),
        exact=sum(result.exact for result in results),
        words=sum(result.words for result in results),
        tags=sum(result.tags for result in results),
    )


def _count_labels(results: Iterable[StrictResult]) -> tuple[tuple[str, Brackets], ...]:
    matched: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for result in results:
        matched.update(label for _, _, label in result.matched)
        gold.update(label for _, _, label in result.gold)
        predicted.update(label for _, _, label in result.predicted)
    return tuple(
        (label, Brackets(matched[label], gold[label], predicted[label]))
        for label in sorted(gold | predicted)
    )
