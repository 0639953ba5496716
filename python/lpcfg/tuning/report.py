"""The table and the pictures of a search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lpcfg.experiments.report import table_lines
from lpcfg.experiments.trials import Row
from lpcfg.io.replacing import replacing, write_text
from lpcfg.tuning.search import Tuning, open_study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from optuna import Study

__all__ = ["importances", "write_report"]

#: What is measured in a trial, beside F1.
MEASURED = ("exact", "parameters", "sentences / CPU s", "training CPU s", "trial CPU s")


def write_report(folder: str | PathLike[str], result: Tuning, *, pictures: bool = True) -> None:
    """Write ``trials.md`` and ``trials.jsonl``, and pictures if there is matplotlib.

    ``history.svg``: F1 by trial. ``importance.svg``: how much of the variance of F1 each parameter
    explains. ``trade_off.svg``: F1 against speed and size.
    """
    folder = Path(folder)
    text = "".join(f"{json.dumps(row)}\n" for row in result.rows)
    write_text(folder / "trials.jsonl", text)
    rows = [_significant(row) for row in result.rows]
    write_text(folder / "trials.md", "".join(f"{line}\n" for line in table_lines(rows)))
    if pictures:
        study = open_study(folder)
        _draw(folder / "history.svg", (6.5, 3.8), 1, lambda axes: _draw_history(study, *axes))
        if shares := importances(study):
            _draw(folder / "importance.svg", (6.5, 3.8), 1, lambda axes: _draw_bars(shares, *axes))
        _draw(
            folder / "trade_off.svg", (9.5, 3.8), 2, lambda axes: _draw_trade_off(result.rows, axes)
        )


def _significant(row: Row) -> Row:
    """A row whose parameters have three significant digits."""
    kept = ("trial", "F1", *MEASURED)
    return {
        name: f"{value:.3g}" if isinstance(value, float) and name not in kept else value
        for name, value in row.items()
    }


def importances(study: Study) -> dict[str, float]:
    """The share of each parameter in the variance of F1, by functional analysis of variance.

    It is empty if there are too few trials, or all have the same F1.
    """
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len({trial.value for trial in complete}) < 2:
        return {}
    evaluator = FanovaImportanceEvaluator(seed=0)
    return get_param_importances(study, evaluator=evaluator)


def _draw(path: Path, size: tuple[float, float], panels: int, draw: Any) -> None:  # noqa: ANN401
    """Draw panels beside each other into a file."""
    import matplotlib as mpl

    # Text is not converted to paths, and equal figures give equal files.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lpcfg", "font.size": 11}
    from matplotlib.figure import Figure

    figure: Figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    draw(axes)
    for axis in axes:
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    with replacing(path) as temporary:
        figure.savefig(temporary, metadata={"Date": None})


def _draw_history(study: Study, axis: Axes) -> None:
    from optuna.trial import TrialState

    trials = study.get_trials(deepcopy=False)
    complete = [(t.number, t.value) for t in trials if t.state == TrialState.COMPLETE]
    stopped = [t.number for t in trials if t.state == TrialState.PRUNED]
    numbers, scores = zip(*complete, strict=True)
    axis.plot(numbers, scores, "o", label="completed")
    if stopped:
        # Their F1 is that of a part of the sentences, which cannot be compared.
        bottom = axis.get_xaxis_transform()
        axis.plot(
            stopped,
            [0.03] * len(stopped),
            "x",
            color="grey",
            transform=bottom,
            label="stopped early",
        )
    axis.step(numbers, list(accumulate(scores, max)), where="post", label="best so far")
    # Bad trials at the start must not flatten all others.
    axis.set_ylim(bottom=max(min(scores), sorted(scores)[len(scores) // 10] - 1))
    axis.set(xlabel="trial", ylabel="F1 (%)")
    axis.legend(loc="lower right")


def _draw_bars(shares: dict[str, float], axis: Axes) -> None:
    names = list(shares)[::-1]
    axis.barh(names, [100 * shares[name] for name in names])
    axis.set(xlabel="share of the variance of F1 (%)", ylabel="parameter")


def _draw_trade_off(rows: Sequence[Row], axes: Sequence[Axes]) -> None:
    """F1 against speed and size, with a line through the trials that no other one beats in both."""
    for axis, column, label, larger_is_better in zip(
        axes,
        ("sentences / CPU s", "parameters"),
        ("sentences per CPU second", "parameters of the model"),
        (True, False),
        strict=True,
    ):
        points = [(row[column], row["F1"]) for row in rows]
        axis.plot(*zip(*points, strict=True), "o", alpha=0.6)
        best: list[tuple[float, float]] = []
        for point in sorted(points, reverse=larger_is_better):
            if not best or point[1] > best[-1][1]:
                best.append(point)
        axis.plot(*zip(*best, strict=True), "-", color="tab:orange")
        axis.set(xlabel=label, ylabel="F1 (%)")
        scores = sorted(score for _, score in points)
        axis.set_ylim(bottom=scores[len(scores) // 10] - 0.5)
        if not larger_is_better:
            axis.set_xscale("log")
