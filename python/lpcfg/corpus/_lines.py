"""Parse the lines of a part; a line that cannot be parsed does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

from lpcfg.errors import InputError
from lpcfg.parsing.base import BATCH, BaseParser, Tags
from lpcfg.parsing.parse import Parse
from lpcfg.sequence.tagger import Tagger

__all__ = ["BracketedTree", "LineParser"]


class BracketedTree(NamedTuple):
    """The best tree of a line as text, without the rest of its parse."""

    text: str
    status: str
    words: int


Parsed: TypeAlias = Parse | BracketedTree


@dataclass(frozen=True)
class LineParser:
    """Parses lines with one sentence each, words separated by spaces.

    ``parser``: the parser.
    ``tagger``: a tagger whose sure tags are fixed, or None.
    ``tags``: whether lines have tags, not words.
    ``candidates``: the largest number of trees of a sentence.
    ``brackets``: whether to give best trees as text, which takes less time than parses.
    """

    parser: BaseParser
    tagger: Tagger | None = None
    tags: bool = False
    candidates: int = 1
    brackets: bool = False

    def parse(self, lines: Iterable[bytes]) -> Iterator[Parsed | InputError | None]:
        r"""The parse of each line, None for a blank one, or the reason why it has none.

        >>> from lpcfg import Grammar, Parser
        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> for parse in LineParser(Parser(grammar)).parse([b"it rained\n", b"\n", b"\xff\n"]):
        ...     print(repr(parse))
        Parse('(S (NP it) (VP rained))', status='parsed', log_probability=0)
        None
        InputError('the text is not UTF-8; convert it first, for example with iconv -t UTF-8')
        """
        rest = iter(lines)
        while batch := list(islice(rest, BATCH)):
            yield from self._batch([self._tokens(line) for line in batch])

    def _tokens(self, line: bytes) -> list[str] | InputError:
        try:
            # As bytes, because white space of other scripts may be part of a word.
            tokens = [token.decode() for token in line.split()]
            if self.tags:
                self.parser.check_tags(tokens)
        except UnicodeDecodeError:
            return InputError(
                "the text is not UTF-8; convert it first, for example with iconv -t UTF-8"
            )
        except InputError as error:
            return error
        return tokens

    def _batch(self, lines: list[list[str] | InputError]) -> Iterator[Parsed | InputError | None]:
        sentences = [line for line in lines if isinstance(line, list) and line]
        parses = iter(self._parses(sentences))
        for line in lines:
            if isinstance(line, list):
                yield next(parses) if line else None
            else:
                yield line

    def _parses(self, sentences: list[list[str]]) -> list[Parsed | InputError]:
        if not sentences:
            return []
        try:
            return [*self._analyze(sentences)]
        except InputError as error:
            if len(sentences) == 1:
                return [error]
            # One of the sentences cannot be parsed; the others can.
            return [parse for sentence in sentences for parse in self._parses([sentence])]

    def _analyze(self, sentences: list[list[str]]) -> Iterator[Parsed]:
        tags: Iterable[Tags] | None = sentences if self.tags else None
        words = None if self.tags else sentences
        if self.tagger is not None and not self.tags:
            known = self.parser.tags
            # Tags that the grammar does not have would be errors.
            tags = (
                [tag if tag in known else None for tag in sentence]
                for sentence in self.tagger.sure_tags(sentences)
            )
        if self.brackets:
            found = self.parser.analyze_to_brackets(tags, words=words)
            return (
                BracketedTree(text, status, len(sentence))
                for (text, status), sentence in zip(found, sentences, strict=True)
            )
        return self.parser.analyze_many(tags, words=words, candidates=self.candidates)
