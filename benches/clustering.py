"""What clustering yields on GUM dev by number of states, with dense tensors, and in variants.

k-means runs once unless it says otherwise. Sizes are numbers of stored values, of rules and of
what words tell about states. Run from the top of the repository:
.venv/bin/python benches/clustering.py
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from development import no_options, print_row, score, training

from lpcfg import ClusteringEstimator, EMEstimator, Transform, save

ONCE = ClusteringEstimator(restarts=1)
PLAIN = replace(ONCE, variance_scale=0.0, smoothing=0.0, word_smoothing=0.0, class_smoothing=0.0)


def row(name, grammar, seconds):
    scores, speed = score(grammar)
    latent = grammar.latent
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lpcfg")
        save(grammar, path)
        size = path.stat().st_size / 1e6
    cells = (f"{len(latent.binary):,}", f"{len(latent.emission_ratios):,}", f"{size:.1f}")
    print_row(name, f"{scores.f1:.2f}", *cells, f"{seconds:.1f}", f"{speed:.0f}")


def timed(estimate, *arguments):
    started = time.process_time()
    result = estimate(*arguments)
    return result, time.process_time() - started


if __name__ == "__main__":
    no_options(__doc__)
    head = ("", "F1", "values of rules", "of words", "MB", "CPU s", "sentences / CPU s")
    print_row(*head)
    print_row(*["---"] * len(head))
    treebank = training(ClusteringEstimator.default_transform)
    projected, shared = timed(ONCE.project, treebank)
    for states in (8, 16, 24, 32):
        grammar, seconds = timed(
            replace(ONCE, states=(states, states)).estimate_projected, projected
        )
        row(f"{states} states", grammar, shared + seconds)
        if (states, states) == ONCE.states:
            start, first = grammar, shared + seconds
    dense = replace(start, latent=start.latent.dense(start.binary_rules))
    row("24 states, dense tensors", dense, first)
    fitted, seconds = timed(EMEstimator(start=start, iterations=1, n_jobs=1).fit, treebank)
    row("24 states, then one step of EM", fitted.grammar_, first + seconds)
    for name, variant in (
        ("24 states, the best of ten runs of k-means", replace(ONCE, restarts=10)),
        ("24 states, one cluster for each node", replace(ONCE, variance_scale=0.0)),
        ("24 states, clusters twice as wide", replace(ONCE, variance_scale=2.0)),
        ("24 states, rules interpolated with C = 5", replace(ONCE, smoothing=5.0)),
        ("24 states, nothing smoothed, one cluster for each node", PLAIN),
    ):
        grammar, seconds = timed(variant.estimate_projected, projected)
        row(name, grammar, shared + seconds)
    for name, variant, transform in (
        ("24 states, full features (7+7)", replace(ONCE, features="full"), ONCE.default_transform),
        ("24 states, parent annotation (v<1)", ONCE, Transform()),
    ):
        fitted, seconds = timed(variant.fit, training(transform))
        row(name, fitted.grammar_, seconds)
