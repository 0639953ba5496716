"""The state of a run, in a folder: how far each target is, and what was found.

The position is in a memory-mapped file, so that it is there even if the process is killed.
"""

import json
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from fuzz.cases import Finding

_LAYOUT = struct.Struct("<QQ")


class Progress:
    """The number of the case that is running, and the units of all cases before it."""

    def __init__(self, folder, target, seed):
        path = Path(folder, f"{target}-{seed}.progress")
        if not path.exists():
            path.write_bytes(_LAYOUT.pack(0, 0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _LAYOUT.size)

    @property
    def case(self):
        return _LAYOUT.unpack_from(self._map)[0]

    @property
    def units(self):
        return _LAYOUT.unpack_from(self._map)[1]

    def advance(self, units):
        _LAYOUT.pack_into(self._map, 0, self.case + 1, self.units + units)


class Findings:
    """The findings of all runs, one JSON object a line."""

    def __init__(self, folder):
        self.path = Path(folder, "findings.jsonl")

    def add(self, finding):
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(finding.to_json()) + "\n")

    def __iter__(self):
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                yield Finding(**json.loads(line))

    def kinds(self):
        """Findings with the same place and kind of error as one, with their number."""
        kinds = {}
        for finding in self:
            first = finding.problem.partition(":")[0]
            place = finding.place.partition(" < ")[0]
            kinds.setdefault((finding.target, first, place), []).append(finding)
        return [Kind(found[0], len(found)) for found in kinds.values()]


@dataclass(frozen=True)
class Kind:
    """The first finding of a kind, and how many there are."""

    first: Finding
    number: int
