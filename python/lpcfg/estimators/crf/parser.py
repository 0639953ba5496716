"""The conditional random field as estimator and parser in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lpcfg.estimators.crf.estimator import CRFEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.parameters.constraints import Options
from lpcfg.parameters.parameterized import parameter
from lpcfg.parsing.base import BATCH, BaseParser, Tags
from lpcfg.parsing.options import DECODERS
from lpcfg.parsing.parse import Parse
from lpcfg.parsing.parser import Parser
from lpcfg.treebank.treebank import Treebank

__all__ = ["CRFParser"]


@dataclass(repr=False, kw_only=True)
class CRFParser(CRFEstimator, BaseParser):
    """A conditional random field as estimator and parser in one: fit it, then parse with it.

    The parameters are those of :class:`CRFEstimator` and the decoder. ``dependencies`` may have
    sentences to parse as well as those of the training trees.

    >>> from lpcfg import embedded_trees
    >>> parser = CRFParser(epochs=2, bits=16).fit(embedded_trees())
    >>> print(parser.parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    decoder: str = field(
        default=DECODERS[0],
        metadata=parameter(
            Options(*DECODERS),
            "the objective that the best tree maximises, as in a Parser",
            provenance=False,
        ),
    )

    parser_: Parser = field(init=False, repr=False, compare=False)

    def _fit(self, treebank: Treebank) -> None:
        super()._fit(treebank)
        self.parser_ = Parser(
            self.grammar_,
            decoder=self.decoder,
            memory=self.memory,
            n_jobs=self.n_jobs,
            dependencies=self.dependencies,
        )

    def parser(self) -> BaseParser:
        """The parser itself.

        >>> from lpcfg import Tree
        >>> parser = CRFParser(bits=8).fit([Tree("NN", "rain")])
        >>> parser.parser() is parser
        True
        """
        self._check_fitted("parser_")
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
        """Parse many sentences, as :meth:`lpcfg.Parser.analyze_many` does.

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
