"""F1 on GUM dev of a student by the amount of text that its teacher has parsed.

Needs the trees of a teacher: the folder of ``lpcfg train --unlabelled TEXT --labelled FOLDER``, or
of ``label_text``. For smaller amounts, every k-th part of the text is taken, so that all genres are
there. Run from the top of the repository:

    .venv/bin/python benches/unlabelled_text.py FOLDER --estimator spectral
"""

import argparse
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from development import print_row, score, training

from lpcfg import make_estimator, mixed_treebank

#: How many parts of the text are taken: all, or every third, tenth or twentieth.
STEPS = (20, 10, 3, 1)

#: With many trees, networks need fewer epochs and less dropout.
PARAMETERS = {
    "neural": {
        "batch_size": 48,
        "learning_rate": 0.002,
        "dropout": 0.15,
        "recurrent_dropout": 0.1,
    }
}


def taken(labelled: Path, step: int, place: Path) -> Path:
    """A folder with every ``step``-th part of the trees of a teacher."""
    parts = place / "parts"
    parts.mkdir(parents=True)
    for path in sorted((labelled / "parts").glob("*.jsonl.gz"))[::step]:
        shutil.copy(path, parts)
    shutil.copy(labelled / "manifest.json", place)
    return place


def main() -> None:
    """Print a row for each amount of text."""
    formatter = argparse.RawDescriptionHelpFormatter
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    arguments.add_argument("labelled", type=Path)
    arguments.add_argument("--estimator", default="spectral")
    arguments.add_argument("--steps", type=int, nargs="+", default=STEPS)
    arguments.add_argument("--words", help="a file of word vectors for networks")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--gold-weight", type=float, default=3)
    options = arguments.parse_args()
    parameters = {"random_state": options.seed, **PARAMETERS.get(options.estimator, {})}
    if options.words:
        parameters["word_clusters"] = options.words
    estimator = make_estimator(options.estimator, **parameters)
    gold = training(estimator.default_transform)
    print_row("sentences of text", "F1", "exact", "tags", "training, CPU s")
    print_row(*["---"] * 5)
    for step in options.steps:
        with TemporaryDirectory() as place:
            labelled = taken(options.labelled, step, Path(place, "taken"))
            mixed = mixed_treebank(gold, labelled, gold_weight=options.gold_weight)
        began = time.process_time()
        estimator.fit(mixed)
        seconds = time.process_time() - began
        scores, _ = score(estimator.grammar_)
        figures = (scores.f1, scores.exact_match, scores.tag_accuracy)
        print_row(len(mixed) - len(gold), *(f"{x:.2f}" for x in figures), f"{seconds:.0f}")


if __name__ == "__main__":
    main()
