"""What one request may ask for, so that no request keeps others waiting for long."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from lpcfg._options import check_positive

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """The limits of the server.

    Parameters
    ----------
    characters : int
        The largest number of characters of the text of a request (default 20,000).
    sentences : int
        The largest number of sentences that are parsed; the rest is left out, and the answer says
        so (default 20).
    words : int
        The largest number of words of a sentence; longer ones are left out, and the answer says so
        (default 120). Time grows with the cube of this.
    candidates : int
        The largest number of best trees of a sentence (default 20).
    seconds : int
        The time after which no further sentence of a request is parsed (default 20).
    requests : int
        The largest number of requests that are answered at the same time; further ones are refused
        with status 429 (default 32).
    body_seconds : int
        The time in which a client must send its request (default 10).
    connections : int
        The largest number of open connections; the oldest without a request is closed for a new one
        (default 256).

    Examples
    --------
    >>> Limits(words=60).words
    60
    >>> Limits(words=0)
    Traceback (most recent call last):
    lpcfg.errors.InputError: words: must be an integer from 1 to 1000000000, not 0

    """

    characters: int = 20_000
    sentences: int = 20
    words: int = 120
    candidates: int = 20
    seconds: int = 20
    requests: int = 32
    body_seconds: int = 10
    connections: int = 256

    def __post_init__(self) -> None:
        for field in fields(self):
            check_positive(field.name, getattr(self, field.name))

    @property
    def body_bytes(self) -> int:
        """The largest number of bytes of a request: any text within the limit, escaped as JSON.

        >>> Limits(characters=100).body_bytes
        5296
        """
        return 12 * self.characters + 4096

    def as_json(self) -> dict[str, int]:
        """The limits by name.

        >>> Limits().as_json()["candidates"]
        20
        """
        return asdict(self)
