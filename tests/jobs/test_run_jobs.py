"""Jobs on joblib's backends: each is run, results arrive as they are known, values travel once."""

import os
import threading

import joblib
import pytest

from lpcfg import InputError
from lpcfg.jobs import Shared, backend_is_chosen, run_jobs


def add(shared, job):
    return shared + job


#: Each job that waits for it ends after another release.
RELEASED = threading.Semaphore(0)


def wait(_shared, job):
    assert RELEASED.acquire(timeout=60)
    return job


def divide(shared, job):
    return shared // job


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_all_jobs_are_run(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        assert backend_is_chosen()
        found = dict(run_jobs(add, range(20), Shared.of(100)))
    assert found == {number: 100 + number for number in range(20)}


def test_functions_need_not_belong_to_a_module():
    factor = 3
    with joblib.parallel_config("loky", n_jobs=2):
        found = run_jobs(lambda shared, job: shared * job * factor, [1, 2], Shared.of(10))
        assert dict(found) == {0: 30, 1: 60}


def test_a_backend_that_gives_all_results_at_the_end_is_refused():
    """Nothing could be stored before, and all would be in memory."""
    with (
        joblib.parallel_config("multiprocessing", n_jobs=2),
        pytest.raises(InputError, match=r"multiprocessing .* use loky, threading or dask"),
    ):
        list(run_jobs(add, [1], Shared.of(0)))


def test_errors_arrive():
    with joblib.parallel_config("threading", n_jobs=2), pytest.raises(ZeroDivisionError):
        list(run_jobs(divide, [1, 0], Shared.of(1)))


def test_jobs_are_taken_as_workers_need_them():
    taken = []

    def jobs():
        for number in range(100):
            taken.append(number)
            yield number

    with joblib.parallel_config("threading", n_jobs=2):
        RELEASED.release()
        for finished, _ in enumerate(run_jobs(wait, jobs(), Shared.of(0)), start=1):
            # Two for each worker are taken ahead, then again one for each at once.
            assert len(taken) <= finished + 6
            RELEASED.release()
    assert taken == list(range(100))


class Counted:
    """A value that counts how often it is loaded in a process."""

    loads = 0


def load_counted(payload):
    Counted.loads += 1
    return payload


def loads_here(_shared, _job):
    return os.getpid(), Counted.loads


def test_a_value_is_loaded_once_in_a_process():
    with joblib.parallel_config("threading", n_jobs=2):
        list(run_jobs(loads_here, range(10), Shared(load_counted, b"first")))
        found = list(run_jobs(loads_here, range(10), Shared(load_counted, b"second")))
    assert [loads for _, (_, loads) in found] == [2] * 10


@pytest.mark.parametrize("n_jobs", [1, None])
def test_without_several_jobs_nothing_is_sent_away(n_jobs):
    assert not backend_is_chosen()
    with joblib.parallel_config("loky", n_jobs=n_jobs):
        assert not backend_is_chosen()


def test_jobs_within_jobs_stay_where_they_are():
    with joblib.parallel_config("loky", n_jobs=2):
        found = run_jobs(lambda _shared, _job: backend_is_chosen(), range(3), Shared.of(0))
        assert set(found) == {(0, False), (1, False), (2, False)}
