"""Which words of a treebank share what they tell about latent states."""

from __future__ import annotations

from copy import copy

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import IntegerColumn, distinct_rows
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_table import initial_words
from lpcfg.treebank.treebank import Treebank

__all__ = ["WordRows", "word_emissions"]

Floats = NDArray[np.float32]


class WordRows:
    """A row for each pair of a symbol and an emission that preterminal nodes stand behind.

    Most entries of a lexicon are due to smoothing, so there are fewer rows than entries: first one
    for what was never seen, then those of classes of words, then the nodes' own.

    ``rare``: words seen up to so often speak for their classes.

    >>> from lpcfg import Tree
    >>> from lpcfg.lexicon.estimation import estimate_lexicon
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> rows = WordRows(bank, estimate_lexicon(bank), rare=1)
    >>> rows.counts, rows.own
    (array([0., 2., 1., 1.], dtype=float32), array([0, 1]))
    """

    def __init__(self, treebank: Treebank, lexicon: Lexicon, rare: int) -> None:
        self.lexicon = lexicon
        nodes = np.flatnonzero(treebank.word >= 0)
        own, word_class = word_emissions(treebank, lexicon, nodes)
        frequency = np.bincount(treebank.word[nodes])[treebank.word[nodes]]
        # Where no word is rare, all of them speak for the unknown ones.
        speaks = frequency <= rare if np.any(frequency <= rare) else frequency > 0
        speaks &= own != word_class

        base, symbol = len(treebank.symbols), treebank.symbol[nodes].astype(np.int64)
        class_keys, of_class = np.unique((word_class * base + symbol)[speaks], return_inverse=True)
        #: The nodes' own rows, counted from :attr:`first_own`, and the symbol of each of these.
        own_keys, self.own = np.unique(own * base + symbol, return_inverse=True)
        self.own_symbols = own_keys % base
        self.first_own = 1 + len(class_keys)
        row = np.concatenate([1 + of_class, self.first_own + self.own])
        member = np.concatenate([np.flatnonzero(speaks), np.arange(len(nodes))])
        self._belongs = scipy.sparse.csr_array(
            (np.ones(len(row)), (row, member)),
            shape=(self.first_own + len(own_keys), len(nodes)),
        )
        #: How many nodes stand behind each row.
        self.counts: Floats = self._belongs.sum(axis=1).astype(np.float32)

        class_of = np.arange(len(lexicon.offsets) - 1)
        class_of[own] = word_class
        #: The row that each own row leans on.
        self.leans_on = 1 + _find(class_keys, class_of[own_keys // base] * base + own_keys % base)
        emissions = np.repeat(np.arange(len(class_of)), np.diff(lexicon.offsets))
        found = _find(own_keys, emissions * base + lexicon.symbols)
        prior = 1 + _find(class_keys, class_of[emissions] * base + lexicon.symbols)
        row = np.where(found >= 0, self.first_own + found, prior)
        #: An entry of the lexicon for each own row.
        self.own_entries = np.empty(len(own_keys), dtype=np.int64)
        self.own_entries[found[found >= 0]] = np.flatnonzero(found >= 0)

        # A row that nodes stand behind has one symbol; that of what was never seen has many, and
        # is a profile for each. Profiles that no entry has are left out.
        rows = len(self.counts)
        profile = np.where(row > 0, row, rows + lexicon.symbols)
        has_entry = np.zeros(rows + base, dtype=bool)
        has_entry[profile] = True
        symbol_of = np.empty(rows + base, dtype=np.int64)
        symbol_of[profile] = lexicon.symbols
        #: The profile of each entry of the lexicon.
        self.entry_profiles = (np.cumsum(has_entry) - 1)[profile]
        #: The symbol of each profile, and its row.
        self.profile_symbols = symbol_of[has_entry]
        self.profile_rows = np.append(np.arange(rows), np.zeros(base, dtype=np.int64))[has_entry]

    def sums(self, vectors: Floats) -> Floats:
        """For each row the sum of the vectors of its nodes, given one for each preterminal node.

        >>> from lpcfg import Tree
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> rows = WordRows(bank, estimate_lexicon(bank), rare=1)
        >>> rows.sums(np.array([[1], [3]], dtype=np.float32)).ravel()
        array([0., 4., 1., 3.], dtype=float32)
        """
        # Added up in double precision: a class may stand for thousands of nodes.
        sums: Floats = (self._belongs @ vectors).astype(np.float32)
        return sums

    def of(self, nodes: NDArray[np.int64]) -> WordRows:
        """The same rows with only some of the preterminal nodes, by number, behind them.

        >>> from lpcfg import Tree
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> WordRows(bank, estimate_lexicon(bank), rare=1).of(np.array([0])).counts
        array([0., 1., 1., 0.], dtype=float32)
        """
        rows = copy(self)
        rows.own = self.own[nodes]
        rows._belongs = self._belongs[:, nodes]
        rows.counts = rows._belongs.sum(axis=1).astype(np.float32)
        return rows


def word_emissions(
    treebank: Treebank, lexicon: Lexicon, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The emission of each preterminal node, and that of its word's class.

    >>> from lpcfg import Tree
    >>> from lpcfg.lexicon.lexicon import lexicon_from_entries
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> word_emissions(bank, lexicon_from_entries([(0, "rain", 1.0)]), np.arange(2))
    (array([0, 1]), array([1, 1]))
    """
    word = treebank.word[nodes]
    columns: list[IntegerColumn] = [
        word,
        initial_words(treebank.words, word, treebank.start[nodes]),
    ]
    tags = [symbol.labels[-1] for symbol in treebank.symbols]
    names = sorted(set(tags))
    if lexicon.classifier.tells_tag:
        columns.append(np.array([names.index(tag) for tag in tags])[treebank.symbol[nodes]])
    distinct, place, _ = distinct_rows(*columns)
    arguments = [
        (treebank.words[word], bool(initial), *(names[identity] for identity in tag))
        for word, initial, *tag in zip(*(column.tolist() for column in distinct), strict=True)
    ]
    own = np.array([lexicon.emission(*row) for row in arguments], dtype=np.int64)
    word_class = np.array([lexicon.class_emission(*row) for row in arguments], dtype=np.int64)
    return own[place], word_class[place]


def _find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the sorted keys have the wanted ones, -1 where they do not; none is negative."""
    place = np.searchsorted(keys, wanted)
    return np.where(np.append(keys, -1)[place] == wanted, place, -1)
