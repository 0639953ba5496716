"""The lexicon of a grammar: emission probabilities of known words and of word classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.errors import GrammarError, InputError
from lpcfg.lexicon.spelling_features import SpeltWord
from lpcfg.lexicon.tag_model import TagModel
from lpcfg.lexicon.word_classes import UNKNOWN, TagClasses, WordClasses
from lpcfg.lexicon.word_table import initial_words

__all__ = ["Lexicon", "lexicon_from_entries"]

#: How far a probability may exceed one, for numbers rounded by hand.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Lexicon:
    """The probabilities q(a -> x | a) of lexical rules: preterminals a and emissions x.

    An emission is a known word, or a class that stands for unknown words. Emissions are numbered:
    first the words, then the classes. The probabilities of a symbol sum to one over all emissions.

    ``words``: the known words.
    ``classes``: the names of the word classes, among them ``UNK``.
    ``classifier``: gives unknown words their classes.
    ``offsets``: the entries of emission x are at ``offsets[x]`` up to ``offsets[x + 1]``.
    ``symbols``: the preterminal of each entry; ascending within an emission.
    ``probabilities``: q(a -> x | a) of each entry.
    ``lowercase_initial``: an unknown word at the beginning of a sentence is replaced by its
    lower-case form if that is known.
    ``tag_model``: a model of the tags of unknown words, which changes the probabilities of their
    classes; None without one.

    >>> lexicon = lexicon_from_entries([(0, "the", 1.0), (1, "dog", 0.5), (1, "cat", 0.5)])
    >>> lexicon
    <Lexicon: 3 words, 1 classes of unknown words, 3 entries>
    >>> lexicon.encode(["the", "cat", "xylophone"])
    array([0, 2, 3], dtype=int32)
    """

    words: tuple[str, ...]
    classes: tuple[str, ...]
    classifier: WordClasses
    offsets: NDArray[np.int64]
    symbols: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    lowercase_initial: bool = False
    tag_model: TagModel | None = None

    def __post_init__(self) -> None:
        emissions = len(self.words) + len(self.classes)
        if len(self.offsets) != emissions + 1:
            raise GrammarError(
                f"a lexicon of {emissions} emissions needs {emissions + 1} offsets,"
                f" not {len(self.offsets)}"
            )
        entries = len(self.symbols)
        if (
            self.offsets[0] != 0
            or self.offsets[-1] != entries
            or np.any(np.diff(self.offsets) < 0)
            or len(self.probabilities) != entries
        ):
            raise GrammarError(
                f"the offsets of a lexicon must rise from 0 to its {entries} symbols,"
                f" and each symbol needs a probability"
            )
        # NaN is not in the range either.
        in_range = (self.probabilities >= 0) & (self.probabilities <= 1 + _ROUNDING)
        if not in_range.all():
            wrong = self.probabilities[~in_range][0]
            raise GrammarError(f"an emission has probability {wrong}; it must be from 0 to 1")
        if self.tag_model is not None and len(self.tag_model.class_tags) != len(self.classes):
            raise GrammarError("the tag model of a lexicon needs the tags of each of its classes")
        # It refuses names that are there twice, and classes without the one of all words.
        _ = self._encoder

    @cached_property
    def _encoder(self) -> _core.WordEncoder:
        return _core.WordEncoder(
            self.words,
            self.classes,
            self.classifier.core,
            lowercase_initial=self.lowercase_initial,
        )

    def __getstate__(self) -> dict[str, Any]:
        # The encoder is built again from the rest.
        return {name: value for name, value in vars(self).items() if name != "_encoder"}

    def __repr__(self) -> str:
        return (
            f"<Lexicon: {len(self.words)} words, {len(self.classes)} classes of unknown words, "
            f"{len(self.symbols)} entries>"
        )

    def __contains__(self, word: object) -> bool:
        """Whether a word is known.

        >>> "a" in lexicon_from_entries([(0, "a", 1.0)])
        True
        """
        return isinstance(word, str) and self._encoder.knows(word)

    def encode(
        self, words: Sequence[str], tags: Sequence[str | None] | None = None
    ) -> NDArray[np.int32]:
        r"""The emissions of the words of a sentence; any string is a word.

        ``tags``: the known tags; they matter only to a lexicon whose word classes are tags.

        >>> lexicon_from_entries([(0, "a", 1.0)]).encode(["a", "", "\U0001f600"])
        array([0, 1, 1], dtype=int32)
        """
        if tags is not None and len(tags) != len(words):
            raise InputError(
                f"{len(words)} words but {len(tags)} tags: give one tag for each word",
                argument="tags",
            )
        return self.encode_all(words, np.array([0, len(words)]), tags)

    def encode_all(
        self,
        words: Sequence[str],
        offsets: NDArray[np.int64],
        tags: Sequence[str | None] | None = None,
    ) -> NDArray[np.int32]:
        """The emissions of the words of many sentences, in one call of the core.

        ``words``: the words of all sentences, one sentence after the other.
        ``offsets``: sentence i has the words from ``offsets[i]`` up to ``offsets[i + 1]``.
        ``tags``: the tags of the words; see :meth:`encode`.

        >>> lexicon_from_entries([(0, "a", 1.0)]).encode_all(["a", "b", "a"], np.array([0, 2, 3]))
        array([0, 1, 0], dtype=int32)
        """
        return self._encoder.encode(words, offsets, self._relevant(tags))

    def emission(self, word: str, initial: bool = False, tag: str | None = None) -> int:
        """The emission of a word: itself if it is known, else its class.

        >>> lexicon_from_entries([(0, "a", 1.0)]).emission("a")
        0
        """
        return self._encoder.emission(word, initial, tag)

    def class_emission(self, word: str, initial: bool = False, tag: str | None = None) -> int:
        """The emission of a word's class, whether or not the word is known.

        >>> lexicon_from_entries([(0, "a", 1.0)]).class_emission("a")
        1
        """
        return self._encoder.class_emission(word, initial, tag)

    def emissions(
        self,
        words: Sequence[str],
        initial: NDArray[np.bool_],
        tags: Sequence[str | None] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The emissions of words, and those of their classes; the arguments have a row for each.

        >>> lexicon = lexicon_from_entries([(0, "a", 1.0)])
        >>> lexicon.emissions(["a", "b"], np.array([True, False]))
        (array([0, 1], dtype=int32), array([1, 1], dtype=int32))
        """
        return self._encoder.emissions(words, initial, self._relevant(tags))

    def _relevant(self, tags: Sequence[str | None] | None) -> Sequence[str | None] | None:
        """Tags, unless no class depends on them."""
        return tags if self.classifier.determines_tag else None

    def unknown_words(
        self,
        words: Sequence[str],
        emissions: NDArray[np.int32],
        offsets: NDArray[np.int64] | None = None,
    ) -> Iterator[tuple[int, SpeltWord, int]]:
        """The position, the spelling and the number of the class of each unknown word.

        ``emissions``: the result of :meth:`encode` for the words.
        ``offsets``: where sentences begin, if there are many; see :meth:`encode_all`.

        >>> lexicon = lexicon_from_entries([(0, "a", 1.0)])
        >>> words = ["a", "Blorp"]
        >>> list(lexicon.unknown_words(words, lexicon.encode(words)))
        [(1, SpeltWord(word='Blorp', initial=False, known_lowercase=False), 0)]
        """
        bounds = np.array([0, len(words)]) if offsets is None else offsets
        positions = np.arange(len(words))
        starts = positions - np.repeat(bounds[:-1], np.diff(bounds))
        initial = initial_words(words, positions, starts).tolist()
        known = len(self.words)
        for position in np.flatnonzero(emissions >= known).tolist():
            word = words[position]
            spelt = SpeltWord(word, initial[position], word.lower() in self)
            yield position, spelt, int(emissions[position]) - known


def lexicon_from_entries(entries: Iterable[tuple[int, str, float]]) -> Lexicon:
    """A lexicon with given (symbol, word, probability) entries, for hand-written grammars.

    No symbol emits an unknown word.

    >>> lexicon_from_entries([(3, "the", 1.0)]).classes
    ('UNK',)
    """
    listed = list(entries)
    words = tuple(dict.fromkeys(word for _, word, _ in listed))
    ids = {word: identity for identity, word in enumerate(words)}
    emissions = np.array([ids[word] for _, word, _ in listed], dtype=np.int64)
    symbols = np.array([symbol for symbol, _, _ in listed], dtype=np.int32)
    probabilities = np.array([probability for _, _, probability in listed], dtype=np.float64)
    order = np.lexsort((symbols, emissions))
    counts = np.bincount(emissions, minlength=len(words) + 1)
    return Lexicon(
        words=words,
        classes=(UNKNOWN,),
        classifier=TagClasses(),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        symbols=symbols[order],
        probabilities=probabilities[order],
    )
