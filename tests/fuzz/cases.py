"""Cases: one run of a target, determined by the name of the target, a seed and a number."""

import contextlib
import random
import traceback
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

#: The largest number of characters of the message of a finding.
LONGEST = 1500


class Target(Protocol):
    """What is fuzzed. ``unit`` is what its cases count, in the plural."""

    unit: str

    def run(self, draw: random.Random) -> int:
        """Run a case and return how many units it had; raise an exception if it finds a bug."""


@dataclass(frozen=True)
class Finding:
    """A broken invariant, with what is needed to see it again."""

    target: str
    seed: int
    case: int
    problem: str
    place: str

    @property
    def command(self) -> str:
        return f"make soak SOAK_ONLY={self.target} SOAK_SEED={self.seed} SOAK_CASE={self.case}"

    def to_json(self):
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.problem}\n  at {self.place}\n  again: {self.command}"


def run_case(target: Target, name: str, seed: int, case: int) -> tuple[int, Finding | None]:
    """Run one case: the number of its units, and what it found."""
    draw = random.Random(f"{name} {seed} {case}")
    try:
        with warnings.catch_warnings():
            # What users would see on their terminals is a finding as well.
            warnings.simplefilter("error")
            return target.run(draw), None
    except Exception as error:
        return 0, Finding(name, seed, case, _problem(error), _place(error))


def _problem(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    for note in getattr(error, "__notes__", ()):
        text += f"\n  {note}"
    # Findings may quote what cannot be written, such as halves of surrogate pairs.
    return text[:LONGEST].encode(errors="backslashreplace").decode()


def _place(error: BaseException) -> str:
    """The last lines of the traceback, from the target to what raised the error."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames[-4:]))


@contextlib.contextmanager
def about(*what):
    """Add the input to an error, so that a finding shows it."""
    try:
        yield
    except Exception as error:
        error.add_note(" ".join(f"{part!r:.400}" for part in what))
        raise
