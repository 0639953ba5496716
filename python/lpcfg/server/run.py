"""Run the server until it is told to stop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import uvicorn

from lpcfg.server._connections import connection_class
from lpcfg.server.app import LOOPBACK, create_app
from lpcfg.server.limits import Limits
from lpcfg.server.model import ServedModel

__all__ = ["serve"]

#: The size of the longest header of a request.
_HEADER_BYTES = 16 << 10
#: Connections without a request are closed after this time.
_IDLE_SECONDS = 5


def serve(
    models: Sequence[ServedModel],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    allowed_hosts: Collection[str] = (),
    workers: int = 1,
    started: Callable[[str], None] = print,
) -> None:
    """Serve until SIGINT or SIGTERM; requests that have begun are answered first.

    Parameters
    ----------
    models, workers
        As for :func:`~lpcfg.server.app.create_app`.
    host : str
        The address to listen on (default: that of the loopback interface, which other machines
        cannot reach).
    port : int
        The port (default 8000), 0 for any free one.
    limits : Limits, optional
        What a request may ask for.
    allowed_hosts : collection of str
        Names of this machine that requests may use, beside ``host`` and those of the loopback
        interface.
    started : callable
        Called with the address of the page as soon as it can be opened.

    Examples
    --------
    >>> serve([], host="192.0.2.1")
    Traceback (most recent call last):
    OSError: [Errno 99] Cannot assign requested address...

    """
    limits = limits or Limits()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=512) as listener:
        app = create_app(
            models, limits=limits, hosts={*LOOPBACK, host, *allowed_hosts}, workers=workers
        )
        config = uvicorn.Config(
            app,
            http=connection_class(limits.body_seconds, limits.connections),
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=_HEADER_BYTES,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=limits.seconds,
        )
        shown = f"[{host}]" if ":" in host else host
        started(f"http://{shown}:{listener.getsockname()[1]}/")
        _Server(config).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server for which a signal to stop is no error: uvicorn's raises it again at the end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
