"""Grammars of NLTK, from its text files and from its objects."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from lpcfg.errors import GrammarError, InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.notation import Rule, RuleSet, Word
from lpcfg.treebank.text_lines import read_text

__all__ = ["import_nltk"]

#: Features of a nonterminal, as in NP[NUM=sg].
_FEATURES = re.compile(r"\S\[[^\]\n]*=")

_NOTES = ("a sentence with a word that no rule has gets a fallback tree; NLTK raises an error",)


class NltkGrammar(Protocol):
    """What is used of a grammar of NLTK, which has no types."""

    def productions(self) -> list[Any]:
        """The rules."""

    def start(self) -> object:
        """The start symbol."""


def import_nltk(grammar: str | PathLike[str] | NltkGrammar) -> Grammar:
    r"""A grammar of NLTK: a file in its notation, or an ``nltk.CFG`` or ``nltk.PCFG``.

    ``grammar``: the path of a file such as ``toy.pcfg`` (gzipped or not), or the object. The
    alternatives of a left side without probabilities are equally likely.

    Feature structures (``NP[NUM=sg]``) and empty right sides cannot be represented and are
    errors. For a grammar in a string, see :meth:`lpcfg.Grammar.from_string`.

    >>> import nltk
    >>> toy = nltk.PCFG.fromstring("S -> NP VP [1.0] \n NP -> 'it' [1.0] \n VP -> 'rains' [1.0]")
    >>> import_nltk(toy)
    <Grammar: NLTK, 3 symbols, 1 binary and 0 unary rules, 2 words>
    """
    if isinstance(grammar, (str, PathLike)):
        text = read_text(grammar)
        try:
            found = Grammar.from_string(text)
        except GrammarError as error:
            features = _FEATURES.search(text)
            hint = "; feature structures of NLTK cannot be represented" if features else ""
            raise InputError(
                f"{error.message}{hint}",
                argument="grammar",
                path=grammar,
                line=error.line,
                column=error.column,
            ) from None
        source: dict[str, Any] = {"file": Path(grammar).name}
    else:
        found = Grammar.from_string(str(_rules(grammar)))
        source = {}
    return Grammar(
        **{
            name: getattr(found, name)
            for name in found.__dataclass_fields__
            if name != "provenance"
        },
        provenance={"estimator": "NLTK", "notes": list(_NOTES), **source},
    )


def _rules(grammar: NltkGrammar) -> RuleSet:
    """The rules of an object of NLTK."""
    try:
        productions, start = grammar.productions(), grammar.start()
        alternatives: dict[str, int] = {}
        for production in productions:
            left = _name(production.lhs())
            alternatives[left] = alternatives.get(left, 0) + 1
        rules = tuple(
            Rule(
                _name(production.lhs()),
                tuple(
                    Word(item) if isinstance(item, str) else _name(item)
                    for item in production.rhs()
                ),
                production.prob()
                if hasattr(production, "prob")
                else 1 / alternatives[_name(production.lhs())],
            )
            for production in productions
        )
    except AttributeError:
        raise InputError(
            f"must be a path, an nltk.CFG or an nltk.PCFG, not {type(grammar).__name__}",
            argument="grammar",
        ) from None
    return RuleSet(_name(start), rules)


def _name(nonterminal: object) -> str:
    symbol = nonterminal.symbol()  # type: ignore[attr-defined]
    if not isinstance(symbol, str):
        raise InputError(
            f"the nonterminal {nonterminal} is a feature structure, which cannot be represented",
            argument="grammar",
        )
    return symbol
