"""The report of a comparison: one HTML file with tables and drawings, and nothing to load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING

from lpcfg.evaluation._comparison_tables import Rows, comparison_tables
from lpcfg.evaluation.bracketing import Bracketing, Scorable, phrase_label
from lpcfg.evaluation.evalb_parameters import EvalbParameters
from lpcfg.evaluation.strict import ROOT_LABELS
from lpcfg.treebank.tree import Tree

if TYPE_CHECKING:
    from lpcfg.evaluation.comparison import Comparison

__all__ = ["comparison_html"]

_STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 2rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.8rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
tbody th { font-weight: normal; }
.trees { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
figure { margin: 0; max-width: 100%; }
.wide { overflow-x: auto; }
figcaption { font-weight: bold; }
"""


def comparison_html(comparison: Comparison, sentences: int) -> str:
    """The report; ``sentences`` is the number of sentences whose trees are drawn."""
    names = escape(", ".join(comparison.scores))
    numbers = comparison.largest_differences(sentences)
    tables = "\n".join(_table(title, rows) for title, rows in comparison_tables(comparison))
    drawings = "\n".join(_sentence(comparison, number) for number in numbers)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{names}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><h1>Comparison of {names}</h1>\n"
        f"<p>{len(comparison.gold)} sentences. A sentence without a tree counts as zero, and the "
        "root bracket does not count.</p>\n"
        f"{tables}\n<h2>The sentences that differ most</h2>\n"
        "<p>Brackets that the gold tree does not have, and gold brackets that at least one parser "
        f"has missed, are red.</p>\n{drawings}\n</body></html>\n"
    )


def _table(title: str, rows: Rows) -> str:
    heading, *body = rows
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heading)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in body
    )
    return (
        f'<h2>{escape(title)}</h2>\n<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _sentence(comparison: Comparison, number: int) -> str:
    gold = comparison.gold[number]
    predicted = {name: trees[number] for name, trees in comparison.predicted.items()}
    group = f" ({escape(comparison.groups[number])})" if comparison.groups else ""
    words = escape(" ".join(Bracketing.of(gold).words))
    figures = [_figure("gold", gold, list(predicted.values()), comparison)]
    for name, parse in predicted.items():
        score = comparison.scores[name].by_sentence[number]
        figures.append(_figure(f"{name}, F1 {score.f1:.1f}", parse, [gold], comparison))
    return (
        f"<h3>Sentence {number + 1}{group}</h3>\n<p>{words}</p>\n"
        f'<div class="trees">{"".join(figures)}</div>'
    )


def _figure(caption: str, parse: Scorable, others: list[Scorable], comparison: Comparison) -> str:
    fragments = [parse] if isinstance(parse, Tree) else list(parse or ())
    wrong = {
        number for other in others for number in _only_in_first(parse, other, comparison.parameters)
    }
    drawings, start = [], 0
    for fragment in fragments:
        size = sum(1 for _ in fragment.nodes())
        drawings.append(fragment.to_svg(marked={node - start for node in wrong}))
        start += size
    shown = "".join(drawings) or "no tree"
    return (
        f"<figure><figcaption>{escape(caption)}</figcaption>"
        f'<div class="wide">{shown}</div></figure>'
    )


def _only_in_first(first: Scorable, second: Scorable, parameters: EvalbParameters) -> Iterator[int]:
    """The phrases of a parse that another one does not have, by their number in pre-order.

    Punctuation does not count: a phrase with or without the comma behind it is the same.
    """
    remaining = Counter(bracket for _, bracket in _brackets(second, parameters))
    for number, bracket in _brackets(first, parameters):
        if remaining[bracket] > 0:
            remaining[bracket] -= 1
        elif bracket[2] not in ROOT_LABELS and not parameters.deletes_phrase(bracket[2]):
            yield number


def _brackets(
    parse: Scorable, parameters: EvalbParameters
) -> Iterator[tuple[int, tuple[int, int, str]]]:
    bracketing = Bracketing.of(parse)
    kept = [tag not in parameters.delete_labels for tag in bracketing.tags]
    offsets = [0, *accumulate(map(int, kept))]
    classes = parameters.label_classes
    # A phrase comes after the phrases that opened before it and the words to its left.
    for number, label in enumerate(bracketing.labels):
        start, end = bracketing.starts[number], bracketing.ends[number]
        name = phrase_label(label)
        yield number + start, (offsets[start], offsets[end], classes.get(name, name))
