"""Candidate trees of sentences, with what the models that proposed them think of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
    mean_marginals,
    span_probabilities,
    tree_marginals,
)
from lpcfg.parsing.member_parses import Votes
from lpcfg.parsing.parser import Parse, parse_of
from lpcfg.treebank.tree import Tree

__all__ = ["SCORES", "Candidates", "candidate_brackets", "merge_candidates", "oracle_f1"]

#: What each parser says of a candidate; see :func:`merge_candidates`.
SCORES = ("log posterior", "proposed", "rank", "expected F1", "log phrases", "log tags")

#: The least probability of a span: about where pruning makes zeros of them.
_LEAST = 1e-4


@dataclass(frozen=True, eq=False)
class Candidates:
    r"""The candidate trees of a sentence, and what parsers say of them.

    ``scores`` has a row for each tree and :data:`SCORES` for each parser. ``parses`` are those by
    which the sentence is as likely as it is, and ``log_probabilities`` those of the trees according
    to who proposed them first.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> X S | S X | X X \n X -> 'ha'"))
    >>> parses = list(parser.analyze_many(words=[["ha"] * 3], candidates=5, marginals=True))
    >>> len(merge_candidates(parses))
    2
    """

    trees: tuple[Tree, ...]
    log_probabilities: tuple[float, ...]
    scores: NDArray[np.float64]
    parses: tuple[Parse, ...]

    def __len__(self) -> int:
        return len(self.trees)

    def parse(self, scores: NDArray[np.float64], count: int = 1) -> Parse:
        r"""The parse by scores of the trees, with so many of the best as candidates.

        A tree is as likely as the exponential of its score, and a span as the trees that have it.
        The sentence is as likely as the parsers say that have more than fragments of it.

        >>> from lpcfg import Grammar, Parser
        >>> parser = Parser(Grammar.from_string("S -> X S | S X | X X \n X -> 'ha'"))
        >>> parses = list(parser.analyze_many(words=[["ha"] * 3], candidates=5, marginals=True))
        >>> parse = merge_candidates(parses).parse(np.log([1.0, 3.0]))
        >>> print(parse.tree, round(parse.spans[1].probability, 2))
        (S (S (X ha) (X ha)) (X ha)) 0.75
        """
        votes = Votes(self.parses, [1.0] * len(self.parses))
        shares = np.exp(scores - scores.max())
        order = np.argsort(-scores, kind="stable")[:count].tolist()
        return parse_of(
            [(self.trees[place], self.log_probabilities[place]) for place in order],
            mean_marginals([tree_marginals(tree) for tree in self.trees], shares),
            status=votes.status,
            sentence_log_probability=votes.log_probability(),
            conditional=votes.conditional,
        )


def merge_candidates(parses: Sequence[Parse], whole: Sequence[Parse] | None = None) -> Candidates:
    r"""The different candidates in the parses of one sentence by several parsers.

    Those of parts of a parser may be among them. ``whole`` are those that the probability of the
    sentence is taken from, all of them by default.

    Each parser gives each tree the logarithm of its posterior probability (that of the parser's
    last candidate if it did not propose the tree), whether it proposed it and as which one, the F1
    that it may expect, and the logarithms of the probabilities of its phrases and its tags.

    >>> from lpcfg import Grammar, Parser
    >>> grammar = Grammar.from_string("S -> X S [0.2] | S X [0.1] | X X [0.7] \n X -> 'ha'")
    >>> parser = Parser(grammar)
    >>> (parse,) = parser.analyze_many(words=[["ha"] * 3], candidates=5, marginals=True)
    >>> merge_candidates([parse]).scores[:, SCORES.index("log posterior")].round(3)
    array([-0.405, -1.099])
    """
    log_probabilities: dict[Tree, float] = {}
    for parse in parses:
        for tree, log_probability in parse.candidates:
            log_probabilities.setdefault(tree, log_probability)
    trees = tuple(log_probabilities)
    spans = [tree.spans() for tree in trees]
    tags = [[(tag, i, i + 1) for i, tag in enumerate(tree.tags())] for tree in trees]
    scores = [_scores(parse, trees, spans, tags) for parse in parses]
    return Candidates(
        trees,
        tuple(log_probabilities.values()),
        np.concatenate(scores, axis=1),
        tuple(parses if whole is None else whole),
    )


_Span = tuple[str, int, int]


def _marginals(parse: Parse) -> MarginalTable:
    if parse.marginals is None:
        raise InputError("parses must have marginals: ask analyze_many for them")
    return parse.marginals


def _scores(
    parse: Parse,
    trees: Sequence[Tree],
    spans: Sequence[Sequence[_Span]],
    tags: Sequence[Sequence[_Span]],
) -> NDArray[np.float64]:
    """What one parser says of trees: :data:`SCORES`."""
    table = span_probabilities(_marginals(parse))
    ranks = {tree: rank for rank, (tree, _) in enumerate(parse.candidates)}
    own = [log_probability for _, log_probability in parse.candidates]
    # Fragments have no probability, nor has what the members of an ensemble only find together.
    least = min(filter(math.isfinite, own), default=parse.sentence_log_probability)
    own = [max(log_probability, least) for log_probability in own]
    expected = sum(table.values()) - len(tags[0])
    rows = np.empty((len(trees), len(SCORES)))
    for row, tree in enumerate(trees):
        phrases = np.array([table.get(span, 0.0) for span in spans[row]])
        preterminals = np.array([table.get(span, 0.0) for span in tags[row]])
        rank = ranks.get(tree)
        rows[row] = (
            (least if rank is None else own[rank]) - parse.sentence_log_probability,
            rank is not None,
            np.log1p(len(own) if rank is None else rank),
            2 * phrases.sum() / max(len(phrases) + expected, 1.0),
            np.log(np.maximum(phrases, _LEAST)).sum(),
            np.log(np.maximum(preterminals, _LEAST)).sum(),
        )
    return np.nan_to_num(rows, posinf=0.0, neginf=0.0)


def candidate_brackets(trees: Iterable[Tree], gold: Tree) -> list[BracketCounts]:
    """The brackets of each candidate tree of a sentence, and those that are right.

    >>> gold = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> candidate_brackets([Tree.from_string("(S (PRP it) (VP (VBD rained)))")], gold)
    [BracketCounts(matched=2, gold=3, predicted=2)]
    """
    gold_brackets = Bracketing.of(gold)
    results = (compare_strictly(gold_brackets, Bracketing.of(tree), NEW) for tree in trees)
    return [BracketCounts(len(r.matched), len(r.gold), len(r.predicted)) for r in results]


def oracle_f1(candidates: Iterable[Sequence[Tree]], gold: Sequence[Tree]) -> float:
    """The F1, in percent, of choosing the best candidate of each sentence: none can do better.

    >>> gold = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> oracle_f1([[Tree.from_string("(S (PRP it) (VP (VBD rained)))"), gold]], [gold])
    100.0
    """

    def best() -> Iterator[Tree]:
        for trees, right in zip(candidates, gold, strict=True):
            brackets = candidate_brackets(trees, right)
            # Where none is right, fewer are better.
            yield trees[
                max(range(len(trees)), key=lambda n: (brackets[n].f1, -brackets[n].predicted))
            ]

    return evaluate(gold, best()).f1
