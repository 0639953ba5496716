"""The CRF on GUM dev, with weights for spans one by one, for trees, and over latent states.

Learns from GUM's training part and parses its development part from words. The first rows say what
the labels of spans are worth before any tree is looked for: a span has the labels that are likelier
than not. Well-formed are the sentences in which no two spans cross. Run from the top of the
repository: .venv/bin/python benches/crf.py
"""

import time
from collections.abc import Iterator

import numpy as np
from development import gold, no_options, print_row, score, training

from lpcfg import (
    CRFEstimator,
    Parse,
    Parser,
    PCFGEstimator,
    Scores,
    SpanScores,
    SpectralEstimator,
    Transform,
    Tree,
    decode_spans,
    evaluate,
)
from lpcfg.evaluation.span_labels import evaluate_span_labels


def likely_labels(parse: Parse) -> dict[tuple[int, int], list[tuple[float, str]]]:
    """For each span the labels that are likelier than not, tags aside."""
    labels: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for start, end, label, probability, preterminal in parse.marginals.tolist():
        if probability > 0.5 and not preterminal:
            labels.setdefault((start, end), []).append((probability, label))
    return labels


def before_decoding(parses: list[Parse], trees: list[Tree]) -> Iterator[str]:
    """F1, precision, recall, exact matches and well-formed sentences of labels one by one."""
    scores = evaluate_span_labels(trees, [parse.marginals for parse in parses])
    figures = (scores.f1, scores.precision, scores.recall)
    yield from (f"{figure:.2f}" for figure in figures)
    yield f"{scores.exact_match:.2f}"
    yield f"{scores.well_formedness:.2f}"


def decoded(parse: Parse, words: list[str], method: str) -> Tree:
    """The tree of likely spans, by CKY or from the top without looking ahead."""
    labels = likely_labels(parse)
    whole = (0, len(words))
    labels.setdefault(whole, [(1.0, parse.tree.label)])
    order = list(labels)
    # The likelier a label the higher it is; nothing is above the root.
    root = parse.tree.label
    ranked = [sorted(labels[span], key=lambda own: (own[1] == root, own)) for span in order]
    chains = [[], *([label for _, label in reversed(own)] for own in ranked)]
    scores = SpanScores(
        len(words),
        start=[start for start, _ in order],
        end=[end for _, end in order],
        label=np.arange(1, len(order) + 1),
        score=[sum(probability - 0.5 for probability, _ in labels[span]) for span in order],
    )
    return decode_spans(scores, method=method, n_jobs=1).tree(chains, words, parse.tree.tags())


def row(name: str, scores: Scores, formed: str, seconds: str, speed: str) -> None:
    figures = (scores.f1, scores.precision, scores.recall, scores.exact_match)
    print_row(name, *(f"{figure:.2f}" for figure in figures), formed, seconds, speed)


def main() -> None:
    no_options(__doc__)
    print_row(
        "model", "F1", "P", "R", "exact", "well-formed", "training, CPU s", "sentences / CPU s"
    )
    print_row(*["---"] * 8)
    treebank = training(Transform())
    sentences = [tree.words() for tree in gold()]
    scores, speed = score(PCFGEstimator().fit(treebank).grammar_)
    row("PCFG", scores, "100", "", f"{speed:.0f}")
    estimators = {
        # Without the grammar's probabilities weights have further to go.
        "independent": CRFEstimator(loss="independent", learning_rate=0.1, n_jobs=1),
        "crf": CRFEstimator(n_jobs=1),
        "crf over spectral": CRFEstimator(latent=SpectralEstimator(), n_jobs=1),
    }
    for name, estimator in estimators.items():
        started = time.process_time()
        grammar = estimator.fit(treebank).grammar_
        seconds = f"{time.process_time() - started:.0f}"
        parser = Parser(grammar, n_jobs=1)
        parses = list(parser.analyze_many(words=sentences, marginals=True))
        print_row(f"{name}, labels", *before_decoding(parses, gold()), seconds, "")
        for method in ("greedy", "exact"):
            trees = [
                decoded(parse, words, method)
                for parse, words in zip(parses, sentences, strict=True)
            ]
            row(f"{name}, labels, then {method} search", evaluate(gold(), trees), "100", "", "")
        for decoder in ("viterbi", "max-f1"):
            scores, speed = score(grammar, decoder)
            row(f"{name}, {decoder}", scores, "100", "", f"{speed:.0f}")


if __name__ == "__main__":
    main()
