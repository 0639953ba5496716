"""Numerical libraries use one thread, whatever was loaded before and whatever the environment says.

Libraries read the environment when they are loaded, so the cases run in processes of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lpcfg
from lpcfg._threads import one_thread

#: Long enough for any machine, short enough to notice threads that wait for each other.
TIMEOUT = 120


def run(program: str, *arguments: str, threads: int) -> None:
    """Run a Python program whose libraries are told to use some number of threads."""
    libraries = ("OMP", "OPENBLAS", "MKL", "BLIS")
    limits = {f"{library}_NUM_THREADS": str(threads) for library in libraries}
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | limits,
        check=True,
        timeout=TIMEOUT,
    )


def blas_threads() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


LOADED_LATER = """
from threadpoolctl import threadpool_info
from lpcfg._threads import one_thread

def threads():
    return {library["filepath"]: library["num_threads"] for library in threadpool_info()}

assert not threads()
with one_thread():
    import numpy, scipy.linalg, scipy.sparse.linalg, scipy.special
    assert set(threads().values()) == {1}, threads()
"""


def test_libraries_that_are_imported_inside_a_block_are_limited():
    run(LOADED_LATER, threads=4)


def test_the_limit_holds_until_the_last_of_several_threads_leaves_its_block():
    both_inside, first_left = Barrier(2, timeout=TIMEOUT), Barrier(2, timeout=TIMEOUT)

    def first() -> None:
        with one_thread():
            both_inside.wait()
        first_left.wait()

    def second() -> set[int]:
        with one_thread():
            both_inside.wait()
            first_left.wait()
            return blas_threads()

    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(2) as pool:
            results = [pool.submit(first), pool.submit(second)]
            assert [result.result() for result in results] == [None, {1}]
        assert blas_threads() == {2}


def test_blocks_may_be_nested():
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            with one_thread():
                pass
            assert blas_threads() == {1}
        assert blas_threads() == {2}


#: The CPU time of this process's other threads while something is done.
OTHER_THREADS = """
import os
from pathlib import Path
from threading import get_native_id
import numpy as np
import scipy.linalg
from lpcfg import ClusteringEstimator, PivotEstimator, SpectralEstimator, Treebank, embedded_trees

def seconds():
    tasks = {int(path.name): path / "stat" for path in Path("/proc/self/task").iterdir()}
    ticks = {
        task: sum(map(int, path.read_text().rpartition(")")[2].split()[11:13]))
        for task, path in tasks.items()
    }
    own = ticks.pop(get_native_id())
    return np.array([own, sum(ticks.values())]) / os.sysconf("SC_CLK_TCK")

def share_of_others(work):
    before = seconds()
    work()
    own, others = seconds() - before
    assert own > 0
    return others / (own + others)

def multiply():
    matrix = np.ones((1500, 1500))
    for _ in range(4):
        matrix @ matrix

bank = Treebank.from_trees(embedded_trees())
# Without limits several threads are used, or else nothing is tested here.
assert share_of_others(multiply) > 0.3
# Threads of BLAS wait for more work in a loop for a moment, which is not what is measured.
while share_of_others(lambda: sum(range(10**7))) > 0.01:
    pass
options = {"states": (24, 24), "min_count": 5, "full_count": 10}
for estimator in (
    ClusteringEstimator(**options, restarts=20),
    SpectralEstimator(),
    PivotEstimator(iterations=2),
):
    share = share_of_others(lambda: estimator.estimate(bank))
    assert share < 0.1, (estimator, share)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the /proc of Linux")
def test_training_by_projections_uses_one_thread():
    run(OTHER_THREADS, threads=4)


TRAIN = "import sys; from lpcfg.cli.main import main; sys.exit(main(sys.argv[1:]))"


def test_a_model_has_the_same_bytes_whatever_the_number_of_threads(tmp_path):
    trees = tmp_path / "trees.mrg"
    trees.write_text("\n".join(map(str, lpcfg.embedded_trees())), encoding="utf-8")
    models = []
    for threads in (1, 2, 4):
        path = tmp_path / f"{threads}.lpcfg"
        run(
            TRAIN,
            *("train", str(trees), "-o", str(path), "-j", str(threads), "-q"),
            *("--estimator", "clustering", "--min-count", "5", "--full-count", "50"),
            threads=threads,
        )
        models.append(path.read_bytes())
    assert models[0] == models[1] == models[2]
    assert lpcfg.load(path).latent.states.max() > 2
