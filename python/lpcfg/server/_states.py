"""The latent states of a parse, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from lpcfg.errors import GrammarError
from lpcfg.grammar.grammar import Grammar
from lpcfg.inspection.annotation import annotate_states, probabilistic_states, show_states
from lpcfg.inspection.explanation import explain_states
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = ["StatesView"]

#: The number of symbols whose explanations are kept.
_KEPT = 256


class StatesView:
    """The latent states of a grammar; ``problem`` says why there are none to show, if so."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.problem: str | None = None
        try:
            probabilistic_states(grammar)
        except GrammarError as error:
            self.problem = str(error)
        self._explanations = lru_cache(maxsize=_KEPT)(self._explain)

    def of_nodes(self, trees: Sequence[Tree]) -> list[list[tuple[str, int] | None]]:
        """For each tree, the symbol and the most probable state of each node in pre-order.

        None stands for the nodes of a tree with other rules or words than the grammar has.
        """
        bank = Treebank.from_trees(trees, cleaning=False, transform=self.grammar.transform)
        states = annotate_states(self.grammar, bank, n_jobs=1).tolist()
        names = [str(bank.symbols[symbol]) for symbol in bank.symbol.tolist()]
        # The nodes of the binarised trees are numbered, to find them again in the trees.
        numbered = show_states(bank, np.arange(len(states))).trees()
        return [
            [
                (names[number], states[number]) if states[number] >= 0 else None
                for number in (_last_number(node.label) for node in tree.nodes())
            ]
            for tree in numbered
        ]

    def explain(self, symbol: str) -> list[dict[str, Any]]:
        """What the states of a symbol are used for, the most frequent ones first."""
        return self._explanations(symbol)

    def _explain(self, symbol: str) -> list[dict[str, Any]]:
        return [
            {
                "state": _last_number(state.name),
                "prior": state.prior,
                "rules": state.rules,
                "words": state.words,
                "contexts": state.contexts,
            }
            for state in explain_states(self.grammar, symbol)
        ]


def _last_number(name: str) -> int:
    """The number in brackets at the end of a name, such as 3 in ``NP[3]``."""
    return int(name[name.rindex("[") + 1 : -1])
