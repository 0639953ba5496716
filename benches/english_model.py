"""Train the embedded default model from the documents of GUM and CRAFT whose licences allow it.

Run from the top of the repository: .venv/bin/python benches/english_model.py
"""

from dataclasses import replace

import numpy as np
from development import SHARED, no_options

from lpcfg import (
    Cleaning,
    LexiconOptions,
    Parser,
    SplitMergeEstimator,
    Treebank,
    evaluate_parser,
    load,
    save,
)
from lpcfg.datasets.embedded import embedded_models
from lpcfg.treebank.reader import ReadReport, read_forest

GENRES = ("academic", "bio", "court", "interview", "news", "voyage")

# Smaller tables than the defaults of the estimator give, so that the model stays under 5 MB.
LEXICON = LexiconOptions(prune=1.2e-3)
CYCLES = 2
MIN_PARAMETER = 1e-5


def allowed_trees():
    """The trees of both treebanks, cleaned."""
    for name in ("gum", "craft"):
        folder = SHARED / "treebanks" / name
        report = ReadReport()
        forest = read_forest(folder / "train.mrg", on_error="skip", report=report)
        print(f"{name}: {report}")
        if name == "gum":
            documents = (folder / "train.docs").read_text("utf-8").splitlines()
            allowed = [document.split("_")[1] in GENRES for document in documents]
            forest = forest.select(np.flatnonzero(allowed))
        yield from Cleaning().apply(forest).nonempty().trees()


def main():
    no_options(__doc__)
    if not (SHARED / "treebanks").is_dir():
        print(f"no treebanks in {SHARED}: set LPCFG_SHARED to the folder that holds them")
        return
    treebank = Treebank.from_trees(allowed_trees(), transform=SplitMergeEstimator.default_transform)
    grammar = SplitMergeEstimator(cycles=CYCLES, lexicon=LEXICON).fit(treebank).grammar_
    tensors = grammar.latent.dense(grammar.binary_rules)
    kept = np.where(tensors.binary < MIN_PARAMETER, np.float32(0), tensors.binary)
    latent = replace(tensors, binary=kept).sparse(grammar.binary_rules, density=0.5)
    # Single precision halves the largest array.
    rounded = grammar.lexicon.probabilities.astype(np.float32).astype(np.float64)
    lexicon = replace(grammar.lexicon, probabilities=rounded)
    grammar = replace(grammar, latent=latent, lexicon=lexicon)
    path = embedded_models()["english"]
    save(grammar, path)
    print(f"{grammar}\n{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    for name in ("gum", "craft"):
        forest = read_forest(SHARED / "treebanks" / name / "dev.mrg", on_error="skip")
        gold = list(Cleaning().apply(forest).nonempty().trees())
        print(f"{name} dev\n{evaluate_parser(Parser(load(path)), gold)}")


if __name__ == "__main__":
    main()
