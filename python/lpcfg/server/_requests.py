"""Requests: their bodies, read within limits and checked, and refusals."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any, Self

from starlette.requests import ClientDisconnect, Request

from lpcfg.server.limits import Limits

__all__ = ["ParseRequest", "RefusalError", "read_document"]


#: A client that sends more than this is disconnected.
_MOST_IGNORED_BYTES = 64 << 20

_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


class RefusalError(Exception):
    """A request that is not answered: the HTTP status, and a message for the client."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


async def read_document(request: Request, limits: Limits) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        # Pages of other sites cannot send this type without asking first.
        raise RefusalError(415, "the body must be JSON, with the content type application/json")
    body = bytearray()
    size = 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for chunk in request.stream():
                size += len(chunk)
                # The rest is read but not kept: a client that still sends would miss the refusal.
                if size <= limits.body_bytes:
                    body += chunk
                elif size > _MOST_IGNORED_BYTES:
                    break
    except TimeoutError:
        message = f"the body did not arrive within {limits.body_seconds} seconds"
        raise RefusalError(408, message) from None
    except ClientDisconnect:
        raise RefusalError(400, "the client closed the connection") from None
    if size > limits.body_bytes:
        raise RefusalError(413, f"the body has more than {limits.body_bytes} bytes")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusalError(400, "the body is not valid JSON in UTF-8") from None
    if not isinstance(document, dict):
        raise RefusalError(400, "the body must be a JSON object")
    return document


@dataclass(frozen=True)
class ParseRequest:
    """What a client asks for; the fields are described in ``docs/serve.md``."""

    text: str
    model: str | None
    language: str
    candidates: int
    chart: bool
    states: bool

    @classmethod
    def from_document(cls, document: dict[str, Any], limits: Limits) -> Self:
        """Check the fields of a document."""
        defaults = {
            "text": "",
            "model": None,
            "language": "en",
            "candidates": 1,
            "chart": False,
            "states": False,
        }
        for name in document:
            if name not in defaults:
                known = ", ".join(defaults)
                raise RefusalError(400, f"there is no field {name[:40]!r}; there are {known}")
        values: dict[str, Any] = defaults | document
        for name, expected in (
            ("text", str),
            ("model", str | None),
            ("language", str),
            ("candidates", int),
            ("chart", bool),
            ("states", bool),
        ):
            if not isinstance(values[name], expected) or (
                expected is int and isinstance(values[name], bool)
            ):
                raise RefusalError(400, f"the field {name} has the wrong type")
        if not values["text"].strip():
            raise RefusalError(400, "the field text is missing or empty")
        if len(values["text"]) > limits.characters:
            message = f"the text has {len(values['text'])} characters, the limit is "
            raise RefusalError(413, f"{message}{limits.characters}")
        if _NOT_TEXT.search(values["text"]):
            raise RefusalError(400, "the text has a NUL or half of a surrogate pair")
        if not 1 <= values["candidates"] <= limits.candidates:
            raise RefusalError(400, f"candidates must be from 1 to {limits.candidates}")
        return cls(**values)
