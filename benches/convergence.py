"""Draw how spectral estimates of a known L-PCFG approach the truth, into docs/results/.

The grammar is the ambiguous one of tests/support/latent_trees.py, with two states a symbol.
Run from the top of the repository, with matplotlib: .venv/bin/python benches/convergence.py
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from development import no_options

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.latent_trees import estimator, sample, span_distance, tree_distance  # noqa: E402

SIZES = [300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000]
SEEDS = range(5)
STATES = {"PCFG": (1, 1), "spectral, two states": (2, 2)}
DISTANCES = {
    "trees: total variation": lambda grammar, bank: tree_distance(grammar, bank, ambiguous=True),
    "spans: expected largest error": lambda grammar, bank: span_distance(grammar),
}


def measure():
    """The distances, by number of states, kind, sample size and seed."""
    found = np.empty((len(STATES), len(DISTANCES), len(SIZES), len(SEEDS)))
    for column, size in enumerate(SIZES):
        for seed in SEEDS:
            bank = sample(size, seed, ambiguous=True)
            for row, states in enumerate(STATES.values()):
                grammar = estimator(states=states).fit(bank).grammar_
                found[row, :, column, seed] = [far(grammar, bank) for far in DISTANCES.values()]
        print(f"{size:>7} trees", *found[:, :, column].mean(axis=2).round(4).ravel(), flush=True)
    return found


def draw(found, path):
    # Text stays text, and the same figures give the same file.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lpcfg", "font.size": 11}
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for panel, (axis, kind) in enumerate(zip(axes, DISTANCES, strict=True)):
        for row, (name, color) in enumerate(zip(STATES, ("C1", "C0"), strict=True)):
            values = found[row, panel]
            axis.plot(SIZES, values.mean(axis=1), "o-", color=color, label=name)
            axis.fill_between(SIZES, values.min(axis=1), values.max(axis=1), color=color, alpha=0.2)
        start = found[1, panel, 0].mean()
        slope = [start * (SIZES[0] / size) ** 0.5 for size in SIZES]
        axis.plot(SIZES, slope, "k:", linewidth=1, label="1 / sqrt(trees)")
        axis.set(title=kind, xscale="log", yscale="log", xlabel="trees in the sample")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("distance from the true probabilities")
    axes[0].legend(loc="lower left")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    no_options(__doc__)
    draw(measure(), REPOSITORY / "docs" / "results" / "convergence.svg")
