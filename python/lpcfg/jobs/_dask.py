"""Jobs on a dask cluster.

They are submitted with dask's own client. joblib's backend for dask waits forever for a job that
the scheduler has given up, because each worker that ran it was killed; and it stores large
arguments on a single worker, with which they are lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from distributed import Client, KilledWorker, Worker, WorkerPlugin, as_completed

from lpcfg.errors import LpcfgError
from lpcfg.jobs.run import call
from lpcfg.jobs.shared import Shared, forget, receive

__all__ = ["run_on_dask"]


class _SharedPlugin(WorkerPlugin):
    """Brings a shared value to each worker, also to those that join later, before their jobs."""

    def __init__(self, shared: Shared[Any]) -> None:
        self.name = f"lpcfg-{shared.digest}"
        self.idempotent = True
        self._digest = shared.digest
        self._packed: bytes | None = shared.packed

    def setup(self, worker: Worker) -> None:
        if self._packed is not None:
            receive(self._digest, self._packed)
            # The plugin lives as long as the worker.
            self._packed = None

    def teardown(self, worker: Worker) -> None:
        forget(self._digest)


def run_on_dask(
    client: Client, jobs: Iterator[tuple[int, bytes]], shared: Shared[Any], ahead: int
) -> Iterator[tuple[int, Any]]:
    """Run packed jobs with their numbers; see :func:`lpcfg.jobs.run.run_jobs`.

    ``ahead`` jobs are submitted for each thread of the cluster.
    """
    plugin = _SharedPlugin(shared)
    client.register_plugin(plugin)
    completed = as_completed()
    waiting = {}

    def submit(count: int) -> None:
        for number, packed in islice(jobs, count):
            future = client.submit(call, packed, shared.digest, pure=False)
            waiting[future] = number
            completed.add(future)

    try:
        # A cluster without workers yet may get some.
        submit(ahead * max(1, sum(client.nthreads().values())))
        for future in completed:
            number = waiting.pop(future)
            try:
                result = future.result()
            except KilledWorker as error:
                raise LpcfgError(
                    f"job {number + 1} was given up: each worker that ran it was lost, perhaps for "
                    f"want of memory ({error})"
                ) from error
            # The cluster may have grown.
            submit(max(1, ahead * sum(client.nthreads().values()) - len(waiting)))
            yield result
    finally:
        client.cancel(list(waiting))
        client.unregister_worker_plugin(plugin.name)
