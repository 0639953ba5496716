"""Scores as aligned tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.evalb import EvalbSummary
from lpcfg.evaluation.strict import StrictSummary

__all__ = ["LabelTable", "LengthTable", "aligned", "summary_rows", "summary_table"]


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as aligned lines: the first column to the left, the others to the right.

    >>> print(aligned([("", "F1"), ("NP", "88.24"), ("ADVP", "7.00")]))
             F1
    NP    88.24
    ADVP   7.00
    """
    rows = list(rows)
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = (
        "  ".join(
            [row[0].ljust(first), *(c.rjust(w) for c, w in zip(row[1:], others, strict=True))]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _figures(*percentages: float) -> list[str]:
    return [f"{value:.2f}" for value in percentages]


class LabelTable(dict[str, BracketCounts]):
    """Counts of brackets by label.

    >>> print(LabelTable({"NP": BracketCounts(matched=1, gold=2, predicted=2)}))
    label  gold  predicted  matched  precision  recall     F1
    NP        2          2        1      50.00   50.00  50.00
    """

    def __str__(self) -> str:
        heading = ("label", "gold", "predicted", "matched", "precision", "recall", "F1")
        rows = (
            (
                label or "(none)",
                *map(str, (counts.gold, counts.predicted, counts.matched)),
                *_figures(counts.precision, counts.recall, counts.f1),
            )
            for label, counts in self.items()
        )
        return aligned([heading, *rows])


class LengthTable(dict[str, StrictSummary]):
    """Counts of sentences by their length.

    >>> summary = StrictSummary(matched=1, gold=2, predicted=2, sentences=4, failed=1)
    >>> print(LengthTable({"1-10": summary}))
    words  sentences  failed  precision  recall     F1  unlabelled  exact  tags
    1-10           4       1      50.00   50.00  50.00        0.00   0.00  0.00
    """

    def __str__(self) -> str:
        heading = ("words", "sentences", "failed", "precision", "recall", "F1")
        rows = (
            (
                length,
                str(summary.sentences),
                str(summary.failed),
                *_figures(summary.precision, summary.recall, summary.f1, summary.unlabelled.f1),
                *_figures(summary.exact_match, summary.tag_accuracy),
            )
            for length, summary in self.items()
        )
        return aligned([(*heading, "unlabelled", "exact", "tags"), *rows])


def summary_table(
    total: StrictSummary, evalb: EvalbSummary, short: EvalbSummary, cutoff: int
) -> str:
    """The strict scores, and below them the scores of EVALB.

    >>> print(summary_table(StrictSummary(sentences=1), EvalbSummary(), EvalbSummary(), 40))
                           sentences  precision  recall    F1  exact  tags
    all sentences                  1       0.00    0.00  0.00   0.00  0.00
      without labels               1       0.00    0.00  0.00
    EVALB                          0       0.00    0.00  0.00   0.00  0.00
    EVALB, up to 40 words          0       0.00    0.00  0.00   0.00  0.00
    """
    return aligned(summary_rows(total, evalb, short, cutoff))


def summary_rows(
    total: StrictSummary, evalb: EvalbSummary, short: EvalbSummary, cutoff: int
) -> list[tuple[str, ...]]:
    """The cells of :func:`summary_table`, its heading first.

    >>> summary_rows(StrictSummary(sentences=1), EvalbSummary(), EvalbSummary(), 40)[1][:2]
    ('all sentences', '1')
    """

    def row(
        name: str, sentences: int, counts: BracketCounts, sentence_figures: Sequence[str]
    ) -> tuple[str, ...]:
        figures = _figures(counts.precision, counts.recall, counts.f1)
        return (name, str(sentences), *figures, *sentence_figures)

    def evalb_row(name: str, summary: EvalbSummary) -> tuple[str, ...]:
        sentence_figures = _figures(summary.exact_match, summary.tag_accuracy)
        return row(name, summary.valid, summary, sentence_figures)

    figures = _figures(total.exact_match, total.tag_accuracy)
    return [
        ("", "sentences", "precision", "recall", "F1", "exact", "tags"),
        row("all sentences", total.sentences, total, figures),
        row("  without labels", total.sentences, total.unlabelled, ("", "")),
        evalb_row("EVALB", evalb),
        evalb_row(f"EVALB, up to {cutoff} words", short),
    ]
