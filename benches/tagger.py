"""What a tagger does for parsing: accuracy of tags, and speed and F1 of parsers that are told tags.

Run from the top of the repository: .venv/bin/python benches/tagger.py
Times are CPU seconds of one thread, the least of three runs, tagging included.
"""

import time

from development import GUM, no_options, training

from lpcfg import (
    Parser,
    PCFGEstimator,
    SpectralEstimator,
    Tagger,
    Transform,
    Treebank,
    evaluate,
)
from lpcfg.evaluation.tag_scores import evaluate_tagger

#: Probabilities from which on tags are fixed: never, if sure, always.
SURE = (None, 0.999, 0.99, 0.9, 0.0)
RUNS = 3


def main():
    no_options(__doc__)
    train = training(Transform())
    dev = Treebank.read(GUM / "dev.mrg")
    started = time.process_time()
    tagger = Tagger(n_jobs=1).fit(train)
    print(f"tagger: training {time.process_time() - started:.2f} CPU s")
    print(evaluate_tagger(tagger, dev))
    print("\n| grammar | tags fixed from | of the words | F1 | tags | CPU s |")
    print("|---|---|---|---|---|---|")
    for name, estimator in (("PCFG", PCFGEstimator()), ("spectral", SpectralEstimator())):
        parser = Parser(estimator.fit(train).grammar_, n_jobs=1)
        for probability in SURE:
            print(f"| {name} | {measure(parser, tagger, dev, probability)} |", flush=True)


def measure(parser, tagger, dev, probability):
    gold = dev.trees()
    words = [tree.words() for tree in gold]
    runs = [parse(parser, tagger, words, probability) for _ in range(RUNS)]
    seconds, trees, tags = min(runs, key=lambda run: run[0])
    tokens = sum(map(len, words))
    fixed = sum(tag is not None for sentence in tags for tag in sentence)
    right = sum(
        one == other
        for pair in zip(gold, trees, strict=True)
        for one, other in zip(*(tree.tags() for tree in pair), strict=True)
    )
    start = "never" if probability is None else f"{probability:g}"
    return (
        f"{start} | {100 * fixed / tokens:.1f} % | {evaluate(gold, trees).f1:.2f} "
        f"| {100 * right / tokens:.2f} | {seconds:.2f}"
    )


def parse(parser, tagger, words, probability):
    started = time.process_time()
    tags = [] if probability is None else list(tagger.sure_tags(words, probability))
    trees = list(parser.parse_many(tags or None, words=words))
    return time.process_time() - started, trees, tags


if __name__ == "__main__":
    main()
