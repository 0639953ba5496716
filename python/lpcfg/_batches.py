"""Batches of items of an iterator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

__all__ = ["batches"]

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of ``size`` items, the last one shorter.

    An exception of the iterator is raised after the batch of all items before it, so that no work
    is lost.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while True:
        batch: list[T] = []
        try:
            # Not list(islice(...)): it would lose the items before an exception.
            batch.extend(islice(iterator, size))
        except Exception:
            if batch:
                yield batch
            raise
        if not batch:
            return
        yield batch
