"""Hand-written grammars in the notation of NLTK.

One rule a line, alternatives separated by ``|`` or by another line for the same left side, words in
quotes, probabilities in square brackets::

    S  -> NP VP [0.8] | VP [0.2]     # the first left side is the start symbol
    NP -> 'the' Noun | "Anna"        # without probabilities, alternatives are equally likely

A line that begins with ``|``, or follows one that ends with a backslash, continues the previous
rule; ``%start S`` names the start symbol. Labels may contain anything but spaces, quotes, ``|``,
``[``, ``]`` and arrows, so Penn Treebank labels (``PRP$``, ``-LRB-``, ``.``) are allowed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lpcfg.errors import GrammarError

__all__ = ["Rule", "RuleSet", "Word", "read_rules"]

# How far the probabilities of a left side may exceed one, for numbers rounded by hand.
_ROUNDING = 1e-6

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<continued>\\)\s*$
      | (?P<comment>\#.*)
      | (?P<arrow>->|→)
      | (?P<bar>\|)
      | \[(?P<probability>[^\]]*)\]
      | (?P<quote>['"])(?P<word>.*?)(?P=quote)
      | (?P<name>(?:(?!->|\\\s*$)[^\s'"|\[\]→])+)
    """,
    re.VERBOSE,
)


class Word(NamedTuple):
    """A word on a right side; nonterminals there are plain strings.

    >>> Word("dog").text
    'dog'
    """

    text: str


class Rule(NamedTuple):
    """A rule: its left-hand side, its right-hand side and its probability.

    >>> print(Rule("NP", (Word("the"), "Noun"), 0.5))
    NP -> 'the' Noun [0.5]
    """

    left: str
    right: tuple[str | Word, ...]
    probability: float

    def __str__(self) -> str:
        items = " ".join(
            _quote(item.text) if isinstance(item, Word) else item for item in self.right
        )
        return f"{self.left} -> {items} [{self.probability!r}]"


@dataclass(frozen=True)
class RuleSet:
    """Rules of any arity and the symbol that sentences start from.

    >>> rules = read_rules("S -> 'go' | 'stop'")
    >>> print(rules)
    %start S
    S -> 'go' [0.5]
    S -> 'stop' [0.5]
    """

    start: str
    rules: tuple[Rule, ...]

    def __str__(self) -> str:
        # A backslash at the end of a line would continue it.
        end = " #" if self.start.endswith("\\") else ""
        return "\n".join([f"%start {self.start}{end}", *map(str, self.rules)])

    def totals(self) -> dict[str, float]:
        r"""The sum of probabilities of each left-hand side; below one in an incomplete grammar.

        >>> read_rules("S -> NP [0.5]  \n NP -> 'it'").totals()
        {'S': 0.5, 'NP': 1.0}
        """
        listed: dict[str, list[float]] = {}
        for rule in self.rules:
            listed.setdefault(rule.left, []).append(rule.probability)
        return {left: math.fsum(probabilities) for left, probabilities in listed.items()}

    def word_labels(self) -> dict[str, str]:
        r"""Labels for words beside other items of a right-hand side, where they have no tag.

        As with punctuation in the Penn Treebank, a word is its own tag: ``(. .)``. It is quoted
        only if the grammar has a nonterminal of that name.

        >>> read_rules("S -> NP '.' 'NP' \n NP -> 'it'").word_labels()
        {'.': '.', 'NP': "'NP'"}
        """
        used = {rule.left for rule in self.rules}
        labels: dict[str, str] = {}
        beside = (
            item.text
            for rule in self.rules
            if len(rule.right) > 1
            for item in rule.right
            if isinstance(item, Word)
        )
        for word in dict.fromkeys(beside):
            label = word
            while label in used:
                label = f"'{label}'"
            used.add(label)
            labels[word] = label
        return labels


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


class _Alternative(NamedTuple):
    left: _Token
    right: list[_Token]
    probability: _Token | None


def read_rules(text: str, start: str | None = None) -> RuleSet:
    """Read a grammar; ``start`` overrides the start symbol it names.

    >>> rules = read_rules('''
    ...     S -> NP VP [0.8] | VP [0.2]
    ...     NP -> "she" | "he"
    ...     VP -> 'sleeps'
    ... ''')
    >>> rules.start, len(rules.rules), rules.rules[1].probability
    ('S', 5, 0.2)
    >>> read_rules("S - NP")
    Traceback (most recent call last):
        ...
    lpcfg.errors.GrammarError: line 1, column 3: expected -> after the left side S, found '-'
    """
    alternatives: list[_Alternative] = []
    named: _Token | None = None
    for statement in _statements(text):
        if statement[0].text == "%start" and statement[0].kind == "name":
            if len(statement) != 2 or statement[1].kind != "name":
                raise _error(statement[0], "%start must be followed by one nonterminal")
            named = statement[1]
        else:
            alternatives.extend(_alternatives(statement))
    if not alternatives:
        raise GrammarError("the grammar has no rules: write at least one, such as S -> 'word'")
    nonterminals = {alternative.left.text for alternative in alternatives}
    for alternative in alternatives:
        for item in alternative.right:
            if item.kind == "name" and item.text not in nonterminals:
                raise _error(
                    item,
                    f"no rule rewrites the nonterminal {item.text}:"
                    f" add one, or quote it if it is a word",
                )
    if start is not None and start not in nonterminals:
        raise GrammarError(f"the start symbol {start} has no rules")
    if named is not None and named.text not in nonterminals:
        raise _error(named, f"the start symbol {named.text} has no rules")
    first = named.text if named else alternatives[0].left.text
    return RuleSet(start or first, tuple(_weighted(alternatives)))


def _statements(text: str) -> Iterator[list[_Token]]:
    """Tokens of one rule at a time, with the lines that continue it."""
    statement: list[_Token] = []
    continued = False
    for number, line in enumerate(text.split("\n"), start=1):
        tokens = list(_tokens(line, number))
        if not tokens:
            continue
        if statement and not continued and tokens[0].kind != "bar":
            yield statement
            statement = []
        continued = tokens[-1].kind == "continued"
        statement.extend(tokens[:-1] if continued else tokens)
    if statement:
        yield statement


def _tokens(line: str, number: int) -> Iterator[_Token]:
    position = 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        if match is None:
            wrong = line[position]
            reason = {
                "[": "a probability is not closed: add ]",
                "]": "] without a [ before it",
            }.get(wrong, f"the quote {wrong} is not closed")
            raise _error(_Token("", "", number, position + 1), reason)
        kind = match.lastgroup or ""
        if kind not in ("space", "comment"):
            yield _Token(kind, match[kind], number, position + 1)
        position = match.end()


def _alternatives(statement: list[_Token]) -> Iterator[_Alternative]:
    left, *rest = statement
    if left.kind != "name":
        raise _error(left, f"expected a nonterminal as left side, found {left.text!r}")
    if not rest:
        raise _error(
            left, f"expected -> after the left side {left.text}, found the end of the line"
        )
    arrow, *items = rest
    if arrow.kind != "arrow":
        raise _error(arrow, f"expected -> after the left side {left.text}, found {arrow.text!r}")
    right: list[_Token] = []
    probability: _Token | None = None
    end = _Token("bar", "|", statement[-1].line, statement[-1].column + len(statement[-1].text))
    for item in (*items, end):
        if item.kind == "bar":
            if not right:
                raise _error(
                    item,
                    f"an alternative of {left.text} is empty: empty right sides are not supported",
                )
            yield _Alternative(left, right, probability)
            right, probability = [], None
        elif item.kind == "arrow":
            raise _error(item, "a second arrow on the line: each rule begins on a new line")
        elif probability is not None:
            raise _error(item, "expected | or the end of the line after a probability")
        elif item.kind == "probability":
            probability = item
        elif item.kind == "word" and not item.text:
            raise _error(item, "an empty word: put something between the quotes")
        else:
            right.append(item)


def _weighted(alternatives: list[_Alternative]) -> Iterator[Rule]:
    """Rules with their probabilities, checked for each left side."""
    sizes = Counter(alternative.left.text for alternative in alternatives)
    weighted = Counter(
        alternative.left.text for alternative in alternatives if alternative.probability
    )
    totals: dict[str, float] = dict.fromkeys(sizes, 0.0)
    for left, items, token in alternatives:
        if token is None:
            if weighted[left.text]:
                raise _error(
                    items[-1],
                    f"this alternative of {left.text} has no probability but others have:"
                    f" give one to all of them or to none",
                )
            probability = 1.0 / sizes[left.text]
        else:
            probability = _number(token)
            totals[left.text] += probability
            if totals[left.text] > 1 + _ROUNDING:
                raise _error(
                    token,
                    f"the probabilities of {left.text} add up to {totals[left.text]:g},"
                    f" which is more than 1",
                )
        right = tuple(Word(item.text) if item.kind == "word" else item.text for item in items)
        yield Rule(left.text, right, probability)


def _number(token: _Token) -> float:
    try:
        number = float(token.text)
    except ValueError:
        raise _error(token, f"{token.text!r} is not a number") from None
    if not 0 < number <= 1:
        raise _error(token, f"the probability {token.text} is not above 0 and at most 1")
    return number


def _quote(word: str) -> str:
    for mark in ("'", '"'):
        if mark not in word and "\n" not in word:
            return mark + word + mark
    raise GrammarError(
        f"the word {word!r} cannot be written: it holds both kinds of quotes or a line break"
    )


def _error(token: _Token, reason: str) -> GrammarError:
    return GrammarError(reason, line=token.line, column=token.column)
