"""Functions that tests run in workers, which cannot import the modules of tests."""

import os
import signal
from pathlib import Path

from lpcfg.jobs import worker_threads
from lpcfg.jobs.shared import _received


def load_and_count(payload):
    """Leave a line in a file of this process for each time that the value is loaded."""
    folder = payload.decode()
    with Path(folder, str(os.getpid())).open("a") as file:
        file.write("loaded\n")
    return folder


def process_and_threads(_folder, _job):
    return os.getpid(), worker_threads()


def number_of_kept_values():
    return len(_received)


def die_once(folder, job):
    """The first process that runs job 3 is killed in the middle of it."""
    marker = Path(folder, "died")
    if job == 3 and not marker.exists():
        marker.mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def die(_shared, job):
    """Every process that runs job 0 is killed."""
    if job == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return job
