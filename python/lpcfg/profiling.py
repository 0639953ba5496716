"""Where the time and the memory of training and parsing go, by phase."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

__all__ = ["PhaseCost", "Profile", "active_profile", "phase"]

#: The phase of everything that is in no other phase.
OTHER = "other"


@dataclass
class PhaseCost:
    """The cost of a phase, without the phases within it.

    >>> PhaseCost(cpu=1.5, wall=0.8).cpu
    1.5
    """

    cpu: float = 0.0
    """CPU seconds, summed over all threads."""
    wall: float = 0.0
    """Seconds of wall time."""
    peak: int | None = None
    """The most bytes of memory that the process had used at the end of the phase, if known."""


class Profile:
    """Measures what is done in a ``with`` statement, by phase.

    Phases follow one another or are nested; a nested phase is not counted in the outer one, so the
    costs of all phases sum to the cost of the whole.

    >>> from lpcfg import PCFGEstimator, Parser, embedded_trees
    >>> with Profile() as profile:
    ...     grammar = PCFGEstimator().fit(embedded_trees()).grammar_
    ...     tree = Parser(grammar).parse(words="The dog saw him .".split())
    >>> "PCFG pass" in profile.phases
    True
    >>> print(profile)  # doctest: +ELLIPSIS
                                CPU s      %   wall s  peak MB
    ...
    """

    def __init__(self) -> None:
        self.phases: dict[str, PhaseCost] = {}
        #: CPU seconds that were saved because charts were taken from a :class:`~lpcfg.ChartCache`.
        self.reused = 0.0
        self._open: list[str] = []
        self._token: Token[Profile | None] | None = None
        self._since = (0.0, 0.0)

    def __enter__(self) -> Self:
        self._token = _ACTIVE.set(self)
        self._open = [OTHER]
        self._since = _clocks()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._charge()
        self._open = []
        if self._token is not None:
            _ACTIVE.reset(self._token)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count what is done in a ``with`` statement for a phase.

        ``name``: the name of the phase; phases of the same name are added up.

        >>> with Profile() as profile, profile.phase("adding"):
        ...     total = sum(range(1000))
        >>> list(profile.phases)
        ['other', 'adding']
        """
        self._charge()
        self._open.append(name)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def move(self, times: Mapping[str, float]) -> None:
        """Move CPU seconds from the current phase to others, for work that was measured elsewhere.

        ``times``: by the name of a phase, the seconds to move there.

        >>> with Profile() as profile:
        ...     profile.move({"latent passes": 0.25})
        >>> profile.phases["latent passes"].cpu
        0.25
        """
        self._charge()
        current = self.phases[self._open[-1]]
        whole = current.cpu
        for name, seconds in times.items():
            cost = self.phases.setdefault(name, PhaseCost())
            cost.cpu += seconds
            current.cpu -= seconds
            # Threads work on all phases at once, so wall time is divided like CPU time.
            wall = current.wall * min(1.0, seconds / whole) if whole > 0 else 0.0
            cost.wall += wall
            current.wall -= wall
            whole -= seconds
            cost.peak = current.peak

    def _charge(self) -> None:
        """Count the time since the last call for the current phase."""
        cpu, wall = _clocks()
        cost = self.phases.setdefault(self._open[-1], PhaseCost())
        cost.cpu += cpu - self._since[0]
        cost.wall += wall - self._since[1]
        cost.peak = _peak_memory()
        self._since = cpu, wall

    @property
    def total(self) -> PhaseCost:
        """The cost of the whole.

        >>> with Profile() as profile:
        ...     pass
        >>> profile.total.cpu == profile.phases["other"].cpu
        True
        """
        costs = self.phases.values()
        peaks = [cost.peak for cost in costs if cost.peak is not None]
        return PhaseCost(
            sum(cost.cpu for cost in costs),
            sum(cost.wall for cost in costs),
            max(peaks, default=None),
        )

    def to_dict(self) -> dict[str, Any]:
        """The costs by phase, ready for JSON.

        >>> with Profile() as profile:
        ...     pass
        >>> list(profile.to_dict()["other"])
        ['cpu_seconds', 'wall_seconds', 'peak_bytes']
        """
        return {
            name: {"cpu_seconds": cost.cpu, "wall_seconds": cost.wall, "peak_bytes": cost.peak}
            for name, cost in self.phases.items()
        }

    def __str__(self) -> str:
        total = self.total
        rows = [*self._ordered(), ("total", total)]
        lines = [f"{'':24}{'CPU s':>9}{'%':>7}{'wall s':>9}{'peak MB':>9}"]
        for name, cost in rows:
            share = 100 * cost.cpu / total.cpu if total.cpu else 0.0
            peak = "" if cost.peak is None else f"{cost.peak / 1e6:.0f}"
            lines.append(f"{name:24}{cost.cpu:9.3f}{share:7.1f}{cost.wall:9.3f}{peak:>9}")
        return "\n".join(lines)

    def _ordered(self) -> list[tuple[str, PhaseCost]]:
        """Phases in the order in which they began, the others last."""
        return sorted(self.phases.items(), key=lambda item: item[0] == OTHER)


_ACTIVE: ContextVar[Profile | None] = ContextVar("profile", default=None)
_NO_PHASE = nullcontext()


def active_profile() -> Profile | None:
    """The profile of the innermost ``with`` statement that we are in, if any.

    >>> active_profile() is None
    True
    """
    return _ACTIVE.get()


def phase(name: str) -> AbstractContextManager[None]:
    """Count what is done in a ``with`` statement for a phase of the active profile, if any.

    >>> with phase("nothing is measured"):
    ...     pass
    """
    profile = _ACTIVE.get()
    return _NO_PHASE if profile is None else profile.phase(name)


def _clocks() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # Windows has no such module.
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
