"""What words tell about the latent states of their preterminals, smoothed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.lexicon import Lexicon
from lpcfg.treebank import Treebank
from lpcfg.word_table import initial_words

__all__ = ["EmissionVectors", "StateProfiles"]

Floats = NDArray[np.float32]


class EmissionVectors(NamedTuple):
    """The fields of :class:`~lpcfg.latent.LatentStates` that are about words.

    >>> none = np.zeros(0, dtype=np.float32)
    >>> list(EmissionVectors(none, none, none, none)._asdict())
    ['profiles', 'profile_symbols', 'entry_profiles', 'tag_emissions']
    """

    profiles: Floats
    profile_symbols: NDArray[np.uint32]
    entry_profiles: NDArray[np.uint32]
    tag_emissions: Floats


class StateProfiles:
    """Sums of the vectors of preterminal nodes, from which the profiles of words are smoothed.

    The emission vector of an entry (symbol, emission) of a lexicon is P(emission | symbol) times
    its profile: the mean vector of the nodes it stands for. A word leans on its class, and a class
    on the symbol, whose mean is given; what was never seen has just these to go by.

    ``vectors``: a row for each node, of which those of preterminals count: outside projections
    (whose ``mean`` is the first unit vector), or P(state | node) / P(state | symbol) (ones).
    ``rare``: words seen up to so often speak for their classes.

    >>> from lpcfg import Tree
    >>> from lpcfg.lexicon_estimation import estimate_lexicon
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> vectors, mean = np.array([[1, 3], [1, -3]], dtype=np.float32), np.eye(2)[0]
    >>> profiles = StateProfiles(bank, estimate_lexicon(bank), vectors, mean, rare=1)
    >>> profiles.counts
    array([0., 2., 1., 1.], dtype=float32)
    """

    def __init__(
        self,
        treebank: Treebank,
        lexicon: Lexicon,
        vectors: Floats,
        mean: NDArray[np.floating],
        rare: int,
    ) -> None:
        self.lexicon = lexicon
        self.mean: Floats = mean.astype(np.float32)
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
        self.sums: Floats = belongs @ vectors
        self.counts: Floats = belongs.sum(axis=1)

        class_of = np.arange(len(lexicon.offsets) - 1)
        class_of[own] = word_class
        #: The row that each own row leans on.
        self.leans_on = 1 + _find(class_keys, class_of[own_keys // base] * base + own_keys % base)
        emissions = np.repeat(np.arange(len(class_of)), np.diff(lexicon.offsets))
        found = _find(own_keys, emissions * base + lexicon.symbols)
        prior = 1 + _find(class_keys, class_of[emissions] * base + lexicon.symbols)
        row = np.where(found >= 0, self.first_own + found, prior)

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

    def emission_vectors(
        self,
        states: NDArray[np.integer],
        word_smoothing: float,
        class_smoothing: float,
        *,
        trust: Floats | None = None,
        normalise: bool = False,
    ) -> EmissionVectors:
        """The profiles of all entries, shared where they can be, and their sums for each symbol.

        ``states`` says how many states each symbol has, and ``trust`` what values of each are
        multiplied by; strengths of priors are in tokens. To ``normalise`` is to let the words of
        each state have probabilities that add up to one, as those of a probabilistic model do.

        >>> from lpcfg import Tree
        >>> from lpcfg.lexicon_estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> vectors = np.array([[2, 0], [0, 2]], dtype=np.float32)
        >>> profiles = StateProfiles(bank, estimate_lexicon(bank), vectors, np.ones(2), rare=1)
        >>> found = profiles.emission_vectors(np.array([2]), 1.0, 1.0, normalise=True)
        >>> found.profiles.reshape(-1, 2).round(3)
        array([[1. , 1. ],
               [1.5, 0.5],
               [0.5, 1.5]], dtype=float32)
        >>> found.tag_emissions
        array([1., 1.], dtype=float32)
        """
        symbol = self.profile_symbols
        profiles = self._smoothed(word_smoothing, class_smoothing)[self.profile_rows]
        if trust is not None:
            profiles *= trust[symbol]
        total = np.bincount(self.entry_profiles, self.lexicon.probabilities).astype(np.float32)
        shape = (len(states), len(profiles))
        of_symbol = scipy.sparse.csr_array((total, (symbol, np.arange(len(symbol)))), shape)
        sums: Floats = of_symbol @ profiles
        if normalise:
            profiles /= np.where(sums > 0, sums, 1)[symbol]
            sums = (sums > 0).astype(np.float32)
        kept = np.arange(profiles.shape[1]) < states[:, None]
        return EmissionVectors(
            profiles=profiles[kept[symbol]],
            profile_symbols=symbol.astype(np.uint32),
            entry_profiles=self.entry_profiles.astype(np.uint32),
            tag_emissions=sums[kept],
        )

    def _smoothed(self, word_smoothing: float, class_smoothing: float) -> Floats:
        rows = self.sums.copy()
        classes, own = slice(0, self.first_own), slice(self.first_own, None)
        rows[classes] = _shrink(
            self.sums[classes], self.counts[classes], self.mean, class_smoothing
        )
        prior = rows[self.leans_on]
        rows[own] = _shrink(self.sums[own], self.counts[own], prior, word_smoothing)
        return rows


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
