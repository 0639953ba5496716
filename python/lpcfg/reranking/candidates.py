"""The k-best lists of several parsers for a sentence, merged, with each parser's scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.evaluation.bracketing import Bracketing
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.evalb_parameters import NEW
from lpcfg.evaluation.scores import evaluate
from lpcfg.evaluation.strict import compare_strictly
from lpcfg.parsing.marginals import (
    MarginalTable,
    NodeSpan,
    mean_marginals,
    node_spans,
    span_probabilities,
    tree_marginals,
)
from lpcfg.parsing.member_parses import MemberParses, log_posteriors
from lpcfg.parsing.parse import Parse
from lpcfg.treebank.tree import Tree

__all__ = ["SCORES", "Candidates", "candidate_brackets", "merge_candidates", "oracle_f1"]

#: The scores that each parser gives a candidate; see :func:`merge_candidates`.
SCORES = ("log posterior", "proposed", "rank", "expected F1", "log phrases", "log tags")

#: The lower bound of span probabilities, about the threshold below which they are pruned.
_MIN_PROBABILITY = 1e-4


@dataclass(frozen=True, eq=False)
class Candidates:
    r"""The candidate trees of a sentence: the merged k-best lists of several parsers.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> X S | S X | X X \n X -> 'ha'"))
    >>> parses = list(parser.analyze_many(words=[["ha"] * 3], candidates=5, marginals=True))
    >>> len(merge_candidates(parses))
    2
    """

    trees: tuple[Tree, ...]
    """The candidates, each of them once."""
    log_posteriors: tuple[float | None, ...]
    """The log probability of each tree given the sentence, according to the first parser that gives
    it one."""
    scores: NDArray[np.float64]
    """A row for each tree, with the columns :data:`SCORES` for one parser after another."""
    parses: tuple[Parse, ...]
    """The parses from which the probability of the sentence is taken."""

    def __len__(self) -> int:
        return len(self.trees)

    def parse(self, scores: NDArray[np.float64], count: int = 1) -> Parse:
        r"""The parse with the highest score, with the ``count`` best trees as its candidates.

        The probability of a tree is proportional to the exponential of its score. The probability
        of a span is the sum over the trees that have it. The probability of the sentence is taken
        from the parsers that found more than fragments of it.

        ``scores``: a number for each candidate, the higher the better; the best one becomes the
        tree.

        >>> from lpcfg import Grammar, Parser
        >>> parser = Parser(Grammar.from_string("S -> X S | S X | X X \n X -> 'ha'"))
        >>> parses = list(parser.analyze_many(words=[["ha"] * 3], candidates=5, marginals=True))
        >>> parse = merge_candidates(parses).parse(np.log([1.0, 3.0]))
        >>> print(parse.tree, round(parse.spans[1].probability, 2))
        (S (S (X ha) (X ha)) (X ha)) 0.75
        """
        members = MemberParses(self.parses, [1.0] * len(self.parses))
        probabilities = np.exp(scores - scores.max())
        order = np.argsort(-scores, kind="stable")[:count].tolist()
        ranked = [
            (self.trees[index], members.log_probability(self.log_posteriors[index]))
            for index in order
        ]
        return Parse.from_candidates(
            ranked,
            mean_marginals([tree_marginals(tree) for tree in self.trees], probabilities),
            status=members.status(*ranked[0], proposed=True),
            sentence_log_probability=members.sentence_log_probability,
            conditional=members.conditional,
        )


def merge_candidates(parses: Sequence[Parse], whole: Sequence[Parse] | None = None) -> Candidates:
    r"""Merge the k-best lists of several parsers for one sentence, and score every tree.

    - ``parses``: the parses of the sentence, with candidates and marginals. They may include parses
      of members of an ensemble.
    - ``whole``: the parses that the probability of the sentence is taken from; by default all.

    Each parser gives every tree the :data:`SCORES`, even if it did not propose the tree:

    - log posterior: the log probability given the sentence; if the parser did not propose the tree,
      the log posterior of its last candidate
    - proposed: 1 if the parser proposed it, otherwise 0
    - rank: log(1 + its index in the parser's list)
    - expected F1: under the parser's span marginals
    - log phrases, log tags: the sum of the log marginals of its phrases, and of its tags

    >>> from lpcfg import Grammar, Parser
    >>> grammar = Grammar.from_string("S -> X S [0.2] | S X [0.1] | X X [0.7] \n X -> 'ha'")
    >>> parser = Parser(grammar)
    >>> (parse,) = parser.analyze_many(words=[["ha"] * 3], candidates=5, marginals=True)
    >>> merge_candidates([parse]).scores[:, SCORES.index("log posterior")].round(3)
    array([-0.405, -1.099])
    """
    posteriors = log_posteriors(parses)
    trees = tuple(posteriors)
    # Trees take long to hash.
    numbers = {tree: number for number, tree in enumerate(trees)}
    nodes = _NodeCounts.of(trees)
    scores = [
        _scores(parse, [numbers[tree] for tree, _ in parse.candidates], nodes) for parse in parses
    ]
    return Candidates(
        trees,
        tuple(posteriors.values()),
        np.concatenate(scores, axis=1),
        tuple(parses if whole is None else whole),
    )


class _NodeCounts(NamedTuple):
    """The labelled spans of several trees of a sentence, and how often each tree has each."""

    spans: list[NodeSpan]
    counts: NDArray[np.float64]
    """A row for each tree, a column for each span."""
    is_tag: NDArray[np.bool_]

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> _NodeCounts:
        columns: dict[NodeSpan, int] = {}
        numbers = [
            [columns.setdefault(span, len(columns)) for span in node_spans(tree)] for tree in trees
        ]
        counts = np.zeros((len(trees), len(columns)))
        for row, own in zip(counts, numbers, strict=True):
            np.add.at(row, own, 1.0)
        return cls(list(columns), counts, np.array([span[3] for span in columns]))


def _marginals(parse: Parse) -> MarginalTable:
    if parse.marginals is None:
        raise InputError(
            "parses must have marginals: call analyze_many with marginals=True", argument="parses"
        )
    return parse.marginals


def _scores(parse: Parse, proposed: Sequence[int], nodes: _NodeCounts) -> NDArray[np.float64]:
    """The :data:`SCORES` of one parser for each tree; it has proposed those with these numbers."""
    table = span_probabilities(_marginals(parse))
    # Fragments have no probability, and neither have trees that no member of an ensemble proposes.
    sentence = parse.sentence_log_probability or 0.0
    known = [own - sentence for _, own in parse.candidates if own is not None]
    lowest = min(known, default=0.0)
    logs = [lowest if own is None else own - sentence for _, own in parse.candidates]
    # A tree that the parser did not propose is scored like its last candidate, and ranked after it.
    places = np.full(len(nodes.counts), len(logs))
    places[proposed] = range(len(logs))
    probabilities = np.array([table.get(span, 0.0) for span in nodes.spans])
    phrases, tags = nodes.counts[:, ~nodes.is_tag], nodes.counts[:, nodes.is_tag]
    log = np.log(np.maximum(probabilities, _MIN_PROBABILITY))
    expected = sum(table.values()) - tags[0].sum()
    found = phrases @ probabilities[~nodes.is_tag]
    columns = (
        np.array([*logs, lowest])[places],
        places < len(logs),
        np.log1p(places),
        2 * found / np.maximum(phrases.sum(axis=1) + expected, 1.0),
        phrases @ log[~nodes.is_tag],
        tags @ log[nodes.is_tag],
    )
    return np.column_stack(columns).astype(np.float64)


def candidate_brackets(trees: Iterable[Tree], gold: Tree) -> list[BracketCounts]:
    """The bracket counts of each candidate tree of a sentence.

    >>> gold = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> candidate_brackets([Tree.from_string("(S (PRP it) (VP (VBD rained)))")], gold)
    [BracketCounts(matched=2, gold=3, predicted=2)]
    """
    gold_brackets = Bracketing.of(gold)
    results = (compare_strictly(gold_brackets, Bracketing.of(tree), NEW) for tree in trees)
    return [BracketCounts(len(r.matched), len(r.gold), len(r.predicted)) for r in results]


def oracle_f1(candidates: Iterable[Sequence[Tree]], gold: Sequence[Tree]) -> float:
    """The F1, in percent, of the best candidate of each sentence: the upper bound of reranking.

    ``candidates``: the candidates of each sentence. ``gold``: its gold tree.

    >>> gold = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> oracle_f1([[Tree.from_string("(S (PRP it) (VP (VBD rained)))"), gold]], [gold])
    100.0
    """

    def best() -> Iterator[Tree]:
        for trees, gold_tree in zip(candidates, gold, strict=True):
            brackets = candidate_brackets(trees, gold_tree)
            # Where no bracket matches, fewer are better.
            yield trees[
                max(range(len(trees)), key=lambda n: (brackets[n].f1, -brackets[n].predicted))
            ]

    return evaluate(gold, best()).f1
