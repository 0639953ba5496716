"""Options: built from the JSON of a model file, and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, TypeVar

from lpcfg.errors import InputError

__all__ = ["build_options", "check_positive"]

Options = TypeVar("Options")

#: The largest integer that is allowed as an argument.
_MAX_NUMBER = 10**9


def build_options(kind: Callable[..., Options], options: Mapping[str, Any]) -> Options:
    """Build a dataclass of options from their JSON; an unknown name is an error.

    >>> build_options(complex, {"real": 1})
    (1+0j)
    """
    try:
        return kind(**options)
    except TypeError as error:
        name = getattr(kind, "__name__", "options")
        raise InputError(
            f"cannot build {name} from {options!r}: {error}", argument="options"
        ) from error


def check_positive(name: str, number: int) -> None:
    """Raise an :class:`InputError` unless an argument is a positive integer.

    >>> check_positive("candidates", 0)
    Traceback (most recent call last):
    lpcfg.errors.InputError: candidates: must be an integer from 1 to 1000000000, not 0
    """
    if not isinstance(number, Integral) or not 1 <= number <= _MAX_NUMBER:
        raise InputError(
            f"must be an integer from 1 to {_MAX_NUMBER}, not {number!r}", argument=name
        )
