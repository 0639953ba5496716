"""Emission likelihood ratios: how an emission changes the probabilities of latent states.

The parameter q(a -> x | a, h) of a lexical rule (Cohen & Collins 2014, section 3.1; Peng 2021,
equation 3.9) is stored as the product of q(a -> x | a), the probability in the backbone PCFG's
lexicon, and the emission likelihood ratio q(a -> x | a, h) / q(a -> x | a), which by Bayes' rule is
p(h | a, x) / p(h | a).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.estimators.features.lexical_rules import LexicalRules

__all__ = ["EmissionLikelihoodRatios", "EmissionParameters"]

Floats = NDArray[np.float32]


class EmissionParameters(NamedTuple):
    """The fields of :class:`~lpcfg.grammar.latent_states.LatentStates` that concern emissions."""

    emission_ratios: Floats
    ratio_symbols: NDArray[np.uint32]
    entry_ratios: NDArray[np.uint32]
    tag_emissions: Floats


class EmissionLikelihoodRatios:
    """Ratios of lexical rules, estimated from a vector for each preterminal node and smoothed.

    The ratio of a rule a -> x is the mean vector of the nodes at which it occurs. The mean of a
    rare word is unreliable, so it is shrunk towards the mean of the word's class, and the mean of a
    class is shrunk towards the mean of the symbol. Rules that did not occur have the mean of their
    class, or of the symbol.

    ``vectors``: a row for each preterminal node. The spectral estimator gives outside projections
    Z(n), whose means are the ratios up to a linear transform (Peng 2021, equation 3.9). Others
    give p(state | node) / p(state | symbol).
    ``mean``: the mean vector of every symbol; the first unit vector for outside projections, a
    vector of ones otherwise.

    >>> from lpcfg import Tree, Treebank
    >>> from lpcfg.lexicon.estimation import estimate_lexicon
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> rules = LexicalRules(bank, estimate_lexicon(bank), rare=1)
    >>> vectors = np.array([[1, 3], [1, -3]], dtype=np.float32)
    >>> ratios = EmissionLikelihoodRatios(rules, vectors, mean=np.eye(2)[0])
    >>> ratios.smoothed(word_smoothing=1.0, class_smoothing=0.0)[-2:]  # of rain and sun
    array([[ 1. ,  1.5],
           [ 1. , -1.5]], dtype=float32)
    """

    def __init__(self, rules: LexicalRules, vectors: Floats, mean: NDArray[np.floating]) -> None:
        self.rules = rules
        self.sums = rules.sums(vectors)
        self.mean: Floats = mean.astype(np.float32)

    def emission_parameters(
        self,
        states: NDArray[np.integer],
        word_smoothing: float,
        class_smoothing: float,
        *,
        shrinkage: Floats | None = None,
        normalise: bool = False,
    ) -> EmissionParameters:
        """The ratios of all entries of the lexicon, and the emission vector of each tag.

        ``states``: the number of states of each symbol.
        ``word_smoothing``, ``class_smoothing``: prior counts, in tokens, of the means towards
        which the ratios of words and of classes are shrunk.
        ``shrinkage``: factors for each symbol and state, see
        :meth:`lpcfg.estimators.spectral._projections.Projections.shrinkage`.
        ``normalise``: scale the ratios so that the emission probabilities of each state sum to 1,
        as a probabilistic model requires.

        >>> from lpcfg import Tree, Treebank
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> vectors = np.array([[2, 0], [0, 2]], dtype=np.float32)
        >>> rules = LexicalRules(bank, estimate_lexicon(bank), rare=1)
        >>> ratios = EmissionLikelihoodRatios(rules, vectors, np.ones(2))
        >>> emissions = ratios.emission_parameters(np.array([2]), 1.0, 1.0, normalise=True)
        >>> emissions.emission_ratios.reshape(-1, 2).round(3)  # of unknown words, rain and sun
        array([[1. , 1. ],
               [1.5, 0.5],
               [0.5, 1.5]], dtype=float32)
        >>> emissions.tag_emissions
        array([1., 1.], dtype=float32)
        """
        rules, symbol = self.rules, self.rules.ratio_symbols
        ratios = self.smoothed(word_smoothing, class_smoothing)[rules.ratio_rules]
        if shrinkage is not None:
            ratios *= shrinkage[symbol]
        total = np.bincount(rules.entry_ratios, rules.lexicon.probabilities).astype(np.float32)
        shape = (len(states), len(ratios))
        by_symbol = scipy.sparse.csr_array((total, (symbol, np.arange(len(symbol)))), shape)
        sums: Floats = by_symbol @ ratios
        if normalise:
            ratios /= np.where(sums > 0, sums, 1)[symbol]
            sums = (sums > 0).astype(np.float32)
        kept = np.arange(ratios.shape[1]) < states[:, None]
        return EmissionParameters(
            emission_ratios=ratios[kept[symbol]],
            ratio_symbols=symbol.astype(np.uint32),
            entry_ratios=rules.entry_ratios.astype(np.uint32),
            tag_emissions=sums[kept],
        )

    def smoothed(self, word_smoothing: float, class_smoothing: float) -> Floats:
        """The ratio of each of the :class:`.LexicalRules`, shrunk towards the rule it backs off to.

        >>> from lpcfg import Tree, Treebank
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> rules = LexicalRules(bank, estimate_lexicon(bank), rare=1)
        >>> vectors = np.full((1, 1), 2, dtype=np.float32)
        >>> EmissionLikelihoodRatios(rules, vectors, np.ones(1)).smoothed(0.0, 1.0).ravel()
        array([1. , 1.5, 2. ], dtype=float32)
        """
        ratios = self.sums.copy()
        counts, first = self.rules.counts, self.rules.first_observed
        classes, observed = slice(0, first), slice(first, None)
        ratios[classes] = _shrink(self.sums[classes], counts[classes], self.mean, class_smoothing)
        prior = ratios[self.rules.backoff]
        ratios[observed] = _shrink(self.sums[observed], counts[observed], prior, word_smoothing)
        return ratios


def _shrink(sums: Floats, counts: Floats, prior: Floats, prior_count: float) -> Floats:
    """(sums + prior_count * prior) / (counts + prior_count), the prior where both counts are 0."""
    total = counts + np.float32(prior_count)
    shrunk: Floats = sums + np.float32(prior_count) * prior
    shrunk /= np.where(total > 0, total, 1)[:, None]
    unseen = total == 0
    shrunk[unseen] = np.broadcast_to(prior, sums.shape)[unseen]
    return shrunk
