"""What everything that parses sentences has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import tee
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.marginals import MarginalTable
from lpcfg.treebank.tree import Tree

if TYPE_CHECKING:
    from lpcfg.parsing.parser import Parse

__all__ = ["BATCH", "SentenceParser", "Tags", "analyze_together"]

#: Sentences that are parsed at once: enough to keep all threads busy, few enough to stream.
BATCH = 256

#: The tags of a sentence; None is for the parser to find.
Tags: TypeAlias = Sequence[str | None]

Found = TypeVar("Found")


class SentenceParser(Protocol):
    """What finds the trees of sentences: what has these methods can be used wherever a parser can.

    A class that inherits them needs :meth:`analyze_many` and :attr:`grammar` of its own.
    """

    @property
    def grammar(self) -> Grammar:
        """A grammar that knows how trees were cleaned, and their tags."""

    @property
    def tags(self) -> frozenset[str]:
        r"""The tags that words may have.

        >>> from lpcfg import Parser
        >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
        >>> sorted(parser.tags)
        ['NP', 'VP']
        """
        return frozenset(self.grammar.tags)

    def summary(self) -> str:
        r"""A few lines on what it parses with.

        >>> from lpcfg import Parser
        >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
        >>> parser.summary() == parser.grammar.summary()
        True
        """
        return self.grammar.summary()

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        """What :meth:`analyze` gives, for many sentences, lazily and in their order."""

    def analyze_parts(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        batch_size: int = BATCH,
    ) -> Iterator[tuple[Parse, ...]]:
        r"""For each sentence the parse, and before it those that it was made of, if it was.

        All of them have their marginals.

        >>> from lpcfg import Parser
        >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
        >>> [len(parses) for parses in parser.analyze_parts(words=[["it", "rained"]])]
        [1]
        """
        parses = self.analyze_many(
            tags, words=words, candidates=candidates, marginals=True, batch_size=batch_size
        )
        return ((parse,) for parse in parses)

    def parse_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[Tree]:
        r"""The best trees of many sentences, lazily and in their order.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' | 'she' \n VP -> 'rained'")
        >>> for tree in Parser(grammar).parse_many(words=[["it", "rained"], ["she", "rained"]]):
        ...     print(tree)
        (S (NP it) (VP rained))
        (S (NP she) (VP rained))
        """
        parses = self.analyze_many(tags, words=words, batch_size=batch_size)
        return (parse.tree for parse in parses)

    def parse(self, tags: Tags | None = None, *, words: Sequence[str] | None = None) -> Tree:
        r"""The best tree of a sentence given by its tags, its words, or both.

        Beside words, tags may be None: those are for the parser to find.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> print(Parser(grammar).parse(["NP", "VP"]))
        (S (NP NP) (VP VP))
        >>> print(Parser(grammar).parse(["NP", None], words=["she", "rained"]))
        (S (NP she) (VP rained))
        """
        return self.analyze(tags, words=words).tree

    def analyze(
        self,
        tags: Tags | None = None,
        *,
        words: Sequence[str] | None = None,
        candidates: int = 1,
        marginals: bool = False,
    ) -> Parse:
        r"""The best tree of a sentence with its probability, and on request more.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> X S [0.2] | S X [0.1] | X X [0.7] \n X -> 'ha'")
        >>> parse = Parser(grammar).analyze(words=["ha"] * 3, candidates=5)
        >>> for tree, log_probability in parse.candidates:
        ...     print(f"{log_probability:.3f} {tree}")
        -1.966 (S (X ha) (S (X ha) (X ha)))
        -2.659 (S (S (X ha) (X ha)) (X ha))
        >>> f"{parse.sentence_log_probability:.3f}"
        '-1.561'
        """
        many = self.analyze_many(
            None if tags is None else [tags],
            words=None if words is None else [words],
            candidates=candidates,
            marginals=marginals,
        )
        return next(many)

    def marginals(
        self, tags: Tags | None = None, *, words: Sequence[str] | None = None
    ) -> MarginalTable:
        """The probabilities of all labelled spans that were not pruned, as a structured array.

        Its fields are ``start``, ``end``, ``label`` and ``probability``.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> S S [0.25] | 'ha' [0.75]")
        >>> table = Parser(grammar).marginals(words=["ha"] * 3)
        >>> print(table[table["probability"] < 1])
        [(0, 2, 'S', 0.5) (1, 3, 'S', 0.5)]
        """
        table = self.analyze(tags, words=words, marginals=True).marginals
        assert table is not None
        return table


def analyze_together(
    methods: Sequence[Callable[..., Iterator[Found]]],
    tags: Iterable[Tags] | None,
    words: Iterable[Sequence[str]] | None,
    **options: object,
) -> Iterator[tuple[Found, ...]]:
    r"""What methods of several parsers find for each sentence, lazily.

    >>> from lpcfg import Parser
    >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
    >>> sentences = iter([["it", "rained"]])
    >>> together = analyze_together([parser.parse_many] * 2, None, sentences, batch_size=1)
    >>> [[str(tree) for tree in trees] for trees in together]
    [['(S (NP it) (VP rained))', '(S (NP it) (VP rained))']]
    """
    count = len(methods)
    own_tags = [None] * count if tags is None else tee(tags, count)
    own_words = [None] * count if words is None else tee(words, count)
    found = [
        method(tags, words=words, **options)
        for method, tags, words in zip(methods, own_tags, own_words, strict=True)
    ]
    return zip(*found, strict=True)
