"""Tables and plots of what trials have found."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from lpcfg.trials import Row

__all__ = ["draw_rows", "table_lines"]


def table_lines(rows: Sequence[Row]) -> list[str]:
    """The lines of a table in Markdown: names of columns, a rule, and a line for each row.

    >>> for line in table_lines([{"trees": 2_000, "F1": 81.234}, {"trees": 4_000, "F1": 83.0}]):
    ...     print(line)
    | trees | F1 |
    | --- | --- |
    | 2,000 | 81.23 |
    | 4,000 | 83.00 |
    """
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [[_shown(value) for value in row.values()] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def draw_rows(
    rows: Sequence[Row],
    path: str | PathLike[str],
    *,
    across: str,
    up: Sequence[str],
    lines: str | None = None,
    logarithmic: Sequence[str] = (),
) -> None:
    """Draw columns against another one, side by side, with a line for each value of ``lines``.

    ``logarithmic``: columns whose axes are. This needs matplotlib.
    """
    import matplotlib as mpl

    # Text stays text, and the same figures give the same file.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lpcfg", "font.size": 11}
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * len(up), 3.6), layout="constrained")
    panels = figure.subplots(1, len(up), squeeze=False)[0]
    for panel, column in zip(panels, up, strict=True):
        for name in dict.fromkeys(row[lines] if lines else None for row in rows):
            own = [row for row in rows if lines is None or row[lines] == name]
            points: list[list[Any]] = [[row[axis] for row in own] for axis in (across, column)]
            panel.plot(*points, "o-", label=name)
        panel.set(xlabel=across, title=column)
        panel.set_xscale("log" if across in logarithmic else panel.get_xscale())
        panel.set_yscale("log" if column in logarithmic else panel.get_yscale())
        panel.grid(alpha=0.3)
    if lines:
        panels[0].legend()
    figure.savefig(path, metadata={"Date": None})
