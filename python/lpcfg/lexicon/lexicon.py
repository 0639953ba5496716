"""The lexicon of a grammar: emission probabilities of known words and of word classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import GrammarError, InputError
from lpcfg.lexicon.spelling_features import SpeltWord
from lpcfg.lexicon.tag_model import TagModel
from lpcfg.lexicon.word_classes import UNKNOWN, TagClasses, WordClasses

__all__ = ["Lexicon", "lexicon_from_entries", "opens_sentence"]

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
    _word_ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _class_ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        emissions = len(self.words) + len(self.classes)
        if UNKNOWN not in self.classes:
            raise GrammarError(f"the classes of a lexicon must contain {UNKNOWN!r}")
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
        for names in (self.words, self.classes):
            repeated = [name for name, uses in Counter(names).items() if uses > 1]
            if repeated:
                raise GrammarError(f"a lexicon has {repeated[0]!r} more than once")
        if self.tag_model is not None and len(self.tag_model.class_tags) != len(self.classes):
            raise GrammarError("the tag model of a lexicon needs the tags of each of its classes")
        word_ids = {word: identity for identity, word in enumerate(self.words)}
        class_ids = {
            name: identity for identity, name in enumerate(self.classes, start=len(self.words))
        }
        object.__setattr__(self, "_word_ids", word_ids)
        object.__setattr__(self, "_class_ids", class_ids)

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
        return word in self._word_ids

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
        ids = np.empty(len(words), dtype=np.int32)
        initial = True
        for position, word in enumerate(words):
            tag = None if tags is None else tags[position]
            ids[position] = self.emission(word, initial, tag)
            initial = initial and opens_sentence(word)
        return ids

    def emission(self, word: str, initial: bool = False, tag: str | None = None) -> int:
        """The emission of a word: itself if it is known, else its class.

        >>> lexicon_from_entries([(0, "a", 1.0)]).emission("a")
        0
        """
        known = self._word_ids.get(word)
        if known is not None:
            return known
        lowered = self._word_ids.get(word.lower())
        if lowered is not None and initial and self.lowercase_initial:
            return lowered
        return self.class_emission(word, initial, tag)

    def class_emission(self, word: str, initial: bool = False, tag: str | None = None) -> int:
        """The emission of a word's class, whether or not the word is known.

        >>> lexicon_from_entries([(0, "a", 1.0)]).class_emission("a")
        1
        """
        known_lowercase = word.lower() in self._word_ids
        name = self.classifier.class_of(word, initial, known_lowercase, tag)
        if name in self._class_ids:
            return self._class_ids[name]
        fallbacks = self.classifier.fallbacks(name)
        return next(
            (self._class_ids[name] for name in fallbacks if name in self._class_ids),
            self._class_ids[UNKNOWN],
        )

    def unknown_words(
        self, words: Sequence[str], emissions: NDArray[np.int32]
    ) -> Iterator[tuple[int, SpeltWord, int]]:
        """The position, the spelling and the number of the class of each unknown word.

        ``emissions``: the result of :meth:`encode` for the words.

        >>> lexicon = lexicon_from_entries([(0, "a", 1.0)])
        >>> words = ["a", "Blorp"]
        >>> list(lexicon.unknown_words(words, lexicon.encode(words)))
        [(1, SpeltWord(word='Blorp', initial=False, known_lowercase=False), 0)]
        """
        known = len(self.words)
        for position in np.flatnonzero(emissions >= known).tolist():
            word = words[position]
            initial = all(map(opens_sentence, words[:position]))
            spelt = SpeltWord(word, initial, word.lower() in self._word_ids)
            yield position, spelt, int(emissions[position]) - known


def opens_sentence(word: str) -> bool:
    """Whether the next word still counts as sentence-initial, as after quotes and bullets.

    >>> [opens_sentence(word) for word in ("``", "-", "Then", "7")]
    [True, True, False, False]
    """
    return not any(character.isalnum() for character in word)


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
