"""The plan of a corpus: its settings, its files, and the parts into which these are divided."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lpcfg._threads import thread_count
from lpcfg.corpus._files import CorpusFile, open_text, survey_file
from lpcfg.errors import InputError

__all__ = ["Part", "PartText", "Plan", "read_parts"]

_VERSION = 1


class Part(NamedTuple):
    """Consecutive lines of one file: ``number`` counts parts from 0, ``first_line`` from 1."""

    number: int
    file: str
    first_line: int
    lines: int


class PartText(NamedTuple):
    """A part and its text."""

    part: Part
    text: bytes


@dataclass(frozen=True)
class Plan:
    """What is done to a corpus.

    ``settings``: the model's digest and all options that change the output, as JSON values.
    ``files``: the files in their order.
    ``part_lines``: the largest number of lines of a part.

    >>> plan = Plan({}, (CorpusFile("a.txt", 99, 5, ""), CorpusFile("b.txt", 20, 1, "")), 3)
    >>> [part[1:] for part in plan.parts]
    [('a.txt', 1, 3), ('a.txt', 4, 2), ('b.txt', 1, 1)]
    """

    settings: dict[str, Any]
    files: tuple[CorpusFile, ...]
    part_lines: int

    @classmethod
    def make(
        cls, settings: dict[str, Any], names: Sequence[str], part_lines: int, n_jobs: int
    ) -> Plan:
        """Read all files once, to count their lines; ``n_jobs`` is the number of threads."""
        # Decompression and hashing release the interpreter lock.
        with ThreadPoolExecutor(thread_count(n_jobs)) as pool:
            return cls(settings, tuple(pool.map(survey_file, names)), part_lines)

    @classmethod
    def from_json(cls, text: str, path: Path) -> Plan:
        """Read what :meth:`to_json` wrote; ``path`` is for errors."""
        try:
            document = json.loads(text)
            files = tuple(CorpusFile(**file) for file in document["files"])
            plan = cls(document["settings"], files, document["part_lines"])
            version = document["version"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"this is not the plan of a corpus ({error!r}); name another folder", path=path
            ) from error
        if version != _VERSION:
            raise InputError(
                f"written by another version of lpcfg (format {version}, not {_VERSION}); name "
                "another folder",
                path=path,
            )
        return plan

    def to_json(self) -> str:
        """The plan as text."""
        document = {
            "version": _VERSION,
            "settings": self.settings,
            "part_lines": self.part_lines,
            "files": [file._asdict() for file in self.files],
        }
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    def check(
        self, settings: dict[str, Any], names: Sequence[str], part_lines: int, folder: Path
    ) -> None:
        """Raise an InputError if a run with these settings and files cannot go on with this plan.

        >>> plan = Plan({"decoder": "viterbi"}, (), 3)
        >>> plan.check({"decoder": "max-f1"}, [], 3, Path("parsed"))
        Traceback (most recent call last):
        lpcfg.errors.InputError: parsed: was begun with other options: decoder was "viterbi", is
        "max-f1"; use the same options, or name another folder
        """
        before = {**self.settings, "part_lines": self.part_lines}
        now = {**settings, "part_lines": part_lines}
        differences = [
            f"{name} was {json.dumps(before.get(name))}, is {json.dumps(now.get(name))}"
            for name in before | now
            if before.get(name) != now.get(name)
        ]
        if differences:
            raise InputError(
                f"was begun with other options: {'; '.join(differences)}; use the same options, or "
                "name another folder",
                path=folder,
            )
        known = [file.path for file in self.files]
        if known != list(names):
            others = sorted(set(known) ^ set(names)) or known
            raise InputError(
                f"was begun with other files, {len(known)} of them, not {len(names)} (for example "
                f"{others[0]}); use the same files, or name another folder",
                path=folder,
            )
        for file in self.files:
            size = Path(file.path).stat().st_size
            if size != file.bytes:
                raise _changed(file.path, f"it had {file.bytes} bytes, and has {size}")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """All parts, in order."""
        starts = (
            (file, first)
            for file in self.files
            for first in range(1, file.lines + 1, self.part_lines)
        )
        return tuple(
            Part(number, file.path, first, min(self.part_lines, file.lines - first + 1))
            for number, (file, first) in enumerate(starts)
        )

    def shard(self, index: int, count: int) -> tuple[Part, ...]:
        """The parts of shard ``index`` of ``count``, counted from 1.

        They are consecutive, so that a shard reads only a few files.

        >>> plan = Plan({}, (CorpusFile("a.txt", 99, 5, ""),), 1)
        >>> [[part.number for part in plan.shard(index, 2)] for index in (1, 2)]
        [[0, 1], [2, 3, 4]]
        """
        start, end = (len(self.parts) * bound // count for bound in (index - 1, index))
        return self.parts[start:end]


def read_parts(parts: Iterable[Part]) -> Iterator[PartText]:
    """The text of parts that are in the order of their plan; each file is read once."""
    waiting = iter(parts)
    part = next(waiting, None)
    while part is not None:
        name, line = part.file, 1
        with open_text(Path(name)) as stream:
            while part is not None and part.file == name:
                for _ in islice(stream, part.first_line - line):
                    pass
                lines = list(islice(stream, part.lines))
                if len(lines) < part.lines:
                    raise _changed(name, "it has fewer lines")
                line = part.first_line + part.lines
                yield PartText(part, b"".join(lines))
                part = next(waiting, None)


def _changed(name: str, how: str) -> InputError:
    return InputError(
        f"the file has changed since its corpus was begun: {how}; restore it, or parse into "
        "another folder",
        path=name,
    )
