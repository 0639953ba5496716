"""A parser that learns from a treebank by itself, from features of the words of spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from lpcfg.estimators.crf.estimator import CRFEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.parser import Parse, Parser
from lpcfg.parsing.sentence_parser import BATCH, SentenceParser, Tags
from lpcfg.treebank.treebank import Treebank

__all__ = ["CRFParser"]


@dataclass
class CRFParser(CRFEstimator, SentenceParser):
    """A :class:`CRFEstimator` that, once it is fitted, is used as a :class:`Parser` is.

    ``decoder`` is that of the parser; all other options are those of the estimator.

    >>> from lpcfg import embedded_trees
    >>> parser = CRFParser(epochs=2, bits=16).fit(Treebank.from_trees(embedded_trees()))
    >>> print(parser.parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    decoder: str = "max-f1"

    parser_: Parser = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Learn from a treebank.

        >>> from lpcfg import Tree
        >>> parser = CRFParser(bits=8).fit(Treebank.from_trees([Tree("NN", "rain")]))
        >>> print(parser.parse(words=["snow"]))
        (ROOT (NN snow))
        """
        super().fit(treebank)
        self.parser_ = Parser(self.grammar_, decoder=self.decoder, n_jobs=self.n_jobs)
        return self

    @property
    def grammar(self) -> Grammar:
        """The grammar with its weights, which :func:`lpcfg.save` saves.

        >>> from lpcfg import Tree
        >>> CRFParser(bits=8).fit(Treebank.from_trees([Tree("NN", "rain")])).grammar.tags
        ('NN',)
        """
        return self.grammar_

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        """What :meth:`lpcfg.Parser.analyze_many` gives.

        >>> from lpcfg import Tree
        >>> parser = CRFParser(bits=8).fit(Treebank.from_trees([Tree("NN", "rain")]))
        >>> [parse.status for parse in parser.analyze_many(words=[["rain"], ["snow", "rain"]])]
        ['parsed', 'fragments']
        """
        return self.parser_.analyze_many(
            tags,
            words=words,
            candidates=candidates,
            marginals=marginals,
            batch_size=batch_size,
        )
