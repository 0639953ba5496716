"""Parses from the columns of the core."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing._sentences import Sentence
from lpcfg.parsing.marginals import MarginalTable, marginal_table
from lpcfg.parsing.member_columns import Outcome, SpanColumns
from lpcfg.parsing.parse import STATUSES, Parse, tree_from_spans

__all__ = ["best_trees", "build_parses", "marginal_tables", "outcomes"]

Columns = Mapping[str, NDArray[Any]]


def build_parses(
    grammar: Grammar,
    sentences: Iterable[Sentence],
    columns: Columns,
    tables: Iterable[MarginalTable | None],
) -> Iterator[Parse]:
    """The parses of a batch from the columns of the core."""
    labels = [label for label, _ in grammar.node_labels]
    spans = list(
        zip(
            [labels[label] for label in columns["span_labels"].tolist()],
            columns["span_starts"].tolist(),
            columns["span_ends"].tolist(),
            strict=True,
        )
    )
    probabilities = columns["span_probabilities"].tolist()
    span_offsets = columns["span_offsets"].tolist()
    tree_offsets = columns["tree_offsets"].tolist()
    tree_log_probabilities = _finite_or_none(columns["tree_log_probabilities"])
    rows = zip(sentences, tables, outcomes(grammar, columns), strict=False)
    for row, (sentence, table, outcome) in enumerate(rows):
        tokens = sentence.tokens
        first, last = tree_offsets[row], tree_offsets[row + 1]
        trees = tuple(
            (
                tree_from_spans(spans[span_offsets[tree] : span_offsets[tree + 1]], tokens),
                tree_log_probabilities[tree],
            )
            for tree in range(first, last)
        )
        yield Parse(
            tree=trees[0][0],
            status=outcome.status,
            log_probability=outcome.log_probability,
            sentence_log_probability=outcome.sentence_log_probability,
            span_probabilities=tuple(probabilities[span_offsets[first] : span_offsets[first + 1]]),
            candidates=trees,
            marginals=table,
            conditional=outcome.conditional,
        )


def outcomes(grammar: Grammar, columns: Columns) -> list[Outcome]:
    """What the parses of a batch have beside their trees."""
    first = columns["tree_offsets"][:-1]
    rows = zip(
        columns["statuses"].tolist(),
        _finite_or_none(columns["tree_log_probabilities"][first]),
        _finite_or_none(columns["log_probabilities"]),
        strict=True,
    )
    conditional = grammar.is_conditional
    return [
        Outcome(STATUSES[status], tree, sentence, conditional) for status, tree, sentence in rows
    ]


def best_trees(columns: Columns) -> SpanColumns:
    """The nodes of the best tree of each sentence in pre-order."""
    trees = SpanColumns.from_core(columns, "span")
    first = columns["tree_offsets"][:-1]
    if len(trees.offsets) == len(first) + 1:
        return trees
    lengths = np.diff(trees.offsets)[first]
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    places = np.repeat(trees.offsets[first] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return SpanColumns(offsets, *(column[places] for column in trees[1:]))


def marginal_tables(grammar: Grammar, columns: Columns) -> list[MarginalTable]:
    """The table of each sentence of a batch."""
    labels, preterminals = zip(*grammar.node_labels, strict=True)
    table = marginal_table(
        columns["marginal_starts"],
        columns["marginal_ends"],
        np.array(labels)[columns["marginal_labels"]],
        columns["marginal_probabilities"],
        np.array(preterminals)[columns["marginal_labels"]],
    )
    return np.split(table, columns["marginal_offsets"][1:-1])


def _finite_or_none(logarithms: NDArray[np.float64]) -> list[float | None]:
    """The logarithms of probabilities; None for a probability of zero."""
    return [value if math.isfinite(value) else None for value in logarithms.tolist()]
