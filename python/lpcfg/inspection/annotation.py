"""Trees annotated with their latent states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import distinct_rows
from lpcfg.errors import GrammarError
from lpcfg.estimators.em.latent_trees import LatentTrees
from lpcfg.estimators.features.lexical_rules import node_emissions
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.treebank.forest import gather_trees
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.treebank import Treebank

__all__ = ["annotate_states", "probabilistic_states", "show_states"]


def probabilistic_states(grammar: Grammar) -> LatentStates:
    """The latent states of a grammar; an error for spectral grammars, whose states have no meaning.

    >>> probabilistic_states(Grammar.from_string("S -> 'go'"))
    Traceback (most recent call last):
    lpcfg.errors.GrammarError: the grammar has no latent states
    """
    if grammar.latent is None:
        raise GrammarError("the grammar has no latent states")
    if grammar.latent.kind != "probabilistic":
        raise GrammarError(
            "single states of a spectral grammar have no meaning; "
            "use a grammar by clustering, EM, split-merge or pivot"
        )
    if len(grammar.unary_rules):
        raise GrammarError(
            "states of a grammar with unary rules cannot be annotated or explained; "
            "train a grammar on trees with collapsed unary chains"
        )
    return grammar.latent


def annotate_states(grammar: Grammar, treebank: Treebank, *, n_jobs: int = -1) -> NDArray[np.int64]:
    """The latent state of each node with the highest posterior probability, given its tree.

    The treebank must have the transform of the grammar's training trees. The states are -1 in trees
    that have the probability zero under the grammar, because of other symbols, rules or words.

    ``n_jobs``: the number of threads; -1 for one per core.

    >>> from lpcfg import ClusteringEstimator, embedded_trees
    >>> bank = Treebank.from_trees(embedded_trees())
    >>> grammar = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50).fit(bank).grammar_
    >>> states = annotate_states(grammar, bank)
    >>> len(states) == len(bank.symbol), states.min(), states.max()
    (True, np.int64(0), np.int64(2))
    """
    latent = probabilistic_states(grammar)
    bank, known = _with_symbols_of(grammar, treebank)
    states = np.full(len(treebank.symbol), -1)
    chosen = np.flatnonzero(known)
    if len(chosen):
        bank = bank.subset(chosen)
        trees = LatentTrees(bank, grammar, n_jobs=n_jobs)
        sizes = latent.states[bank.symbol]
        posteriors = np.zeros((len(sizes), int(sizes.max())), dtype=np.float32)
        posteriors[np.arange(posteriors.shape[1]) < sizes[:, None]] = trees.posteriors(
            trees.parameters_of(latent)
        )
        nodes, _ = gather_trees(treebank.tree_offsets, chosen)
        states[nodes] = np.where(posteriors.any(axis=1), posteriors.argmax(axis=1), -1)
    return states


def _with_symbols_of(grammar: Grammar, treebank: Treebank) -> tuple[Treebank, NDArray[np.bool_]]:
    """The treebank with the symbols of a grammar, and which trees have only its rules and words."""
    ids = {symbol: identity for identity, symbol in enumerate(grammar.symbols)}
    numbers = np.array([ids.get(symbol, -1) for symbol in treebank.symbols], dtype=np.int64)
    symbol = numbers[treebank.symbol]
    known = symbol >= 0
    symbol[~known] = 0
    bank = replace(treebank, symbol=symbol.astype(np.uint32), symbols=grammar.symbols)
    inner, leaves = np.flatnonzero(bank.left >= 0), np.flatnonzero(bank.left < 0)
    rules = (symbol[inner], symbol[bank.left[inner]], symbol[bank.right[inner]])
    known[inner] &= (bank.right[inner] >= 0) & _among(rules, tuple(grammar.binary_rules.T))
    lexicon = grammar.lexicon
    emission = np.repeat(np.arange(len(lexicon.offsets) - 1), np.diff(lexicon.offsets))
    words = node_emissions(bank, lexicon, leaves)[0]
    known[leaves] &= _among((words, symbol[leaves]), (emission, lexicon.symbols))
    return bank, np.logical_and.reduceat(known, bank.tree_offsets[:-1])


def _among(
    wanted: tuple[NDArray[np.integer], ...], rows: tuple[NDArray[np.integer], ...]
) -> NDArray[np.bool_]:
    """Which of the wanted rows are among the other rows."""
    both = [np.append(left, right) for left, right in zip(wanted, rows, strict=True)]
    row = distinct_rows(*both)[1]
    size = len(wanted[0])
    among: NDArray[np.bool_] = np.isin(row[:size], row[size:])
    return among


def show_states(
    treebank: Treebank, states: NDArray[np.integer], *, binary: bool = False
) -> Treebank:
    """The treebank with states in the labels, as in ``NP[3]``; states of -1 are not shown.

    Its trees are the trees before the transform; all labels of a unary chain show the state of the
    chain.

    ``binary``: show the binarised trees instead, with the names of symbols as labels (default
    False).

    >>> from lpcfg import Tree
    >>> tree = Tree.from_string("(ROOT (NP (DT a) (JJ big) (NN dog)) (VP (VBD barked)))")
    >>> bank, states = Treebank.from_trees([tree]), np.array([0, 0, 3, 1, 2, 1, 0])
    >>> print(show_states(bank, states).trees()[0])
    (ROOT[0] (NP[2] (DT[0] a) (JJ[0] big) (NN[3] dog)) (VP[1] (VBD[1] barked)))
    >>> print(show_states(bank, states, binary=True).trees()[0])
    (ROOT[0] (NP^ROOT[2] (DT^NP[0] a) (@NP[JJ][1] (JJ^NP[0] big) (NN^NP[3] dog)))
        (VP+VBD^ROOT[1] barked))
    """
    (symbol, state), row, _ = distinct_rows(treebank.symbol, states + 1)
    symbols = []
    for old, number in zip(symbol.tolist(), (state - 1).tolist(), strict=True):
        whole = treebank.symbols[old]
        if binary:
            whole = Symbol((str(whole),), preterminal=whole.preterminal)
        suffix = f"[{number}]" if number >= 0 else ""
        symbols.append(whole._replace(labels=tuple(label + suffix for label in whole.labels)))
    return replace(treebank, symbol=row.astype(np.uint32), symbols=tuple(symbols))
