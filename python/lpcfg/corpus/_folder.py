"""The folder of a parsed corpus: its plan, its parts, their records and the manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lpcfg.corpus._part import FinishedPart
from lpcfg.corpus._plan import Part, Plan
from lpcfg.corpus.report import CorpusReport
from lpcfg.errors import InputError
from lpcfg.io.replacing import replacing

__all__ = ["CorpusFolder"]

#: The names of files that are being written; see :func:`lpcfg.io.replacing.replacing`.
_UNFINISHED = ".lpcfg-*.tmp*"


@dataclass(frozen=True)
class CorpusFolder:
    """A folder with ``plan.json``, ``parts/``, their records in ``done/``, and ``manifest.json``.

    A file is written under a temporary name and renamed, and the record of a part after the part.
    So what has its final name is whole, whenever a run is killed.
    """

    path: Path
    suffix: str

    @property
    def plan(self) -> Path:
        """The file of the plan."""
        return self.path / "plan.json"

    @property
    def manifest(self) -> Path:
        """The file of the manifest, which exists once all parts are finished."""
        return self.path / "manifest.json"

    def part(self, number: int) -> Path:
        """The file of a part."""
        return self.path / "parts" / f"{number:07}{self.suffix}"

    def _record(self, number: int) -> Path:
        return self.path / "done" / f"{number:07}.json"

    def check_new(self) -> None:
        """Raise an InputError if the folder has other files, which would be mixed with parts."""
        others = [self.path] if self.path.exists() and not self.path.is_dir() else []
        if self.path.is_dir():
            # Another job of an array may have just begun.
            begun = {"parts", "done", *(path.name for path in self._unfinished())}
            others = [path for path in self.path.iterdir() if path.name not in begun]
        if others:
            raise InputError(
                f"there is something already, {others[0].name}, but no plan of a corpus; name a "
                "new folder",
                path=self.path,
            )

    def begin(self, plan: Plan) -> None:
        """Make the folder and write the plan.

        Several jobs may do this at once: all of them write the same.
        """
        for folder in ("parts", "done"):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        _write(self.plan, plan.to_json().encode())

    def store(self, finished: FinishedPart) -> None:
        """Write a part, then its record."""
        assert finished.data is not None
        _write(self.part(finished.number), finished.data)
        _write(self._record(finished.number), _json(finished.record))

    def record(self, part: Part) -> dict[str, Any] | None:
        """The record of a part; None unless it is finished and its file has the recorded size."""
        try:
            record: dict[str, Any] = json.loads(self._record(part.number).read_bytes())
            size = self.part(part.number).stat().st_size
        except (FileNotFoundError, ValueError):
            return None
        return record if size == record.get("bytes") else None

    def finish(self, plan: Plan, records: list[dict[str, Any]]) -> None:
        """Write the manifest of a corpus all of whose parts are finished.

        It depends on nothing but the corpus and the settings.
        """
        for stale in self._unfinished():
            stale.unlink(missing_ok=True)
        parts = [
            {"part": self.part(number).relative_to(self.path).as_posix(), **record}
            for number, record in enumerate(records)
        ]
        report = asdict(CorpusReport.of(len(plan.parts), records))
        document = {**json.loads(plan.to_json()), "totals": report, "parts": parts}
        _write(self.manifest, _json(document))

    def _unfinished(self) -> Iterator[Path]:
        """Files that were being written when a run was killed."""
        for folder in (self.path, self.path / "parts", self.path / "done"):
            yield from folder.glob(_UNFINISHED)


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(data)
