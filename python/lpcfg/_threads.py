"""How many threads are used, by numerical libraries and by the core."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits

from lpcfg.errors import InputError

__all__ = ["one_thread", "thread_count"]

#: More threads than this are a mistake, and would bring the machine to its knees.
MOST_THREADS = 1024


def one_thread() -> AbstractContextManager[object]:
    """Keep matrix products and k-means within one thread.

    Where these are many and small, threads wait for each other longer than they work, the more so
    on a busy machine; and they might add numbers up in another order each time.

    >>> with one_thread():
    ...     pass
    """
    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


def thread_count(n_jobs: int) -> int:
    """How many threads ``n_jobs`` asks for: as many as it says, or with -1 one on each core.

    >>> thread_count(3)
    3
    """
    if n_jobs == -1:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if not isinstance(n_jobs, int) or not 1 <= n_jobs <= MOST_THREADS:
        raise InputError(
            f"n_jobs must be a number of threads up to {MOST_THREADS}, or -1 for all cores, "
            f"not {n_jobs!r}"
        )
    return n_jobs
