"""Tables and plots of the results of trials."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from lpcfg.experiments.trials import Row
from lpcfg.io.replacing import replacing

__all__ = ["draw_rows", "mean_rows", "table_lines"]


def table_lines(rows: Sequence[Row]) -> list[str]:
    """The lines of a table in Markdown: names of columns, a rule, and a line for each row.

    The cell of a None is empty.

    >>> for line in table_lines([{"trees": 2_000, "F1": 81.234}, {"trees": 4_000, "F1": None}]):
    ...     print(line)
    | trees | F1 |
    | --- | --- |
    | 2,000 | 81.23 |
    | 4,000 |  |
    """
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [[_shown(value) for value in row.values()] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def mean_rows(rows: Sequence[Row], over: str, spread: Sequence[str] = ()) -> list[Row]:
    """The means of rows that differ in the column ``over`` and in what was measured.

    Rows with the same words and integers before ``over`` are one row of the result. For each column
    of ``spread``, the smallest and the largest value follow its mean.

    >>> rows = [{"states": 2, "run": 0, "F1": 80.0}, {"states": 2, "run": 1, "F1": 82.0}]
    >>> mean_rows(rows, "run", spread=["F1"])
    [{'states': 2, 'F1': 81.0, 'F1 from': 80.0, 'F1 to': 82.0}]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        names = list(row)
        settings = names[: names.index(over)]
        groups.setdefault(tuple(row[name] for name in settings), []).append(row)
    result = []
    for group in groups.values():
        names = list(group[0])
        place = names.index(over)
        mean = {name: group[0][name] for name in names[:place]}
        for name in names[place + 1 :]:
            values = [row[name] for row in group]
            mean[name] = None if None in values else sum(values) / len(values)
            if name in spread:
                mean |= {f"{name} from": min(values), f"{name} to": max(values)}
        result.append(mean)
    return result


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


#: What columns are called on the axes of plots, with their units.
_AXES = {
    "F1": "F1 (%)",
    "noise": "kind of noise",
    "sentences / CPU s": "sentences per CPU second",
    "states": "latent states of a symbol",
    "training CPU s": "training time (CPU seconds)",
    "trees": "training trees",
    "unlabelled F1": "unlabelled F1 (%)",
}


def draw_rows(
    rows: Sequence[Row],
    path: str | PathLike[str],
    *,
    across: str,
    up: Sequence[str],
    by: str = "estimator",
    together: bool = False,
    logarithmic: Sequence[str] = (),
) -> None:
    """Plot the columns ``up`` against the column ``across``; the suffix of ``path`` is the format.

    Each column has a panel with a line for each value of the column ``by``; with ``together``, each
    of these values has a panel with a line for each column. Missing values and None are not drawn.
    ``logarithmic``: columns with logarithmic axes. With ``together``, all columns are an F1. This
    needs matplotlib.
    """
    import matplotlib as mpl

    # Text is not converted to paths, and equal figures give equal files.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lpcfg", "font.size": 11}
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    panels: dict[str, dict[str, list[tuple[Any, Any]]]] = {}
    for row in rows:
        for column in (column for column in up if row.get(column) is not None):
            panel, line = (row[by], column) if together else (column, row[by])
            points = panels.setdefault(panel, {}).setdefault(line, [])
            points.append((row[across], row[column]))
    # The legend stands beside the panels.
    longest = max((len(label) for lines in panels.values() for label in lines), default=0)
    legend = max(1.8, 0.7 + 0.09 * longest)
    names = {row[across] for row in rows if isinstance(row[across], str)}
    # Names need more room than numbers.
    width = max(4.5, 0.75 * len(names))
    figure = Figure(figsize=(width * len(panels) + legend, 3.6), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        for label, points in lines.items():
            # Names are not connected by lines.
            style = "o" if isinstance(points[0][0], str) else "o-"
            axis.plot(*zip(*points, strict=True), style, label=label)
        up_label = "F1" if together else title
        axis.set(xlabel=_AXES.get(across, across), ylabel=_AXES.get(up_label, up_label))
        if together:
            axis.set_title(title)
        if across in logarithmic:
            axis.set_xscale("log")
            ticks = sorted({row[across] for row in rows})
            axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        if title in logarithmic:
            axis.set_yscale("log")
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    # Outside the panels, the legend covers no points.
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    with replacing(path) as temporary:
        figure.savefig(temporary, metadata={"Date": None} if temporary.suffix == ".svg" else None)
