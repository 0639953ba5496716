"""Train the embedded English model from the treebanks and texts whose licences allow it.

A teacher, a conditional random field with features of given tags and dependencies, parses AMALGUM.
The embedded model is its student, and parses from words alone. Run from the top of the repository:

    .venv/bin/python benches/english_model.py /tmp/english

The folder keeps the teacher, its trees and the student; a run that was stopped goes on where it
was.
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
    LexiconOptions,
    Parser,
    PCFGEstimator,
    Pruning,
    Transform,
    Treebank,
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

#: The weights of gold trees; those of the teacher's trees are 1.
WEIGHTS = {"gum": 8.0, "craft": 8.0, "ewt-silver": 2.0}

#: Trees of the teacher whose phrases have a lower mean posterior are left out.
MIN_CONFIDENCE = 0.7

#: The teacher has more symbols, and prunes less.
TEACHER = {"binarize": "left", "vertical": 1, "horizontal": 1}
TEACHER_PRUNING = Pruning(coarse=2e-4, fine=3e-4, spans=0.995)

#: The student: fewer symbols and a smaller lexicon, for speed and size.
STUDENT = {"binarize": "left", "vertical": 0, "horizontal": 1}
LEXICON = LexiconOptions(prune=1e-3)
BITS = 22

#: What ``lpcfg show english`` says about the data.
DATA = (
    "trees of CRAFT, of the genres academic, bio, court, interview, news and voyage of GUM, and of "
    "the English Web Treebank (parsed by machine); text of the genres academic, bio, fiction, "
    "interview, news and voyage of AMALGUM, parsed by a teacher that was trained on GUM and EWT"
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


def train_teacher(path, n_jobs):
    """A teacher that knows tags and dependencies, from treebanks that are like the text."""
    dependencies = Dependencies.read(TREEBANKS / "gum" / "train.conll.gz")
    treebank = gold_trees(TEACHER, ("gum", "ewt-silver"))
    grammar = CRFEstimator(dependencies=dependencies, n_jobs=n_jobs).fit(treebank).grammar_
    save(grammar, path)
    known = Dependencies.read(TREEBANKS / "gum" / "dev.conll.gz")
    parser = Parser(grammar, dependencies=known, prune=TEACHER_PRUNING, n_jobs=n_jobs)
    print(f"teacher, with the tags and dependencies of GUM dev\n{score(parser, 'gum')}")


def without_new_roots(grammar, gold):
    """The same grammar without the rules of roots that no gold tree has.

    They are errors of the teacher, for instance short clauses that it takes for parentheses.
    """
    known = PCFGEstimator().estimate(gold)
    seen = {tuple(known.symbols[s] for s in rule) for rule in known.binary_rules.tolist()}
    kept = [
        not grammar.roots[rule[0]] or tuple(grammar.symbols[s] for s in rule) in seen
        for rule in grammar.binary_rules.tolist()
    ]
    print(f"{len(kept) - sum(kept)} rules of roots are left out")
    return replace(
        grammar,
        binary_rules=grammar.binary_rules[kept],
        binary_probabilities=grammar.binary_probabilities[kept],
    )


def without_rare_words(grammar, gold):
    """The same grammar with fewer words; the others become unknown words.

    These are words without features of their own, and words that no gold tree has and whose class
    has the same most probable tag.
    """
    lexicon, spans = grammar.lexicon, grammar.span_filter
    tags, seen = spans.word_tags, set(gold.words)
    frequent = grammar.crf_weights.knows(lexicon.words)
    kept = [
        bool(known and (word in seen or tags[number] != tags[lexicon.class_emission(word)]))
        for number, (word, known) in enumerate(zip(lexicon.words, frequent, strict=True))
    ]
    rows = np.array([*kept, *[True] * len(lexicon.classes)])
    lengths = np.diff(lexicon.offsets)
    entries = np.repeat(rows, lengths)
    lexicon = replace(
        lexicon,
        words=tuple(word for word, keep in zip(lexicon.words, kept, strict=True) if keep),
        offsets=np.concatenate([[0], np.cumsum(lengths[rows])]).astype(np.int64),
        symbols=lexicon.symbols[entries],
        probabilities=lexicon.probabilities[entries],
    )
    spans = replace(spans, word_tags=spans.word_tags[rows], word_tag_sets=spans.word_tag_sets[rows])
    return replace(grammar, lexicon=lexicon, span_filter=spans)


def smaller(grammar):
    """The same grammar with numbers that take a byte each, which only change a little."""
    weights = replace(grammar.crf_weights, weights=round_numbers(grammar.crf_weights.weights))
    # Relative errors of probabilities should be small, so their logarithms are rounded.
    logarithms = round_numbers(np.log(grammar.lexicon.probabilities).astype(np.float32))
    probabilities = np.exp(logarithms).astype(np.float64)
    lexicon = replace(grammar.lexicon, probabilities=probabilities)
    spans = grammar.span_filter
    spans = replace(
        spans,
        border_weights=round_numbers(spans.border_weights),
        pair_weights=round_numbers(spans.pair_weights),
    )
    return replace(grammar, crf_weights=weights, lexicon=lexicon, span_filter=spans)


def score(parser, name):
    """The scores of a parser on a development set."""
    forest = read_forest(TREEBANKS / name / "dev.mrg", on_error="skip")
    return evaluate_parser(parser, list(Cleaning().apply(forest).nonempty().trees()))


def finish(grammar, gold, path, n_jobs):
    """Make a model smaller, measure it, and save it with its quality, its data and its licence."""
    grammar = smaller(without_rare_words(without_new_roots(grammar, gold), gold))
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
    options.add_argument("folder", type=Path, help="the folder of the teacher and its trees")
    options.add_argument("--sentences", type=int, help="the number of sentences of text (all)")
    options.add_argument("-o", "--output", type=Path, default=embedded_models()["english"])
    options.add_argument("-j", "--jobs", type=int, default=-1, help="the number of threads")
    chosen = options.parse_args()
    if not TREEBANKS.is_dir():
        print(f"no treebanks in {SHARED}: set LPCFG_SHARED to the folder that holds them")
        return
    folder = chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    teacher = folder / "teacher.lpcfg"
    student = folder / "student.lpcfg"
    gold = gold_trees(STUDENT, ("gum", "ewt-silver", "craft"))
    if student.exists():
        finish(load(student), gold, chosen.output, chosen.jobs)
        return
    if not teacher.exists():
        train_teacher(teacher, chosen.jobs)
    conll = [CORPORA / f"amalgum-{genre}.conll.gz" for genre in AMALGUM_GENRES]
    report = label_text(
        teacher,
        text(folder, chosen.sentences),
        folder / "labelled",
        dependencies=conll,
        n_jobs=chosen.jobs,
        prune=TEACHER_PRUNING,
    )
    print(report)
    treebank = mixed_treebank(
        gold, folder / "labelled", gold_weight=1.0, min_confidence=MIN_CONFIDENCE
    )
    print(treebank)
    estimator = CRFEstimator(lexicon=LEXICON, bits=BITS, n_jobs=chosen.jobs)
    grammar = estimator.fit(treebank).grammar_
    save(grammar, student)
    finish(grammar, gold, chosen.output, chosen.jobs)


if __name__ == "__main__":
    main()
