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
from lpcfg.io.replacing import write_text
from lpcfg.jobs import Shared, backend_is_chosen, run_jobs
from lpcfg.parameters.parameterized import Parameterized

__all__ = ["Row", "Trial", "digest", "run_trials"]

Row = dict[str, Any]


class Trial(NamedTuple):
    """A measurement of an experiment, which becomes a row of a table.

    ``settings``: the settings that distinguish it from other trials, for the first columns.
    ``inputs``: a :func:`digest` of everything else that the result depends on.
    ``measure``: computes the other columns.
    ``has_jobs``: whether ``measure`` itself runs jobs on joblib's backend, so that it must not be
    a job.
    """

    settings: Mapping[str, Any]
    inputs: str
    measure: Callable[[], Mapping[str, Any]]
    has_jobs: bool = False


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
    the same settings and inputs are not run again. Inside ``joblib.parallel_config``, trials are
    jobs of its backend, and their results are stored in the order in which they are known.

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
    listed = list(trials)
    missing = {_name(trial): trial for trial in listed if _name(trial) not in lines}
    measured = _measured(list(missing.values()))
    for trial in listed:
        # Jobs end in any order, rows are in the order of trials.
        while _name(trial) not in lines:
            finished, found = next(measured)
            line = {"settings": finished.settings, "inputs": finished.inputs, "found": found}
            # The row has the same types as if it had been read from the file.
            lines[_name(finished)] = json.loads(json.dumps(line))
            write_text(path, "".join(f"{json.dumps(line)}\n" for line in lines.values()))
        stored = lines[_name(trial)]
        yield {**stored["settings"], **stored["found"]}


def _measured(trials: list[Trial]) -> Iterator[tuple[Trial, Mapping[str, Any]]]:
    """Trials and their results, one by one here, or as jobs in any order."""
    jobs = [trial for trial in trials if backend_is_chosen() and not trial.has_jobs]
    if jobs:
        measures = (trial.measure for trial in jobs)
        for number, found in run_jobs(_measure, measures, Shared.of(None)):
            yield jobs[number], found
    yield from ((trial, trial.measure()) for trial in trials if trial not in jobs)


def _measure(_: None, measure: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    return measure()


def _name(trial: Trial) -> str:
    return _key(trial.settings, trial.inputs)


def _key(settings: Mapping[str, Any], inputs: str) -> str:
    return json.dumps([settings, inputs], sort_keys=True)


def _read(path: Path) -> dict[str, Row]:
    """The results of trials by their names; the torn last line of a file is left out."""
    lines: dict[str, Row] = {}
    if not path.exists():
        return lines
    content = path.read_bytes()
    texts = content.splitlines()
    for number, text in enumerate(texts, start=1):
        try:
            line = json.loads(text)
            line["found"].items()
            lines[_key(line["settings"], line["inputs"])] = line
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # Copying the file may have been interrupted within its last line. The trial is run
            # again, and the line replaced.
            if number == len(texts) and not content.endswith(b"\n"):
                break
            raise InputError(
                f"this is not the result of a trial ({error!r}); "
                "remove the line, or name another folder",
                path=path,
                line=number,
            ) from error
    return lines
