"""Draw how split-merge learns from GUM, into docs/results/, and print a table of it.

Run from the top of the repository, with matplotlib: .venv/bin/python benches/learning_curves.py
"""

import argparse
import time
from pathlib import Path

import matplotlib as mpl
from development import gold, print_row, training

import lpcfg


def measure(cycles, seed):
    """Log-likelihoods by cycle and iteration, and (CPU seconds, parameters, F1) by cycle."""
    treebank = training(lpcfg.SplitMergeEstimator.default_transform)
    rows = []
    spent = 0.0  # on parsing, which is not training

    def each_cycle(cycle, grammar):
        nonlocal spent
        before = time.process_time()
        f1 = lpcfg.evaluate_parser(lpcfg.Parser(grammar), gold()).scores.f1
        rows.append((before - started - spent, grammar.latent.size, f1))
        print_row(cycle, f"{rows[-1][0]:.0f}", f"{rows[-1][1]:,}", f"{f1:.2f}")
        spent += time.process_time() - before

    print_row("cycle", "CPU seconds", "parameters", "GUM dev F1")
    print_row(*["---"] * 4)
    started = time.process_time()
    estimator = lpcfg.SplitMergeEstimator(cycles=cycles, random_state=seed, each_cycle=each_cycle)
    return estimator.fit(treebank).log_likelihoods_, rows


def draw(log_likelihoods, rows, path):
    # Text stays text, and the same figures give the same file.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lpcfg", "font.size": 11}
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    end = 0
    for cycle, values in enumerate(log_likelihoods, start=1):
        iterations = range(end, end + len(values))
        left.plot(iterations, [value / 1e6 for value in values], color="C0")
        left.axvline(end, color="k", alpha=0.2, linewidth=1)
        left.annotate(f"{cycle}", (end + 1, 1.0), xycoords=("data", "axes fraction"), va="top")
        end += len(values)
    left.set(title="log-likelihood of the training trees", xlabel="iteration of EM, by cycle")
    left.set_ylabel("log-likelihood (millions of nats)")
    right.plot(range(1, len(rows) + 1), [f1 for _, _, f1 in rows], "o-", color="C1")
    right.set(
        title="F1 on the development part",
        ylabel="F1 (%)",
        xlabel="cycle",
        xticks=range(1, len(rows) + 1),
    )
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    likelihoods, cycles = measure(options.cycles, options.seed)
    results = Path(__file__).resolve().parent.parent / "docs" / "results"
    draw(likelihoods, cycles, results / "learning_curves.svg")
