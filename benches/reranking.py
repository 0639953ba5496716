"""Reranking on GUM dev: one split-merge grammar, and several, as a table.

Run from the top of the repository: .venv/bin/python benches/reranking.py
"""

import argparse
import time

from development import gold, print_row, training

import lpcfg


def measure(name, estimators, options):
    treebank = training(lpcfg.SplitMergeEstimator.transform)
    started = time.process_time()
    reranker = lpcfg.Reranker(
        estimators, candidates=options.candidates, folds=options.folds, n_jobs=1
    ).fit(treebank)
    trained = time.process_time()
    proposed = list(reranker.propose(words=[tree.words() for tree in gold()]))
    scores = reranker.model_.scores(proposed, n_jobs=1)
    parsed = time.process_time()
    chosen = [own.trees[row.argmax()] for own, row in zip(proposed, scores, strict=True)]
    # The first candidate is the best of the first parser.
    first = lpcfg.evaluate(gold(), [own.trees[0] for own in proposed])
    reranked = lpcfg.evaluate(gold(), chosen)
    print_row(
        name,
        f"{first.f1:.2f}",
        f"{reranked.f1:.2f}",
        f"{lpcfg.oracle_f1([own.trees for own in proposed], gold()):.2f}",
        f"{first.exact_match:.2f}",
        f"{reranked.exact_match:.2f}",
        f"{len(reranker.model_.keys):,}",
        f"{trained - started:.0f}",
        f"{len(gold()) / (parsed - trained):.0f}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=30)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=3)
    parser.add_argument("--grammars", type=int, default=3, help="for the second row; 1 for none")
    options = parser.parse_args()
    grammars = [
        lpcfg.SplitMergeEstimator(cycles=options.cycles, random_state=seed, n_jobs=1)
        for seed in range(options.grammars)
    ]
    columns = ("F1 before", "F1 after", "oracle F1", "exact before", "exact after", "features")
    print_row("parsers", *columns, "training, CPU s", "sentences / CPU s")
    print_row(*["---"] * 9)
    measure("one grammar", grammars[:1], options)
    if len(grammars) > 1:
        measure(f"{len(grammars)} grammars in one parser", [tuple(grammars)], options)
