"""The neural classifier of spans on GUM dev: losses, parts of the network, and word vectors.

Learns from GUM's training part, or from some of its trees, and parses its development part from
words, with one thread. The names of rows can be given, for all of them take the better part of an
hour; `--words FILE` adds the row with word vectors that `lpcfg words train` has learnt, and
`--save FOLDER` keeps the models. Run from the top of the repository:
.venv/bin/python benches/neural.py
.venv/bin/python benches/neural.py crf independent --trees 1278
"""

import argparse
import time
from pathlib import Path

import numpy as np
from development import print_row, score, training

from lpcfg import NeuralEstimator, Transform, save

#: The parameters of each row.
ROWS: dict[str, dict[str, object]] = {
    "crf": {},
    "independent": {"loss": "independent"},
    "no characters": {"character_states": 0},
    "one layer": {"layers": 1},
}


def main() -> None:
    """Print a row for each model as it is trained."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("rows", nargs="*", choices=[[], *ROWS, "vectors"])
    arguments.add_argument("--words", help="a file of word vectors")
    arguments.add_argument("--save", type=Path, help="a folder for the models")
    arguments.add_argument("--trees", type=int, help="learn from this number of trees")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    rows = dict(ROWS)
    if options.words:
        rows["vectors"] = {"word_clusters": options.words}
    print_row("model", "F1", "P", "R", "tags", "training, CPU s", "sentences / CPU s")
    print_row(*["---"] * 7)
    bank = training(Transform())
    if options.trees:
        order = np.random.default_rng(0).permutation(len(bank))
        bank = bank.subset(np.sort(order[: options.trees]))
    for name in options.rows or rows:
        estimator = NeuralEstimator(n_jobs=1, random_state=options.seed).set_params(**rows[name])
        began = time.process_time()
        estimator.fit(bank)
        seconds = time.process_time() - began
        if options.save:
            options.save.mkdir(exist_ok=True)
            save(estimator.grammar_, options.save / f"{name.replace(' ', '-')}.lpcfg")
        scores, speed = score(estimator.grammar_)
        figures = (scores.f1, scores.precision, scores.recall, scores.tag_accuracy)
        print_row(name, *(f"{x:.2f}" for x in figures), f"{seconds:.0f}", f"{speed:.0f}")


if __name__ == "__main__":
    main()
