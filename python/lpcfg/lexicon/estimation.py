"""Estimate a lexicon from the preterminal nodes of a treebank.

The estimate is a joint distribution of emissions and symbols, built from the top down,

    P(emission, symbol) = P(emission) P(tag | emission) P(symbol | tag, emission),

where the tag is the bottom label of the symbol's unary chain. By Bayes' rule, division by the
column sums turns it into P(emission | symbol), so that every symbol's probabilities sum to one
however the factors are smoothed:

- P(tag | word) backs off to P(tag | class of the word), as in the Berkeley parser, and this to the
  next more general class;
- P(symbol | tag, emission) backs off to P(symbol | tag): where the word says nothing about the
  unary chain above its tag, NP+NNP emits it as NNP does.

Each factor is (count + c * prior) / (total + c) with a prior count c in tokens, so that the weight
of the prior falls with the frequency of the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import Weights, distinct_rows
from lpcfg.errors import InputError
from lpcfg.lexicon.clustered_words import ClusteredWords
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.spelling_features import SpeltWord
from lpcfg.lexicon.tag_model import TagModel, fit_tag_model
from lpcfg.lexicon.word_classes import UNKNOWN, WordClasses
from lpcfg.lexicon.word_clusters import loaded_clusters
from lpcfg.lexicon.word_table import (
    WordTable,
    choose_classes,
    class_rows,
    count_matrix,
    initial_words,
)
from lpcfg.treebank.symbol import Symbol

__all__ = ["LexiconOptions", "WordNodes", "estimate_from_columns", "estimate_lexicon"]

# The count, in tokens, of a class without rare words: enough for unknown words to be parsed, and
# too little to change relative frequencies.
_EMPTY_CLASS = 1e-6


class WordNodes(Protocol):
    """The columns of a :class:`~lpcfg.treebank.treebank.Treebank` that are needed here."""

    @property
    def symbol(self) -> NDArray[np.integer]:
        """The symbol of each node."""

    @property
    def word(self) -> NDArray[np.integer]:
        """The word of each preterminal node, -1 at others."""

    @property
    def start(self) -> NDArray[np.integer]:
        """The position of each node's first word in its sentence."""

    @property
    def symbols(self) -> Sequence[Symbol]:
        """The symbols by id."""

    @property
    def words(self) -> Sequence[str]:
        """The words by id."""


def estimate_lexicon(
    treebank: WordNodes, options: LexiconOptions | None = None, *, weights: Weights = None
) -> Lexicon:
    """Estimate a lexicon from the preterminal nodes of a treebank.

    ``weights``: the weight of each node (default 1).

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
        treebank.symbols,
        treebank.words,
        treebank.symbol[nodes],
        words,
        initial,
        options,
        weights=None if weights is None else weights[nodes],
    )


def estimate_from_columns(
    symbols: Sequence[Symbol],
    words: Sequence[str],
    symbol_column: NDArray[np.integer],
    word_column: NDArray[np.integer],
    initial_column: NDArray[np.bool_],
    options: LexiconOptions | None = None,
    *,
    weights: Weights = None,
) -> Lexicon:
    """Estimate a lexicon from columns with a row for each preterminal node, and their weights.

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
        raise InputError("there are no words to estimate a lexicon from", argument="treebank")
    table = WordTable.count_rows(
        symbols, words, symbol_column, word_column, initial_column, chosen, weights=weights
    )
    classifier = choose_classes(table, chosen)
    names, row_class, prior_class = class_rows(table, classifier)

    # Rows of these matrices are emissions: the known words, then the classes.
    kept, counted = table.known[table.word], table.counts_for_class
    vocabulary = int(table.known.sum())
    word_rows = (np.cumsum(table.known) - 1)[table.word[kept]]
    counts = np.concatenate([table.count[kept], table.count[counted]])
    rows = np.concatenate([word_rows, vocabulary + row_class[counted]])
    columns = np.concatenate([table.symbol[kept], table.symbol[counted]])
    emissions = vocabulary + len(names)
    symbol_counts = count_matrix(counts, rows, columns, (emissions, len(symbols)))
    # After smoothing most emissions have most tags, so a dense matrix is no larger.
    tag_shape = (emissions, len(table.tags))
    tag_counts = count_matrix(counts, rows, table.tag[columns], tag_shape).toarray()
    word_tags, class_tags = np.split(tag_counts, [vocabulary])

    word_classes = count_matrix(
        table.count[kept], word_rows, prior_class[kept], (vocabulary, len(names))
    )
    smooth_class_tags = _class_tags(names, classifier, class_tags, chosen)
    totals = word_tags.sum(axis=1, keepdims=True)
    prior = word_classes @ smooth_class_tags / totals
    smooth_word_tags = (word_tags + chosen.word_smoothing * prior) / (
        totals + chosen.word_smoothing
    )
    joint = _spread_over_chains(
        np.vstack([smooth_word_tags, smooth_class_tags]),
        tag_counts,
        symbol_counts,
        np.concatenate([totals.ravel(), _class_mass(table, class_tags, chosen)]),
        table.tag,
        chosen,
    )
    return Lexicon(
        words=tuple(word for word, known in zip(words, table.known, strict=True) if known),
        classes=tuple(names),
        classifier=classifier,
        offsets=joint.indptr.astype(np.int64),
        symbols=joint.indices.astype(np.int32),
        probabilities=joint.data,
        lowercase_initial=chosen.lowercase_initial,
        tag_model=(
            _tag_model(table, prior_class, smooth_class_tags, _clustered_words(chosen))
            if chosen.unknown_words == "log-linear"
            else None
        ),
    )


def _clustered_words(options: LexiconOptions) -> ClusteredWords | None:
    clusters = loaded_clusters(options.word_clusters)
    return None if clusters is None else ClusteredWords(clusters.words_, clusters.clusters_)


def _tag_model(
    table: WordTable,
    word_class: NDArray[np.int64],
    class_tags: NDArray[np.float64],
    clustered: ClusteredWords | None,
) -> TagModel:
    """A model of the tags of unknown words, learnt from the words that are counted for classes."""
    counted = table.counts_for_class
    (word, initial, classes), row, _ = distinct_rows(
        table.word[counted], table.initial[counted], word_class[counted]
    )
    counts = count_matrix(
        table.count[counted], row, table.tag[table.symbol[counted]], (len(word), len(table.tags))
    )
    columns = zip(word.tolist(), initial.astype(bool).tolist(), strict=True)
    words = [
        SpeltWord(table.words[number], opens, bool(table.known_lowercase[number]))
        for number, opens in columns
    ]
    return fit_tag_model(table.tags, words, counts.toarray(), classes, class_tags, clustered)


def _class_tags(
    names: Sequence[str],
    classifier: WordClasses,
    counts: NDArray[np.float64],
    options: LexiconOptions,
) -> NDArray[np.float64]:
    """P(tag | class): backs off to all words below the class, and these to the next class above."""
    prior_count = 0.0 if classifier.determines_tag else options.class_smoothing
    ids = {name: identity for identity, name in enumerate(names)}
    parents = [ids[next(iter(classifier.fallbacks(name)), UNKNOWN)] for name in names]
    below = counts.copy()
    for child in range(len(names) - 1, 0, -1):
        below[parents[child]] += below[child]
    general = np.empty_like(counts)
    general[0] = below[0] / below[0].sum()
    for child in range(1, len(names)):
        general[child] = _shrink_row(below[child], general[parents[child]], prior_count)
    return np.stack([_shrink_row(*pair, prior_count) for pair in zip(counts, general, strict=True)])


def _class_mass(
    table: WordTable, class_tags: NDArray[np.float64], options: LexiconOptions
) -> NDArray[np.float64]:
    """The expected number of tokens of the unknown words of each class.

    If rare words are replaced, it is their count. Otherwise the unknown words of all classes are as
    frequent as words that occur once (Good-Turing), and distributed over classes as rare words are.
    """
    tokens: NDArray[np.float64] = class_tags.sum(axis=1)
    if options.replace:
        replaced = ~table.known[table.word]
        unknown = table.count[replaced].sum()
    else:
        totals = np.bincount(table.word, weights=table.count)
        unknown = totals[totals <= 1].sum()
    mass: NDArray[np.float64] = np.maximum(tokens * (unknown / tokens.sum()), _EMPTY_CLASS)
    return mass


def _spread_over_chains(
    tag_given_emission: NDArray[np.float64],
    tag_counts: NDArray[np.float64],
    symbol_counts: scipy.sparse.csr_array,
    emission_mass: NDArray[np.float64],
    tag: NDArray[np.int64],
    options: LexiconOptions,
) -> scipy.sparse.csr_array:
    """P(emission | symbol), for which Bayes' rule needs all emissions of a symbol at once.

    Its numerator is P(emission) P(tag | emission) P(symbol | tag, emission).
    """
    prior_count = options.chain_smoothing
    by_symbol = symbol_counts.tocsc()
    symbol_mass, tag_mass = by_symbol.sum(axis=0), tag_counts.sum(axis=0)
    possible = (tag_counts > 0) | (tag_given_emission >= options.prune)
    emissions_of_symbol = [(np.empty(0, dtype=np.int64), np.empty(0))] * len(tag)
    for number in range(len(tag_mass)):
        emissions = np.flatnonzero(possible[:, number])
        tag_probability = tag_given_emission[emissions, number]
        total = tag_counts[emissions, number] + prior_count
        count_weight = tag_probability / np.where(total > 0, total, 1)
        # Without smoothing, tags that the emission never had get their chains from the prior.
        prior_weight = np.where(total > 0, prior_count * count_weight, tag_probability)
        for symbol in np.flatnonzero(tag == number).tolist():
            observed = slice(*by_symbol.indptr[symbol : symbol + 2])
            rows = np.searchsorted(emissions, by_symbol.indices[observed])
            column = prior_weight * (symbol_mass[symbol] / tag_mass[number])
            column[column < options.prune] = 0
            column[rows] += by_symbol.data[observed] * count_weight[rows]
            column *= emission_mass[emissions]
            kept = np.flatnonzero(column)
            emissions_of_symbol[symbol] = emissions[kept], column[kept] / column.sum()
    indices, probabilities = map(np.concatenate, zip(*emissions_of_symbol, strict=True))
    ends = np.cumsum([0, *(len(emissions) for emissions, _ in emissions_of_symbol)])
    return scipy.sparse.csc_array((probabilities, indices, ends), shape=symbol_counts.shape).tocsr()


def _shrink_row(
    counts: NDArray[np.float64], prior: NDArray[np.float64], prior_count: float
) -> NDArray[np.float64]:
    """(counts + prior_count * prior) / (total + prior_count), the prior if both counts are 0."""
    total = counts.sum() + prior_count
    return (counts + prior_count * prior) / total if total > 0 else prior
