"""What several parsers say of one sentence, and who of them is listened to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lpcfg.parsing._coverage import Coverage
from lpcfg.parsing.marginals import MarginalTable, mean_marginals, tree_marginals
from lpcfg.parsing.parser import Parse
from lpcfg.treebank.tree import Tree

__all__ = ["Votes"]


class Votes:
    r"""The parses of a sentence by several parsers, without fragments if there are others.

    >>> from lpcfg import Grammar, Parser
    >>> rain, snow = "S -> NP VP \n NP -> 'it' \n VP -> 'rained'", "S -> VP \n VP -> 'snowed'"
    >>> parsers = [Parser(Grammar.from_string(rules)) for rules in (snow, rain)]
    >>> Votes([parser.analyze(words=["it", "rained"]) for parser in parsers], [1, 1]).status
    'fewer'
    """

    def __init__(self, parses: Sequence[Parse], weights: Sequence[float]) -> None:
        whole = [own for own in zip(parses, weights, strict=True) if own[0].status != "fragments"]
        used = whole or list(zip(parses, weights, strict=True))
        self.parses = [parse for parse, _ in used]
        self.weights = [weight for _, weight in used]
        self.status = self.parses[0].status if len(used) == len(parses) else "fewer"
        self.conditional = all(parse.conditional for parse in self.parses)

    def marginals(self) -> MarginalTable:
        """The means of the marginals."""
        tables = [parse.marginals for parse in self.parses if parse.marginals is not None]
        return mean_marginals(tables, self.weights)

    def shares(self) -> MarginalTable:
        """The part of the trees that has each labelled span."""
        return mean_marginals([tree_marginals(parse.tree) for parse in self.parses], self.weights)

    def log_probability(self) -> float:
        """That of the sentence, by those to whom it is not certain if there are any."""
        logs, weights = np.array(
            [
                (parse.sentence_log_probability, weight)
                for parse, weight in zip(self.parses, self.weights, strict=True)
                if self.conditional or not parse.conditional
            ]
        ).T
        return float(np.logaddexp.reduce(np.log(weights / weights.sum()) + logs))

    def candidates(self, best: Tree, coverage: Coverage, count: int) -> list[tuple[Tree, float]]:
        """The best tree, then the parsers' candidates by what they gain."""
        proposed: dict[Tree, float] = {}
        for parse in self.parses:
            for tree, log_probability in parse.candidates:
                proposed.setdefault(tree, log_probability)
        first = (best, proposed.pop(best, -np.inf))
        if count == 1:
            return [first]
        others = sorted(proposed.items(), key=lambda own: -coverage.gain(own[0]))
        return [first, *others[: count - 1]]
