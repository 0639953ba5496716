"""Scores of the labels of spans before a tree is searched for (del Canto 2021, part 2, table 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lpcfg.errors import InputError
from lpcfg.evaluation.counts import BracketCounts, percentage
from lpcfg.parsing.marginals import MarginalTable
from lpcfg.treebank.tree import Tree

__all__ = ["SpanLabelScores", "evaluate_span_labels"]


@dataclass(frozen=True, slots=True)
class SpanLabelScores(BracketCounts):
    """Counts of labelled spans, each of which was found by its own probability.

    >>> scores = SpanLabelScores(matched=1, gold=2, predicted=2, sentences=2, well_formed=1)
    >>> print(scores)
    spans with a likely label: precision 50.00, recall 50.00, F1 50.00, exact 0.00,
    well-formed 50.00, tree match 0.00
    """

    sentences: int = 0
    exact: int = 0
    """The number of sentences with the right spans and labels."""
    well_formed: int = 0
    """The number of sentences in which no two spans cross."""
    same_trees: int = 0
    """The number of sentences with the right spans, whatever their labels."""

    @property
    def exact_match(self) -> float:
        """Sentences with the right spans and labels, in percent.

        >>> SpanLabelScores(sentences=4, exact=1).exact_match
        25.0
        """
        return percentage(self.exact, self.sentences)

    @property
    def well_formedness(self) -> float:
        """Sentences in which no two spans cross, in percent.

        >>> SpanLabelScores(sentences=4, well_formed=3).well_formedness
        75.0
        """
        return percentage(self.well_formed, self.sentences)

    @property
    def tree_match(self) -> float:
        """Sentences with the right spans, whatever their labels, in percent.

        >>> SpanLabelScores(sentences=4, same_trees=2).tree_match
        50.0
        """
        return percentage(self.same_trees, self.sentences)

    def to_dict(self) -> dict[str, int | float]:
        """All counts and scores, ready for JSON.

        >>> SpanLabelScores(sentences=4, same_trees=2).to_dict()["tree_match"]
        50.0
        """
        return BracketCounts.to_dict(self) | {
            "exact_match": self.exact_match,
            "well_formedness": self.well_formedness,
            "tree_match": self.tree_match,
        }

    def __str__(self) -> str:
        figures = {
            "precision": self.precision,
            "recall": self.recall,
            "F1": self.f1,
            "exact": self.exact_match,
            "well-formed": self.well_formedness,
            "tree match": self.tree_match,
        }
        listed = ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
        return f"spans with a likely label: {listed}"


def evaluate_span_labels(
    gold: Sequence[Tree], marginals: Iterable[MarginalTable], threshold: float = 0.5
) -> SpanLabelScores:
    """Score the labels of spans that are more probable than a threshold, before any search.

    Nothing makes these spans a tree: two may cross. All phrases but the root count.

    ``gold``: the gold trees.
    ``marginals``: the marginals of the parses of their sentences, as in ``Parse.marginals``.

    >>> from lpcfg.parsing.marginals import marginal_table
    >>> gold = Tree.from_string("(S (NP (DT the) (NN rain)) (VBD fell))")
    >>> table = marginal_table([0, 1], [2, 3], ["NP", "VP"], [0.9, 0.6], [False, False])
    >>> scores = evaluate_span_labels([gold], [table])
    >>> scores.precision, scores.recall, scores.well_formedness
    (50.0, 100.0, 0.0)
    """
    scores = SpanLabelScores()
    tables = list(marginals)
    if len(tables) != len(gold):
        raise InputError(
            f"there are {len(gold)} gold trees and the marginals of {len(tables)} sentences",
            argument="marginals",
        )
    for tree, table in zip(gold, tables, strict=True):
        length = len(tree.words())
        true = Counter(tree.spans()[1:])
        found = Counter(
            (label, start, end)
            for start, end, label, probability, preterminal in table.tolist()
            if probability > threshold
            and not preterminal
            and (label, start, end) != (tree.label, 0, length)
        )
        spans = sorted({span[1:] for span in found})
        formed = not any(a < c < b < d for a, b in spans for c, d in spans)
        scores += SpanLabelScores(
            matched=(found & true).total(),
            gold=true.total(),
            predicted=found.total(),
            sentences=1,
            exact=int(found == true),
            well_formed=int(formed),
            same_trees=int({span[1:] for span in true} == set(spans)),
        )
    return scores
