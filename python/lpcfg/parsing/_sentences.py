"""The input of parsers: checked sentences, and their columns of numbers for the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import repeat, zip_longest
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar

__all__ = ["Sentence", "SentenceColumns", "Tags", "check_sentences", "encode_sentences"]

#: The tags of a sentence; the parser finds those that are None.
Tags: TypeAlias = Sequence[str | None]

#: The id of a tag that is not given.
_NO_TAG = 2**32 - 1


class Sentence(NamedTuple):
    """A sentence that can be parsed: tags, words or both, of the same length and not empty."""

    tags: list[str | None] | None
    words: list[str] | None

    @property
    def tokens(self) -> list[str]:
        """The words of its tree: the words of the sentence or, without words, its tags."""
        if self.words is not None:
            return self.words
        # Without words, no tag is missing.
        return [tag for tag in self.tags or () if tag is not None]


def check_sentences(
    tags: Iterable[Tags] | None, words: Iterable[Sequence[str]] | None
) -> Iterator[Sentence]:
    """Sentences from their tags, their words or both, checked lazily.

    If there are neither tags nor words, the error is raised at once.
    """
    if tags is None and words is None:
        raise InputError("give the tags of the sentences, their words, or both")
    return _checked_sentences(tags, words)


def _checked_sentences(
    tags: Iterable[Tags] | None, words: Iterable[Sequence[str]] | None
) -> Iterator[Sentence]:
    if tags is None or words is None:
        pairs: Iterable[tuple[Tags | None, Sequence[str] | None]] = zip(
            repeat(None) if tags is None else tags,
            repeat(None) if words is None else words,
            strict=False,
        )
        yield from (_checked(*pair, row) for row, pair in enumerate(pairs))
        return
    for row, (sentence_tags, sentence_words) in enumerate(zip_longest(tags, words)):
        if sentence_tags is None or sentence_words is None:
            missing = "tags" if sentence_tags is None else "words"
            raise InputError(f"sentence {row + 1}: there are no {missing} for it", argument=missing)
        yield _checked(sentence_tags, sentence_words, row)


def _checked(tags: Tags | None, words: Sequence[str] | None, row: int) -> Sentence:
    sentence = Sentence(
        _tokens("tags", tags, row, gaps=words is not None), _tokens("words", words, row)
    )
    if sentence.tags is not None and sentence.words is not None:
        numbers = len(sentence.tags), len(sentence.words)
        if numbers[0] != numbers[1]:
            raise InputError(
                f"sentence {row + 1}: {numbers[0]} tags but {numbers[1]} words", argument="tags"
            )
    if not sentence.tags and not sentence.words:
        raise InputError(
            f"sentence {row + 1} is empty; leave it out",
            argument="tags" if words is None else "words",
        )
    return sentence


def _tokens(name: str, tokens: Tags | None, row: int, gaps: bool = False) -> list[Any] | None:
    """A list of strings, in which None is allowed if there may be gaps."""
    if tokens is None:
        return None
    if isinstance(tokens, str):
        raise InputError(
            f"sentence {row + 1} must be a sequence of strings, not one string; "
            f"split it first: {tokens[:60]!r}.split()",
            argument=name,
        )
    listed = list(tokens)
    for position, token in enumerate(listed):
        if not isinstance(token, str) and not (gaps and token is None):
            raise InputError(
                f"sentence {row + 1}, token {position + 1} must be a string, not {token!r}",
                argument=name,
            )
    return listed


class SentenceColumns(NamedTuple):
    """The tokens of a batch of sentences, one sentence after the other."""

    offsets: NDArray[np.int64]
    words: NDArray[np.uint32] | None
    tags: NDArray[np.uint32] | None
    #: The spellings of the words, if the model has features of words.
    spellings: list[str] | None


def encode_sentences(grammar: Grammar, sentences: Sequence[Sentence], done: int) -> SentenceColumns:
    """The ids that a grammar has for words and tags; errors count the ``done`` sentences before."""
    # Either all sentences have words, or none; the same holds for tags.
    encode = grammar.lexicon.encode
    words = [encode(s.words, s.tags) for s in sentences if s.words is not None]
    tags = [
        _tag_id(grammar, tag, done + row, position)
        for row, sentence in enumerate(sentences)
        for position, tag in enumerate(sentence.tags or ())
    ]
    spellings = None
    if grammar.crf_weights is not None:
        if not words:
            raise InputError(
                "a model with features of words needs the words of the sentences", argument="words"
            )
        spellings = [word for sentence in sentences for word in sentence.words or ()]
    lengths = (len(s.tags or ()) if s.words is None else len(s.words) for s in sentences)
    return SentenceColumns(
        offsets=np.cumsum([0, *lengths], dtype=np.int64),
        words=np.concatenate(words).astype(np.uint32) if words else None,
        tags=np.array(tags, dtype=np.uint32) if tags else None,
        spellings=spellings,
    )


def _tag_id(grammar: Grammar, tag: str | None, row: int, position: int) -> int:
    if tag is None:
        return _NO_TAG
    identity = grammar.tag_ids.get(tag)
    if identity is not None:
        return identity
    near = get_close_matches(tag, grammar.tag_ids, n=3, cutoff=0.0)
    raise InputError(
        f"sentence {row + 1}, token {position + 1}: the grammar has no tag {tag!r}; "
        f"its most similar tags are {', '.join(map(repr, near))}",
        argument="tags",
    )
