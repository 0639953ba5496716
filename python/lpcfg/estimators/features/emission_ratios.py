"""What words tell about the latent states of their preterminals, smoothed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.estimators.features.word_rows import WordRows

__all__ = ["EmissionVectors", "StateProfiles"]

Floats = NDArray[np.float32]


class EmissionVectors(NamedTuple):
    """The fields of :class:`~lpcfg.grammar.latent_states.LatentStates` that are about words.

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

    ``vectors``: a row for each preterminal node: outside projections (whose ``mean`` is the first
    unit vector), or P(state | node) / P(state | symbol) (ones).

    >>> from lpcfg import Tree, Treebank
    >>> from lpcfg.lexicon.estimation import estimate_lexicon
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> rows = WordRows(bank, estimate_lexicon(bank), rare=1)
    >>> vectors = np.array([[1, 3], [1, -3]], dtype=np.float32)
    >>> StateProfiles(rows, vectors, mean=np.eye(2)[0]).smoothed(1.0, 0.0)[-2:]
    array([[ 1. ,  1.5],
           [ 1. , -1.5]], dtype=float32)
    """

    def __init__(self, rows: WordRows, vectors: Floats, mean: NDArray[np.floating]) -> None:
        self.rows = rows
        self.sums = rows.sums(vectors)
        self.mean: Floats = mean.astype(np.float32)

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

        >>> from lpcfg import Tree, Treebank
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> vectors = np.array([[2, 0], [0, 2]], dtype=np.float32)
        >>> rows = WordRows(bank, estimate_lexicon(bank), rare=1)
        >>> profiles = StateProfiles(rows, vectors, np.ones(2))
        >>> found = profiles.emission_vectors(np.array([2]), 1.0, 1.0, normalise=True)
        >>> found.profiles.reshape(-1, 2).round(3)
        array([[1. , 1. ],
               [1.5, 0.5],
               [0.5, 1.5]], dtype=float32)
        >>> found.tag_emissions
        array([1., 1.], dtype=float32)
        """
        symbol = self.rows.profile_symbols
        profiles = self.smoothed(word_smoothing, class_smoothing)[self.rows.profile_rows]
        if trust is not None:
            profiles *= trust[symbol]
        total = np.bincount(self.rows.entry_profiles, self.rows.lexicon.probabilities).astype(
            np.float32
        )
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
            entry_profiles=self.rows.entry_profiles.astype(np.uint32),
            tag_emissions=sums[kept],
        )

    def smoothed(self, word_smoothing: float, class_smoothing: float) -> Floats:
        """The profile of each of the :class:`WordRows`.

        >>> from lpcfg import Tree, Treebank
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> rows = WordRows(bank, estimate_lexicon(bank), rare=1)
        >>> vectors = np.full((1, 1), 2, dtype=np.float32)
        >>> StateProfiles(rows, vectors, np.ones(1)).smoothed(0.0, 1.0).ravel()
        array([1. , 1.5, 2. ], dtype=float32)
        """
        profiles = self.sums.copy()
        counts, first = self.rows.counts, self.rows.first_own
        classes, own = slice(0, first), slice(first, None)
        profiles[classes] = _shrink(self.sums[classes], counts[classes], self.mean, class_smoothing)
        prior = profiles[self.rows.leans_on]
        profiles[own] = _shrink(self.sums[own], counts[own], prior, word_smoothing)
        return profiles


def _shrink(sums: Floats, counts: Floats, prior: Floats, strength: float) -> Floats:
    """(sums + strength * prior) / (counts + strength), and the prior where nothing was seen."""
    total = counts + np.float32(strength)
    shrunk: Floats = sums + np.float32(strength) * prior
    shrunk /= np.where(total > 0, total, 1)[:, None]
    unseen = total == 0
    shrunk[unseen] = np.broadcast_to(prior, sums.shape)[unseen]
    return shrunk
