"""How many threads numerical libraries may use."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits

__all__ = ["one_thread"]


def one_thread() -> AbstractContextManager[object]:
    """Keep matrix products within one thread.

    Where products are many and small, threads wait for each other longer than they work, the more
    so on a busy machine; and they might add numbers up in another order each time.

    >>> with one_thread():
    ...     pass
    """
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
