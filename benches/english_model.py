"""Train the embedded English model from the treebanks and texts whose licences allow it.

Teachers, two conditional random fields with features of given tags and dependencies, parse AMALGUM
together. The embedded model is their student: a neural network that parses from words alone. Run
from the top of the repository:

    .venv/bin/python benches/english_model.py /tmp/english

The folder keeps the teachers, their trees, the word vectors and the student; a run that was stopped
goes on where it was.
"""

import argparse
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
from development import SHARED

from lpcfg import (
    Cleaning,
    CRFEstimator,
    Dependencies,
    Ensemble,
    LexiconOptions,
    NeuralEstimator,
    Parser,
    PCFGEstimator,
    Transform,
    Treebank,
    WordClusters,
    evaluate_parser,
    label_text,
    load,
    mixed_treebank,
    save,
)
from lpcfg.datasets.embedded import embedded_models
from lpcfg.io.compact_arrays import round_numbers
from lpcfg.treebank.reader import ReadReport, read_forest

#: The genres of GUM and of AMALGUM whose texts may be used.
GUM_GENRES = ("academic", "bio", "court", "interview", "news", "voyage")
AMALGUM_GENRES = ("academic", "bio", "fiction", "interview", "news", "voyage")

TREEBANKS = SHARED / "treebanks"
CORPORA = SHARED / "corpora"

#: The weights of gold trees; those of the teachers' trees are 1.
WEIGHTS = {"gum": 4.0, "craft": 3.0, "ewt-silver": 2.0}

#: Trees of the teachers whose phrases have a lower mean posterior are left out.
MIN_CONFIDENCE = 0.7

#: The student; the limits on words keep the model small.
STUDENT = {
    "epochs": 4,
    "batch_size": 48,
    "learning_rate": 0.002,
    "dropout": 0.15,
    "recurrent_dropout": 0.1,
    "min_count": 12,
}
VECTOR_WORDS = 20_000

#: The grammar that comes with the network: few symbols, and frequent words of gold trees only.
GRAMMAR = {"binarize": "left", "vertical": 0, "horizontal": 1}
LEXICON = LexiconOptions(prune=1e-3, replace=True, rare=20)

#: What ``lpcfg show english`` says about the data.
DATA = (
    "trees of CRAFT, of the genres academic, bio, court, interview, news and voyage of GUM, and of "
    "the English Web Treebank (parsed by machine); text of the genres academic, bio, fiction, "
    "interview, news and voyage of AMALGUM, parsed by teachers that were trained on GUM and EWT"
)


def gold_trees(transform, names):
    """The trees of some treebanks that may be used, with their weights."""
    trees, weights = [], []
    for name in names:
        folder = TREEBANKS / name
        report = ReadReport()
        path = folder / ("trees.mrg" if name == "ewt-silver" else "train.mrg")
        forest = read_forest(path, on_error="skip", report=report)
        if name == "gum":
            documents = (folder / "train.docs").read_text("utf-8").splitlines()
            allowed = [document.split("_")[1] in GUM_GENRES for document in documents]
            forest = forest.select(np.flatnonzero(allowed))
        found = list(Cleaning().apply(forest).nonempty().trees())
        print(f"{name}: {report}; {len(found)} used")
        trees += found
        weights += [WEIGHTS[name]] * len(found)
    return Treebank.from_trees(trees, transform=Transform(**transform)).weighted(weights)


def text(folder, sentences):
    """The texts that may be used; with a number of sentences, the first ones of each genre."""
    files = [CORPORA / f"amalgum-{genre}.txt.gz" for genre in AMALGUM_GENRES]
    if sentences is None:
        return files
    parts = []
    for file in files:
        part = folder / file.name
        parts.append(part)
        if part.exists():
            continue
        with gzip.open(file, "rt", encoding="utf-8") as lines, gzip.open(part, "wt") as output:
            kept = [line for line in lines if line.strip()][: sentences // len(files)]
            output.writelines(kept)
    return parts


def train_teachers(folder, n_jobs):
    """Teachers that know tags and dependencies, from treebanks that are like the text."""
    folder.mkdir(exist_ok=True)
    dependencies = Dependencies.read(TREEBANKS / "gum" / "train.conll.gz")
    grammars = []
    for side in ("left", "right"):
        path = folder / f"{side}.lpcfg"
        if not path.exists():
            treebank = gold_trees({"binarize": side}, ("gum", "ewt-silver"))
            estimator = CRFEstimator(dependencies=dependencies, n_jobs=n_jobs)
            save(estimator.fit(treebank).grammar_, path)
        grammars.append(load(path))
    known = Dependencies.read(TREEBANKS / "gum" / "dev.conll.gz")
    parser = Ensemble(grammars, dependencies=known, n_jobs=n_jobs)
    print(f"teachers, with the tags and dependencies of GUM dev\n{score(parser, 'gum')}")


def train_words(path, treebank):
    """Word vectors of all text, that of gold trees too."""
    if not path.exists():
        sentences = (words for words, _ in treebank.sentences())
        save(WordClusters(max_words=VECTOR_WORDS).fit(sentences), path)
    return path


def smaller(grammar, gold):
    """The same network in fewer bytes: each number takes one, and the grammar has fewer words.

    The network does not need the words of the grammar, which has those of gold trees.
    """
    weights = grammar.neural_weights
    weights = replace(weights, values=round_numbers(weights.values))
    treebank = gold.transformed(Transform(**GRAMMAR))
    backbone = PCFGEstimator(lexicon=LEXICON).estimate(treebank)
    return replace(
        backbone, span_filter=None, neural_weights=weights, provenance=grammar.provenance
    )


def score(parser, name):
    """The scores of a parser on a development set."""
    forest = read_forest(TREEBANKS / name / "dev.mrg", on_error="skip")
    return evaluate_parser(parser, list(Cleaning().apply(forest).nonempty().trees()))


def finish(grammar, gold, path, n_jobs):
    """Make a model smaller, measure it, and save it with its quality, its data and its licence."""
    grammar = smaller(grammar, gold)
    scores = {}
    for name in ("gum", "craft"):
        found = score(Parser(grammar, n_jobs=n_jobs), name)
        print(f"{name} dev\n{found}")
        scores[f"{name} dev"] = round(found.scores.f1, 2)
    provenance = {
        **grammar.provenance,
        "f1": scores,
        "data": DATA,
        "licence": "the code is MIT; for the data see NOTICE",
    }
    save(replace(grammar, provenance=provenance), path)
    print(f"{load(path)}\n{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path, help="the folder of the teachers and their trees")
    options.add_argument("--sentences", type=int, help="the number of sentences of text (all)")
    options.add_argument("-o", "--output", type=Path, default=embedded_models()["english"])
    options.add_argument("-j", "--jobs", type=int, default=-1, help="the number of threads")
    chosen = options.parse_args()
    if not TREEBANKS.is_dir():
        print(f"no treebanks in {SHARED}: set LPCFG_SHARED to the folder that holds them")
        return
    folder = chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    student = folder / "student.lpcfg"
    gold = gold_trees({}, ("gum", "ewt-silver", "craft"))
    if student.exists():
        finish(load(student), gold, chosen.output, chosen.jobs)
        return
    train_teachers(folder / "teachers", chosen.jobs)
    conll = [CORPORA / f"amalgum-{genre}.conll.gz" for genre in AMALGUM_GENRES]
    report = label_text(
        folder / "teachers",
        text(folder, chosen.sentences),
        folder / "labelled",
        dependencies=conll,
        n_jobs=chosen.jobs,
    )
    print(report)
    treebank = mixed_treebank(
        gold, folder / "labelled", gold_weight=1.0, min_confidence=MIN_CONFIDENCE
    )
    print(treebank)
    estimator = NeuralEstimator(
        **STUDENT, word_clusters=train_words(folder / "words.lpcfg", treebank), n_jobs=chosen.jobs
    )
    grammar = estimator.fit(treebank).grammar_
    save(grammar, student)
    finish(grammar, gold, chosen.output, chosen.jobs)


if __name__ == "__main__":
    main()
