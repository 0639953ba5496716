"""A reranker over twenty clustering models with noise, with several tree transforms, on GUM dev.

Run from the top of the repository: .venv/bin/python benches/reranked_family.py

It takes about twenty minutes of CPU time: the models are learnt four times, once for each fold and
once from all trees, and parse all trees.
"""

from development import gold, no_options, print_row, training

import lpcfg
from lpcfg import ClusteringEstimator, NoisyModels, Reranker, Transform

TRANSFORMS = [
    Transform(vertical=vertical, binarize=side) for vertical in (0, 1) for side in ("left", "right")
]


def row(name, trees):
    scores = lpcfg.evaluate(gold(), trees)
    print_row(name, f"{scores.f1:.2f}", f"{scores.exact_match:.2f}")


if __name__ == "__main__":
    no_options(__doc__)
    family = NoisyModels(
        ClusteringEstimator(restarts=1), transforms=TRANSFORMS, features=("compact", "full")
    )
    members = tuple(member.alone() for member in family.members())
    reranker = Reranker([members], candidates=8, folds=3, n_jobs=1).fit(training(TRANSFORMS[0]))
    words = [tree.words() for tree in gold()]
    print_row("combined by", "F1", "exact")
    print_row(*["---"] * 3)
    row("posteriors", reranker.parsers_[0].parse_many(words=words))
    row("reranking", reranker.parse_many(words=words))
    candidates = (own.trees for own in reranker.propose(words=words))
    print_row("oracle", f"{lpcfg.oracle_f1(candidates, gold()):.2f}", "")
