"""The number of threads of numerical libraries and of the core."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from threading import Lock

from threadpoolctl import ThreadpoolController

from lpcfg.errors import InputError

__all__ = ["one_thread", "thread_count"]

#: The largest number of threads; more would slow down the whole machine.
MAX_THREADS = 1024


#: Modules that load the libraries to limit: a library that is loaded later would use all threads.
#: NumPy and SciPy have a BLAS each.
_LIBRARIES = ("numpy", "scipy.linalg")


def _limit(interface: str) -> AbstractContextManager[object]:
    """Limit the libraries with one interface, ``blas`` or ``openmp``, that are loaded now."""
    # ``threadpool_limits(user_api=...)`` would at its end also reset libraries with another one.
    limits: AbstractContextManager[object] = (
        ThreadpoolController().select(user_api=interface).limit(limits=1)
    )
    return limits


def _release_control() -> None:
    """Let any thread set limits: since threadpoolctl 3.8 those of all but one have no effect."""
    for library in ThreadpoolController().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _BlasLimit:
    """One thread for BLAS while any thread of the program is inside a block.

    The limit belongs to the process. If each block reset it on its own, the first one to end would
    end the limit of the others, and a later one could reset it to one thread for ever.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks = 0
        self._limits = ExitStack()

    def enter(self) -> None:
        with self._lock:
            self._blocks += 1
            _release_control()
            # Again inside other blocks, for libraries that were loaded since they began.
            self._limits.enter_context(_limit("blas"))
            _release_control()

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                _release_control()
                self._limits.close()
                _release_control()


_BLAS_LIMIT = _BlasLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit matrix products to one thread inside a ``with`` block.

    If these are many and small, threads wait for each other longer than they work, in particular on
    a busy machine. With several threads the order of sums may also vary, so that results would
    differ in their last digits.

    Blocks may be nested, and several threads of a program may be in blocks at once.

    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {library["num_threads"] for library in threadpool_info()}
    {1}
    """
    for library in _LIBRARIES:
        import_module(library)
    # Other than BLAS, OpenMP has a limit for each thread of the program. A BLAS may use OpenMP.
    with _limit("openmp"):
        _BLAS_LIMIT.enter()
        try:
            yield
        finally:
            _BLAS_LIMIT.leave()


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
