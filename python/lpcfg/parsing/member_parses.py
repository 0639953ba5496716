"""The parses of one sentence by several parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import tee
from typing import TypeVar

import numpy as np

from lpcfg.parsing._coverage import Coverage
from lpcfg.parsing.base import Tags
from lpcfg.parsing.marginals import MarginalTable, mean_marginals, tree_marginals
from lpcfg.parsing.parse import INCOMPLETE, Candidate, Parse
from lpcfg.treebank.tree import Tree

__all__ = ["MemberParses", "analyze_with_each", "log_posteriors"]

Result = TypeVar("Result")


def analyze_with_each(
    methods: Sequence[Callable[..., Iterator[Result]]],
    tags: Iterable[Tags] | None,
    words: Iterable[Sequence[str]] | None,
    **options: object,
) -> Iterator[tuple[Result, ...]]:
    r"""The results of methods of several parsers for each sentence, lazily.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
    >>> sentences = iter([["it", "rained"]])
    >>> results = analyze_with_each([parser.parse_many] * 2, None, sentences, batch_size=1)
    >>> [[str(tree) for tree in trees] for trees in results]
    [['(S (NP it) (VP rained))', '(S (NP it) (VP rained))']]
    """
    count = len(methods)
    tags_copies = [None] * count if tags is None else tee(tags, count)
    words_copies = [None] * count if words is None else tee(words, count)
    results = [
        method(tags, words=words, **options)
        for method, tags, words in zip(methods, tags_copies, words_copies, strict=True)
    ]
    return zip(*results, strict=True)


def log_posteriors(parses: Iterable[Parse]) -> dict[Tree, float | None]:
    r"""The candidates of several parses of a sentence, with log-probabilities given the sentence.

    They are those of the first parse that gives the tree a probability, or None.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> 'ha' [0.25] | 'ho' [0.75]"))
    >>> log_posteriors([parser.analyze(words=["ho"])])
    {Tree.from_string('(S ho)'): 0.0}
    """
    posteriors: dict[Tree, float | None] = {}
    for parse in parses:
        sentence = parse.sentence_log_probability
        for tree, log_probability in parse.candidates:
            if log_probability is None or sentence is None:
                posteriors.setdefault(tree)
            elif posteriors.get(tree) is None:
                posteriors[tree] = log_probability - sentence
    return posteriors


class MemberParses:
    r"""The parses of a sentence by several parsers; incomplete ones are ignored if others exist.

    >>> from lpcfg import Grammar, Parser
    >>> rain, snow = "S -> NP VP \n NP -> 'it' \n VP -> 'rained'", "S -> VP \n VP -> 'snowed'"
    >>> parsers = [Parser(Grammar.from_string(rules)) for rules in (snow, rain)]
    >>> parses = [parser.analyze(words=["it", "rained"]) for parser in parsers]
    >>> [parse.status for parse in parses], len(MemberParses(parses, [1, 1]).parses)
    (['fragments', 'parsed'], 1)
    """

    def __init__(self, parses: Sequence[Parse], weights: Sequence[float]) -> None:
        weighted = list(zip(parses, weights, strict=True))
        used = [pair for pair in weighted if pair[0].status not in INCOMPLETE] or weighted
        self.parses = [parse for parse, _ in used]
        self.weights = [weight for _, weight in used]
        self._is_complete = len(used) == len(parses)
        self.conditional = all(parse.conditional for parse in self.parses)

    def __contains__(self, tree: Tree) -> bool:
        """Whether the tree is a candidate of any member."""
        return any(tree == own for parse in self.parses for own, _ in parse.candidates)

    @property
    def common_tree(self) -> Tree | None:
        """The tree of all members, or None if their trees differ."""
        first, *others = (parse.tree for parse in self.parses)
        return first if all(tree == first for tree in others) else None

    def mean_marginals(self) -> MarginalTable:
        """The weighted mean of the members' marginals, which the parses must have."""
        tables = [parse.marginals for parse in self.parses if parse.marginals is not None]
        return mean_marginals(tables, self.weights)

    def tree_marginals(self) -> MarginalTable:
        """The weighted fraction of the members' trees that have each labelled span."""
        return mean_marginals([tree_marginals(parse.tree) for parse in self.parses], self.weights)

    @property
    def is_fragmented(self) -> bool:
        """Whether the parses may be made of fragments, which have no marginals."""
        return self.parses[0].status in INCOMPLETE

    def status(self, tree: Tree, log_probability: float | None, *, proposed: bool) -> str:
        """The status of an ensemble's parse with this tree and its log-probability.

        ``proposed``: whether the tree is a candidate of any member.
        """
        if self.sentence_log_probability is None:
            return self.parses[0].status
        with_probability = log_probability is not None
        if with_probability and not self._is_complete:
            return "fewer"
        own = (
            parse.status
            for parse in self.parses
            if (parse.log_probability is not None) == with_probability
            and (with_probability or parse.tree == tree)
        )
        default = "parsed" if with_probability else "inconsistent" if proposed else "combined"
        return next(own, default)

    @cached_property
    def sentence_log_probability(self) -> float | None:
        """The log of the weighted mean of the sentence's probabilities; None if there are none.

        Conditional members (CRFs) are ignored if there are others.
        """
        pairs = [
            (parse.sentence_log_probability, weight)
            for parse, weight in zip(self.parses, self.weights, strict=True)
            if parse.sentence_log_probability is not None
            and (self.conditional or not parse.conditional)
        ]
        if not pairs:
            return None
        logs, weights = np.array(pairs).T
        return float(np.logaddexp.reduce(np.log(weights / weights.sum()) + logs))

    def log_probability(self, log_posterior: float | None) -> float | None:
        """The log-probability of a tree from its log-probability given the sentence.

        It is consistent with the log-probability of the sentence, although members have different
        ones, and conditional members (CRFs) have none.
        """
        sentence = self.sentence_log_probability
        return None if log_posterior is None or sentence is None else log_posterior + sentence

    def candidates(self, best: Tree, coverage: Coverage, count: int) -> list[Candidate]:
        """The best tree, then the members' candidates in the order of their coverage."""
        if count == 1:
            # Without a dictionary, whose keys would be trees, which take long to hash.
            found = (
                log_probability - parse.sentence_log_probability
                for parse in self.parses
                if parse.sentence_log_probability is not None
                for tree, log_probability in parse.candidates
                if log_probability is not None and tree == best
            )
            return [(best, self.log_probability(next(found, None)))]
        posteriors = log_posteriors(self.parses)
        others = (tree for tree in posteriors if tree != best)
        trees = [best, *sorted(others, key=lambda tree: -coverage.gain(tree))[: count - 1]]
        return [(tree, self.log_probability(posteriors.get(tree))) for tree in trees]
