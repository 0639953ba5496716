"""Baum and Welch's algorithm against hmmlearn's, on sequences drawn from a random model.

Run from the top of the repository:
.venv/bin/pip install hmmlearn && .venv/bin/python benches/hmm.py
Both start from the same parameters and must find the same log-likelihoods. Times are CPU
milliseconds of an iteration with one thread, the least of three runs.
"""

import os

# Before numpy is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np
from development import no_options, print_row
from hmmlearn.hmm import CategoricalHMM

from lpcfg import HMM

SEQUENCES, LENGTH = 2000, 25
ITERATIONS, RUNS = 5, 3
SIZES = ((5, 50), (10, 50), (20, 50), (45, 50), (10, 5000), (45, 5000))


def random_parameters(states, symbols, seed):
    draw = np.random.default_rng(seed)
    return (
        draw.dirichlet(np.ones(states)),
        draw.dirichlet(np.ones(states), size=states),
        draw.dirichlet(np.ones(symbols), size=states),
    )


def ours(start, sequences):
    hmm = HMM.from_parameters(*start)
    hmm.warm_start, hmm.max_iter, hmm.tol, hmm.n_jobs = True, ITERATIONS, -np.inf, 1
    hmm.fit(sequences)
    return hmm.log_likelihoods_


def theirs(implementation):
    def fit(start, sequences):
        hmm = CategoricalHMM(
            len(start[0]),
            n_iter=ITERATIONS,
            tol=0,
            init_params="",
            implementation=implementation,
        )
        hmm.n_features = start[2].shape[1]
        hmm.startprob_, hmm.transmat_, hmm.emissionprob_ = start
        hmm.fit(np.concatenate(sequences)[:, None], [len(own) for own in sequences])
        return list(hmm.monitor_.history)

    return fit


def measure(fit, start, sequences):
    """CPU seconds of an iteration, and the log-likelihoods."""
    best = np.inf
    for _ in range(RUNS):
        started = time.process_time()
        history = fit(start, sequences)
        best = min(best, (time.process_time() - started) / ITERATIONS)
    return best, history


def main():
    no_options(__doc__)
    print_row("states", "symbols", "ms", "hmmlearn, scaled, ms", "ratio", "in logs, ms", "ratio")
    print_row(*["---"] * 7)
    for states, symbols in SIZES:
        true = HMM.from_parameters(*random_parameters(states, symbols, seed=1))
        sequences, _ = true.sample(SEQUENCES, LENGTH)
        start = random_parameters(states, symbols, seed=2)
        own, history = measure(ours, start, sequences)
        cells = [states, symbols, f"{1e3 * own:.1f}"]
        for implementation in ("scaling", "log"):
            other, others = measure(theirs(implementation), start, sequences)
            np.testing.assert_allclose(history, others, rtol=1e-9)
            cells += [f"{1e3 * other:.0f}", f"{other / own:.1f}"]
        print_row(*cells)


if __name__ == "__main__":
    main()
