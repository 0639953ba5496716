"""Emission vectors: the probabilities of a lexicon, times what each word tells about the state."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.lexicon import Lexicon
from lpcfg.treebank import Treebank
from lpcfg.word_table import initial_words

__all__ = ["StateProfiles"]

Floats = NDArray[np.float32]

# Entries of the lexicon worked on at once.
_BLOCK = 1 << 16


class StateProfiles:
    """Sums of outside projections for the entries of a lexicon, from which profiles are smoothed.

    The vector of an entry (symbol, emission) is P(emission | symbol) times its profile: the mean
    outside projection of the nodes it stands for. A word leans on its class, and a class on the
    symbol, whose mean is the first unit vector; what was never seen has just these to go by.

    ``rare``: words seen up to so often speak for their classes.

    >>> from lpcfg import Tree
    >>> from lpcfg.lexicon_estimation import estimate_lexicon
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> outside = np.array([[1, 3], [1, -3]], dtype=np.float32)
    >>> profiles = StateProfiles(bank, estimate_lexicon(bank), outside, rare=1)
    >>> profiles.counts
    array([0., 2., 1., 1.], dtype=float32)
    """

    def __init__(self, treebank: Treebank, lexicon: Lexicon, outside: Floats, rare: int) -> None:
        self.lexicon = lexicon
        nodes = np.flatnonzero(treebank.word >= 0)
        own, word_class = _emissions(treebank, lexicon, nodes)
        frequency = np.bincount(treebank.word[nodes])[treebank.word[nodes]]
        # Where no word is rare, all of them speak for the unknown ones.
        speaks = frequency <= rare if np.any(frequency <= rare) else frequency > 0
        speaks &= own != word_class

        # Most entries are due to smoothing, so rows are kept only of those that nodes stand
        # behind: first one for what was never seen, then those of classes, then the nodes' own.
        base, symbol = len(treebank.symbols), treebank.symbol[nodes].astype(np.int64)
        class_keys, of_class = np.unique((word_class * base + symbol)[speaks], return_inverse=True)
        own_keys, of_own = np.unique(own * base + symbol, return_inverse=True)
        self.first_own = 1 + len(class_keys)
        row = np.concatenate([1 + of_class, self.first_own + of_own])
        member = np.concatenate([nodes[speaks], nodes])
        belongs = scipy.sparse.csr_array(
            (np.ones(len(row), dtype=np.float32), (row, member)),
            shape=(self.first_own + len(own_keys), len(treebank.symbol)),
        )
        self.sums: Floats = belongs @ outside
        self.counts: Floats = belongs.sum(axis=1)

        class_of = np.arange(len(lexicon.offsets) - 1)
        class_of[own] = word_class
        #: The row that each own row leans on.
        self.leans_on = 1 + _find(class_keys, class_of[own_keys // base] * base + own_keys % base)
        emissions = np.repeat(np.arange(len(class_of)), np.diff(lexicon.offsets))
        found = _find(own_keys, emissions * base + lexicon.symbols)
        prior = 1 + _find(class_keys, class_of[emissions] * base + lexicon.symbols)
        #: The row of each entry of the lexicon.
        self.row = np.where(found >= 0, self.first_own + found, prior)

    def vectors(
        self,
        states: NDArray[np.int64],
        trust: Floats,
        word_smoothing: float,
        class_smoothing: float,
    ) -> tuple[Floats, Floats]:
        """The vectors of all entries one after the other, and a row of their sums for each symbol.

        ``states`` says how many states each symbol has, and ``trust`` what projections on each
        are multiplied by; strengths of priors are in tokens.

        >>> from lpcfg import Tree
        >>> from lpcfg.lexicon_estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> outside = np.ones((1, 1), dtype=np.float32)
        >>> profiles = StateProfiles(bank, estimate_lexicon(bank), outside, rare=1)
        >>> profiles.vectors(np.array([1]), outside, 1.0, 1.0)[1].round(6)
        array([[1.]], dtype=float32)
        """
        profiles = self._profiles(word_smoothing, class_smoothing)
        symbols = self.lexicon.symbols
        probabilities = self.lexicon.probabilities.astype(np.float32)
        sums: Floats = (
            scipy.sparse.csr_array(
                (probabilities, (symbols, self.row)), shape=(len(states), len(profiles))
            )
            @ profiles
        )
        sums *= trust
        kept = np.arange(profiles.shape[1]) < states[:, None]
        offsets = np.concatenate([[0], np.cumsum(states[symbols])])
        vectors = np.empty(offsets[-1], dtype=np.float32)
        # A block at a time: entries are many, and few have as many states as the most.
        for start in range(0, len(symbols), _BLOCK):
            end = min(start + _BLOCK, len(symbols))
            own = symbols[start:end]
            block = profiles[self.row[start:end]] * trust[own]
            block *= probabilities[start:end, None]
            vectors[offsets[start] : offsets[end]] = block[kept[own]]
        return vectors, sums

    def _profiles(self, word_smoothing: float, class_smoothing: float) -> Floats:
        mean = np.zeros(self.sums.shape[1], dtype=np.float32)
        mean[0] = 1
        profiles = self.sums.copy()
        classes, own = slice(0, self.first_own), slice(self.first_own, None)
        profiles[classes] = _shrink(self.sums[classes], self.counts[classes], mean, class_smoothing)
        prior = profiles[self.leans_on]
        profiles[own] = _shrink(self.sums[own], self.counts[own], prior, word_smoothing)
        return profiles


def _emissions(
    treebank: Treebank, lexicon: Lexicon, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The emission of each preterminal node, and that of its word's class."""
    word = treebank.word[nodes]
    initial = initial_words(treebank.words, word, treebank.start[nodes])
    tags = [symbol.labels[-1] for symbol in treebank.symbols]
    tag_ids = {tag: identity for identity, tag in enumerate(dict.fromkeys(tags))}
    # Tags tell classes apart only where the classes are tags; else each word is looked at once.
    names = list(tag_ids) if lexicon.classifier.tells_tag else [None]
    numbers = np.array([tag_ids[tag] if lexicon.classifier.tells_tag else 0 for tag in tags])
    rows = np.stack([word, initial, numbers[treebank.symbol[nodes]]]).astype(np.int64)
    shape = (len(treebank.words), 2, len(names))
    distinct, inverse = np.unique(np.ravel_multi_index(tuple(rows), shape), return_inverse=True)
    columns = [column.tolist() for column in np.unravel_index(distinct, shape)]
    arguments = [
        (treebank.words[word], bool(initial), names[tag])
        for word, initial, tag in zip(*columns, strict=True)
    ]
    own = np.array([lexicon.emission(*row) for row in arguments], dtype=np.int64)
    word_class = np.array([lexicon.class_emission(*row) for row in arguments], dtype=np.int64)
    return own[inverse], word_class[inverse]


def _find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the sorted keys have the wanted ones, -1 where they do not."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _shrink(sums: Floats, counts: Floats, prior: Floats, strength: float) -> Floats:
    """(sums + strength * prior) / (counts + strength), and the prior where nothing was seen."""
    total = counts + np.float32(strength)
    shrunk: Floats = sums + np.float32(strength) * prior
    shrunk /= np.where(total > 0, total, 1)[:, None]
    unseen = total == 0
    shrunk[unseen] = np.broadcast_to(prior, sums.shape)[unseen]
    return shrunk
