"""A hidden Markov model as a right-branching L-PCFG.

The states of the HMM are latent states of three symbols. S covers the rest of a sentence from a
word that is not the last one. X is the tag of a word; there is one X for the last word and another
for all other words. S in state i expands to X in state i and S or X in state j. So trees branch to
the right, each sentence has one tree, and the sum over latent states is the sum over the paths of
the HMM.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_classes import UNKNOWN, TagClasses
from lpcfg.sequence._hmm_parameters import HMMParameters
from lpcfg.treebank.symbol import Symbol

__all__ = ["right_branching"]

_REST, _WORD, _LAST = 0, 1, 2
_SYMBOLS = (
    Symbol(("S",)),
    Symbol(("X",), preterminal=True),
    Symbol(("X",), ("END",), preterminal=True),
)


def right_branching(
    parameters: HMMParameters, words: Sequence[str], unknown: bool = False
) -> Grammar:
    """The grammar; with ``unknown``, unknown words have the emission probability 1 in all states.

    >>> parameters = HMMParameters.checked([1.0], [[0.5]], [[0.9, 0.1]], ends=[0.5])
    >>> grammar = right_branching(parameters, ["ha", "ho"])
    >>> grammar.roots, grammar.binary_probabilities
    (array([0.5, 0. , 0.5]), array([0.5, 0.5]))
    """
    n_states = parameters.n_states
    # Without a model of the end, continuing and ending have no cost: the length is fixed.
    ends = np.ones(n_states) if parameters.ends is None else parameters.ends
    continues = parameters.transitions.sum(axis=1)
    # P(next state | state, there is a next word).
    next_states = np.divide(
        parameters.transitions,
        continues[:, None],
        out=np.zeros_like(parameters.transitions),
        where=continues[:, None] > 0,
    )
    rules = np.array([[_REST, _WORD, _REST], [_REST, _WORD, _LAST]], dtype=np.uint32)
    tensors = np.stack([next_states * continues, next_states * ends])
    roots = np.stack(
        [parameters.initial * continues, np.zeros(n_states), parameters.initial * ends]
    )
    states = np.arange(n_states)
    # The states of S and of its word are the same: most of a tensor is zero.
    positions = (states[:, None] * (n_states + 1) * n_states + states).ravel()
    lexicon, ratios = _lexicon(parameters.emissions, words, unknown)
    entries = len(lexicon.symbols)
    return Grammar(
        symbols=_SYMBOLS,
        roots=roots.sum(axis=1),
        binary_rules=rules,
        # In the backbone, all states are equally probable.
        binary_probabilities=tensors.sum(axis=2).mean(axis=1),
        unary_rules=np.zeros((0, 2), dtype=np.uint32),
        unary_probabilities=np.zeros(0),
        lexicon=lexicon,
        latent=LatentStates(
            kind="probabilistic",
            states=np.full(3, n_states, dtype=np.uint32),
            roots=roots.astype(np.float32).ravel(),
            binary=tensors.astype(np.float32).ravel(),
            binary_counts=np.full(2, n_states**2, dtype=np.uint32),
            # A tensor of one value is dense.
            binary_positions=np.tile(positions if n_states > 1 else positions[:0], 2).astype(
                np.uint32
            ),
            emission_ratios=ratios.astype(np.float32).ravel(),
            ratio_symbols=lexicon.symbols.astype(np.uint32),
            entry_ratios=np.arange(entries, dtype=np.uint32),
            tag_emissions=np.repeat(np.array([0, 1, 1], dtype=np.float32), n_states),
        ),
        provenance={"estimator": "hmm"},
    )


def _lexicon(
    emissions: NDArray[np.float64], words: Sequence[str], unknown: bool
) -> tuple[Lexicon, NDArray[np.float64]]:
    """An entry for each word and each of its two symbols, and the entries' emission ratios."""
    means = emissions.mean(axis=0)
    possible = np.append(means > 0, unknown)
    probabilities = np.append(means, 1.0)[possible]
    columns = np.column_stack([emissions, np.ones(len(emissions))])[:, possible]
    lexicon = Lexicon(
        words=tuple(words),
        classes=(UNKNOWN,),
        classifier=TagClasses(),
        offsets=np.append(0, 2 * np.cumsum(possible)),
        symbols=np.tile(np.array([_WORD, _LAST], dtype=np.int32), len(probabilities)),
        probabilities=np.repeat(probabilities, 2),
    )
    return lexicon, np.repeat((columns / probabilities).T, 2, axis=0)
