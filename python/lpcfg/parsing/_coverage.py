"""The tree that covers most of what several parsers say of a sentence (Narayan & Cohen 2015)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lpcfg.parsing.marginals import MarginalTable, span_probabilities
from lpcfg.parsing.span_decoder import SpanScores, decode_spans
from lpcfg.treebank.tree import Tree

__all__ = ["BRACKET_COST", "Coverage", "covering_trees"]

#: What a bracket costs that a tree writes: half of a usual F1, as in the decoder ``max-f1``.
BRACKET_COST = 0.4

Chain = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Coverage:
    """What a tree gains by each labelled span, according to a table, and the trees it came from.

    A tree may have the labels of the table, and over the same words such chains of labels as one
    of ``trees`` has there: what of two likely labels is above, and whether both can be, is theirs
    to say. At the top it has what one of them has. ``tags`` tells which labels are those of words.

    >>> from lpcfg.parsing.marginals import tree_marginals
    >>> trees = [Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")]
    >>> coverage = Coverage(tree_marginals(trees[0]), trees, {"PRP", "VBD"})
    >>> print(*covering_trees([coverage]))
    (S (NP (PRP it)) (VP (VBD rained)))
    """

    table: MarginalTable
    trees: Sequence[Tree]
    tags: Collection[str]

    def gain(self, tree: Tree) -> float:
        """What a tree gains by its phrases.

        >>> from lpcfg.parsing.marginals import tree_marginals
        >>> tree = Tree.from_string("(S (PRP it) (VBD rained))")
        >>> Coverage(tree_marginals(tree), [tree], {"PRP", "VBD"}).gain(tree)
        0.6
        """
        table = self.probabilities
        return sum(table.get(span, 0.0) - BRACKET_COST for span in tree.spans())

    @cached_property
    def probabilities(self) -> dict[tuple[str, int, int], float]:
        """Those of labelled spans.

        >>> from lpcfg.parsing.marginals import tree_marginals
        >>> tree = Tree.from_string("(S (PRP it) (VBD rained))")
        >>> Coverage(tree_marginals(tree), [tree], {"PRP", "VBD"}).probabilities["S", 0, 2]
        1.0
        """
        return span_probabilities(self.table)

    def scores(self) -> tuple[SpanScores, list[Chain]]:
        """The scores of chains of labels over spans, and the chains; the first is none.

        >>> from lpcfg.parsing.marginals import tree_marginals
        >>> tree = Tree.from_string("(ROOT (S (PRP it) (VBD rained)))")
        >>> scores, chains = Coverage(tree_marginals(tree), [tree], {"PRP", "VBD"}).scores()
        >>> scores.score, chains
        ((1.2,), [(), ('ROOT', 'S')])
        """
        length = len(self.trees[0].words())
        table = self.table
        single = table[table["probability"] > BRACKET_COST]
        whole = single["end"] - single["start"] == length
        tag = (single["end"] - single["start"] == 1) & np.isin(single["label"], list(self.tags))
        single = single[~(whole | tag)]
        rows: list[tuple[int, int, Chain, float]] = [
            (start, end, (label,), probability - BRACKET_COST)
            for start, end, label, probability in single.tolist()
        ]
        chains = dict.fromkeys(chain for tree in self.trees for chain in _chains(tree, length))
        for start, end, labels in chains:
            known = (self.probabilities.get((label, start, end), 0.0) for label in labels)
            rows.append((start, end, labels, sum(known) - BRACKET_COST * len(labels)))
        starts, ends, found, scores = zip(*rows, strict=True)
        # Zero is no bracket at all, which the whole sentence cannot have: a bare tag is a chain.
        numbers: dict[Chain, int] = {}
        number = [numbers.setdefault(chain, len(numbers) + 1) for chain in found]
        return SpanScores(length, starts, ends, number, scores), [(), *numbers]

    def best_tags(self) -> list[str]:
        """The likeliest tag of each word.

        >>> from lpcfg.parsing.marginals import tree_marginals
        >>> tree = Tree.from_string("(S (PRP it) (VBD rained))")
        >>> Coverage(tree_marginals(tree), [tree], {"PRP", "VBD"}).best_tags()
        ['PRP', 'VBD']
        """
        words = self.table[self.table["end"] - self.table["start"] == 1]
        rows = words[np.isin(words["label"], list(self.tags))]
        rows = rows[np.argsort(rows["probability"], kind="stable")]
        # Of several for one word the last and likeliest stays.
        likeliest = dict(zip(rows["start"].tolist(), rows["label"].tolist(), strict=True))
        return [likeliest.get(place, tag) for place, tag in enumerate(self.trees[0].tags())]


def _chains(tree: Tree, length: int) -> Iterator[tuple[int, int, Chain]]:
    """Several labels over the same words of a tree, and those over all words, tags left out."""
    found: dict[tuple[int, int], list[str]] = {(0, length): []}
    for label, start, end in tree.spans():
        found.setdefault((start, end), []).append(label)
    for (start, end), labels in found.items():
        if len(labels) > 1 or end - start == length:
            yield start, end, tuple(labels)


def covering_trees(sentences: Sequence[Coverage], n_jobs: int = -1) -> list[Tree]:
    """The trees that gain most, and the likeliest tags.

    >>> covering_trees([])
    []
    """
    scores = [coverage.scores() for coverage in sentences]
    found = decode_spans([own for own, _ in scores], n_jobs=n_jobs)
    return [
        tree.tree(chains, coverage.trees[0].words(), coverage.best_tags())
        for tree, (_, chains), coverage in zip(found, scores, sentences, strict=True)
    ]
