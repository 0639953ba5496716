"""The input of parsers: checked sentences, and their columns of numbers for the core."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import repeat, zip_longest
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.formats.dependencies import Dependencies, DependencyTree
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.tag_factors import tag_factors
from lpcfg.treebank.escaping import escape_brackets
from lpcfg.treebank.treebank import normalized_word

__all__ = [
    "Sentence",
    "SentenceColumns",
    "Tags",
    "check_sentences",
    "check_tags",
    "encode_sentences",
]

#: The tags of a sentence; the parser finds those that are None.
Tags: TypeAlias = Sequence[str | None]

#: The id of a tag that is not given.
_NO_TAG = 2**32 - 1

#: The strength of punctuation, by which long sentences are split; also of the tags of the Penn
#: Treebank, for sentences without words.
_BREAKS = {
    # Also the commas of Arabic, Japanese and Chinese, and so on below.
    **dict.fromkeys([",", "\u060c", "\u3001", "\uff0c"], 1),
    **dict.fromkeys([";", ":", "--", "\u2014", "\u2013", "\u061b", "\uff1b", "\uff1a"], 2),
    **dict.fromkeys([".", "!", "?", "...", "\u2026"], 3),
    **dict.fromkeys(["\u061f", "\u06d4", "\u0964", "\u3002", "\uff01", "\uff1f"], 3),
}


class Sentence(NamedTuple):
    """A sentence that can be parsed: tags, words or both, of the same length and not empty."""

    tags: list[str | None] | None
    words: list[str] | None
    dependencies: DependencyTree | None = None

    def with_dependencies(
        self, dependencies: Dependencies, known_tags: Collection[str]
    ) -> Sentence:
        """The sentence with its dependencies, and their tags where none are given."""
        found = None if self.words is None else dependencies.find(self.words)
        if self.words is None or found is None:
            return self
        given = self.tags or [None] * len(self.words)
        known = (tag if tag in known_tags else None for tag in found.tags)
        tags = [tag or other for tag, other in zip(given, known, strict=True)]
        return self._replace(tags=tags, dependencies=found)

    @property
    def tokens(self) -> list[str]:
        """The words of its tree: the words of the sentence or, without words, its tags."""
        if self.words is not None:
            return self.words
        # Without words, no tag is missing.
        return [tag for tag in self.tags or () if tag is not None]


def check_sentences(
    tags: Iterable[Tags] | None,
    words: Iterable[Sequence[str]] | None,
    known_tags: Collection[str] | None,
) -> Iterator[Sentence]:
    """Sentences from their tags, their words or both, checked lazily.

    Round brackets in words are escaped, because models know them as ``-LRB-`` and ``-RRB-``.
    ``known_tags``: the tags of the grammar, or None if tags are not checked.
    If there are neither tags nor words, the error is raised at once.
    """
    if tags is None and words is None:
        raise InputError("give the tags of the sentences, their words, or both", argument="tags")
    return _checked_sentences(tags, words, known_tags)


def check_tags(tags: Tags, known_tags: Collection[str]) -> None:
    """Raise an :class:`InputError` for the first tag that is not known."""
    for position, tag in enumerate(tags, start=1):
        if tag is not None and tag not in known_tags:
            if 2 * sum(other is None or other in known_tags for other in tags) < len(tags):
                hint = "did you mean words=?"
            else:
                near = get_close_matches(tag, sorted(known_tags), n=3, cutoff=0.0)
                hint = f"its most similar tags are {', '.join(map(repr, near))}"
            raise InputError(
                f"token {position}: the grammar has no tag {tag!r}; {hint}", argument="tags"
            )


def _checked_sentences(
    tags: Iterable[Tags] | None,
    words: Iterable[Sequence[str]] | None,
    known_tags: Collection[str] | None,
) -> Iterator[Sentence]:
    if tags is None or words is None:
        pairs: Iterable[tuple[Tags | None, Sequence[str] | None]] = zip(
            repeat(None) if tags is None else tags,
            repeat(None) if words is None else words,
            strict=False,
        )
        yield from (_checked(*pair, row, known_tags) for row, pair in enumerate(pairs))
        return
    for row, (sentence_tags, sentence_words) in enumerate(zip_longest(tags, words)):
        if sentence_tags is None or sentence_words is None:
            missing = "tags" if sentence_tags is None else "words"
            raise InputError(f"sentence {row + 1}: there are no {missing} for it", argument=missing)
        yield _checked(sentence_tags, sentence_words, row, known_tags)


def _checked(
    tags: Tags | None, words: Sequence[str] | None, row: int, known_tags: Collection[str] | None
) -> Sentence:
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
    if sentence.tags is not None and known_tags is not None:
        try:
            check_tags(sentence.tags, known_tags)
        except InputError as error:
            raise InputError(f"sentence {row + 1}, {error.message}", argument="tags") from None
    if sentence.words is not None:
        return sentence._replace(words=_checked_words(sentence.words, row))
    return sentence


def _checked_words(words: list[str], row: int) -> list[str]:
    """Words with escaped brackets; each must be a word that can be written in UTF-8."""
    if "" in words:
        raise InputError(
            f"sentence {row + 1}, token {words.index('') + 1} is an empty string; leave it out",
            argument="words",
        )
    together = "".join(words)
    try:
        together.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"sentence {row + 1} is not Unicode text: {error}", argument="words"
        ) from None
    if "(" in together or ")" in together:
        return [escape_brackets(word) for word in words]
    return words


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
    #: The strength of the punctuation that each token is, 0 for none.
    breaks: NDArray[np.uint8]
    #: The spellings of the words, if the model has features of words.
    spellings: list[str] | None
    #: The distances of the words to their heads, and their relations, if the model has features of
    #: dependencies. The relations of a sentence without dependencies are empty.
    heads: NDArray[np.int32] | None
    relations: list[str] | None
    #: For each token a row of the table beside it, with the factors by which the probabilities of
    #: its tags change; the largest number for a token without any. None without a tag model.
    tag_factors: tuple[NDArray[np.uint32], NDArray[np.float32]] | None


def encode_sentences(grammar: Grammar, sentences: Sequence[Sentence]) -> SentenceColumns:
    """The ids that a grammar has for words and tags."""
    lengths = [len(s.tags or ()) if s.words is None else len(s.words) for s in sentences]
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    # Either all sentences have words, or none; the same holds for given tags.
    spelt = _spelt(grammar, [word for s in sentences for word in s.words or ()])
    given: list[str | None] | None = None
    if any(sentence.tags for sentence in sentences):
        pairs = zip(sentences, lengths, strict=True)
        given = [tag for s, length in pairs for tag in s.tags or [None] * length]
    words = grammar.lexicon.encode_all(spelt, offsets, given) if spelt else None
    tags = []
    if given is not None:
        known = grammar.tag_ids if grammar.neural_weights is None else grammar.neural_tag_ids
        tags = [_NO_TAG if tag is None else known.get(tag, _NO_TAG) for tag in given]
    if grammar.is_conditional and not spelt:
        raise InputError(
            "this model needs the words of the sentences, because it has features of words; "
            "give words, or use a model that can parse tags alone, for example one of the "
            "estimator spectral",
            argument="tags",
        )
    heads, relations = None, None
    if grammar.crf_weights is not None and grammar.crf_weights.dependencies:
        heads, relations = _dependency_columns(sentences)
    return SentenceColumns(
        offsets=offsets,
        words=None if words is None else words.astype(np.uint32),
        tags=np.array(tags, dtype=np.uint32) if tags else None,
        breaks=np.array(
            [_BREAKS.get(token, 0) for sentence in sentences for token in sentence.tokens],
            dtype=np.uint8,
        ),
        spellings=spelt if grammar.is_conditional else None,
        heads=heads,
        relations=relations,
        tag_factors=None if words is None else tag_factors(grammar, spelt, offsets, words),
    )


def _spelt(grammar: Grammar, words: list[str]) -> list[str]:
    """Words in the normal form of the grammar."""
    form = grammar.normalization
    return words if form is None else [normalized_word(word, form) for word in words]


def _dependency_columns(sentences: Sequence[Sentence]) -> tuple[NDArray[np.int32], list[str]]:
    """The heads and relations of all words."""
    heads: list[int] = []
    relations: list[str] = []
    for sentence in sentences:
        if sentence.dependencies is None:
            heads += [0] * len(sentence.tokens)
            relations += [""] * len(sentence.tokens)
        else:
            heads += sentence.dependencies.heads
            relations += sentence.dependencies.relations
    return np.array(heads, dtype=np.int32), relations
