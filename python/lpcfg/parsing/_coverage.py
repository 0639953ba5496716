"""Maximal coverage: the tree with most brackets in common with several parses.

With the marginals of the parses it is maximal marginal coverage, with their trees maximal tree
coverage (Narayan & Cohen 2015). Each bracket has a cost, so that the objective is close to the
expected F1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.parsing.marginals import MarginalTable, NodeSpan, marginal_table
from lpcfg.parsing.member_columns import MemberColumns, NodeLabel, SpanColumns
from lpcfg.parsing.parse import INCOMPLETE
from lpcfg.treebank.tree import Tree

__all__ = ["BRACKET_COST", "Combination", "coverage_gain"]

#: The cost of each bracket of a tree: half of a usual F1, as in the decoder ``max-f1``.
BRACKET_COST: float = _core.bracket_cost


def coverage_gain(tree: Tree, probabilities: dict[NodeSpan, float]) -> float:
    """The sum of the gains of a tree's phrases: their probabilities minus the cost of a bracket.

    >>> coverage_gain(Tree.from_string("(S (X ha))"), {("S", 0, 1, False): 0.75})
    0.35
    """
    return sum(probabilities.get((*span, False), 0.0) - BRACKET_COST for span in tree.spans())


class Combination:
    r"""What several members say of a batch of sentences together.

    A tree may have any phrase label of the mean table over a span. It may have several labels over
    the same words only as a unary chain of a member's tree, because the table has neither the order
    of labels nor whether they occur together. Its root is the root of a member's tree, and its tags
    are the most probable ones. If all members have the same tree, it is the tree.

    Members that find only fragments of a sentence are ignored if there are others. Fragments have
    no marginals; if no member finds more, trees are combined.

    ``members``: what they say of the same sentences.
    ``weights``: the weight of each member.
    ``by_trees``: whether trees are combined, and not marginals.
    ``n_jobs``: the number of threads, -1 for one on each core; the result does not depend on it.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
    >>> parses = list(parser.analyze_many(words=[["it", "rained"]], marginals=True))
    >>> members = [MemberColumns.from_parses(parses)] * 2
    >>> Combination(members, [1.0, 2.0], by_trees=False).nodes(0)
    [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)]
    """

    def __init__(
        self,
        members: Sequence[MemberColumns],
        weights: Sequence[float],
        *,
        by_trees: bool,
        n_jobs: int = -1,
    ) -> None:
        #: The labels that numbers stand for, in ascending order.
        self.labels: list[NodeLabel] = sorted({own for member in members for own in member.labels})
        incomplete = np.array(
            [[outcome.status in INCOMPLETE for outcome in own.outcomes] for own in members]
        )
        #: Whether no member has found more than fragments of each sentence.
        self.is_fragmented: NDArray[np.bool_] = np.logical_and.reduce(incomplete)
        #: Whether each member (in the rows) is not ignored in each sentence.
        self.used: NDArray[np.bool_] = ~incomplete | self.is_fragmented
        numbers = {label: number for number, label in enumerate(self.labels)}
        renumbered = [
            np.array([numbers[label] for label in own.labels], dtype=np.uint32) for own in members
        ]
        trees = [own.trees.renumbered(ids) for own, ids in zip(members, renumbered, strict=True)]
        # The first node of a tree spans the sentence.
        words = trees[0].ends[trees[0].offsets[:-1]].astype(np.int64)
        factors = self.used * np.array(weights, dtype=np.float64)[:, None]

        def cover(tables: Sequence[SpanColumns]) -> dict[str, NDArray[Any]]:
            return _core.cover_spans(
                words,
                [
                    (own_factors, tuple(table), tuple(tree[:4]))
                    for own_factors, table, tree in zip(factors, tables, trees, strict=True)
                ],
                is_tag=[preterminal for _, preterminal in self.labels],
                threads=thread_count(n_jobs),
            )

        found = cover(
            [own.marginals.renumbered(ids) for own, ids in zip(members, renumbered, strict=True)]
        )
        self.means = SpanColumns.from_core(found, "marginal")
        from_trees = np.full(len(words), by_trees) | self.is_fragmented
        #: Whether each sentence is combined by trees: probabilities of nodes are then not means.
        self.from_trees: NDArray[np.bool_] = from_trees
        self._found = found, cover(trees) if from_trees.any() else found
        self._nodes = [SpanColumns.from_core(one, "span") for one in self._found]

    def _choice(self, row: int) -> int:
        return int(self.from_trees[row])

    def nodes(self, row: int) -> list[tuple[str, int, int]]:
        """The labelled spans of the tree of a sentence in pre-order, with its tags."""
        columns = self._nodes[self._choice(row)]
        own = slice(columns.offsets[row], columns.offsets[row + 1])
        labels = [self.labels[label][0] for label in columns.labels[own].tolist()]
        starts, ends = columns.starts[own].tolist(), columns.ends[own].tolist()
        return list(zip(labels, starts, ends, strict=True))

    def probabilities(self, row: int) -> tuple[float, ...] | None:
        """The mean probability of each of these nodes, if the means were combined."""
        if self.from_trees[row]:
            return None
        columns = self._nodes[0]
        return tuple(
            columns.probabilities[columns.offsets[row] : columns.offsets[row + 1]].tolist()
        )

    def searched(self, row: int) -> dict[NodeSpan, float]:
        """The probabilities of labelled spans in which the tree was searched."""
        found = self._found[self._choice(row)]
        columns = SpanColumns.from_core(found, "marginal")
        own = slice(columns.offsets[row], columns.offsets[row + 1])
        names = [self.labels[label] for label in columns.labels[own].tolist()]
        spans = zip(columns.starts[own].tolist(), columns.ends[own].tolist(), strict=True)
        keys = (
            (label, start, end, tag)
            for (label, tag), (start, end) in zip(names, spans, strict=True)
        )
        return dict(zip(keys, columns.probabilities[own].tolist(), strict=True))

    def proposed(self, row: int) -> NDArray[np.bool_]:
        """Which members have this tree."""
        every = self._found[self._choice(row)]["proposed"].reshape(self.used.shape)
        return every[:, row]

    def tables(self) -> list[MarginalTable]:
        """The mean probabilities of the labelled spans of each sentence."""
        labels, preterminals = zip(*self.labels, strict=True)
        table = marginal_table(
            self.means.starts,
            self.means.ends,
            np.array(labels)[self.means.labels],
            self.means.probabilities,
            np.array(preterminals)[self.means.labels],
        )
        return np.split(table, self.means.offsets[1:-1])
