"""Pieces of HTML for notebooks: no style rules, so that the page around them stays as it is."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["caption", "drawing", "table"]


def caption(text: str) -> str:
    """A line of text above a table or a drawing.

    >>> caption("a < b")
    '<div>a &lt; b</div>'
    """
    return f"<div>{html.escape(text)}</div>"


def table(rows: Iterable[Sequence[object]], heading: Sequence[str] = ()) -> str:
    """A table; the first cell of a row is its name.

    >>> table([("F1", 88.2)], heading=("", "all"))
    '<table><tr><th></th><th>all</th></tr><tr><th style="text-align:left">F1</th><td>88.2...'
    """
    parts = []
    if heading:
        parts.append("<tr>" + "".join(f"<th>{_cell(cell)}</th>" for cell in heading) + "</tr>")
    for name, *cells in rows:
        others = "".join(f"<td>{_cell(cell)}</td>" for cell in cells)
        parts.append(f'<tr><th style="text-align:left">{_cell(name)}</th>{others}</tr>')
    return f"<table>{''.join(parts)}</table>"


def drawing(svg: str) -> str:
    """A picture that scrolls if it is wider than the page.

    >>> drawing("<svg/>")
    '<div style="overflow-x:auto"><svg/></div>'
    """
    return f'<div style="overflow-x:auto">{svg}</div>'


def _cell(value: object) -> str:
    return html.escape(str(value))
