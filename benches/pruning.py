"""F1 and speed of ways to prune the chart, each by itself, on four treebanks.

A spectral grammar of each treebank parses its development set from words, on one thread, with

- the default settings, first and last, which shows how much the machine varies;
- other fractions of correct spans that the span filter leaves open, and no span filter;
- learnt coarse classes: the labels of the coarse pass, merged until few are left, each time the two
  whose merging loses least information about the rules they are in;
- lower and higher thresholds of the coarse pass and of the PCFG pass.

Speed is that of `Parser.parse_to_brackets`, in sentences of a CPU second.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from development import gold, no_options, print_row, training
from numpy.typing import NDArray

from lpcfg import Grammar, Parser, Pruning, SpectralEstimator, Transform, Tree, evaluate

TRANSFORMS = {
    "gum": Transform(),
    "craft": Transform(),
    "cess-esp": Transform(vertical=0, horizontal=0),
    "keyaki": Transform(),
}

#: How often the development set is parsed; the fastest run counts.
RUNS = 3


def ways(grammar: Grammar) -> Iterator[tuple[str, Grammar, Pruning]]:
    """The settings that are compared."""
    yield "default", grammar, Pruning()
    yield "no span filter", grammar, Pruning(spans=1)
    for spans in (0.99, 0.998):
        yield f"span filter, recall {spans}", grammar, Pruning(spans=spans)
    for phrases, tags in ((8, 16), (16, 32), (32, 64)):
        classes = merged_classes(grammar, phrases, tags)
        name = f"{phrases} classes of phrases and {tags} of tags"
        yield name, replace(grammar, coarse=classes), Pruning()
    for factor in (0.3, 3):
        default = Pruning()
        yield (
            f"thresholds times {factor:g}",
            grammar,
            default._replace(coarse=default.coarse * factor, fine=default.fine * factor),
        )
    yield "default again", grammar, Pruning()


def measured(grammar: Grammar, prune: Pruning, treebank: str) -> tuple[float, float]:
    """F1, and sentences of a CPU second."""
    parser = Parser(grammar, prune=prune, n_jobs=1)
    trees = gold(treebank)
    words = [tree.words() for tree in trees]
    seconds = []
    for _ in range(RUNS):
        started = time.process_time()
        found = list(parser.parse_to_brackets(words=words))
        seconds.append(time.process_time() - started)
    f1 = evaluate(trees, [Tree.from_string(text) for text in found]).f1
    return f1, len(trees) / min(seconds)


def merged_classes(grammar: Grammar, phrases: int, tags: int) -> NDArray[np.uint32]:
    """The coarse classes of a grammar, merged to so many for phrases, for parts and for tags."""
    assert grammar.coarse is not None
    classes = grammar.coarse.astype(np.int64)
    kinds = np.zeros(classes.max() + 1, dtype=int)
    for symbol, own in zip(grammar.symbols, classes.tolist(), strict=True):
        is_tag = symbol.preterminal and len(symbol.labels) == 1
        kinds[own] = 2 if is_tag else int(symbol.is_binarization)
    contexts = class_contexts(grammar, classes)
    new = np.arange(len(kinds))
    for kind, wanted in ((0, phrases), (1, phrases), (2, tags)):
        members = np.flatnonzero(kinds == kind)
        new[members] = members[merged(contexts[members], wanted)]
    _, numbers = np.unique(new[classes], return_inverse=True)
    return numbers.astype(np.uint32)


def class_contexts(grammar: Grammar, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often each class occurs at each place of each rule over classes."""
    assert grammar.weights is not None
    rules = grammar.binary_rules.astype(np.int64)
    uses = grammar.weights[rules[:, 0]] * grammar.binary_probabilities
    coarse = classes[rules]
    size = classes.max() + 1
    columns = []
    for place, (one, other) in enumerate(((1, 2), (0, 2), (0, 1))):
        pairs, column = np.unique(coarse[:, one] * size + coarse[:, other], return_inverse=True)
        table = np.zeros((size, len(pairs)))
        np.add.at(table, (coarse[:, place], column), uses)
        columns.append(table)
    return np.hstack(columns)


def merged(counts: NDArray[np.float64], wanted: int) -> NDArray[np.int64]:
    """For each row the first row of its group, after merging the rows to so many groups."""
    group = np.arange(len(counts))
    rows: dict[int, NDArray[np.float64]] = dict(enumerate(counts))

    def loss(one: int, other: int) -> float:
        return entropy(rows[one] + rows[other]) - entropy(rows[one]) - entropy(rows[other])

    losses = {(i, j): loss(i, j) for i in rows for j in rows if i < j}
    while len(rows) > wanted:
        one, other = min(losses, key=losses.__getitem__)
        rows[one] = rows[one] + rows.pop(other)
        group[group == other] = one
        losses = {pair: value for pair, value in losses.items() if other not in pair}
        for row in rows:
            if row != one:
                pair = min(row, one), max(row, one)
                losses[pair] = loss(*pair)
    return group


def entropy(counts: NDArray[np.float64]) -> float:
    """The entropy of a distribution, times the sum of its counts."""
    used = counts[counts > 0]
    return float(used.sum() * np.log(used.sum()) - used @ np.log(used)) if len(used) else 0.0


def main() -> None:
    print_row("treebank", "way", "F1", "sentences / CPU s")
    print_row("---", "---", "---", "---")
    for treebank, transform in TRANSFORMS.items():
        grammar = SpectralEstimator().estimate(training(transform, treebank))
        for name, changed, prune in ways(grammar):
            f1, rate = measured(changed, prune, treebank)
            print_row(treebank, name, f"{f1:.2f}", f"{rate:.0f}")


if __name__ == "__main__":
    no_options(str(__doc__))
    main()
