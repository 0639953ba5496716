"""The parses of one sentence by several parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import tee
from typing import TypeVar

import numpy as np

from lpcfg.parsing._coverage import Coverage
from lpcfg.parsing.base import Tags
from lpcfg.parsing.marginals import MarginalTable, mean_marginals, tree_marginals
from lpcfg.parsing.parse import Parse
from lpcfg.treebank.tree import Tree

__all__ = ["MemberParses", "analyze_with_each"]

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


class MemberParses:
    r"""The parses of a sentence by several parsers; fragments are ignored if there are others.

    >>> from lpcfg import Grammar, Parser
    >>> rain, snow = "S -> NP VP \n NP -> 'it' \n VP -> 'rained'", "S -> VP \n VP -> 'snowed'"
    >>> parsers = [Parser(Grammar.from_string(rules)) for rules in (snow, rain)]
    >>> parses = [parser.analyze(words=["it", "rained"]) for parser in parsers]
    >>> [parse.status for parse in parses], MemberParses(parses, [1, 1]).status
    (['fragments', 'parsed'], 'fewer')
    """

    def __init__(self, parses: Sequence[Parse], weights: Sequence[float]) -> None:
        weighted = list(zip(parses, weights, strict=True))
        used = [pair for pair in weighted if pair[0].status != "fragments"] or weighted
        self.parses = [parse for parse, _ in used]
        self.weights = [weight for _, weight in used]
        self.status = self.parses[0].status if len(used) == len(parses) else "fewer"
        self.conditional = all(parse.conditional for parse in self.parses)

    def mean_marginals(self) -> MarginalTable:
        """The weighted mean of the members' marginals, which the parses must have."""
        tables = [parse.marginals for parse in self.parses if parse.marginals is not None]
        return mean_marginals(tables, self.weights)

    def tree_marginals(self) -> MarginalTable:
        """The weighted fraction of the members' trees that have each labelled span."""
        return mean_marginals([tree_marginals(parse.tree) for parse in self.parses], self.weights)

    def sentence_log_probability(self) -> float:
        """The log of the weighted mean of the sentence's probabilities.

        Conditional members (CRFs) are ignored if there are others.
        """
        logs, weights = np.array(
            [
                (parse.sentence_log_probability, weight)
                for parse, weight in zip(self.parses, self.weights, strict=True)
                if self.conditional or not parse.conditional
            ]
        ).T
        return float(np.logaddexp.reduce(np.log(weights / weights.sum()) + logs))

    def candidates(self, best: Tree, coverage: Coverage, count: int) -> list[tuple[Tree, float]]:
        """The best tree, then the members' candidates in the order of their coverage."""
        proposed: dict[Tree, float] = {}
        for parse in self.parses:
            for tree, log_probability in parse.candidates:
                proposed.setdefault(tree, log_probability)
        first = (best, proposed.pop(best, -np.inf))
        if count == 1:
            return [first]
        others = sorted(proposed.items(), key=lambda proposal: -coverage.gain(proposal[0]))
        return [first, *others[: count - 1]]
