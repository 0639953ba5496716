"""Run independent jobs where joblib's configuration says: processes, threads or a dask cluster.

joblib is imported when it is needed, because importing it takes longer than starting to parse.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from lpcfg.errors import InputError
from lpcfg.jobs.shared import Shared, find_value

__all__ = ["backend_is_chosen", "run_jobs"]

Value = TypeVar("Value")
Job = TypeVar("Job")
Result = TypeVar("Result")


def backend_is_chosen() -> bool:
    """Whether jobs are to run elsewhere: ``joblib.parallel_config`` is active, with several jobs.

    Otherwise functions of lpcfg use the threads of this process.

    >>> import joblib
    >>> backend_is_chosen()
    False
    >>> with joblib.parallel_config("threading", n_jobs=2):
    ...     backend_is_chosen()
    True
    """
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    return bool((backend.default_n_jobs if n_jobs is None else n_jobs) != 1)


def run_jobs(
    function: Callable[[Value, Job], Result],
    jobs: Iterable[Job],
    shared: Shared[Value],
    *,
    ahead: int = 2,
) -> Iterator[tuple[int, Result]]:
    """Call a function with the shared value and each job, on joblib's active backend.

    Yields the number of the job, counted from 0, and its result, as soon as it is known: in any
    order. Jobs are taken from their iterator when workers need them, so that only a few jobs and,
    if results are used as fast as they come, a few results are in memory. The shared value travels
    once to each worker.

    With dask, jobs of a worker that is lost are run again by others. With other backends, which
    must be on this machine, the shared value goes through a temporary file.

    ``ahead``: the number of jobs that are taken for each worker, with the one that it runs. With 1,
    jobs are taken as late as possible, for jobs that depend on the results of others.

    >>> import joblib
    >>> with joblib.parallel_config("threading", n_jobs=2):
    ...     sorted(run_jobs(pow, [1, 2, 3], Shared.of(10)))
    [(0, 10), (1, 100), (2, 1000)]
    """
    import cloudpickle
    import joblib
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    numbered = (
        (number, cloudpickle.dumps((function, number, job))) for number, job in enumerate(jobs)
    )
    if hasattr(backend, "client"):
        from lpcfg.jobs._dask import run_on_dask

        yield from run_on_dask(backend.client, numbered, shared, ahead)
        return
    if not backend.supports_return_generator:
        name = type(backend).__name__.removesuffix("Backend").lower()
        raise InputError(
            f"joblib's backend {name} gives no result before all are known; use loky, threading or "
            "dask",
            argument="backend",
        )
    with tempfile.TemporaryDirectory(prefix="lpcfg-") as folder:
        path = Path(folder, shared.digest)
        path.write_bytes(shared.packed)
        parallel = joblib.Parallel(
            return_as="generator_unordered", batch_size=1, pre_dispatch=f"{ahead} * n_jobs"
        )
        yield from parallel(
            joblib.delayed(call)(packed, shared.digest, path) for _, packed in numbered
        )


def call(packed: bytes, digest: str, path: Path | None = None) -> tuple[int, Any]:
    """Run a job, in the worker.

    >>> import cloudpickle
    >>> from lpcfg.jobs.shared import receive
    >>> shared = Shared.of(10)
    >>> receive(shared.digest, shared.packed)
    >>> call(cloudpickle.dumps((pow, 0, 2)), shared.digest)
    (0, 100)
    """
    function, number, job = pickle.loads(packed)
    return number, function(find_value(digest, path), job)
