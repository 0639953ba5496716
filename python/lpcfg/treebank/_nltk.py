"""The optional package nltk."""

from __future__ import annotations

from typing import Any

from lpcfg.errors import MissingPackageError

__all__ = ["import_nltk"]


def import_nltk(purpose: str) -> Any:  # noqa: ANN401 - nltk has no types
    """The package nltk, which is optional.

    >>> import_nltk("searching trees").__name__
    'nltk'
    """
    try:
        import nltk
    except ImportError as error:
        raise MissingPackageError(purpose, package="nltk", extra="nltk") from error
    return nltk
