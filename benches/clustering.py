"""What clustering yields on GUM dev by number of states, against dense tensors and variants.

Sizes are numbers of stored values, of rules and of what words tell about states; times are of one
thread. Run from the top of the repository: .venv/bin/python benches/clustering.py
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from development import print_row, score, training

from lpcfg import ClusteringEstimator, EMEstimator, Grammar, Transform, save

DEFAULT = ClusteringEstimator()
PLAIN = replace(DEFAULT, smoothing=0.0, word_smoothing=0.0, class_smoothing=0.0)


def row(name, grammar, seconds, *others):
    scores, speed = score(grammar)
    latent = grammar.latent
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lpcfg")
        save(grammar, path)
        size = path.stat().st_size / 1e6
    cells = (f"{len(latent.binary):,}", f"{len(latent.profiles):,}", f"{size:.1f}")
    print_row(name, f"{scores.f1:.2f}", *cells, f"{seconds:.1f}", f"{speed:.0f}", *others)


def timed(estimate, *arguments):
    started = time.process_time()
    result = estimate(*arguments)
    return result, time.process_time() - started


def dense_speed(grammar: Grammar) -> str:
    dense = replace(grammar, latent=grammar.latent.dense(grammar.binary_rules))
    return f"{score(dense)[1]:.0f}"


if __name__ == "__main__":
    head = ("", "F1", "values of rules", "of words", "MB", "CPU s", "sentences / CPU s", "dense")
    print_row(*head)
    print_row(*["---"] * len(head))
    treebank = training(ClusteringEstimator.transform)
    projected, shared = timed(DEFAULT.project, treebank)
    for states in (8, 16, 24, 32):
        grammar, seconds = timed(replace(DEFAULT, states=(states, states)).estimate, projected)
        row(f"{states} states", grammar, shared + seconds, dense_speed(grammar))
        if states == DEFAULT.states[0]:
            start, first = grammar, shared + seconds
    for iterations in (1, 2):
        em = EMEstimator(start=start, iterations=iterations, n_jobs=1)
        fitted, seconds = timed(em.fit, treebank)
        row(f"24 states, then {iterations} of EM", fitted.grammar_, first + seconds, "")
    for name, variant in (
        ("k-means once", replace(DEFAULT, restarts=1)),
        ("rules interpolated with C = 5", replace(DEFAULT, smoothing=5.0)),
        ("nothing smoothed", PLAIN),
    ):
        grammar, seconds = timed(variant.estimate, projected)
        row(name, grammar, shared + seconds, "")
    fitted, seconds = timed(DEFAULT.fit, training(Transform()))
    row("trees remember parents (v<1)", fitted.grammar_, seconds, "")
