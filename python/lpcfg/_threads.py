"""The number of threads of numerical libraries and of the core."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits

from lpcfg.errors import InputError

__all__ = ["one_thread", "thread_count"]

#: The largest number of threads; more would slow down the whole machine.
MAX_THREADS = 1024


def one_thread() -> AbstractContextManager[object]:
    """Limit matrix products and k-means to one thread inside a ``with`` block.

    If these are many and small, threads wait for each other longer than they work, in particular on
    a busy machine. With several threads the order of sums may also vary, so that results would
    differ in their last digits.

    >>> with one_thread():
    ...     pass
    """
    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


def thread_count(n_jobs: int) -> int:
    """The number of threads for ``n_jobs``: ``n_jobs`` itself, or with -1 one for each core.

    >>> thread_count(3)
    3
    """
    if n_jobs == -1:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if not isinstance(n_jobs, int) or not 1 <= n_jobs <= MAX_THREADS:
        raise InputError(
            f"must be a number of threads from 1 to {MAX_THREADS}, or -1 for one on each core, "
            f"not {n_jobs!r}",
            argument="n_jobs",
        )
    return n_jobs
