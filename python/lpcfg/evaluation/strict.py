"""Strict scores: brackets are matched as in EVALB, but a failed sentence counts as zero.

EVALB excludes sentences from its averages, so that a parser can gain by failing. Strict scores keep
its conventions (labels are cut at the first ``-`` or ``=``, equivalent labels count as one,
punctuation is deleted, repeated brackets match as often as both trees have them), but:

- Only the *gold* tags decide which words are punctuation, so that a wrong tag of a full stop is
  just a wrong tag. Words that the parameters exclude from the length of a sentence (traces) do not
  count as words; in each tree they are found by the tags of that tree.
- A sentence without a tree, or with other words than the gold tree, has failed: all its gold
  brackets count as missed, its predicted brackets as wrong and its words as wrongly tagged.
- The root bracket never counts, whatever it is called (see ``ROOT_LABELS``) and even if only one
  of the trees has one. EVALB counts a root that is not in its ``DELETE_LABEL``, such as ROOT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from lpcfg.evaluation.bracketing import Bracketing, phrase_label
from lpcfg.evaluation.counts import BracketCounts, percentage
from lpcfg.evaluation.evalb_parameters import EvalbParameters

__all__ = ["ROOT_LABELS", "StrictResult", "StrictSummary", "compare_strictly"]

ROOT_LABELS = frozenset({"", "ROOT", "TOP", "S1", "VROOT"})

Span = tuple[int, int]
LabelledSpan = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class StrictResult:
    """The strict comparison of one sentence with its gold tree.

    >>> StrictResult(length=3, words=2, failure="there is no tree").exact
    False
    """

    length: int
    """The number of words of the gold tree, punctuation included."""
    words: int
    """The number of words that are not punctuation."""
    gold: tuple[LabelledSpan, ...] = ()
    predicted: tuple[LabelledSpan, ...] = ()
    matched: tuple[LabelledSpan, ...] = ()
    unlabelled_matched: int = 0
    """The number of brackets that match without regard to their labels."""
    correct_tags: int = 0
    """The number of words with the tag of the gold tree."""
    tags: tuple[str, ...] = ()
    """The gold tags of the words that are not punctuation; brackets count these words."""
    failure: str = ""
    """Why the trees cannot be compared; empty if they can."""

    @property
    def exact(self) -> bool:
        """Whether every bracket is right (the tags may be wrong).

        >>> StrictResult(length=1, words=1, gold=((0, 1, "NP"),)).exact
        False
        """
        sizes = {len(self.gold), len(self.predicted), len(self.matched)}
        return not self.failure and len(sizes) == 1


@dataclass(frozen=True, slots=True)
class StrictSummary(BracketCounts):
    """Strict counts over sentences, in which a failed sentence counts as zero.

    >>> summary = StrictSummary(matched=1, gold=2, predicted=2, sentences=4, failed=1, exact=2)
    >>> summary.f1, summary.coverage, summary.exact_match
    (50.0, 75.0, 50.0)
    """

    unlabelled_matched: int = 0
    """The number of brackets that match without regard to their labels."""
    sentences: int = 0
    failed: int = 0
    """The number of sentences without a tree over the words of the gold tree."""
    exact: int = 0
    """The number of sentences without a wrong or missing bracket."""
    words: int = 0
    """The number of words that are not punctuation."""
    correct_tags: int = 0
    """The number of these words that have the tag of the gold tree."""

    @classmethod
    def of(cls, results: Sequence[StrictResult]) -> Self:
        """Add up sentences.

        >>> StrictSummary.of([StrictResult(3, 2, failure="there is no tree")]).failed
        1
        """
        return cls(
            matched=sum(len(result.matched) for result in results),
            gold=sum(len(result.gold) for result in results),
            predicted=sum(len(result.predicted) for result in results),
            unlabelled_matched=sum(result.unlabelled_matched for result in results),
            sentences=len(results),
            failed=sum(bool(result.failure) for result in results),
            exact=sum(result.exact for result in results),
            words=sum(result.words for result in results),
            correct_tags=sum(result.correct_tags for result in results),
        )

    @property
    def unlabelled(self) -> BracketCounts:
        """The same brackets, matched without regard to their labels.

        >>> StrictSummary(matched=1, unlabelled_matched=2, gold=2, predicted=2).unlabelled.f1
        100.0
        """
        return BracketCounts(self.unlabelled_matched, self.gold, self.predicted)

    @property
    def coverage(self) -> float:
        """Sentences that did not fail, in percent of all.

        >>> StrictSummary(sentences=4, failed=1).coverage
        75.0
        """
        return percentage(self.sentences - self.failed, self.sentences)

    @property
    def exact_match(self) -> float:
        """Sentences without a wrong or missing bracket, in percent of all.

        >>> StrictSummary(sentences=4, exact=1).exact_match
        25.0
        """
        return percentage(self.exact, self.sentences)

    @property
    def tag_accuracy(self) -> float:
        """Correct tags in percent of the words.

        >>> StrictSummary(words=4, correct_tags=3).tag_accuracy
        75.0
        """
        return percentage(self.correct_tags, self.words)

    def to_dict(self) -> dict[str, int | float]:
        """All counts and scores, ready for JSON.

        >>> StrictSummary(sentences=4, failed=1).to_dict()["coverage"]
        75.0
        """
        return BracketCounts.to_dict(self) | {
            "coverage": self.coverage,
            "exact_match": self.exact_match,
            "tag_accuracy": self.tag_accuracy,
            "unlabelled_precision": self.unlabelled.precision,
            "unlabelled_recall": self.unlabelled.recall,
            "unlabelled_f1": self.unlabelled.f1,
        }


def compare_strictly(
    gold: Bracketing, predicted: Bracketing, parameters: EvalbParameters
) -> StrictResult:
    """Compare two bracketings of a sentence; ``failure`` is the reason if that is not possible.

    >>> from lpcfg.evaluation.evalb_parameters import NEW
    >>> from lpcfg.treebank.tree import Tree
    >>> noun, stop = Tree("NN", "rain"), Tree(".", ".")
    >>> gold = Bracketing.of(Tree("ROOT", [Tree("NP", [noun, stop])]))
    >>> predicted = Bracketing.of(Tree("NP", [noun, Tree("NN", ".")]))
    >>> compare_strictly(gold, predicted, NEW).matched
    ((0, 1, 'NP'),)
    >>> compare_strictly(gold, Bracketing.of(None), NEW).failure
    'there is no tree'
    """
    gold_tokens = _tokens(gold, parameters)
    predicted_tokens = _tokens(predicted, parameters)
    gold_kept = [i for i in gold_tokens if gold.tags[i] not in parameters.delete_labels]
    gold_brackets = _brackets(gold, gold_kept, parameters)
    length, words = len(gold_tokens), len(gold_kept)
    tags = tuple(gold.tags[i] for i in gold_kept)
    failure = _failure(gold, predicted, gold_tokens, predicted_tokens, parameters)
    if failure:
        kept = [i for i in predicted_tokens if predicted.tags[i] not in parameters.delete_labels]
        wrong = _brackets(predicted, kept, parameters)
        return StrictResult(length, words, gold_brackets, wrong, tags=tags, failure=failure)
    counterparts = dict(zip(gold_tokens, predicted_tokens, strict=True))
    predicted_kept = [counterparts[i] for i in gold_kept]
    predicted_brackets = _brackets(predicted, predicted_kept, parameters)
    return StrictResult(
        length,
        words,
        gold_brackets,
        predicted_brackets,
        tuple((Counter(gold_brackets) & Counter(predicted_brackets)).elements()),
        (_spans(gold_brackets) & _spans(predicted_brackets)).total(),
        sum(
            parameters.same_label(gold.tags[i], predicted.tags[j])
            for i, j in zip(gold_kept, predicted_kept, strict=True)
        ),
        tags,
    )


def _tokens(tree: Bracketing, parameters: EvalbParameters) -> list[int]:
    """The positions of all leaves that are words and not traces."""
    traces = parameters.delete_labels_for_length
    return [i for i, tag in enumerate(tree.tags) if tag not in traces]


def _failure(
    gold: Bracketing,
    predicted: Bracketing,
    gold_tokens: list[int],
    predicted_tokens: list[int],
    parameters: EvalbParameters,
) -> str:
    if gold_tokens and not predicted_tokens:
        return "there is no tree"
    if len(gold_tokens) != len(predicted_tokens):
        return (
            f"the gold tree has {len(gold_tokens)} words, the predicted one {len(predicted_tokens)}"
        )
    for number, (i, j) in enumerate(zip(gold_tokens, predicted_tokens, strict=True), start=1):
        # As in EVALB, punctuation may be spelt differently: quotation marks often are.
        if gold.tags[i] not in parameters.delete_labels and not parameters.same_word(
            gold.words[i], predicted.words[j]
        ):
            return (
                f"word {number} is {gold.words[i]!r} in the gold tree "
                f"and {predicted.words[j]!r} in the predicted one"
            )
    return ""


def _brackets(
    tree: Bracketing, kept: list[int], parameters: EvalbParameters
) -> tuple[LabelledSpan, ...]:
    """The brackets that count, with positions among the words that were kept."""
    is_kept = [0] * len(tree.words)
    for i in kept:
        is_kept[i] = 1
    offsets = [0, *accumulate(is_kept)]
    classes = parameters.label_classes
    brackets: list[LabelledSpan] = []
    for k in range(_roots(tree), len(tree.labels)):
        start, end = offsets[tree.starts[k]], offsets[tree.ends[k]]
        if start < end:
            label = phrase_label(tree.labels[k])
            if not parameters.deletes_phrase(label):
                brackets.append((start, end, classes.get(label, label)))
    return tuple(brackets)


def _roots(tree: Bracketing) -> int:
    """The number of root brackets at the top: none, one, or more if they are nested."""
    count = 0
    while (
        count < len(tree.labels)
        and tree.labels[count] in ROOT_LABELS
        and tree.starts[count] == 0
        and tree.ends[count] == len(tree.words)
    ):
        count += 1
    return count


def _spans(brackets: tuple[LabelledSpan, ...]) -> Counter[Span]:
    return Counter((start, end) for start, end, _ in brackets)
