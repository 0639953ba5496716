"""EVALB's comparison of one sentence with its gold tree.

EVALB deletes words by the tags of the tree they are in. A punctuation mark that a parser tags as
something else is therefore deleted in one tree only, and the sentence is ignored as an error; an
empty prediction is skipped. The scores of :mod:`lpcfg.evaluation.strict` include all sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate

from lpcfg.evaluation.bracketing import Bracketing, phrase_label
from lpcfg.evaluation.evalb_parameters import EvalbParameters

__all__ = ["EvalbResult", "Status", "compare"]

QUOTES = frozenset({"'", '"', "/"})


class Status(IntEnum):
    """Whether a sentence counts, in EVALB's numbers.

    >>> int(Status.SKIP)
    2
    """

    VALID = 0
    ERROR = 1
    SKIP = 2


class Mark(IntEnum):
    """How a word or a bracket was counted, in EVALB's numbers."""

    WRONG = 0
    MATCHED = 1
    DELETED = 5
    NOT_REACHED = 9


@dataclass(frozen=True, slots=True)
class EvalbResult:
    """One line of EVALB's report; all counts are zero unless the status is VALID.

    >>> EvalbResult(7, Status.ERROR, error="Length unmatch (6|5)").matched
    0
    """

    length: int
    status: Status
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    """The number of words with the tag of the gold tree."""
    error: str = ""
    """EVALB's message if the status is ERROR."""
    listing: str = ""
    """Words and brackets in detail, if the parameters ask for them."""

    @property
    def exact(self) -> bool:
        """Whether every bracket is right (the tags may be wrong).

        >>> EvalbResult(3, Status.VALID, matched=2, gold=2, predicted=2).exact
        True
        """
        return self.status == Status.VALID and self.matched == self.gold == self.predicted


@dataclass(slots=True)
class _Quote:
    """A quotation mark with its index or, if it was deleted, the index it would have."""

    index: int
    word: str
    tag: str
    opened: int
    enclosing: list[int]


class _Side:
    """One of the two trees, after the deletion of words."""

    def __init__(self, tree: Bracketing, parameters: EvalbParameters) -> None:
        kept = [tag not in parameters.delete_labels for tag in tree.tags]
        self.tree = tree
        self.offsets = [0, *accumulate(kept)]
        self.words = [word for word, keep in zip(tree.words, kept, strict=True) if keep]
        self.tags = [tag for tag, keep in zip(tree.tags, kept, strict=True) if keep]
        self.word_marks: list[Mark] = [Mark.NOT_REACHED] * len(self.words)
        self.labels = list(tree.labels)
        self.starts = [self.offsets[start] for start in tree.starts]
        self.ends = [self.offsets[end] for end in tree.ends]
        self.marks: list[Mark] = [Mark.NOT_REACHED] * len(self.labels)

    def quotes(self, parameters: EvalbParameters) -> list[_Quote]:
        tree = self.tree
        return [
            _Quote(
                self.offsets[position],
                word,
                tag,
                tree.opened[position],
                [k for k in range(tree.opened[position]) if tree.ends[k] > position],
            )
            for position, (word, tag) in enumerate(zip(tree.words, tree.tags, strict=True))
            if word in QUOTES and tag in parameters.quote_labels
        ]

    def reinsert(self, quotes: list[_Quote], number: int) -> None:
        """Undo the deletion of a quotation mark, and move everything after it by one."""
        quote = quotes[number]
        self.words.insert(quote.index, quote.word)
        self.tags.insert(quote.index, quote.tag)
        self.word_marks.append(Mark.NOT_REACHED)
        for bracket in range(quote.opened, len(self.labels)):
            self.starts[bracket] += 1
            self.ends[bracket] += 1
        for bracket in quote.enclosing:
            self.ends[bracket] += 1
        for later in quotes[number:]:
            later.index += 1

    def delete_brackets(self, parameters: EvalbParameters) -> None:
        """Cut the labels, and delete empty brackets and brackets with deleted labels."""
        for k, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            if start == end:
                self.marks[k] = Mark.DELETED
                continue
            label = self.labels[k] = phrase_label(self.labels[k])
            self.marks[k] = Mark.DELETED if parameters.deletes_phrase(label) else Mark.WRONG

    def remaining(self) -> list[int]:
        return [k for k, mark in enumerate(self.marks) if mark != Mark.DELETED]


def compare(gold: Bracketing, test: Bracketing, parameters: EvalbParameters) -> EvalbResult:
    """Compare two bracketings of a sentence as EVALB does.

    >>> from lpcfg.evaluation.evalb_parameters import NEW
    >>> from lpcfg.treebank.tree import Tree
    >>> verb, noun = Tree("VB", "see"), Tree("NN", "trees")
    >>> gold = Bracketing.of(Tree("TOP", [Tree("VP", [verb, Tree("NP", [noun])])]))
    >>> result = compare(gold, Bracketing.of(Tree("TOP", [Tree("VP", [verb, noun])])), NEW)
    >>> result.matched, result.gold, result.predicted
    (1, 2, 1)
    """
    length = sum(tag not in parameters.delete_labels_for_length for tag in gold.tags)
    left, right = _Side(gold, parameters), _Side(test, parameters)
    result = _compare_sides(left, right, length, parameters)
    return replace(result, listing=_listing(left, right)) if parameters.debug else result


def _compare_sides(
    gold: _Side, test: _Side, length: int, parameters: EvalbParameters
) -> EvalbResult:
    if not test.words:
        return EvalbResult(length, Status.SKIP)
    if len(gold.words) != len(test.words):
        _restore_quotes(gold, test, parameters)
    if len(gold.words) != len(test.words):
        error = f"Length unmatch ({len(gold.words)}|{len(test.words)})"
        return EvalbResult(length, Status.ERROR, error=error)
    for first, second in zip(gold.words, test.words, strict=True):
        if not parameters.same_word(first, second):
            error = f"Words unmatch ({first}|{second})"
            return EvalbResult(length, Status.ERROR, error=error)
    gold.delete_brackets(parameters)
    test.delete_brackets(parameters)
    gold_brackets, test_brackets = gold.remaining(), test.remaining()
    return EvalbResult(
        length,
        Status.VALID,
        _match(gold, test, gold_brackets, test_brackets, parameters),
        len(gold_brackets),
        len(test_brackets),
        _crossing(gold, test, gold_brackets, test_brackets),
        len(gold.words),
        _match_tags(gold, test, parameters),
    )


def _restore_quotes(gold: _Side, test: _Side, parameters: EvalbParameters) -> None:
    """Restore a quotation mark that was deleted in one tree only.

    As in EVALB, the order of the steps matters, and a restored mark is itself moved by one.
    """
    deleted = parameters.delete_labels
    gold_quotes, test_quotes = gold.quotes(parameters), test.quotes(parameters)
    for test_number, test_quote in enumerate(test_quotes):
        index = test_quote.index
        for gold_number, gold_quote in enumerate(gold_quotes):
            if gold_quote.index != index:
                continue
            if gold_quote.tag in deleted and test_quote.tag not in deleted:
                gold.reinsert(gold_quotes, gold_number)
            elif test_quote.tag in deleted and gold_quote.tag not in deleted:
                test.reinsert(test_quotes, test_number)


def _match(
    gold: _Side,
    test: _Side,
    gold_brackets: list[int],
    test_brackets: list[int],
    parameters: EvalbParameters,
) -> int:
    """Match each gold bracket with the first unmatched one of the same span and label.

    Equivalence of labels need not be transitive, so the order matters; it is the order of EVALB.
    """
    free: dict[tuple[int, int], list[int]] = {}
    for k in test_brackets:
        free.setdefault((test.starts[k], test.ends[k]), []).append(k)
    matched = 0
    for k in gold_brackets:
        candidates = free.get((gold.starts[k], gold.ends[k]), [])
        for position, candidate in enumerate(candidates):
            if not parameters.labelled or parameters.same_label(
                gold.labels[k], test.labels[candidate]
            ):
                gold.marks[k] = test.marks[candidate] = Mark.MATCHED
                del candidates[position]
                matched += 1
                break
    return matched


def _crossing(gold: _Side, test: _Side, gold_brackets: list[int], test_brackets: list[int]) -> int:
    """The number of predicted brackets that cross a gold bracket.

    A bracket is crossed from the left if another one that ends inside it starts before it, and from
    the right if another one that starts inside it ends after it. So it is enough to know the
    farthest start for each end, and the farthest end for each start.
    """
    leftmost_start = list(range(len(gold.words) + 1))
    rightmost_end = leftmost_start.copy()
    for k in gold_brackets:
        start, end = gold.starts[k], gold.ends[k]
        leftmost_start[end] = min(leftmost_start[end], start)
        rightmost_end[start] = max(rightmost_end[start], end)
    crossing = 0
    for k in test_brackets:
        start, end = test.starts[k], test.ends[k]
        inside = slice(start + 1, end)
        if end - start > 1 and (
            min(leftmost_start[inside]) < start or max(rightmost_end[inside]) > end
        ):
            crossing += 1
    return crossing


def _match_tags(gold: _Side, test: _Side, parameters: EvalbParameters) -> int:
    marks = [
        Mark.MATCHED if parameters.same_label(first, second) else Mark.WRONG
        for first, second in zip(gold.tags, test.tags, strict=True)
    ]
    gold.word_marks = test.word_marks = marks
    return marks.count(Mark.MATCHED)


def _listing(gold: _Side, test: _Side) -> str:
    """The two trees side by side, as EVALB prints them for DEBUG 1."""
    heading = (
        f"-<1>---(wn1={len(gold.words):3d}, bn1={len(gold.labels):3d})-           "
        f"-<2>---(wn2={len(test.words):3d}, bn2={len(test.labels):3d})-"
    )
    words = _side_by_side(_listed_words(gold), _listed_words(test), 40)
    brackets = _side_by_side(_listed_brackets(gold), _listed_brackets(test), 32)
    return "\n".join([heading, *words, "", *brackets, "", "========"])


def _listed_words(side: _Side) -> list[str]:
    columns = zip(side.word_marks, side.tags, side.words, strict=True)
    return [
        f"{i:3d} : {mark} : {tag:6s}  {word:16s}" for i, (mark, tag, word) in enumerate(columns)
    ]


def _listed_brackets(side: _Side) -> list[str]:
    columns = zip(side.marks, side.starts, side.ends, side.labels, strict=True)
    return [
        f"{i:3d} : {mark} : {start:3d}  {end:3d}  {label:6s}"
        for i, (mark, start, end, label) in enumerate(columns)
    ]


def _side_by_side(first: list[str], second: list[str], width: int) -> list[str]:
    rows = max(len(first), len(second))
    left = [f"{cell}      " for cell in first] + [" " * width] * (rows - len(first))
    right = second + [""] * (rows - len(second))
    return [one + other for one, other in zip(left, right, strict=True)]
