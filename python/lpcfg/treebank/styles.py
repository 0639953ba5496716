"""Styles of treebanks: what the files of well-known corpora have beside words, tags and phrases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest

__all__ = ["AUTO", "STYLES", "TreebankStyle", "find_style", "recognise_style", "style_endings"]

AUTO = "auto"
"""The name that stands for the style that is recognised in the first file."""


@dataclass(frozen=True, slots=True)
class TreebankStyle:
    """How the files of a corpus differ from plain bracketed trees.

    >>> style = STYLES["cess"]
    >>> style.lemmas, style.encoding
    (True, 'iso-8859-15')
    """

    name: str
    about: str
    graphs: bool = False
    """Whether the files hold graphs with crossing edges rather than brackets."""
    lemmas: bool = False
    """Whether a leaf may have more tokens after its word."""
    joined_lemmas: bool = False
    """Whether a word and its lemma are one token with a hyphen between them."""
    removed_labels: frozenset[str] = frozenset()
    """The labels of nodes that are no part of a sentence."""
    traces: re.Pattern[str] | None = None
    """What the words of empty elements look like."""
    zero_labels: frozenset[str] | None = None
    """The labels below which the word ``0`` is an empty element."""
    encoding: str | None = None
    """The encoding of files that are not UTF-8; None if all are."""
    separators: str | None = None
    """The characters that start function tags in labels, if not ``-`` and ``=``."""
    extensions: tuple[str, ...] = ()
    """The endings of its files, beside those of bracketed trees."""

    def cleaning(self, cleaning: Cleaning | None) -> Cleaning | None:
        """A cleaning with the separators of this style, unless it has some of its own.

        >>> STYLES["keyaki"].cleaning(Cleaning()).separators
        '-=;|{'
        """
        if cleaning is None or cleaning.separators is not None:
            return cleaning
        return replace(cleaning, separators=self.separators)

    @property
    def is_plain(self) -> bool:
        """Whether its files have bracketed trees and nothing else.

        >>> [style.name for style in STYLES.values() if style.is_plain]
        ['penn']
        """
        return not (self.graphs or self.lemmas or self.removed_labels or self.traces)

    def apply(self, forest: Forest) -> Forest:
        """Remove nodes that are no part of the sentences, and lemmas from words.

        A tree that has no words left becomes an empty tree.

        >>> from lpcfg.treebank.tree import Tree
        >>> text = "( (IP-MAT (NP-SBJ *pro*) (VB rain)) (ID 1_example))"
        >>> forest = Forest.from_trees([Tree.from_string(text)])
        >>> print(*STYLES["keyaki"].apply(forest).trees())
        ( (IP-MAT (VB rain)))
        """
        if self.removed_labels or self.traces is not None:
            forest = forest.without(self._removed(forest))
        if self.joined_lemmas:
            words = [_without_lemma(word) for word in forest.word_names]
            forest = replace(forest, word_names=words)
        return forest

    def _removed(self, forest: Forest) -> NDArray[np.bool_]:
        """The nodes to remove with all that is below them."""
        labels = np.array([name in self.removed_labels for name in forest.label_names], dtype=bool)
        removed = labels[forest.labels]
        leaves = np.flatnonzero(forest.words >= 0)
        if self.traces is not None:
            match = self.traces.fullmatch
            empty = np.array([match(word) is not None for word in forest.word_names], dtype=bool)
            removed[leaves] |= empty[forest.words[leaves]]
        if self.zero_labels is not None:
            zero = np.array([word == "0" for word in forest.word_names], dtype=bool)
            above = np.array(
                [name.split("-")[0] in self.zero_labels for name in forest.label_names], dtype=bool
            )
            removed[leaves] |= zero[forest.words[leaves]] & above[forest.labels[leaves]]
        return removed


def _without_lemma(token: str) -> str:
    """The word of a token ``word-lemma``. With several hyphens, the one that splits it evenly."""
    hyphens = [at for at in range(1, len(token) - 1) if token[at] == "-"]
    if not hyphens:
        return token
    middle = (len(token) - 1) / 2
    return token[: min(hyphens, key=lambda at: (abs(at - middle), -at))]


_METADATA = frozenset({"ID", "CODE", "META", "METADATA", "COMMENT"})

STYLES: Mapping[str, TreebankStyle] = MappingProxyType(
    {
        style.name: style
        for style in (
            TreebankStyle("penn", "bracketed trees with one word in a leaf, as the Penn Treebank"),
            TreebankStyle(
                "icepahc",
                "IcePaHC and other historical corpora of the Penn family: word-lemma, CODE and ID "
                "nodes, traces as words",
                lemmas=True,
                joined_lemmas=True,
                removed_labels=_METADATA,
                traces=re.compile(r"\*.+"),
                zero_labels=frozenset({"C", "WADV", "WADVP", "WNP", "WPP", "P"}),
                extensions=(".psd",),
            ),
            TreebankStyle(
                "keyaki",
                "Keyaki and related treebanks: ID nodes, traces as words, labels with ; and {}",
                removed_labels=_METADATA,
                traces=re.compile(r"\*|\*.+\*(-\d+)?"),
                separators="-=;|{",
                extensions=(".psd",),
            ),
            TreebankStyle(
                "cess",
                "CESS-ESP and CESS-CAT: word and lemma in a leaf, *0* for subjects, ISO-8859-15",
                lemmas=True,
                traces=re.compile(r"\*0\*"),
                encoding="iso-8859-15",
                extensions=(".tbf",),
            ),
            TreebankStyle(
                "negra-export",
                "the export format of NEGRA (3 and 4): discontinuous constituents are raised",
                graphs=True,
                encoding="iso-8859-1",
                extensions=(".export", ".negra"),
            ),
            TreebankStyle(
                "tiger-xml",
                "TIGER-XML: discontinuous constituents are raised",
                graphs=True,
                extensions=(".xml",),
            ),
        )
    }
)
"""All styles by their names."""


def find_style(name: str) -> TreebankStyle | None:
    """The style of a name; None for ``"auto"``.

    >>> find_style("penn").name
    'penn'
    >>> find_style("klingon")
    Traceback (most recent call last):
    lpcfg.errors.InputError: style must be one of penn, icepahc, keyaki, cess, negra-export, \
tiger-xml, auto, not 'klingon'
    """
    if name == AUTO:
        return None
    if name not in STYLES:
        choices = ", ".join((*STYLES, AUTO))
        raise InputError(f"style must be one of {choices}, not {name!r}", argument="style")
    return STYLES[name]


def style_endings(style: TreebankStyle | None) -> tuple[str, ...]:
    """The endings of files within folders, beside the usual ones; those of all styles for None.

    >>> style_endings(STYLES["cess"])
    ('.tbf',)
    """
    chosen = STYLES.values() if style is None else [style]
    return tuple(sorted({ending for one in chosen for ending in one.extensions}))


_ID_NODE = re.compile(rb"\((?:ID|CODE|METADATA|META)\s")
_TWO_TOKENS = re.compile(rb"\(([^\s()]+)\s+[^\s()]+\s+[^\s()]+\s*\)")
_LEAF = re.compile(rb"\(([^\s()]+)\s+([^\s()]+)\s*\)")


def recognise_style(text: bytes) -> TreebankStyle:
    r"""The style of a file, from its first few thousand bytes.

    >>> recognise_style(b"#FORMAT 3\n#BOS 1 0 0 0\n").name
    'negra-export'
    >>> recognise_style(b"( (S (sn.e-SUJ *0*) (grup.verb (vmis3s0 lleg\xf3 llegar))))").name
    'cess'
    >>> recognise_style(b"( (IP-MAT (NP-SBJ *pro*) (VB ame)) (ID 1_x;JP))").name
    'keyaki'
    >>> recognise_style(b"( (IP-MAT (N-N rigning-rigning)) (ID 1150.X,.1))").name
    'icepahc'
    """
    start = text.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return STYLES["tiger-xml"]
    if start.startswith((b"#", b"%%")):
        return STYLES["negra-export"]
    if _TWO_TOKENS.search(text):
        return STYLES["cess"]
    if _ID_NODE.search(text):
        words = [
            word
            for label, word in _LEAF.findall(text)
            if label not in (b"ID", b"CODE") and not word.startswith((b"*", b"<", b"{"))
        ]
        joined = sum(b"-" in word[1:-1] for word in words)
        return STYLES["icepahc" if 2 * joined > len(words) else "keyaki"]
    return STYLES["penn"]
