"""Maximal coverage: the tree with most brackets in common with several parses.

With the marginals of the parses it is maximal marginal coverage, with their trees maximal tree
coverage (Narayan & Cohen 2015). Each bracket has a cost, so that the objective is close to the
expected F1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lpcfg.parsing.marginals import MarginalTable, NodeSpan, span_probabilities
from lpcfg.parsing.span_decoder import SpanScores, decode_spans
from lpcfg.treebank.tree import Tree

__all__ = ["BRACKET_COST", "Coverage", "maximal_coverage_trees"]

#: The cost of each bracket of a tree: half of a usual F1, as in the decoder ``max-f1``.
BRACKET_COST = 0.4

#: Labels of nodes over the same words, from top to bottom.
Chain = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Coverage:
    """The gain of each labelled span of a sentence: its probability minus the cost of a bracket.

    ``table`` has the probabilities, and ``trees`` are the trees of the parses. A tree may have any
    phrase label of the table over a span. It may have several labels over the same words only as a
    unary chain of one of ``trees``, because the table has neither the order of labels nor whether
    they occur together. Its root is the root of one of ``trees``.
    """

    table: MarginalTable
    trees: Sequence[Tree]

    def gain(self, tree: Tree) -> float:
        """The sum of the gains of a tree's phrases."""
        table = self.probabilities
        return sum(table.get((*span, False), 0.0) - BRACKET_COST for span in tree.spans())

    @cached_property
    def probabilities(self) -> dict[NodeSpan, float]:
        """The probabilities of labelled spans."""
        return span_probabilities(self.table)

    def scores(self) -> tuple[SpanScores, list[Chain]]:
        """The gains of chains of labels over spans, and the chains; the first is empty."""
        length = len(self.trees[0].words())
        table = self.table
        single = table[(table["probability"] > BRACKET_COST) & ~table["preterminal"]]
        single = single[single["end"] - single["start"] < length]
        rows: list[tuple[int, int, Chain, float]] = [
            (start, end, (label,), probability - BRACKET_COST)
            for start, end, label, probability, _ in single.tolist()
        ]
        chains = dict.fromkeys(chain for tree in self.trees for chain in _chains(tree, length))
        for start, end, labels in chains:
            expected = sum(
                self.probabilities.get((label, start, end, False), 0.0) for label in labels
            )
            rows.append((start, end, labels, expected - BRACKET_COST * len(labels)))
        starts, ends, row_chains, scores = zip(*rows, strict=True)
        # Label 0 is no bracket, which the whole sentence cannot have; an empty chain, as over a
        # sentence of one bare tag, has another number.
        numbers: dict[Chain, int] = {}
        label = [numbers.setdefault(chain, len(numbers) + 1) for chain in row_chains]
        return SpanScores(length, starts, ends, label, scores), [(), *numbers]

    def best_tags(self) -> list[str]:
        """The most probable tag of each word."""
        rows = self.table[self.table["preterminal"]]
        rows = rows[np.argsort(rows["probability"], kind="stable")]
        # Of several tags of one word, the last and most probable is kept.
        best = dict(zip(rows["start"].tolist(), rows["label"].tolist(), strict=True))
        return [best.get(position, tag) for position, tag in enumerate(self.trees[0].tags())]


def _chains(tree: Tree, length: int) -> Iterator[tuple[int, int, Chain]]:
    """The chains of several labels over the same words, and the chain over all words."""
    chains: dict[tuple[int, int], list[str]] = {(0, length): []}
    for label, start, end in tree.spans():
        chains.setdefault((start, end), []).append(label)
    for (start, end), labels in chains.items():
        if len(labels) > 1 or end - start == length:
            yield start, end, tuple(labels)


def maximal_coverage_trees(sentences: Sequence[Coverage], n_jobs: int = -1) -> list[Tree]:
    """The tree with the largest gain for each sentence, over the most probable tags.

    >>> from lpcfg.parsing.marginals import tree_marginals
    >>> trees = [Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")]
    >>> coverage = Coverage(tree_marginals(trees[0]), trees)
    >>> print(*maximal_coverage_trees([coverage]))
    (S (NP (PRP it)) (VP (VBD rained)))
    """
    scores = [coverage.scores() for coverage in sentences]
    decoded = decode_spans([span_scores for span_scores, _ in scores], n_jobs=n_jobs)
    return [
        tree.tree(chains, coverage.trees[0].words(), coverage.best_tags())
        for tree, (_, chains), coverage in zip(decoded, scores, sentences, strict=True)
    ]
