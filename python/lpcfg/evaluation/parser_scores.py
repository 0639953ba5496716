"""The scores and the speed of a parser on a treebank."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Literal

from lpcfg import _html
from lpcfg.errors import InputError, TreebankError
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters
from lpcfg.evaluation.known_words import TagCounts, tags_by_knowledge
from lpcfg.evaluation.scores import Scores, evaluate
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.parse import Parse, tree_from_spans
from lpcfg.profiling import phase
from lpcfg.treebank.reader import read_forest
from lpcfg.treebank.tree import Tree

__all__ = ["INPUTS", "Evaluation", "evaluate_parser", "parser_input"]

Input = Literal["words", "tags", "both"]
INPUTS = ("words", "tags", "both")


@dataclass(frozen=True, repr=False)
class Evaluation:
    r"""The scores of a parser on a treebank, its parses and its speed.

    >>> from lpcfg import Grammar, Parser
    >>> gold = [Tree.from_string("(S (X go) (X on))"), Tree.from_string("(S (X on))")]
    >>> evaluation = evaluate_parser(Parser(Grammar.from_string("S -> X X \n X -> 'go'")), gold)
    >>> evaluation.tokens, [parse.status for parse in evaluation.parses]
    (3, ['smoothed', 'fragments'])
    """

    scores: Scores
    """Strict scores and EVALB scores."""
    parses: tuple[Parse, ...]
    """The parse of each gold tree's sentence."""
    trees: tuple[Tree, ...]
    """The trees of the parses, over the gold words even if the parser was given tags alone."""
    tokens: int
    """The number of words that were parsed."""
    seconds: float
    """The wall time of parsing, without scoring."""
    known_words: TagCounts
    """The tags of the words that the lexicon of the parser's grammar has."""
    unknown_words: TagCounts
    """The tags of all other words; see :func:`lpcfg.evaluation.known_words.tags_by_knowledge`."""

    @property
    def statuses(self) -> dict[str, int]:
        """The number of sentences by status of the parse.

        >>> from lpcfg import Grammar, Parser
        >>> gold = [Tree("S", "go"), Tree("S", "on")]
        >>> evaluation = evaluate_parser(Parser(Grammar.from_string("S -> 'go'")), gold)
        >>> evaluation.statuses
        {'parsed': 1, 'smoothed': 1}
        """
        return dict(Counter(parse.status for parse in self.parses))

    @property
    def sentences_per_second(self) -> float:
        """Sentences parsed in a second of wall time.

        >>> from lpcfg import Grammar, Parser
        >>> gold = [Tree("S", "go"), Tree("S", "on")]
        >>> evaluation = evaluate_parser(Parser(Grammar.from_string("S -> 'go'")), gold)
        >>> evaluation.sentences_per_second > 0
        True
        """
        return len(self.parses) / self.seconds

    @property
    def tokens_per_second(self) -> float:
        """Tokens parsed in a second of wall time.

        >>> from lpcfg import Grammar, Parser
        >>> gold = [Tree("S", "go"), Tree("S", "on")]
        >>> evaluation = evaluate_parser(Parser(Grammar.from_string("S -> 'go'")), gold)
        >>> evaluation.tokens_per_second == evaluation.sentences_per_second  # of one token
        True
        """
        return self.tokens / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Everything but the trees, ready for JSON.

        >>> from lpcfg import Grammar, Parser
        >>> gold = [Tree("S", "go"), Tree("S", "on")]
        >>> evaluation = evaluate_parser(Parser(Grammar.from_string("S -> 'go'")), gold)
        >>> evaluation.to_dict()["tokens"]
        2
        """
        return self.scores.to_dict() | {
            "statuses": self.statuses,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "sentences_per_second": self.sentences_per_second,
            "tokens_per_second": self.tokens_per_second,
            "known_words": self.known_words.to_dict(),
            "unknown_words": self.unknown_words.to_dict(),
        }

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {len(self.parses)} sentences: F1 {self.scores.f1:.2f}, "
            f"{self.sentences_per_second:.1f} sentences/s>"
        )

    def _repr_html_(self) -> str:
        """The scores, statuses and speed as notebooks show them."""
        return self.scores._repr_html_() + "".join(
            _html.caption(line) for line in str(self).splitlines()[-3:]
        )

    def __str__(self) -> str:
        statuses = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        return (
            f"{self.scores}\n"
            f"{self._tags_by_knowledge()}\n"
            f"{statuses}\n"
            f"{self.sentences_per_second:.1f} sentences/s, {self.tokens_per_second:.0f} tokens/s"
            f" ({len(self.parses)} sentences in {self.seconds:.2f} s)"
        )

    def _tags_by_knowledge(self) -> str:
        words = self.known_words.words + self.unknown_words.words
        known, unknown = (
            f"{counts.accuracy:.2f}" if counts.words else "-"
            for counts in (self.known_words, self.unknown_words)
        )
        return (
            f"tags of known words {known}, of unknown words {unknown} "
            f"({self.unknown_words.words} of {words} words)"
        )


def parser_input(
    gold: Sequence[Tree], input: Input
) -> tuple[list[list[str]] | None, list[list[str]] | None]:
    """The tags and the words of gold trees, None for those that a parser is not given.

    >>> parser_input([Tree("UH", "yes")], "tags")
    ([['UH']], None)
    """
    return (
        [tree.tags() for tree in gold] if input != "words" else None,
        [tree.words() for tree in gold] if input != "tags" else None,
    )


def evaluate_parser(
    parser: BaseParser,
    gold: Sequence[Tree] | str | PathLike[str],
    *,
    input: Input = "words",
    parameters: EvalbParameters | str | PathLike[str] = NEW,
    progress: Callable[[Iterable[Parse]], Iterable[Parse]] = iter,
) -> Evaluation:
    r"""Parse the sentences of gold trees and score the result.

    - ``parser``: any parser: a :class:`~lpcfg.Parser`, an ensemble, a CRF or a reranker.
    - ``gold``: one tree or more, cleaned in the same way as the treebank of the grammar; or the
      path of a file of trees, which are then cleaned.
    - ``input``: the input of the parser: ``"words"`` (the default), gold ``"tags"`` alone, or
      ``"both"``.
    - ``parameters``: EVALB parameters: the name of built-in ones, the path of a .prm file, or an
      object; see :func:`~lpcfg.evaluate`. By default those of new.prm.
    - ``progress``: wraps the iterator of parses, for instance to show a progress bar.

    >>> from lpcfg import Grammar, Parser
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> gold = [Tree.from_string("(S (NP it) (VP rained))")]
    >>> evaluate_parser(Parser(grammar), gold).scores.f1
    100.0
    """
    if input not in INPUTS:
        raise InputError(
            f"input must be one of {', '.join(INPUTS)}, not {input!r}", argument="input"
        )
    parameters = find_parameters(parameters)
    if isinstance(gold, (str, PathLike)):
        cleaned = parser.grammar.cleaning.apply(read_forest(gold)).nonempty()
        trees = [tree for tree in cleaned.trees() if tree is not None]
        if not trees:
            raise TreebankError(f"there are no trees to evaluate on in {fspath(gold)}")
        return evaluate_parser(parser, trees, input=input, parameters=parameters, progress=progress)
    if not gold:
        raise TreebankError("there are no trees to evaluate on")
    words = [tree.words() for tree in gold]
    tags, given_words = parser_input(gold, input)
    started = time.perf_counter()
    parses = tuple(progress(parser.analyze_many(tags, words=given_words)))
    seconds = time.perf_counter() - started
    found = tuple(parse.tree for parse in parses)
    if input == "tags":
        # These trees have tags in place of words.
        spans = (tree.spans(preterminals=True) for tree in found)
        found = tuple(map(tree_from_spans, spans, words))
    with phase("scoring"):
        scores = evaluate(gold, found, parameters)
        known, unknown = tags_by_knowledge(parser.grammar, gold, found, parameters)
    return Evaluation(
        scores=scores,
        parses=parses,
        trees=found,
        tokens=sum(map(len, words)),
        seconds=seconds,
        known_words=known,
        unknown_words=unknown,
    )
