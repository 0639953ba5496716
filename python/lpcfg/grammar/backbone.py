"""Which grammars have the same backbone, and can share one pruned chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.symbol import Symbol

__all__ = ["backbone_classes", "check_same_backbone", "same_backbone"]

#: The largest number of differences that a message names.
_MAX_NAMED = 3


def check_same_backbone(grammars: Sequence[Grammar]) -> None:
    r"""Raise an :class:`InputError` that says what differs, unless grammars can share a chart.

    All must have latent states and no feature weights, and the same symbols, rules, words and word
    classes. Their probabilities may differ.

    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> snow = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'snowed'")
    >>> check_same_backbone([rain])
    >>> check_same_backbone([rain, snow])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lpcfg.errors.InputError: grammars 1 and 2 cannot parse together: not all have latent states ...
    """
    if not grammars:
        raise InputError("a parser needs at least one grammar", argument="grammars")
    first, *others = grammars
    for number, other in enumerate(others, start=2):
        for difference in _differences(first, other):
            raise InputError(
                f"grammars 1 and {number} cannot parse together: {difference} "
                "(an Ensemble can combine grammars that differ)",
                argument="grammars",
            )


def same_backbone(first: Grammar, other: Grammar) -> bool:
    r"""Whether two grammars can share one chart.

    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> same_backbone(rain, rain)  # as they have no latent states
    False
    """
    return next(_differences(first, other), None) is None


def backbone_classes(grammars: Sequence[Grammar]) -> list[list[int]]:
    r"""Group the indices of grammars, so that the grammars of a group can share one chart.

    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> backbone_classes([rain, rain])
    [[0], [1]]
    """
    classes: list[list[int]] = []
    for index, grammar in enumerate(grammars):
        for members in classes:
            if same_backbone(grammars[members[0]], grammar):
                members.append(index)
                break
        else:
            classes.append([index])
    return classes


def _differences(first: Grammar, other: Grammar) -> Iterator[str]:
    if first.latent is None or other.latent is None:
        yield "not all have latent states"
    if first.is_conditional or other.is_conditional:
        yield "one of them is a conditional random field or a network"
    parts: dict[str, tuple[Sequence[Any], Sequence[Any]]] = {
        "symbols": (first.symbols, other.symbols),
        "rules": (_rules(first), _rules(other)),
        "words": (first.lexicon.words, other.lexicon.words),
        "classes of words": (first.lexicon.classes, other.lexicon.classes),
    }
    for name, (ours, theirs) in parts.items():
        if len(ours) == len(theirs) and all(a == b for a, b in zip(ours, theirs, strict=True)):
            continue
        only = set(ours) ^ set(theirs)
        if not only:
            yield f"they have their {name} in different orders"
        named = ", ".join(sorted(map(_name, only))[:_MAX_NAMED])
        more = f" and {len(only) - _MAX_NAMED} more" if len(only) > _MAX_NAMED else ""
        yield (
            f"only one of them has the {name} {named}{more}; "
            "train them on the same trees, transformed in the same way"
        )
    lookups = [
        (grammar.lexicon.classifier.to_dict(), grammar.lexicon.lowercase_initial)
        for grammar in (first, other)
    ]
    if lookups[0] != lookups[1]:
        yield "they have different classes of unknown words; use the same lexicon options"
    if first.lexicon.tag_model != other.lexicon.tag_model:
        yield "they have different models of unknown words; use the same lexicon options"


def _rules(grammar: Grammar) -> list[tuple[Symbol, ...]]:
    symbols = grammar.symbols
    rules = [*grammar.binary_rules.tolist(), *grammar.unary_rules.tolist()]
    return [tuple(symbols[symbol] for symbol in rule) for rule in rules]


def _name(part: object) -> str:
    """The name of a symbol, a word or a class of words, or a rule in the usual notation."""
    if isinstance(part, tuple) and not isinstance(part, Symbol):
        parent, *children = map(str, part)
        return f"{parent} -> {' '.join(children)}"
    return str(part)
