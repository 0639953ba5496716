"""Classes of bracketing errors, in the manner of Kummerfeld et al. (2012).

Every wrong bracket gets one class. A bracket of the gold tree that the parser missed, and a bracket
of the parser that the gold tree does not have, count as one error each. Kummerfeld et al. search
for the changes that repair a tree; here each bracket is classified by itself, from the
brackets around it, which is quick and needs no search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from lpcfg.evaluation.strict import LabelledSpan, StrictResult

__all__ = ["COORDINATORS", "classify_errors"]

#: Tags of coordinating conjunctions in the Penn Treebank and treebanks like it, and in UD.
COORDINATORS = frozenset({"CC", "CONJ", "CCONJ", "KON", "cc"})

DIFFERENT_LABEL = "different label"
UNARY = "unary"
COORDINATION = "coordination"
NOUN_PHRASE = "NP structure"
SINGLE_WORD = "single-word phrase"
OTHER = "other"


def classify_errors(
    result: StrictResult, coordinators: Collection[str] = COORDINATORS
) -> Counter[str]:
    """The number of wrong brackets of a sentence by class.

    The first class that fits is taken:

    - ``different label``: both trees have a bracket over these words, but not with this label.
      It counts twice, for the missing and for the superfluous bracket.
    - ``PP attachment``, ``clause attachment`` and so on: the other tree has a phrase with this
      label that is longer or shorter by a constituent that both trees have.
    - ``unary``: both trees have a bracket over these words, but one of them has one more.
    - ``single-word phrase``: a bracket over one word.
    - ``coordination``: a coordinating conjunction is directly below the bracket.
    - ``PP attachment`` and so on: the bracket is made of a constituent that both trees have, at its
      edge, and of another constituent; the other tree attaches the first one elsewhere.
    - ``NP structure``: the bracket is inside a noun phrase that both trees have.
    - ``other``: everything else.

    >>> from lpcfg import Tree
    >>> from lpcfg.evaluation.bracketing import Bracketing
    >>> from lpcfg.evaluation.evalb_parameters import NEW
    >>> from lpcfg.evaluation.strict import compare_strictly
    >>> gold = "(S (VP (V saw) (NP (NP (N it)) (PP (P with) (NP (N us))))))"
    >>> wrong = "(S (VP (V saw) (NP (N it)) (PP (P with) (NP (N us)))))"
    >>> trees = (Bracketing.of(Tree.from_string(text)) for text in (gold, wrong))
    >>> classify_errors(compare_strictly(*trees, NEW))
    Counter({'PP attachment': 1})
    """
    gold, predicted = Counter(result.gold), Counter(result.predicted)
    missing, superfluous = gold - predicted, predicted - gold
    common = gold & predicted
    classes: Counter[str] = Counter()
    for wrong, own, other in ((missing, gold, superfluous), (superfluous, predicted, missing)):
        sides = _Sides(own, other, common, result.tags, coordinators)
        classes.update(_class(bracket, sides) for bracket in wrong.elements())
    return classes


class _Sides(NamedTuple):
    """What the class of a wrong bracket depends on."""

    own: Counter[LabelledSpan]
    """The brackets of the tree that has the bracket."""
    other: Counter[LabelledSpan]
    """The brackets that only the other tree has."""
    common: Counter[LabelledSpan]
    """The brackets that both trees have."""
    tags: Sequence[str]
    coordinators: Collection[str]


def _class(bracket: LabelledSpan, sides: _Sides) -> str:
    start, end, _ = bracket
    if any((start, end) == other[:2] for other in sides.other):
        return DIFFERENT_LABEL
    resized = _resized(bracket, sides)
    if resized:
        return resized
    if any((start, end) == common[:2] for common in sides.common):
        return UNARY
    if end - start == 1:
        return SINGLE_WORD
    children = _children(bracket, sides.own)
    covered = {place for first, last, _ in children for place in range(first, last)}
    words = [place for place in range(start, end) if place not in covered]
    if any(sides.tags[place] in sides.coordinators for place in words):
        return COORDINATION
    moved = _moved(bracket, children, sides)
    if moved:
        return moved
    if any(_is_noun_phrase(around) and _inside(bracket, around) for around in sides.common):
        return NOUN_PHRASE
    return OTHER


def _children(bracket: LabelledSpan, own: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """The largest brackets inside a bracket, from left to right, without unary chains."""
    start, end, _ = bracket
    inside = {b for b in own if start <= b[0] and b[1] <= end and b[:2] != (start, end)}
    children: list[LabelledSpan] = []
    for candidate in sorted(inside, key=lambda b: (b[0], -b[1], b[2])):
        if not children or candidate[0] >= children[-1][1]:
            children.append(candidate)
    return children


def _moved(bracket: LabelledSpan, children: list[LabelledSpan], sides: _Sides) -> str:
    """The attachment error of a bracket that only one of the trees has, or an empty string.

    A constituent at its right or left edge, and the rest of the bracket, are constituents.
    """
    start, end, _ = bracket
    constituents = {other[:2] for other in (*sides.own, *sides.other, *sides.common)}
    for child in (children[-1], children[0]) if children else ():
        rest = (start, child[0]) if child[1] == end else (child[1], end)
        at_edge = (child[0] == start) != (child[1] == end)
        if at_edge and child in sides.common and rest in constituents:
            return _attachment(child[2])
    return ""


def _resized(bracket: LabelledSpan, sides: _Sides) -> str:
    """The attachment error of a phrase that is longer by a constituent in one of the trees."""
    start, end, label = bracket
    for first, last, name in sides.other:
        if name == label and (first == start) != (last == end):
            gap = _gap((start, end), (first, last))
            inside = [c for c in sides.common if c[:2] == gap]
            if inside:
                return _attachment(inside[0][2])
    return ""


def _gap(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The words that only one of two spans with a common edge has."""
    ends = sorted((one[1], other[1])) if one[0] == other[0] else sorted((one[0], other[0]))
    return ends[0], ends[1]


def _attachment(label: str) -> str:
    """The name of an attachment error; all clauses, from S to SBARQ, have one name."""
    return "clause attachment" if label.startswith("S") else f"{label} attachment"


def _is_noun_phrase(bracket: LabelledSpan) -> bool:
    return bracket[2] in {"NP", "NX", "NML", "NAC", "WHNP", "QP"}


def _inside(inner: LabelledSpan, outer: LabelledSpan) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
