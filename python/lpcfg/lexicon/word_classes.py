"""Classes that stand in for rare and unknown words.

A class is named by its features, the most general first: ``UNK-LC-NUM-DASH`` is lower case, with
a digit and a dash. It backs off to more general ones, one feature at a time, down to ``UNK``.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.errors import InputError

__all__ = [
    "UNKNOWN",
    "EnglishClasses",
    "LearntClasses",
    "TagClasses",
    "WordClasses",
    "word_classes_from_dict",
]

#: Whether something holds, for each word.
Flags: TypeAlias = Sequence[bool] | NDArray[np.bool_]

UNKNOWN = "UNK"


class WordClasses(ABC):
    """A classifier of rare and unknown words; ``fallbacks`` leads from any class to ``UNK``."""

    kind: ClassVar[str]
    determines_tag: ClassVar[bool] = False  # whether all words of a class have the same tag

    @abstractmethod
    def _in_core(self) -> _core.WordClasses:
        """The same classifier in the core."""

    @cached_property
    def core(self) -> _core.WordClasses:
        """The same classifier in the core, which does the work.

        >>> TagClasses().core.fallbacks("UNK-NN")
        ['UNK']
        """
        return self._in_core()

    def __getstate__(self) -> dict[str, Any]:
        # The core's part is built again from the rest.
        return {name: value for name, value in vars(self).items() if name != "core"}

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
        return self.core.class_of(word, initial, known_lowercase, tag)

    def classes_of(
        self,
        words: Sequence[str],
        initial: Flags,
        known_lowercase: Flags,
        tags: Sequence[str] | None = None,
    ) -> tuple[list[str], NDArray[np.int32]]:
        """The distinct classes of words, and the number of the class of each word.

        The arguments have a row for each word; see :meth:`class_of`.

        >>> no = [False] * 3
        >>> EnglishClasses().classes_of(["blorg", "blorgs", "florg"], no, no)
        (['UNK-LC', 'UNK-LC-s'], array([0, 1, 0], dtype=int32))
        """
        flags = np.asarray(initial, dtype=bool), np.asarray(known_lowercase, dtype=bool)
        return self.core.classes_of(words, *flags, tags)

    def fallbacks(self, name: str) -> tuple[str, ...]:
        """More and more general classes for ``name``, ending with ``UNK``.

        Suffixes grow shorter, then the shape loses its features one by one.

        >>> EnglishClasses().fallbacks("UNK-LC-NUM-DASH")
        ('UNK-LC-NUM', 'UNK-LC', 'UNK')
        >>> LearntClasses(frozenset()).fallbacks("UNK-lower-dash~ed")
        ('UNK-lower-dash~d', 'UNK-lower-dash', 'UNK-lower', 'UNK')
        """
        return tuple(self.core.fallbacks(name))

    def to_dict(self) -> dict[str, object]:
        """What :func:`word_classes_from_dict` needs, as JSON.

        >>> EnglishClasses().to_dict()
        {'kind': 'english'}
        """
        return {"kind": self.kind}


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

    def _in_core(self) -> _core.WordClasses:
        return _core.WordClasses.english()


@dataclass(frozen=True)
class TagClasses(WordClasses):
    """Tag replacement (Cohen et al. 2013): the class of a word is its tag, or ``UNK`` without one.

    >>> TagClasses().class_of("blorg", tag="NN"), TagClasses().class_of("blorg")
    ('UNK-NN', 'UNK')
    """

    kind: ClassVar[str] = "tag"
    determines_tag: ClassVar[bool] = True

    def _in_core(self) -> _core.WordClasses:
        return _core.WordClasses.tags()


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

    def _in_core(self) -> _core.WordClasses:
        longest = min(self.longest_suffix, sys.maxsize)
        return _core.WordClasses.learnt(list(self.names), longest, self.scripts)

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
        initial: Flags,
        known_lowercase: Flags,
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
        flags = np.asarray(initial, dtype=bool), np.asarray(known_lowercase, dtype=bool)
        names, parents, members = _core.class_tree(words, *flags, longest_suffix)
        membership = scipy.sparse.csr_array(
            (np.ones(len(words)), (members, np.arange(len(words)))), shape=(len(names), len(words))
        )
        counts = _core.sums_of_subtrees(parents, (membership @ tag_counts).toarray())
        sizes = np.bincount(members, minlength=len(names)).astype(np.float64)
        supports = _core.sums_of_subtrees(parents, sizes[:, None]).ravel()
        # More general classes have no less support.
        kept = np.flatnonzero(supports >= support)
        counts = counts[kept]
        totals = counts.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(counts > 0, np.log(counts / totals), 0.0)
        gains = (counts * (logs - logs[np.searchsorted(kept, parents[kept])])).sum(axis=1)
        scores = [
            (-gain, names[identity])
            for gain, identity in zip(gains.tolist(), kept.tolist(), strict=True)
            if gain > 0 and identity != 0
        ]
        return cls(frozenset(name for _, name in sorted(scores)[:limit]), longest_suffix)


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
