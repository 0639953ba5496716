"""The tables of a comparison, as rows of cells for the terminal and for HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lpcfg.evaluation._score_table import aligned
from lpcfg.evaluation.counts import BracketCounts

if TYPE_CHECKING:
    from lpcfg.evaluation.comparison import Comparison

__all__ = ["Rows", "comparison_tables", "comparison_text"]

Rows = list[tuple[str, ...]]
#: Labels below this share of all gold brackets are left out of the table of labels.
_RARE = 0.002


def comparison_tables(comparison: Comparison) -> Iterator[tuple[str, Rows]]:
    """The title and the rows of each table; the first row is the heading."""
    names = tuple(comparison.scores)
    scores = comparison.scores.values()
    yield (
        "Scores",
        [
            ("", "precision", "recall", "F1", "exact", "tags", "EVALB F1", "failed"),
            *(
                (
                    name,
                    *_figures(found.precision, found.recall, found.f1, found.exact_match),
                    *_figures(found.tag_accuracy, found.evalb.f1),
                    str(len(found.failures)),
                )
                for name, found in comparison.scores.items()
            ),
        ],
    )
    if comparison.significance:
        yield (
            "Difference in F1",
            [
                ("", "difference", "95 % interval", "p (bootstrap)", "p (randomization)"),
                *(
                    (
                        f"{second} - {first}",
                        f"{found.difference:+.2f}",
                        f"{found.interval[0]:+.2f} to {found.interval[1]:+.2f}",
                        f"{found.bootstrap:.2g}",
                        f"{found.randomization:.2g}",
                    )
                    for (first, second), found in comparison.significance.items()
                ),
            ],
        )
    classes = sorted(
        {name for found in comparison.errors.values() for name in found},
        key=lambda name: (-sum(found[name] for found in comparison.errors.values()), name),
    )
    yield (
        "Wrong brackets by class of error",
        [
            ("", *names),
            *(
                (name, *(str(found[name]) for found in comparison.errors.values()))
                for name in classes
            ),
        ],
    )
    lengths = list(dict.fromkeys(length for found in scores for length in found.by_length))
    yield (
        "F1 by number of words",
        [
            ("", "sentences", *names),
            *(
                (
                    length,
                    str(next(iter(scores)).by_length[length].sentences),
                    *_figures(*(found.by_length[length].f1 for found in scores)),
                )
                for length in lengths
            ),
        ],
    )
    yield "F1 by label", [("", "gold", *names), *_label_rows(comparison)]
    if comparison.by_group:
        yield (
            "F1 by group",
            [
                ("", "gold", *names),
                *(
                    (
                        group,
                        str(next(iter(rows.values())).gold),
                        *_figures(*(counts.f1 for counts in rows.values())),
                    )
                    for group, rows in comparison.by_group.items()
                ),
            ],
        )


def _label_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    tables = [found.by_label for found in comparison.scores.values()]
    gold: dict[str, int] = {}
    for table in tables:
        gold |= {label: counts.gold for label, counts in table.items() if counts.gold}
    total = sum(gold.values())
    for label, count in sorted(gold.items(), key=lambda item: (-item[1], item[0])):
        if count >= _RARE * total:
            figures = _figures(*(table.get(label, BracketCounts()).f1 for table in tables))
            yield (label or "(none)", str(count), *figures)


def comparison_text(comparison: Comparison) -> str:
    """All tables, with their titles above them."""
    return "\n\n".join(f"{title}\n{aligned(rows)}" for title, rows in comparison_tables(comparison))


def _figures(*values: float) -> list[str]:
    return [f"{value:.2f}" for value in values]
