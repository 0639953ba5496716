"""Training of the span filter, with the backbone of a grammar."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import distinct_rows, sum_weights
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.span_filter import SpanFilter
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_table import initial_words
from lpcfg.treebank.treebank import Treebank

__all__ = ["train_span_filter", "training_emissions"]

#: Treebanks with fewer trees get no filter: it would close too many correct spans.
MIN_TREES = 1000

#: The largest number of words that a filter is trained on.
MAX_WORDS = 250_000

#: A tag with at least this probability, given a word, is one of its probable tags.
_PROBABLE = 0.05

#: The hyper-parameters of training: passes, AdaGrad, and the logarithms of the sizes of tables.
_EPOCHS = 3
_LEARNING_RATE = 0.2
_INITIAL_ACCUMULATOR = 1.0
_BORDER_BITS = 16
_PAIR_BITS = 18


def train_span_filter(treebank: Treebank, grammar: Grammar) -> SpanFilter | None:
    """A span filter for a grammar that was estimated from a treebank; none for few trees.

    A tenth of the trees is held out to find the thresholds. The result depends on the trees alone.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> train_span_filter(treebank, PCFGEstimator().estimate(treebank)) is None
    True
    """
    trees = len(treebank.tree_offsets) - 1
    if trees < MIN_TREES or grammar.weights is None:
        return None
    word_tags, word_tag_sets = _tags_of_words(grammar, grammar.weights)
    leaves = np.flatnonzero(treebank.word >= 0)
    word_offsets = np.searchsorted(leaves, treebank.tree_offsets)
    shuffled = np.random.default_rng(0).permutation(trees)
    sizes = np.cumsum(np.diff(word_offsets)[shuffled])
    order = shuffled[: np.searchsorted(sizes, MAX_WORDS) + 1].astype(np.uint32)
    held_out = len(order) // 10
    border_weights, pair_weights, thresholds = _core.train_span_filter(
        words=training_emissions(treebank, grammar.lexicon),
        word_offsets=word_offsets,
        starts=treebank.start.astype(np.uint32),
        ends=treebank.end.astype(np.uint32),
        tree_offsets=treebank.tree_offsets,
        word_tags=word_tags,
        word_tag_sets=word_tag_sets,
        fitted=order[held_out:],
        held_out=order[:held_out],
        epochs=_EPOCHS,
        learning_rate=_LEARNING_RATE,
        initial_accumulator=_INITIAL_ACCUMULATOR,
        border_bits=_BORDER_BITS,
        pair_bits=_PAIR_BITS,
    )
    return SpanFilter(word_tags, word_tag_sets, border_weights, pair_weights, thresholds)


def training_emissions(treebank: Treebank, lexicon: Lexicon) -> NDArray[np.uint32]:
    """The emissions of all tokens.

    Words that occur once are treated as unknown, as they would be without their sentence.
    Otherwise no weights of unknown words would be trained.

    >>> from lpcfg import PCFGEstimator, Tree
    >>> treebank = Treebank.from_trees([Tree.from_string("(S (NP it) (VP rained))")])
    >>> len(training_emissions(treebank, PCFGEstimator().estimate(treebank).lexicon))
    2
    """
    leaves = treebank.word >= 0
    uses = sum_weights(treebank.word[leaves], treebank.node_weights(leaves), len(treebank.words))
    initial = initial_words(treebank.words, treebank.word[leaves], treebank.start[leaves])
    (words, initials), rows, _ = distinct_rows(treebank.word[leaves], initial)
    known, classes = lexicon.emissions(
        [treebank.words[word] for word in words.tolist()], initials.astype(bool)
    )
    ids = np.where(uses[words] > 1.5, known, classes).astype(np.uint32)
    return ids[rows]


def _tags_of_words(
    grammar: Grammar, weights: NDArray[np.float64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The most probable tag of each emission, and the number of the set of its probable tags."""
    lexicon = grammar.lexicon
    tag_of_symbol = np.array(
        [grammar.tag_ids[s.labels[-1]] if s.preterminal else -1 for s in grammar.symbols]
    )
    counts = np.diff(lexicon.offsets)
    emission = np.repeat(np.arange(len(counts)), counts)
    joint = lexicon.probabilities * weights[lexicon.symbols]
    tags = len(grammar.tags)
    keys, inverse = np.unique(emission * tags + tag_of_symbol[lexicon.symbols], return_inverse=True)
    totals = np.bincount(inverse, weights=joint, minlength=len(keys))
    words, word_tags = keys // tags, keys % tags
    sums = np.bincount(words, weights=totals, minlength=len(counts))
    best = np.zeros(len(counts), dtype=np.uint32)
    order = np.argsort(totals, kind="stable")
    best[words[order]] = word_tags[order]
    probable = totals >= _PROBABLE * sums[words]
    sets: dict[bytes, int] = {}
    set_numbers = np.zeros(len(counts), dtype=np.uint32)
    words, word_tags = words[probable], word_tags[probable]
    bounds = np.searchsorted(words, np.arange(len(counts) + 1)).tolist()
    for word, (first, last) in enumerate(pairwise(bounds)):
        set_numbers[word] = sets.setdefault(word_tags[first:last].tobytes(), len(sets))
    return best, set_numbers
