"""Classes that stand in for rare and unknown words.

A class is named by its features, the most general first: ``UNK-LC-NUM-DASH`` is lower case, with
a digit and a dash. It backs off to more general ones, one feature at a time, down to ``UNK``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import scipy

from lpcfg.errors import InputError
from lpcfg.lexicon.character_kinds import SCRIPTS, character_kinds

__all__ = [
    "UNKNOWN",
    "EnglishClasses",
    "LearntClasses",
    "TagClasses",
    "WordClasses",
    "word_classes_from_dict",
]

UNKNOWN = "UNK"
_FEATURE = "-"
_SUFFIX = "~"
#: The number of results that are kept: few, because large corpora have new words on every page.
_REMEMBERED = 1 << 15


class WordClasses(ABC):
    """A classifier of rare and unknown words; ``fallbacks`` leads from any class to ``UNK``."""

    kind: ClassVar[str]
    determines_tag: ClassVar[bool] = False  # whether all words of a class have the same tag

    @abstractmethod
    def class_of(
        self,
        word: str,
        initial: bool = False,
        known_lowercase: bool = False,
        tag: str | None = None,
    ) -> str:
        """The class of a word.

        ``word``: any string, even an empty one.
        ``initial``: whether the word is sentence-initial, where a capital says little.
        ``known_lowercase``: whether its lower-case form is a known word.
        ``tag``: its part-of-speech tag, if known.

        >>> TagClasses().class_of("cat", tag="NN")
        'UNK-NN'
        """

    def fallbacks(self, name: str) -> tuple[str, ...]:
        """More and more general classes for ``name``, ending with ``UNK``.

        Suffixes grow shorter, then the shape loses its features one by one.

        >>> EnglishClasses().fallbacks("UNK-LC-NUM-DASH")
        ('UNK-LC-NUM', 'UNK-LC', 'UNK')
        >>> LearntClasses(frozenset()).fallbacks("UNK-lower-dash~ed")
        ('UNK-lower-dash~d', 'UNK-lower-dash', 'UNK-lower', 'UNK')
        """
        return _more_general(name)

    def to_dict(self) -> dict[str, object]:
        """What :func:`word_classes_from_dict` needs, as JSON.

        >>> EnglishClasses().to_dict()
        {'kind': 'english'}
        """
        return {"kind": self.kind}


@lru_cache(maxsize=_REMEMBERED)
def _more_general(name: str) -> tuple[str, ...]:
    if name == UNKNOWN:
        return ()
    shape, _, suffix = name.partition(_SUFFIX)
    if len(suffix) > 1:
        parent = shape + _SUFFIX + suffix[1:]
    elif suffix:
        parent = shape
    else:
        parent = shape.rpartition(_FEATURE)[0] or UNKNOWN
    return (parent, *_more_general(parent))


@dataclass(frozen=True)
class EnglishClasses(WordClasses):
    """The signatures of the Berkeley parser, which Peng (2021, chapter 6) uses as well.

    >>> classes = EnglishClasses()
    >>> [classes.class_of(word) for word in ("19th-century", "Rolls-Royce", "oldest", "=")]
    ['UNK-LC-NUM-DASH', 'UNK-CAPS-DASH', 'UNK-LC-est', 'UNK']
    >>> classes.class_of("Walked", initial=True, known_lowercase=True)
    'UNK-INITC-KNOWNLC-ed'
    """

    kind: ClassVar[str] = "english"
    _suffixes: ClassVar[tuple[str, ...]] = (
        "ed",
        "ing",
        "ion",
        "er",
        "est",
        "ly",
        "ity",
        "y",
        "al",
    )

    def class_of(
        self,
        word: str,
        initial: bool = False,
        known_lowercase: bool = False,
        tag: str | None = None,
    ) -> str:
        """The signature of a word; see :meth:`WordClasses.class_of`.

        >>> EnglishClasses().class_of("blorgs"), EnglishClasses().class_of("Blorg")
        ('UNK-LC-s', 'UNK-CAPS')
        """
        features = [UNKNOWN]
        capitals = sum(character.isupper() for character in word)
        if capitals and initial and capitals == 1 and word[0].isupper():
            features.append("INITC")
            if known_lowercase:
                features.append("KNOWNLC")
        elif capitals:
            features.append("CAPS")
        elif any(character.islower() for character in word):
            features.append("LC")
        digits = any(character.isdigit() for character in word)
        dash = "-" in word
        if digits:
            features.append("NUM")
        if dash:
            features.append("DASH")
        lowered = word.lower()
        if lowered.endswith("s") and len(word) >= 3:
            if lowered[-2] not in "siu":
                features.append("s")
        elif len(word) >= 5 and not digits and not dash:
            features.extend(
                next(([suffix] for suffix in self._suffixes if lowered.endswith(suffix)), [])
            )
        return _FEATURE.join(features)


@dataclass(frozen=True)
class TagClasses(WordClasses):
    """Tag replacement (Cohen et al. 2013): the class of a word is its tag, or ``UNK`` without one.

    >>> TagClasses().class_of("blorg", tag="NN"), TagClasses().class_of("blorg")
    ('UNK-NN', 'UNK')
    """

    kind: ClassVar[str] = "tag"
    determines_tag: ClassVar[bool] = True

    def class_of(
        self,
        word: str,
        initial: bool = False,
        known_lowercase: bool = False,
        tag: str | None = None,
    ) -> str:
        """The class named after the tag; see :meth:`WordClasses.class_of`.

        >>> TagClasses().class_of("(", tag="-LRB-")
        'UNK--LRB-'
        """
        return UNKNOWN if tag is None else UNKNOWN + _FEATURE + tag

    def fallbacks(self, name: str) -> tuple[str, ...]:
        """Only ``UNK``.

        >>> TagClasses().fallbacks("UNK--LRB-")
        ('UNK',)
        """
        return () if name == UNKNOWN else (UNKNOWN,)


@dataclass(frozen=True)
class LearntClasses(WordClasses):
    """Classes of word shapes and suffixes, for any script, learnt from the words of a treebank.

    ``names``: the classes without ``UNK``. A word has the most specific class that fits.
    ``longest_suffix``: the largest number of characters of a suffix.
    ``scripts``: whether the shapes of words in scripts without case tell hiragana, katakana and Han
    from others. Models of earlier versions do not have it.

    >>> classes = LearntClasses(frozenset({"UNK-lower", "UNK-lower~ung"}))
    >>> [classes.class_of(word) for word in ("Übung", "übung", "über", "7")]
    ['UNK', 'UNK-lower~ung', 'UNK-lower', 'UNK']
    """

    names: frozenset[str]
    longest_suffix: int = 4
    scripts: bool = True

    kind: ClassVar[str] = "learnt"

    def class_of(
        self,
        word: str,
        initial: bool = False,
        known_lowercase: bool = False,
        tag: str | None = None,
    ) -> str:
        """The most specific class of a word; see :meth:`WordClasses.class_of`.

        >>> LearntClasses(frozenset({"UNK-digit"})).class_of("1984")
        'UNK-digit'
        """
        finest = _finest_class(
            word, initial, initial and known_lowercase, self.longest_suffix, self.scripts
        )
        return next(
            (name for name in (finest, *self.fallbacks(finest)) if name in self.names), UNKNOWN
        )

    def to_dict(self) -> dict[str, object]:
        """The classes in alphabetical order, and what words are classified by.

        >>> LearntClasses(frozenset({"UNK-lower"})).to_dict()
        {'kind': 'learnt', 'names': ['UNK-lower'], 'longest_suffix': 4, 'scripts': True}
        """
        return {
            "kind": self.kind,
            "names": sorted(self.names),
            "longest_suffix": self.longest_suffix,
            "scripts": self.scripts,
        }

    @classmethod
    def learn(
        cls,
        words: Sequence[str],
        initial: Sequence[bool],
        known_lowercase: Sequence[bool],
        tag_counts: scipy.sparse.csr_array,
        *,
        limit: int = 200,
        support: int = 10,
        longest_suffix: int = 4,
    ) -> LearntClasses:
        """Choose the classes that best predict the tags of (rare) words.

        The score of a class is the gain in log-likelihood of its words' tags over the next more
        general class. Classes without a gain are not chosen.

        ``tag_counts``: row i has the counts of the tags of ``words[i]``.
        ``limit``: the largest number of classes; those with the highest scores are chosen.
        ``support``: the smallest number of distinct words of a class.

        >>> words = ["walked", "talked", "asked", "bread", "head", "road"]
        >>> tags = scipy.sparse.csr_array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
        >>> no = [False] * 6
        >>> sorted(LearntClasses.learn(words, no, no, tags, support=3, limit=2).names)
        ['UNK-lower~ad', 'UNK-lower~ed']
        """
        ids: dict[str, int] = {UNKNOWN: 0}
        parents = [0]
        members = []
        for word, opens, known in zip(words, initial, known_lowercase, strict=True):
            finest = _finest_class(word, opens, opens and known, longest_suffix, scripts=True)
            if finest not in ids:
                # General classes come first, so that the ids of parents are smaller.
                new = [name for name in (finest, *_more_general(finest)) if name not in ids]
                for name in reversed(new):
                    parents.append(ids[_more_general(name)[0]])
                    ids[name] = len(ids)
            members.append(ids[finest])
        membership = scipy.sparse.csr_array(
            (np.ones(len(words)), (members, np.arange(len(words)))), shape=(len(ids), len(words))
        )
        counts = (membership @ tag_counts).toarray()
        supports = np.bincount(members, minlength=len(ids))
        for identity in range(len(ids) - 1, 0, -1):
            counts[parents[identity]] += counts[identity]
            supports[parents[identity]] += supports[identity]
        totals = counts.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(counts > 0, np.log(counts / totals), 0.0)
        gains = (counts * (logs - logs[parents])).sum(axis=1)
        names = list(ids)
        scores = [
            (-gains[identity], names[identity])
            for identity in np.flatnonzero((supports >= support) & (gains > 0))
            if identity != 0
        ]
        return cls(frozenset(name for _, name in sorted(scores)[:limit]), longest_suffix)


_WITHOUT_SCRIPTS = str.maketrans("chk", "aaa")


# Estimation needs the class of a word several times: to learn, to count, to look up.
@lru_cache(maxsize=_REMEMBERED)
def _finest_class(
    word: str, initial: bool, known_lowercase: bool, longest_suffix: int, scripts: bool
) -> str:
    """The shape and longest suffix of a word, by the Unicode categories of its characters."""
    kinds = character_kinds(word)
    if not scripts:
        kinds = kinds.translate(_WITHOUT_SCRIPTS)
    shape = UNKNOWN
    if "U" in kinds:
        if kinds.rfind("U") > 0:
            shape += "-mixed" if "l" in kinds else "-upper"
        elif initial:
            shape += "-initial-known" if known_lowercase else "-initial"
        else:
            shape += "-title"
    elif "l" in kinds:
        shape += "-lower"
    elif letters := sorted(set(kinds) & SCRIPTS.keys()):
        shape += "-letters" + "".join(SCRIPTS[kind] for kind in letters)
    for kind, feature in (("9", "-digit"), ("-", "-dash"), (".", "-symbol")):
        if kind in kinds:
            shape += feature
    # The stem has at least one character.
    ending = len(kinds) - len(kinds.rstrip("Ulachk"))
    length = min(ending, longest_suffix, len(word) - 1)
    return shape + _SUFFIX + word[-length:].lower() if length > 0 else shape


def word_classes_from_dict(data: Mapping[str, object]) -> WordClasses:
    """The classifier from the result of its ``to_dict``.

    >>> word_classes_from_dict({"kind": "tag"})
    TagClasses()
    """
    match data:
        case {"kind": EnglishClasses.kind}:
            return EnglishClasses()
        case {"kind": TagClasses.kind}:
            return TagClasses()
        case {"kind": LearntClasses.kind, "names": list(names), "longest_suffix": int(longest)}:
            scripts = data.get("scripts", False)
            if (
                all(isinstance(name, str) for name in names)
                and longest >= 0
                and isinstance(scripts, bool)
            ):
                return LearntClasses(frozenset(names), longest, scripts)
    raise InputError(
        f"no word classes can be made of {dict(data)!r:.200}: expected a kind"
        f" ({EnglishClasses.kind}, {LearntClasses.kind} or {TagClasses.kind}) with its fields",
        argument="word_classes",
    )
