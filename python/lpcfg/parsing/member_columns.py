"""What the members of an ensemble say of a batch of sentences, as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.parsing.marginals import node_spans
from lpcfg.parsing.parse import Parse

__all__ = ["Guide", "MemberColumns", "NodeLabel", "Outcome", "SpanColumns"]

#: A label, and whether it is that of preterminals.
NodeLabel = tuple[str, bool]


class SpanColumns(NamedTuple):
    """Labelled spans of several sentences; labels are numbers.

    ``offsets``: where the spans of each sentence start, and where those of the last one end.

    >>> columns = SpanColumns.concatenated([[(0, 0, 2, 0.5)], [(1, 0, 1, 1.0), (0, 1, 2, 0.25)]])
    >>> columns.offsets.tolist(), columns.labels.tolist()
    ([0, 1, 3], [0, 1, 0])
    """

    offsets: NDArray[np.int64]
    labels: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    probabilities: NDArray[np.float64]

    @classmethod
    def concatenated(
        cls, sentences: Sequence[Sequence[tuple[int, int, int, float]]]
    ) -> SpanColumns:
        """Columns from the label, the start, the end and the probability of each span."""
        rows = [row for sentence in sentences for row in sentence]
        return cls(
            offsets=np.cumsum([0, *map(len, sentences)], dtype=np.int64),
            labels=np.array([row[0] for row in rows], dtype=np.uint32),
            starts=np.array([row[1] for row in rows], dtype=np.uint32),
            ends=np.array([row[2] for row in rows], dtype=np.uint32),
            probabilities=np.array([row[3] for row in rows], dtype=np.float64),
        )

    @classmethod
    def from_core(cls, columns: Mapping[str, NDArray[Any]], prefix: str) -> SpanColumns:
        """Those of the core whose names start with ``prefix``."""
        return cls(*(columns[f"{prefix}_{name}"] for name in cls._fields))

    def renumbered(self, numbers: NDArray[np.uint32]) -> SpanColumns:
        """The spans with other numbers for their labels."""
        return self._replace(labels=numbers[self.labels])


class Outcome(NamedTuple):
    """What a parse has beside its tree; see :class:`~lpcfg.Parse`."""

    status: str
    log_probability: float | None
    sentence_log_probability: float | None
    conditional: bool


#: The offsets of sentences, and the labels, starts and ends of spans, as the core takes them.
Guide = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]


@dataclass(frozen=True, eq=False)
class MemberColumns:
    r"""What a member says of a batch of sentences.

    ``labels``: the labels that numbers stand for.
    ``marginals``: the labelled spans of each sentence. ``trees``: the nodes of each best tree in
    pre-order. ``outcomes``: the rest of each parse. ``make_parses``: makes the parses, with
    marginals. ``from_network``: whether the member is a neural network.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
    >>> parses = list(parser.analyze_many(words=[["it", "rained"]], marginals=True))
    >>> columns = MemberColumns.from_parses(parses)
    >>> [columns.labels[label] for label in columns.trees.labels.tolist()]
    [('S', False), ('NP', True), ('VP', True)]
    """

    labels: Sequence[NodeLabel]
    marginals: SpanColumns
    trees: SpanColumns
    outcomes: Sequence[Outcome]
    make_parses: Callable[[], Sequence[Parse]] = field(repr=False)
    from_network: bool = False

    @classmethod
    def from_parses(cls, parses: Sequence[Parse]) -> MemberColumns:
        """The columns of parses with marginals."""
        numbers: dict[NodeLabel, int] = {}
        tables, trees = [], []
        for parse in parses:
            table = () if parse.marginals is None else parse.marginals.tolist()
            tables.append(
                [
                    (numbers.setdefault((label, tag), len(numbers)), start, end, probability)
                    for start, end, label, probability, tag in table
                ]
            )
            trees.append(
                [
                    (numbers.setdefault((label, tag), len(numbers)), start, end, 1.0)
                    for label, start, end, tag in node_spans(parse.tree)
                ]
            )
        outcomes = [
            Outcome(
                parse.status,
                parse.log_probability,
                parse.sentence_log_probability,
                parse.conditional,
            )
            for parse in parses
        ]
        return cls(
            list(numbers),
            SpanColumns.concatenated(tables),
            SpanColumns.concatenated(trees),
            outcomes,
            lambda: parses,
        )

    def guide(self, labels: Sequence[NodeLabel], threshold: float) -> Guide | None:
        """The spans whose probability is at least ``threshold``, for a parser with these labels.

        A sentence that was not parsed as usual has no spans. None if the parser has labels that
        this member does not know.
        """
        numbers = {label: number for number, label in enumerate(labels)}
        if not numbers.keys() <= set(self.labels):
            return None
        known = np.array([numbers.get(label, -1) for label in self.labels], dtype=np.int64)
        usual = np.array([outcome.status == "parsed" for outcome in self.outcomes])
        sentences = np.repeat(np.arange(len(usual)), np.diff(self.marginals.offsets))
        own = known[self.marginals.labels]
        kept = usual[sentences] & (own >= 0) & (self.marginals.probabilities >= threshold)
        lengths = np.bincount(sentences[kept], minlength=len(usual))
        return (
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            own[kept].astype(np.uint32),
            self.marginals.starts[kept],
            self.marginals.ends[kept],
        )
