"""What all estimators of grammars have in common."""

from __future__ import annotations

from typing import Protocol

from lpcfg.grammar import Grammar
from lpcfg.treebank import Treebank

__all__ = ["Estimator", "Fitted"]


class Fitted(Protocol):
    """What ``fit`` returns."""

    grammar_: Grammar


class Estimator(Protocol):
    """What learns a grammar."""

    def fit(self, treebank: Treebank) -> Fitted:
        """Learn a grammar, which becomes ``grammar_``."""
