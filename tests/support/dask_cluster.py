"""A dask scheduler and workers as processes of this machine."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

#: The scheduler gives up a job that has ended more workers than this.
ALLOWED_FAILURES = 1


class Cluster:
    """A running scheduler, a client of it, and workers by their process ids."""

    def __init__(self, folder):
        self._file = Path(folder, "scheduler.json")
        self._folder = folder
        self._processes = {}
        self._start(
            "scheduler", "--port", "0", "--no-dashboard", "--no-show", "--host", "127.0.0.1"
        )
        wait_until(self._file.exists)
        self.client = Client(scheduler_file=str(self._file))
        self.address = self.client.scheduler.address

    def _start(self, kind, *arguments):
        environment = os.environ | {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(ALLOWED_FAILURES),
            # Workers import what tests import.
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        module = f"distributed.cli.dask_{kind}"
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments, "--scheduler-file", str(self._file)],
            cwd=self._folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes[process.pid] = process
        return process.pid

    def workers(self, number):
        """The process ids of this number of workers; those that are missing are started."""
        alive = self._alive()
        for _ in range(number - len(alive)):
            self._start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        wait_until(lambda: len(self._alive()) >= number)
        return self._alive()[:number]

    def _alive(self):
        running = [pid for pid, process in self._processes.items() if process.poll() is None]
        workers = self.client.run(os.getpid)
        return [pid for pid in running if pid in workers.values()]

    def kill(self, pid):
        """End a worker without a warning."""
        os.kill(pid, signal.SIGKILL)
        self._processes[pid].wait()

    def close(self):
        self.client.close()
        for process in self._processes.values():
            process.kill()
            process.wait()


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the cluster did not start"
        time.sleep(0.05)


@contextmanager
def dask_cluster():
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder)
        try:
            yield cluster
        finally:
            cluster.close()
