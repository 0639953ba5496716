"""EM from random starts and from pivots on GUM, as in table 1 of Cohen & Collins (2014).

Prints F1 on the development part by iteration, and draws it into docs/results/pivot.svg.
Run from the top of the repository, with matplotlib: .venv/bin/python benches/pivot.py
"""

import argparse
import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from development import print_row, score, training

import lpcfg
from lpcfg.estimators.em.latent_trees import LatentTrees

# Iterations after which the development part is parsed.
CHECKED = [0, 1, 2, 4, 8, 15, 25]


def measure(treebank, states, name, last):
    """Iterations of EM, F1 after them, and CPU seconds of training up to there."""
    rows = []
    spent = 0.0  # on parsing, which is not training
    started = time.process_time()
    # Rare symbols have fewer states: all of them from a dozen nodes a state on.
    chosen = {"states": (states, states), "full_count": 12 * states}
    first = lpcfg.PivotEstimator(**chosen) if name == "pivot+EM" else lpcfg.PCFGEstimator()
    start = first.fit(treebank).grammar_
    trees = LatentTrees(treebank, start, n_jobs=1)
    estimator = lpcfg.EMEstimator(**chosen, start=start)
    parameters = estimator.initial_parameters(trees, treebank, np.random.default_rng(0))
    for iteration in range(last + 1):
        if iteration:
            parameters = trees.maximise(trees.expect(parameters), parameters.states)
        if iteration in CHECKED:
            grammar = trees.grammar(parameters) if iteration else start
            before = time.process_time()
            rows.append((iteration, score(grammar)[0].f1, before - started - spent))
            print(states, name, rows[-1], file=sys.stderr, flush=True)
            spent += time.process_time() - before
    return rows


def draw(found, path):
    # Text stays text, and the same figures give the same file.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lpcfg", "font.size": 11}
    from matplotlib import pyplot

    sizes = sorted({states for states, _ in found})
    figure, axes = pyplot.subplots(
        1,
        len(sizes),
        figsize=(9, 3.2),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axis, states in zip(axes[0], sizes, strict=True):
        for name, color in (("EM", "C1"), ("pivot+EM", "C0")):
            if (states, name) in found:
                iterations, f1, _ = zip(*found[states, name], strict=True)
                axis.plot(iterations, f1, "o-", color=color, label=name, markersize=4)
        axis.set(title=f"{states} states", xlabel="iterations of EM")
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("F1 on the development part (%)")
    axes[0, 0].legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, nargs="+", default=[8, 16, 24, 32])
    parser.add_argument("--em", type=int, default=25, help="iterations of EM from a random start")
    parser.add_argument("--pivot", type=int, default=8, help="iterations of EM after pivots")
    options = parser.parse_args()
    treebank = training(lpcfg.PivotEstimator.default_transform)
    found = {}
    print_row("states", "start", *CHECKED, "best F1", "iterations", "CPU seconds")
    print_row(*["---"] * (len(CHECKED) + 5))
    for states in options.states:
        for name, last in (("pivot+EM", options.pivot), ("EM", options.em)):
            rows = found[states, name] = measure(treebank, states, name, last)
            f1 = {iteration: f"{value:.2f}" for iteration, value, _ in rows}
            iteration, best, seconds = max(rows, key=lambda row: row[1])
            cells = [f1.get(checked, "") for checked in CHECKED]
            print_row(states, name, *cells, f"{best:.2f}", iteration, f"{seconds:.0f}")
    draw(found, Path(__file__).resolve().parent.parent / "docs" / "results" / "pivot.svg")


if __name__ == "__main__":
    main()
