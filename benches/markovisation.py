"""PCFGs on GUM dev: markovisation, unary rules, unknown words and decoders, as a table.

Run from the top of the repository: .venv/bin/python benches/markovisation.py
"""

import time
from dataclasses import replace

from development import SHARED, no_options

from lpcfg import (
    Cleaning,
    LexiconOptions,
    Parser,
    PCFGEstimator,
    Transform,
    Treebank,
    evaluate_parser,
    read_trees,
)
from lpcfg.parsing.options import DECODERS

UNARY_RULES = {
    "collapse_root": False,
    "collapse_inside": False,
    "collapse_preterminals": False,
}


def transforms():
    for binarize in ("right", "left"):
        for vertical, annotate in ((0, "original"), (1, "original"), (1, "all"), (2, "original")):
            for horizontal in (0, 1, 2, None):
                made = "<" if vertical and annotate == "original" else "="
                order = "inf" if horizontal is None else horizontal
                name = f"{binarize}, v{made}{vertical}, h={order}"
                yield name, Transform(binarize, horizontal, vertical, annotate)
    yield "right, v<1, h=1, unary rules", Transform(**UNARY_RULES)
    yield "right, v<1, h=1, tags not annotated", Transform(annotate_preterminals=False)


def lexicons():
    default = LexiconOptions()
    yield "learnt classes (default)", default
    yield "English classes", replace(default, classes="english")
    yield "tags as classes", replace(default, classes="tag")
    yield "English classes, rare words replaced (Peng)", LexiconOptions.plain("english", 5)
    yield "learnt classes, rare words replaced", LexiconOptions.plain("learnt", 5)
    yield "no back-off from chains to tags", replace(default, chain_smoothing=0.0)
    yield "no lower-casing of first words", replace(default, lowercase_initial=False)


def report(name, train, lexicon, gold, decoder="max-f1"):
    grammar = PCFGEstimator(lexicon=lexicon).fit(train).grammar_
    started = time.process_time()
    result = evaluate_parser(Parser(grammar, decoder=decoder), gold)
    speed = len(gold) / (time.process_time() - started)
    scores = result.scores
    print(
        f"| {name} | {len(grammar.symbols)} | {len(grammar.binary_rules)} | {scores.f1:.2f} "
        f"| {scores.precision:.2f} | {scores.recall:.2f} | {scores.exact_match:.2f} "
        f"| {scores.tag_accuracy:.2f} | {scores.coverage:.1f} | {speed:.0f} |",
        flush=True,
    )


def main():
    no_options(__doc__)
    folder = SHARED / "treebanks" / "gum"
    if not folder.is_dir():
        print(f"no treebank in {folder}: set LPCFG_SHARED to the folder that holds treebanks/gum")
        return
    cleaning = Cleaning()
    gold = [tree for tree in map(cleaning.clean, read_trees(folder / "dev.mrg")) if tree]
    columns = ("symbols", "rules", "F1", "P", "R", "exact", "tags", "coverage", "sentences/CPU s")
    print("| grammar | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, transform in transforms():
        train = Treebank.read(folder / "train.mrg", cleaning=cleaning, transform=transform)
        report(name, train, LexiconOptions(), gold)
    train = Treebank.read(folder / "train.mrg", cleaning=cleaning)
    for name, lexicon in lexicons():
        report(name, train, lexicon, gold)
    for decoder in DECODERS:
        report(f"decoder {decoder}", train, LexiconOptions(), gold, decoder)


if __name__ == "__main__":
    main()
