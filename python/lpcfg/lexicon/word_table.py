"""Counts of words with their symbols and classes, from which the lexicon is estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import IntegerColumn, Weights, distinct_rows, sum_weights
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_classes import (
    UNKNOWN,
    EnglishClasses,
    LearntClasses,
    TagClasses,
    WordClasses,
)
from lpcfg.treebank.symbol import Symbol

__all__ = ["WordTable", "choose_classes", "class_rows", "count_matrix", "initial_words"]


def initial_words(
    words: Sequence[str], word_column: NDArray[np.integer], start_column: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Which tokens are sentence-initial: the first one, and those with only punctuation before.

    >>> initial_words(["``", "Go", "home"], np.array([0, 1, 2, 1, 2]), np.array([0, 1, 2, 0, 1]))
    array([ True,  True, False,  True, False])
    """
    solid = (~_core.sentence_openers(words)).astype(np.int64)[word_column]
    before = np.cumsum(solid) - solid
    first = np.flatnonzero(start_column == 0)
    lengths = np.diff(np.append(first, len(start_column)))
    return np.asarray(before == np.repeat(before[first], lengths))


@dataclass(frozen=True)
class WordTable:
    """Counts of distinct (word, initial, symbol) rows, with properties of words and symbols.

    >>> noun = Symbol(("NN",), preterminal=True)
    >>> columns = np.array([0, 0, 0]), np.array([0, 1, 1]), np.zeros(3, bool)
    >>> WordTable.count_rows([noun], ["cat", "dog"], *columns, LexiconOptions()).count
    array([1., 2.])
    """

    words: Sequence[str]
    tags: list[str]
    tag: NDArray[np.int64]  # by symbol, -1 for those without words
    word: NDArray[np.int64]  # by row, as are the next four
    initial: NDArray[np.bool_]
    symbol: NDArray[np.int64]
    count: NDArray[np.float64]
    counts_for_class: NDArray[np.bool_]  # whether the row is counted for its word's class
    known: NDArray[np.bool_]  # by word, as is the next
    known_lowercase: NDArray[np.bool_]

    @classmethod
    def count_rows(
        cls,
        symbols: Sequence[Symbol],
        words: Sequence[str],
        symbol_column: NDArray[np.integer],
        word_column: NDArray[np.integer],
        initial_column: NDArray[np.bool_],
        options: LexiconOptions,
        *,
        weights: Weights = None,
    ) -> WordTable:
        """Count the rows of three columns, one row for each preterminal node.

        ``weights``: the weight of each row (default 1).

        >>> columns = np.array([0]), np.array([0]), np.array([True])
        >>> table = WordTable.count_rows([Symbol(("X",))], ["a"], *columns, LexiconOptions())
        >>> table.tags, table.known
        (['X'], array([ True]))
        """
        (word, initial, symbol), row, _ = distinct_rows(word_column, initial_column, symbol_column)
        count = sum_weights(row, weights)
        totals = np.bincount(word, weights=count, minlength=len(words))
        known = totals > (options.rare if options.replace else 0)
        rare = totals[word] <= options.rare
        emitting = {identity: symbols[identity].labels[-1] for identity in np.unique(symbol)}
        tags = sorted(set(emitting.values()))
        tag = np.full(len(symbols), -1, dtype=np.int64)
        tag[list(emitting)] = [tags.index(name) for name in emitting.values()]
        return cls(
            words=words,
            tags=tags,
            tag=tag,
            word=word,
            initial=initial.astype(bool),
            symbol=symbol,
            count=count,
            # Where no word is rare, all words are counted for their classes.
            counts_for_class=rare if rare.any() else np.ones_like(rare),
            known=known,
            known_lowercase=_core.known_in_lowercase(words, known),
        )


def choose_classes(table: WordTable, options: LexiconOptions) -> WordClasses:
    """The classifier that the options name; ``"learnt"`` classes come from the table's rare words.

    >>> noun = Symbol(("NN",), preterminal=True)
    >>> options = LexiconOptions(classes="english")
    >>> columns = np.array([0]), np.array([0]), np.zeros(1, bool)
    >>> choose_classes(WordTable.count_rows([noun], ["cat"], *columns, options), options)
    EnglishClasses()
    """
    if options.classes == "english":
        return EnglishClasses()
    if options.classes == "tag":
        return TagClasses()
    counted = table.counts_for_class
    (word, initial), row, _ = distinct_rows(table.word[counted], table.initial[counted])
    tag_counts = count_matrix(
        table.count[counted],
        row,
        table.tag[table.symbol[counted]],
        (len(word), len(table.tags)),
    )
    return LearntClasses.learn(
        [table.words[identity] for identity in word.tolist()],
        initial.astype(bool),
        table.known_lowercase[word],
        tag_counts,
        limit=options.class_limit,
        support=options.class_support,
    )


def class_rows(
    table: WordTable, classifier: WordClasses
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The classes, general ones first; the class of each row; the class its word backs off to.

    The last two differ if classes are tags: P(tag | word) must not back off to the tag itself.

    >>> noun = Symbol(("NN",), preterminal=True)
    >>> columns = np.array([0]), np.array([0]), np.zeros(1, bool)
    >>> table = WordTable.count_rows([noun], ["cat"], *columns, LexiconOptions())
    >>> class_rows(table, EnglishClasses())
    (['UNK', 'UNK-LC'], array([1]), array([1]))
    """

    def classify(*columns: IntegerColumn) -> tuple[list[str], NDArray[np.int32]]:
        # Columns are words, initials and possibly tags; each distinct row is classified once.
        (word, initial, *tag), row, _ = distinct_rows(*columns)
        names, numbers = classifier.classes_of(
            [table.words[identity] for identity in word.tolist()],
            initial.astype(bool),
            table.known_lowercase[word],
            [table.tags[identity] for identity in tag[0].tolist()] if tag else None,
        )
        return names, numbers[row]

    def resolve(names: list[str]) -> NDArray[np.int64]:
        return np.array(
            [
                next(ids[level] for level in (name, *classifier.fallbacks(name)) if level in ids)
                for name in names
            ]
        )

    prior, prior_row = classify(table.word, table.initial)
    tagged, tagged_row = prior, prior_row
    if classifier.determines_tag:
        tagged, tagged_row = classify(table.word, table.initial, table.tag[table.symbol])
    used = {tagged[row] for row in np.unique(tagged_row[table.counts_for_class]).tolist()}
    used |= {UNKNOWN, *(general for name in used for general in classifier.fallbacks(name))}
    names = sorted(used, key=lambda name: (len(classifier.fallbacks(name)), name))
    ids = {name: identity for identity, name in enumerate(names)}
    return names, resolve(tagged)[tagged_row], resolve(prior)[prior_row]


def count_matrix(
    counts: NDArray[np.float64],
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    shape: tuple[int, int],
) -> scipy.sparse.csr_array:
    """A sparse matrix of counts; counts of the same cell are added.

    >>> count_matrix(np.ones(3), np.array([0, 0, 1]), np.array([1, 1, 0]), (2, 2)).toarray()
    array([[0., 2.],
           [1., 0.]])
    """
    return scipy.sparse.coo_array((counts, (rows, columns)), shape=shape).tocsr()
