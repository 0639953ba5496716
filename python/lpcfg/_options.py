"""Options that are stored with a model and come back from JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lpcfg.errors import InputError

__all__ = ["build_options"]

Options = TypeVar("Options")


def build_options(kind: Callable[..., Options], options: Mapping[str, Any]) -> Options:
    """Build a dataclass of options; one that it does not have is an error.

    >>> build_options(complex, {"real": 1})
    (1+0j)
    """
    try:
        return kind(**options)
    except TypeError as error:
        name = getattr(kind, "__name__", "options")
        raise InputError(f"cannot build {name} from {options!r}: {error}") from error
