"""Protection of the server and of its page, for every request."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Protection"]

_HEADERS = {
    # The page loads its own scripts, styles and data, and images that it draws; nothing else.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


class Protection:
    """Refuse requests for other hosts, and add security headers to all answers.

    A page elsewhere whose name is made to point to this machine sends its own name as the host, and
    is refused (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        host = _without_port(Headers(scope=scope).get("host", ""))
        if "*" in self.hosts or host in self.hosts:
            await self.app(scope, receive, send_protected)
            return
        message = f"the host {host[:80]!r} is not allowed; lpcfg serve --allowed-host allows it"
        await JSONResponse({"error": message}, 421)(scope, receive, send_protected)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).strip("[]").lower()
