"""Trials of experiments: results are stored in a file, so that no trial is run twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from lpcfg.errors import InputError
from lpcfg.estimators.parameters import Parameterized

__all__ = ["Row", "Trial", "digest", "run_trials"]

Row = dict[str, Any]


class Trial(NamedTuple):
    """A measurement of an experiment, which becomes a row of a table.

    ``settings``: the settings that distinguish it from other trials, for the first columns.
    ``inputs``: a :func:`digest` of everything else that the result depends on.
    ``measure``: computes the other columns.
    """

    settings: Mapping[str, Any]
    inputs: str
    measure: Callable[[], Mapping[str, Any]]


def digest(*inputs: object) -> str:
    """A short hash of the inputs, the same for equal inputs in every process.

    Parameters of estimators are included if they can change the result. Fields of other dataclasses
    are included, except functions (such as progress bars) and ``n_jobs``.

    >>> digest("a", {1, 2}) == digest("a", {2, 1}) != digest("a", {1})
    True
    """
    return hashlib.sha256(json.dumps(_plain(inputs)).encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    """The value as lists of strings, in an order that does not depend on hashes."""
    if isinstance(value, Parameterized):
        declared = value.parameters()
        recorded = {
            name: getattr(value, name) for name, each in declared.items() if each.provenance
        }
        return [type(value).__name__, _plain(recorded)]
    if is_dataclass(value):
        values = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        kept = {n: v for n, v in values.items() if not callable(v) and n != "n_jobs"}
        return [type(value).__name__, _plain(kept)]
    if isinstance(value, Mapping):
        return sorted([str(name), _plain(item)] for name, item in value.items())
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return repr(value)


def run_trials(trials: Iterable[Trial], path: str | PathLike[str]) -> Iterator[Row]:
    """Run trials, and yield a row of a table for each, as soon as it is known.

    The file at ``path`` has a line of JSON for each trial that was run, now or before; trials with
    the same settings and inputs are not run again.

    >>> import tempfile
    >>> trial = Trial({"dice": 2}, digest("no input"), lambda: print("rolling") or {"mean": 7})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         print(*run_trials([trial], Path(folder, "dice.jsonl")))
    rolling
    {'dice': 2, 'mean': 7}
    {'dice': 2, 'mean': 7}
    """
    path = Path(path)
    lines = _read(path)
    for trial in trials:
        name = _name(trial.settings, trial.inputs)
        if name not in lines:
            line = {"settings": trial.settings, "inputs": trial.inputs, "found": trial.measure()}
            # The row has the same types as if it had been read from the file.
            lines[name] = json.loads(json.dumps(line))
            _write(path, lines.values())
        yield {**lines[name]["settings"], **lines[name]["found"]}


def _name(settings: Mapping[str, Any], inputs: str) -> str:
    return json.dumps([settings, inputs], sort_keys=True)


def _read(path: Path) -> dict[str, Row]:
    lines: dict[str, Row] = {}
    if not path.exists():
        return lines
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            line = json.loads(text)
            lines[_name(line["settings"], line["inputs"])] = line
            line["found"].items()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}:{number}: this is not the result of a trial ({error!r}); "
                "remove the line, or name another folder"
            ) from error
    return lines


def _write(path: Path, lines: Iterable[Row]) -> None:
    """Replace the file atomically, so that it never has an incomplete line."""
    new = path.with_name(f".{path.name}.new")
    new.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    new.replace(path)
