"""Sentences and tokens of running text, with their places in it.

Sentences are found by sentencex and tokens by the tokeniser of spaCy, which did best on GUM
(``benches/raw_text.py``). Both come with the extra ``text`` and need no downloaded model.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from lpcfg.errors import InputError, MissingPackageError

__all__ = ["PARAGRAPHS", "TextSentence", "Token", "check_paragraphs", "split_text"]

#: What ends a paragraph: the end of each line, or a blank line.
PARAGRAPHS = ("lines", "blank-lines")

#: The tokeniser takes quadratic time for a run of quotes, so longer runs than this are cut.
_LONG_RUN = re.compile(r"\S{200}")

#: The sentence splitter panics on such a space before a full stop.
#: An ASCII space has the same offset.
_OTHER_SPACE = re.compile(r"[^\S\x00-\x7f]")

#: Tokenisers share their caches, which are emptied after each paragraph.
_TOKENISER_LOCK = Lock()


class Token(NamedTuple):
    """A token of running text.

    ``text``: its characters. ``start``, ``end``: the offsets of its first character, and of the
    one after its last, in the whole text.

    >>> Token("dog", 4, 7).text
    'dog'
    """

    text: str
    start: int
    end: int


class TextSentence(NamedTuple):
    """A sentence of running text.

    ``text``: its characters. ``start``, ``end``: the offsets of its first character, and of the
    one after its last, in the whole text. ``tokens``: its tokens.

    >>> TextSentence("Go!", 0, 3, (Token("Go", 0, 2), Token("!", 2, 3))).tokens[1].start
    2
    """

    text: str
    start: int
    end: int
    tokens: tuple[Token, ...]

    def as_json(self) -> dict[str, Any]:
        """The sentence with its offsets and those of its tokens.

        >>> next(split_text(" Go!")).as_json()
        {'text': 'Go!', 'start': 1, 'end': 4, 'tokens': [[1, 3], [3, 4]]}
        """
        tokens = [[token.start, token.end] for token in self.tokens]
        return {"text": self.text, "start": self.start, "end": self.end, "tokens": tokens}


def split_text(
    text: str | Iterable[str], *, language: str = "en", paragraphs: str = "lines"
) -> Iterator[TextSentence]:
    r"""The sentences of a text with their tokens, lazily and in their order.

    Offsets count characters from the beginning of the text, so that ``text[start:end]`` is the
    sentence or the token. A paragraph always ends a sentence.

    Parameters
    ----------
    text : str or iterable of str
        The text, or its lines with their line ends, such as an open file.
    language : str
        The language, as a code of ISO 639-1 (default ``en``).
    paragraphs : str
        What ends a paragraph: ``lines`` (default), the end of each line; ``blank-lines``, a blank
        line, for text with line breaks within its paragraphs.

    Examples
    --------
    >>> for sentence in split_text("Dr. Lee can't come. He's ill.\nToo bad (for us)!"):
    ...     print(sentence.start, sentence.end, " ".join(token.text for token in sentence.tokens))
    0 19 Dr. Lee ca n't come .
    20 29 He 's ill .
    30 47 Too bad ( for us ) !

    """
    check_paragraphs(paragraphs)
    sentence_bounds, tokenise = _sentence_splitter(), _tokeniser(language)
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    for offset, paragraph in _paragraphs(lines, joined=paragraphs == "blank-lines"):
        tokens = iter(tokenise(paragraph))
        pending = next(tokens, None)
        for end in sentence_bounds(language, paragraph):
            own: list[Token] = []
            while pending is not None and pending[0] < end:
                own.append(_token(paragraph, *pending, offset))
                pending = next(tokens, None)
            if own:
                start, stop = own[0].start, own[-1].end
                sentence = paragraph[start - offset : stop - offset]
                yield TextSentence(sentence, start, stop, tuple(own))


def check_paragraphs(paragraphs: str) -> None:
    """Raise an :class:`InputError` unless this is one of :data:`PARAGRAPHS`.

    >>> check_paragraphs("pages")
    Traceback (most recent call last):
    lpcfg.errors.InputError: paragraphs: must be one of lines, blank-lines, not 'pages'
    """
    if paragraphs not in PARAGRAPHS:
        raise InputError(
            f"must be one of {', '.join(PARAGRAPHS)}, not {paragraphs!r}", argument="paragraphs"
        )


def _token(paragraph: str, start: int, end: int, offset: int) -> Token:
    return Token(paragraph[start:end], offset + start, offset + end)


def _paragraphs(lines: Iterable[str], joined: bool) -> Iterator[tuple[int, str]]:
    """Each paragraph with the offset of its first character."""
    place = begin = 0
    gathered: list[str] = []
    for line in lines:
        if gathered and not (joined and line.strip()):
            yield begin, "".join(gathered)
            gathered = []
        if line.strip():
            begin = begin if gathered else place
            gathered.append(line)
        place += len(line)
    if gathered:
        yield begin, "".join(gathered)


@cache
def _sentence_splitter() -> Callable[[str, str], Iterator[int]]:
    """A function that gives the end of each sentence of a paragraph."""
    try:
        from sentencex import get_sentence_boundaries
    except ImportError:
        raise _missing("sentencex") from None

    def ends(language: str, paragraph: str) -> Iterator[int]:
        spaced = _OTHER_SPACE.sub(" ", paragraph.rstrip("\r\n"))
        for boundary in get_sentence_boundaries(language, spaced):
            yield boundary["end_index"]
        yield len(paragraph)

    return ends


@cache
def _tokeniser(language: str) -> Callable[[str], list[tuple[int, int]]]:
    """A function that gives the offsets of the tokens of a paragraph."""
    try:
        import spacy
    except ImportError:
        raise _missing("spacy") from None
    try:
        pipeline: Any = spacy.blank(language)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"there is no tokeniser for {language!r}: {error}", argument="language"
        ) from error

    def tokenise(paragraph: str) -> list[tuple[int, int]]:
        # Outside of a memory zone the pipeline would remember every word for ever.
        with _TOKENISER_LOCK, pipeline.memory_zone():
            return [
                (start + token.idx, start + token.idx + len(token))
                for start, piece in _pieces(paragraph)
                for token in pipeline.tokenizer(piece)
                if not token.is_space
            ]

    return tokenise


def _pieces(paragraph: str) -> Iterator[tuple[int, str]]:
    """The paragraph in pieces with their offsets, cut only within very long runs without space."""
    start = 0
    for run in _LONG_RUN.finditer(paragraph):
        yield start, paragraph[start : run.end()]
        start = run.end()
    yield start, paragraph[start:]


def _missing(package: str) -> MissingPackageError:
    return MissingPackageError("splitting text into words", package=package, extra="text")
