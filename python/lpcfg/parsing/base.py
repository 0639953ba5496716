"""The base class of all parsers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee

from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing._sentences import Tags, check_tags
from lpcfg.parsing.marginals import MarginalTable
from lpcfg.parsing.parse import Parse, TextParse
from lpcfg.text.penn import penn_words
from lpcfg.text.segmentation import split_text
from lpcfg.treebank.tree import Tree

__all__ = ["BATCH", "BaseParser", "Tags", "limited_batch"]

#: The default number of sentences of a batch: enough to keep all threads busy.
BATCH = 256

#: The largest number of candidates of all sentences of a batch, which are in memory at once.
_BATCH_CANDIDATES = 1 << 15


def limited_batch(batch_size: int, candidates: int) -> int:
    """A batch size for which the candidates of all its sentences fit into memory.

    >>> limited_batch(256, 50), limited_batch(256, 1000), limited_batch(256, 10**6)
    (256, 32, 1)
    """
    return max(1, min(batch_size, _BATCH_CANDIDATES // candidates))


class BaseParser(ABC):
    """The base class of parsers: :class:`~lpcfg.Parser`, ensembles, rerankers and custom parsers.

    To write a custom parser, inherit from this class and define two things:

    - :attr:`grammar`, a grammar whose ``cleaning`` is applied to gold trees before they are
      compared with parses, and whose ``tags`` are the tags that words may have;
    - :meth:`analyze_many`, a generator that yields a :class:`~lpcfg.Parse` for each sentence, in
      their order. Its callers pass ``tags``, ``words`` or both. With ``marginals``, its parses must
      have :attr:`~lpcfg.Parse.marginals`; with ``candidates`` above 1 they may have more than one
      candidate.

    All other methods are based on these, and the parser can be evaluated, reranked and made a
    member of an :class:`~lpcfg.Ensemble`. This example gives every sentence a flat tree:

    >>> from lpcfg.parsing.marginals import tree_marginals
    >>> class FlatParser(BaseParser):
    ...     def __init__(self, label, tag):
    ...         self.label, self.tag = label, tag
    ...
    ...     @property
    ...     def grammar(self):
    ...         return Grammar.from_string(f"{self.label} -> {self.tag} | {self.tag} {self.label}")
    ...
    ...     def analyze_many(
    ...         self, tags=None, *, words, candidates=1, marginals=False, batch_size=BATCH
    ...     ):
    ...         for sentence in words:
    ...             tree = Tree(self.label, [Tree(self.tag, word) for word in sentence])
    ...             yield Parse.from_candidates(
    ...                 [(tree, 0.0)], tree_marginals(tree), sentence_log_probability=0.0
    ...             )
    >>> print(FlatParser("S", "X").parse(words=["it", "rained"]))
    (S (X it) (X rained))
    """

    @property
    @abstractmethod
    def grammar(self) -> Grammar:
        """A grammar with the tags of the parser and the cleaning of its training trees."""

    @abstractmethod
    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        """The parses of many sentences, lazily and in their order.

        Round brackets in words are escaped as in treebanks, ``-LRB-`` and ``-RRB-``. An exception
        of an iterable, and the error of a sentence that cannot be parsed, are raised after the
        parses of all sentences before it.

        Parameters
        ----------
        tags : iterable of sequences of str, optional
            The tags of each sentence. With words, a tag may be None: the parser then finds it.
        words : iterable of sequences of str, optional
            The words of each sentence.
        candidates : int
            The largest number of best trees of a parse, from 1. There are fewer if the sentence
            has fewer, or if more would not fit into memory.
        marginals : bool
            Whether parses have the probabilities of all labelled spans.
        batch_size : int
            The number of sentences that are taken from the iterables and parsed at once, from 1;
            fewer if there are thousands of candidates.

        """

    @property
    def tags(self) -> frozenset[str]:
        """The tags that words may have."""
        return frozenset(self.grammar.tags)

    def check_tags(self, tags: Tags) -> None:
        r"""Raise an :class:`~lpcfg.errors.InputError` for a tag that words cannot have.

        >>> from lpcfg import Parser
        >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
        >>> parser.check_tags(["NP", "VX"])
        Traceback (most recent call last):
        lpcfg.errors.InputError: tags: token 2: the grammar has no tag 'VX'; its most similar ...
        """
        check_tags(tags, self.tags)

    def summary(self) -> str:
        """A description of the model in a few lines, which ``lpcfg show`` prints."""
        return self.grammar.summary()

    def analyze_with_members(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        batch_size: int = BATCH,
    ) -> Iterator[tuple[Parse, ...]]:
        """For each sentence the parses of the parser's members, if any, then the parser's parse.

        All parses have marginals.

        The arguments are as for :meth:`analyze_many`: ``tags``, ``words``, ``candidates``,
        ``batch_size``.
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

        ``tags``, ``words``, ``batch_size``: as for :meth:`analyze_many`.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' | 'she' \n VP -> 'rained'")
        >>> for tree in Parser(grammar).parse_many(words=[["it", "rained"], ["she", "rained"]]):
        ...     print(tree)
        (S (NP it) (VP rained))
        (S (NP she) (VP rained))
        """
        parses = self.analyze_many(tags, words=words, batch_size=batch_size)
        return (parse.tree for parse in parses)

    def parse_to_brackets(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[str]:
        r"""The best trees of many sentences as text, lazily and in their order.

        This is ``str(tree)`` for each tree of :meth:`parse_many`, in less time.

        ``tags``, ``words``, ``batch_size``: as for :meth:`analyze_many`.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> list(Parser(grammar).parse_to_brackets(words=[["it", "rained"]]))
        ['(S (NP it) (VP rained))']
        """
        parses = self.analyze_to_brackets(tags, words=words, batch_size=batch_size)
        return (text for text, _ in parses)

    def analyze_to_brackets(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[tuple[str, str]]:
        r"""As :meth:`parse_to_brackets`, each tree with the status of its parse.

        ``tags``, ``words`` and ``batch_size`` are as for :meth:`analyze_many`.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> list(Parser(grammar).analyze_to_brackets(words=[["it", "rained"]]))
        [('(S (NP it) (VP rained))', 'parsed')]
        """
        parses = self.analyze_many(tags, words=words, batch_size=batch_size)
        return ((str(parse.tree), parse.status) for parse in parses)

    def parse(self, tags: Tags | None = None, *, words: Sequence[str] | None = None) -> Tree:
        r"""The best tree of a sentence given by its tags, its words, or both.

        With words, tags may be None: the parser then finds them.

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
        r"""The parse of a sentence: the best tree, and on request candidates and marginals.

        The arguments are as for :meth:`analyze_many`, for one sentence.

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

    def parse_text(
        self,
        text: str | Iterable[str],
        *,
        language: str = "en",
        paragraphs: str = "lines",
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[TextParse]:
        r"""The parses of the sentences of running text, lazily and in their order.

        Sentences and tokens are found by :func:`lpcfg.split_text`, which needs
        ``pip install 'lpcfg[text]'``. Each has its offsets: ``text[start:end]`` is the sentence or
        the token. The words of the trees are the tokens in the spelling of the grammar: brackets
        are escaped, and a quote or dash that the grammar does not know becomes one that it knows.

        ``text``, ``language``, ``paragraphs``: as for :func:`lpcfg.split_text`.
        ``candidates``, ``marginals``, ``batch_size``: as for :meth:`analyze_many`.

        >>> from lpcfg import Parser
        >>> for sentence in Parser.load("english").parse_text("She can't wait. It's a dog!"):
        ...     print(sentence.start, sentence.end, sentence.tree)
        0 15 (ROOT (S (NP (PRP She)) (VP (MD ca) (RB n't) (VP (VB wait))) (. .)))
        16 27 (ROOT (S (NP (PRP It)) (VP (VBZ 's) (NP (DT a) (NN dog))) (. !)))
        """
        sentences, copy = tee(split_text(text, language=language, paragraphs=paragraphs))
        vocabulary = self.grammar.lexicon
        words = (penn_words([token.text for token in own.tokens], vocabulary) for own in copy)
        parses = self.analyze_many(
            words=words, candidates=candidates, marginals=marginals, batch_size=batch_size
        )
        return (TextParse(*pair) for pair in zip(sentences, parses, strict=True))

    def marginals(
        self, tags: Tags | None = None, *, words: Sequence[str] | None = None
    ) -> MarginalTable:
        """The probabilities of all labelled spans that were not pruned, as a structured array.

        Its fields are ``start``, ``end``, ``label``, ``probability`` and ``preterminal``: whether
        the label is the tag of a word. A label that is used both as a tag and for phrases has a row
        for each.

        ``tags``, ``words``: the tags of the sentence, its words, or both, as for :meth:`parse`.

        >>> from lpcfg import Parser
        >>> grammar = Grammar.from_string("S -> S S [0.25] | 'ha' [0.75]")
        >>> table = Parser(grammar).marginals(words=["ha"] * 3)
        >>> print(table[table["probability"] < 1])
        [(0, 2, 'S', 0.5, False) (1, 3, 'S', 0.5, False)]
        """
        table = self.analyze(tags, words=words, marginals=True).marginals
        assert table is not None
        return table
