"""Estimate a lexicon from the preterminal nodes of a treebank.

The estimate is a joint distribution of emissions and symbols, built from the top down,

    P(emission, symbol) = P(emission) P(tag | emission) P(symbol | tag, emission),

where the tag is the bottom label of the symbol's chain. Bayes' rule, which here means dividing by
the column sums, turns it into P(emission | symbol), so that every symbol's probabilities sum to one
however the factors are smoothed:

- P(tag | word) leans on the tags of the word's class, as in the Berkeley parser, and that of a
  class on the next more general class;
- P(symbol | tag, emission) leans on P(symbol | tag): where the word tells nothing about the chain
  above its tag, NP+NNP emits it as NNP does.

Each factor is (count + strength * prior) / (total + strength), so the weight of the prior falls as
the word is seen more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lpcfg.errors import InputError
from lpcfg.lexicon import Lexicon
from lpcfg.lexicon_options import LexiconOptions
from lpcfg.symbol import Symbol
from lpcfg.word_classes import UNKNOWN, WordClasses
from lpcfg.word_table import WordTable, choose_classes, class_rows, count_matrix, initial_words

__all__ = ["LexiconOptions", "WordNodes", "estimate_from_columns", "estimate_lexicon"]

# The share of a token that a class keeps to itself if no rare word fell into it: enough for
# unknown words to be parsed, too little to disturb relative frequencies.
_EMPTY_CLASS = 1e-6


class WordNodes(Protocol):
    """What of a treebank matters here; :class:`lpcfg.treebank.Treebank` has it."""

    @property
    def symbol(self) -> NDArray[np.integer]:
        """The symbol of each node."""

    @property
    def word(self) -> NDArray[np.integer]:
        """The word of each node, -1 but for preterminals."""

    @property
    def start(self) -> NDArray[np.integer]:
        """The position of each node's first word in its sentence."""

    @property
    def symbols(self) -> Sequence[Symbol]:
        """The symbols by id."""

    @property
    def words(self) -> Sequence[str]:
        """The words by id."""


def estimate_lexicon(treebank: WordNodes, options: LexiconOptions | None = None) -> Lexicon:
    """Estimate a lexicon from the preterminal nodes of a treebank.

    >>> from types import SimpleNamespace
    >>> treebank = SimpleNamespace(
    ...     symbol=np.array([0]), word=np.array([0]), start=np.array([0]),
    ...     symbols=[Symbol(("UH",), preterminal=True)], words=["Hello"])
    >>> estimate_lexicon(treebank).words
    ('Hello',)
    """
    nodes = treebank.word >= 0
    words = treebank.word[nodes]
    initial = initial_words(treebank.words, words, treebank.start[nodes])
    return estimate_from_columns(
        treebank.symbols, treebank.words, treebank.symbol[nodes], words, initial, options
    )


def estimate_from_columns(
    symbols: Sequence[Symbol],
    words: Sequence[str],
    symbol_column: NDArray[np.integer],
    word_column: NDArray[np.integer],
    initial_column: NDArray[np.bool_],
    options: LexiconOptions | None = None,
) -> Lexicon:
    """Estimate a lexicon; the columns have a row for each preterminal node.

    >>> noun, verb = Symbol(("NN",), preterminal=True), Symbol(("VB",), preterminal=True)
    >>> lexicon = estimate_from_columns(
    ...     [noun, verb], ["dog", "run"], np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]),
    ...     np.zeros(4, bool), LexiconOptions.plain(rare=0))
    >>> dog = slice(*lexicon.offsets[:2])
    >>> lexicon.words, lexicon.symbols[dog], lexicon.probabilities[dog].round(3)
    (('dog', 'run'), array([0], dtype=int32), array([0.667]))
    """
    chosen = options or LexiconOptions()
    if len(word_column) == 0:
        raise InputError("no lexicon can be estimated from a treebank without words")
    table = WordTable.count_rows(symbols, words, symbol_column, word_column, initial_column, chosen)
    classifier = choose_classes(table, chosen)
    names, row_class, prior_class = class_rows(table, classifier)

    # Rows of these matrices are emissions: known words, classes, or both in this order.
    emission_of_word = np.cumsum(table.known) - 1
    kept = table.known[table.word]
    word_rows, vocabulary = emission_of_word[table.word[kept]], int(table.known.sum())
    size = len(symbols)
    word_symbols = count_matrix(
        table.count[kept], word_rows, table.symbol[kept], (vocabulary, size)
    )
    word_classes = count_matrix(
        table.count[kept], word_rows, prior_class[kept], (vocabulary, len(names))
    )
    fed = table.feeds
    class_symbols = count_matrix(
        table.count[fed], row_class[fed], table.symbol[fed], (len(names), size)
    )
    tag_of_symbol = count_matrix(np.ones(size), np.arange(size), table.tag, (size, len(table.tags)))

    class_tags = _class_tags(names, classifier, (class_symbols @ tag_of_symbol).toarray(), chosen)
    word_tags = _shrink(
        word_symbols @ tag_of_symbol,
        _scale_rows(word_classes, 1.0 / word_classes.sum(axis=1)) @ class_tags,
        chosen.word_smoothing,
    )
    symbol_given_emission = _spread_over_chains(
        sparse.vstack([word_tags, class_tags], format="csr"),
        sparse.vstack([word_symbols, class_symbols], format="csr"),
        tag_of_symbol,
        chosen,
    )
    emission_mass = np.concatenate(
        [word_symbols.sum(axis=1), _class_mass(table, class_symbols, chosen)]
    )
    joint = _scale_rows(symbol_given_emission, emission_mass).tocsr()
    joint.sort_indices()
    symbol_mass = joint.sum(axis=0)
    return Lexicon(
        words=tuple(word for word, known in zip(words, table.known, strict=True) if known),
        classes=tuple(names),
        classifier=classifier,
        offsets=joint.indptr.astype(np.int64),
        symbols=joint.indices.astype(np.int32),
        probabilities=joint.data / symbol_mass[joint.indices],
        lowercase_initial=chosen.lowercase_initial,
    )


def _class_tags(
    names: Sequence[str],
    classifier: WordClasses,
    own: NDArray[np.float64],
    options: LexiconOptions,
) -> sparse.csr_array:
    """P(tag | class): a class leans on all words below it, these on the next more general class."""
    strength = 0.0 if classifier.tells_tag else options.class_smoothing
    ids = {name: identity for identity, name in enumerate(names)}
    parents = [ids[next(iter(classifier.fallbacks(name)), UNKNOWN)] for name in names]
    below = own.copy()
    for child in range(len(names) - 1, 0, -1):
        below[parents[child]] += below[child]
    general = np.empty_like(own)
    general[0] = below[0] / below[0].sum()
    for child in range(1, len(names)):
        general[child] = _shrink_row(below[child], general[parents[child]], strength)
    rows = [_shrink_row(*pair, strength) for pair in zip(own, general, strict=True)]
    return sparse.csr_array(np.stack(rows))


def _class_mass(
    table: WordTable, class_symbols: sparse.csr_array, options: LexiconOptions
) -> NDArray[np.float64]:
    """How many tokens the unknown words of each class are worth.

    Replaced words are worth what they counted. Otherwise unknown words are altogether as frequent
    as words seen once (Good and Turing), and shared out among the classes as rare words are.
    """
    tokens: NDArray[np.float64] = class_symbols.sum(axis=1)
    if options.replace:
        replaced = ~table.known[table.word]
        unknown = table.count[replaced].sum()
    else:
        unknown = np.count_nonzero(np.bincount(table.word, weights=table.count) == 1)
    mass: NDArray[np.float64] = np.maximum(tokens * (unknown / tokens.sum()), _EMPTY_CLASS)
    return mass


def _spread_over_chains(
    tag_given_emission: sparse.csr_array,
    symbol_counts: sparse.csr_array,
    tag_of_symbol: sparse.csr_array,
    options: LexiconOptions,
) -> sparse.csr_array:
    """P(symbol | emission) = P(tag | emission) P(symbol | tag, emission)."""
    strength = options.chain_smoothing
    tag_counts = symbol_counts @ tag_of_symbol
    seen = _values_at(tag_counts, tag_given_emission)
    kept = (seen > 0) | (tag_given_emission.data >= options.prune)
    weight = np.divide(1.0, seen + strength, out=np.zeros_like(seen), where=seen + strength > 0)
    # Without a strength, a tag that the emission never had still needs chains: those of the prior.
    prior_weight = np.where(seen + strength > 0, strength * weight, 1.0)
    by_counts = _with_data(tag_given_emission, tag_given_emission.data * weight * kept)
    by_prior = _with_data(tag_given_emission, tag_given_emission.data * prior_weight * kept)
    chains = _scale_rows(tag_of_symbol, symbol_counts.sum(axis=0)).T
    chains = _scale_rows(chains.tocsr(), _reciprocal(chains.sum(axis=1)))
    smooth = by_prior @ chains
    smooth = _with_data(smooth, smooth.data * (smooth.data >= options.prune))
    return (by_counts @ tag_of_symbol.T).multiply(symbol_counts).tocsr() + smooth


def _with_data(matrix: sparse.csr_array, data: NDArray[np.float64]) -> sparse.csr_array:
    """The matrix with other values in its places; zeros give theirs up."""
    result = sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    result.eliminate_zeros()
    return result


def _values_at(matrix: sparse.csr_array, pattern: sparse.csr_array) -> NDArray[np.float64]:
    """The values of ``matrix`` at the stored entries of ``pattern``; zero where it has none."""
    keys, wanted = (
        np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)) * part.shape[1] + part.indices
        for part in (matrix, pattern)
    )
    order = np.argsort(keys)
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    found = order[place]
    return np.where(keys[found] == wanted, matrix.data[found], 0.0)


def _scale_rows(matrix: sparse.csr_array, factors: NDArray[np.float64]) -> sparse.csr_array:
    return sparse.diags_array(factors) @ matrix


def _reciprocal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _shrink(counts: sparse.csr_array, prior: sparse.csr_array, strength: float) -> sparse.csr_array:
    """(counts + strength * prior) / (total + strength) for rows with counts."""
    return _scale_rows(counts + strength * prior, 1.0 / (counts.sum(axis=1) + strength))


def _shrink_row(
    counts: NDArray[np.float64], prior: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    """The same for one dense row, which is its prior if there is nothing else to go by."""
    total = counts.sum() + strength
    return (counts + strength * prior) / total if total > 0 else prior
