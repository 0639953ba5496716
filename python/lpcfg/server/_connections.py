"""Connections that are closed when their clients are too slow or too many."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["connection_class"]


def connection_class(seconds: float, most: int) -> type[H11Protocol]:
    """The protocol of uvicorn, with bounds on what clients can hold.

    ``seconds``: a client that in this time neither completes the header of a request nor takes any
    of its answer is disconnected after at most twice this time.
    ``most``: the largest number of connections; for one more, the oldest one without a request is
    closed, or the new one if there is none.
    """

    class BoundedConnection(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.opened = self.loop.time()
            self.before: tuple[int, Any] | None = None
            self.timer = self.loop.call_later(seconds, self.check)
            if len(self.connections) > most:
                self.make_room()

        def connection_lost(self, exc: Exception | None) -> None:
            self.timer.cancel()
            super().connection_lost(exc)

        @property
        def answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def check(self) -> None:
            """Close the connection if nothing has happened since the last check."""
            unsent = self.transport.get_write_buffer_size()
            now = (unsent, self.cycle)
            waits_for_client = unsent > 0 or not self.answering
            if waits_for_client and now == self.before:
                self.transport.abort()
                return
            self.before = now if waits_for_client else None
            self.timer = self.loop.call_later(seconds, self.check)

        def make_room(self) -> None:
            idle = [
                other
                for other in self.connections
                if isinstance(other, BoundedConnection) and not other.answering
            ]
            min(idle, key=lambda other: other.opened).transport.abort()

    return BoundedConnection
