"""Whose sentence is parsed next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

__all__ = ["Share", "Turns"]


@dataclass(eq=False)
class Share:
    """The seconds that a request has had of the threads, or has missed by coming later."""

    used: float | None = None


@dataclass(eq=False)
class _Waiting:
    start: float
    long: bool
    turn: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """Threads that requests share fairly, whatever their sentences cost.

    Fair queueing (Demers, Keshav and Shenker 1989): the next thread goes to the request that has
    used the least time. A new request begins with what it would have had as one of those that are
    there, so none is kept from its turn by newer ones. A sentence is not interrupted, so long ones
    never have all threads, if there are several.
    """

    def __init__(self, threads: int) -> None:
        self._threads = self._free = threads
        self._free_for_long = max(1, threads - 1)
        self._waiting: list[_Waiting] = []
        # The time that a request has had that was always there and always had the same as others.
        self._clock = 0.0

    @asynccontextmanager
    async def turn(self, share: Share, *, long: bool = False) -> AsyncIterator[None]:
        """Wait for a thread; what is done with it counts for the share."""
        waiting = _Waiting(self._clock if share.used is None else share.used, long)
        self._waiting.append(waiting)
        self._next()
        try:
            await waiting.turn.wait()
            started = anyio.current_time()
            try:
                yield
            finally:
                seconds = anyio.current_time() - started
                share.used = waiting.start + seconds
                present = self._threads - self._free + len(self._waiting)
                self._clock += seconds / present
        finally:
            if waiting in self._waiting:
                # The client has gone before its turn.
                self._waiting.remove(waiting)
            else:
                self._free += 1
                self._free_for_long += long
            # Not before the request had the chance to ask for its next turn.
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        """Give free threads to those that have waited for them."""
        while self._free:
            able = [one for one in self._waiting if not one.long or self._free_for_long]
            if not able:
                return
            # The first of equals, because the list is in the order of arrival.
            chosen = min(able, key=lambda one: one.start)
            self._waiting.remove(chosen)
            self._free -= 1
            self._free_for_long -= chosen.long
            chosen.turn.set()
