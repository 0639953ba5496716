"""Part-of-speech tagging by a second-order hidden Markov model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._batches import batches
from lpcfg._columns import distinct_rows
from lpcfg._options import check_positive
from lpcfg._threads import thread_count
from lpcfg.errors import InputError
from lpcfg.io import load, save
from lpcfg.lexicon.estimation import estimate_from_columns
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.options import LEXICON, LexiconOptions
from lpcfg.lexicon.word_table import initial_words
from lpcfg.parameters.common import N_JOBS
from lpcfg.parameters.constraints import Interval
from lpcfg.parameters.parameterized import Parameterized, parameter
from lpcfg.sequence._symbols import FlatSequences
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.escaping import escape_brackets
from lpcfg.treebank.inputs import Trees, as_treebank, as_trees
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.treebank import normalized_word

__all__ = ["Tagger"]

#: The default number of sentences of a batch.
BATCH = 1024

# The largest number of tags; the number of entries of the transition table is its cube.
_MAX_TAGS = 400

#: The largest count: more than any treebank has words, and sums of counts are exact.
_MAX_COUNT = 1e15


#: The prior counts that a tagger can have.
_PRIOR_COUNT = Interval(float, 0, _MAX_COUNT, "neither")


@dataclass(repr=False, kw_only=True)
class Tagger(Parameterized):
    """A part-of-speech tagger: a trigram (second-order) hidden Markov model.

    Words are known or have classes, as in grammars. After :meth:`fit`, ``tags_`` has the tags,
    ``lexicon_`` the words, ``trigrams_`` and ``counts_`` the tag trigrams and their counts,
    ``cleaning_`` the cleaning of the treebank, and ``provenance_`` the parameters and the treebank.
    The defaults were chosen on the development part of GUM.

    >>> from lpcfg import embedded_trees
    >>> tagger = Tagger().fit(embedded_trees())
    >>> tagger.tag(["The", "dog", "saw", "him", "."])
    ['DT', 'NN', 'VBD', 'PRP', '.']
    """

    trigram_smoothing: float = field(
        default=100.0,
        metadata=parameter(
            _PRIOR_COUNT,
            "the prior count, in tokens, of P(tag | previous tag) in P(tag | two previous tags); "
            "with larger values, rare contexts back off further",
        ),
    )
    bigram_smoothing: float = field(
        default=20.0,
        metadata=parameter(
            _PRIOR_COUNT, "the prior count, in tokens, of P(tag) in P(tag | previous tag)"
        ),
    )
    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)
    n_jobs: int = field(default=-1, metadata=N_JOBS)

    tags_: tuple[str, ...] = field(init=False, repr=False, compare=False)
    #: The cleaning of the treebank.
    cleaning_: Cleaning = field(init=False, repr=False, compare=False)
    #: The indices of the tags of each trigram, and its count; the number of tags is the boundary.
    trigrams_: NDArray[np.uint32] = field(init=False, repr=False, compare=False)
    counts_: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    lexicon_: Lexicon = field(init=False, repr=False, compare=False)
    provenance_: dict[str, Any] = field(init=False, repr=False, compare=False)
    _tables: _core.SecondOrderModel = field(init=False, repr=False, compare=False)

    def fit(self, trees: Trees, y: object = None) -> Self:
        """Learn from the words and tags of a treebank, of trees, or of files of trees.

        ``y`` is not used.

        >>> from lpcfg import Tree
        >>> Tagger().fit([Tree("NN", "rain")]).tags_
        ('NN',)
        """
        self.validate()
        if self.lexicon.unknown_words != "classes":
            raise InputError(
                "a tagger knows unknown words by their classes alone", argument="unknown_words"
            )
        treebank = as_treebank(trees)
        self.provenance_ = {**self.provenance_params(), **treebank.provenance}
        self.cleaning_ = treebank.cleaning or Cleaning()
        leaves = np.flatnonzero(treebank.word >= 0)
        names = [symbol.labels[-1] for symbol in treebank.symbols]
        used = np.unique(treebank.symbol[leaves])
        self.tags_ = tuple(sorted({names[symbol] for symbol in used.tolist()}))
        if len(self.tags_) > _MAX_TAGS:
            raise InputError(
                f"{len(self.tags_)} tags are more than the {_MAX_TAGS} that a tagger can have; "
                "simplify them first",
                argument="trees",
            )
        ids = {tag: number for number, tag in enumerate(self.tags_)}
        tags = np.array([ids.get(name, 0) for name in names])[treebank.symbol[leaves]]
        words, starts = treebank.word[leaves], treebank.start[leaves]
        self.trigrams_, self.counts_ = _count_trigrams(tags, starts == 0, len(self.tags_))
        self.lexicon_ = estimate_from_columns(
            [Symbol((tag,), preterminal=True) for tag in self.tags_],
            treebank.words,
            tags,
            words,
            initial_words(treebank.words, words, starts),
            self.lexicon,
        )
        self.build_tables()
        return self

    def build_tables(self) -> None:
        """Build the transition and emission tables from counts and lexicon.

        >>> from lpcfg import Tree
        >>> tagger = Tagger().fit([Tree("NN", "rain")]).set_params(trigram_smoothing=0)
        >>> tagger.build_tables()
        Traceback (most recent call last):
        lpcfg.errors.InputError: Tagger: trigram_smoothing must be a number above 0 to ...
        """
        self.validate()
        if not np.all((self.counts_ > 0) & (self.counts_ <= _MAX_COUNT)):
            raise InputError(
                f"counts must be above 0 and at most {_MAX_COUNT:g}", argument="counts"
            )
        size = len(self.tags_) + 1
        counts = np.zeros((size, size, size))
        counts[tuple(self.trigrams_.T)] = self.counts_
        pairs = counts.sum(axis=0)
        singles = pairs.sum(axis=0)
        frequencies = (singles + 1) / (singles.sum() + size)
        bigrams = _shrink(pairs, frequencies, self.bigram_smoothing)
        self._tables = _core.SecondOrderModel(
            transitions=_shrink(counts, bigrams, self.trigram_smoothing),
            offsets=self.lexicon_.offsets,
            tags=self.lexicon_.symbols.astype(np.uint32),
            emissions=self.lexicon_.probabilities,
        )

    def __getstate__(self) -> dict[str, Any]:
        # The tables are built again from the rest.
        return {name: value for name, value in vars(self).items() if name != "_tables"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if hasattr(self, "lexicon_"):
            self.build_tables()

    def tag(self, words: Sequence[str]) -> list[str]:
        """The most probable tag of each word of a sentence.

        ``words``: the words of one sentence.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(embedded_trees())
        >>> tagger.tag(["A", "bird", "sang", "."])
        ['DT', 'NN', 'VBD', '.']
        """
        return next(self.tag_many([words]))

    def tag_many(
        self, sentences: Iterable[Sequence[str]], batch_size: int = BATCH
    ) -> Iterator[list[str]]:
        """The most probable tags of many sentences, lazily, in their order and in batches.

        ``batch_size``: how many sentences are tagged at once.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(embedded_trees())
        >>> list(tagger.tag_many([["A", "bird", "sang"], ["The", "dog", "saw", "him"]]))
        [['DT', 'NN', 'VBD'], ['DT', 'NN', 'VBD', 'PRP']]
        """
        return (tags for tags, _ in self._best(sentences, batch_size))

    def sure_tags(
        self,
        sentences: Iterable[Sequence[str]],
        probability: float = 0.99,
        batch_size: int = BATCH,
    ) -> Iterator[list[str | None]]:
        """The tags that have at least this probability, None for other words.

        A parser that gets these with the words has fewer choices; see :meth:`lpcfg.Parser.parse`.

        ``sentences``: the words of each sentence. ``batch_size``: how many are tagged at once.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(embedded_trees())
        >>> list(tagger.sure_tags([["The", "blorp", "sang"]], probability=0.99))
        [['DT', None, None]]
        """
        for tags, probabilities in self._best(sentences, batch_size):
            pairs = zip(tags, probabilities, strict=True)
            yield [tag if posterior >= probability else None for tag, posterior in pairs]

    def _best(
        self, sentences: Iterable[Sequence[str]], batch_size: int
    ) -> Iterator[tuple[list[str], list[float]]]:
        check_positive("batch_size", batch_size)
        for batch in batches(sentences, batch_size):
            flat, encoded = self._encode(batch)
            best, posteriors = encoded.best_tags(self._tables)
            results = zip(flat.split(best), flat.split(posteriors), strict=True)
            for numbers, probabilities in results:
                yield [self.tags_[number] for number in numbers.tolist()], probabilities.tolist()

    def posteriors(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The probabilities of all tags (columns, as in ``tags_``) of each word (row).

        ``words``: the words of one sentence.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(embedded_trees())
        >>> table = tagger.posteriors(["A", "bird", "sang", "."])
        >>> table[3, tagger.tags_.index(".")].round(2)
        np.float64(1.0)
        """
        return self._encode([words])[1].tag_posteriors(self._tables)

    def _encode(self, sentences: Sequence[Sequence[str]]) -> tuple[FlatSequences, _core.Sequences]:
        flat = FlatSequences.of(sentences, "sentence")
        # Treebanks, and so the lexicon, have -LRB- and -RRB- for round brackets.
        form = self.provenance_.get("normalization")
        spelt = [
            normalized_word(escape_brackets(word), form) for words in sentences for word in words
        ]
        ids = self.lexicon_.encode_all(spelt, flat.offsets)
        return flat, _core.Sequences(flat.offsets, ids.astype(np.uint32), thread_count(self.n_jobs))

    def score(self, trees: Trees, y: object = None) -> float:
        """The fraction of the words of some trees that get the tags they have in the trees.

        The trees are cleaned in the same way as the training trees. ``y`` is not used.

        >>> from lpcfg import embedded_trees
        >>> trees = embedded_trees()
        >>> 0.8 < Tagger().fit(trees[:300]).score(trees[300:]) < 1
        True
        """
        gold = as_trees(trees, self.cleaning_)
        if not gold:
            raise InputError("there are no trees to score on", argument="trees")
        found = self.tag_many(tree.words() for tree in gold)
        equal = [np.equal(tree.tags(), tags) for tree, tags in zip(gold, found, strict=True)]
        return float(np.concatenate(equal).mean())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tagger to a file; :meth:`load` reads it.

        >>> import tempfile, pathlib
        >>> from lpcfg import Tree
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tags.lpcfg")
        ...     Tagger().fit([Tree("NN", "rain")]).save(path)
        ...     Tagger.load(path).tag(["snow"])
        ['NN']
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Tagger:
        """Load a tagger that :meth:`save` has written to ``path``.

        >>> Tagger.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        return load(path, Tagger)


def _count_trigrams(
    tags: NDArray[np.integer], first: NDArray[np.bool_], boundary: int
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Distinct tag trigrams, with two boundaries before each sentence and one after it."""
    padded = np.insert(tags, np.repeat(np.flatnonzero(first), 2), boundary)
    padded = np.append(padded, boundary)
    third = np.arange(2, len(padded))
    # The first of the two boundaries before a sentence also ends the previous sentence.
    kept = third[(padded[third] != boundary) | (padded[third - 1] != boundary)]
    rows, _, count = distinct_rows(padded[kept - 2], padded[kept - 1], padded[kept])
    return np.stack(rows, axis=1).astype(np.uint32), count.astype(np.float64)


def _shrink(
    counts: NDArray[np.float64], prior: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    """(counts + strength * prior) / (total + strength), rows of the last axis."""
    totals = counts.sum(axis=-1, keepdims=True)
    rows: NDArray[np.float64] = (counts + strength * prior) / (totals + strength)
    return rows
