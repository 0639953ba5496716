"""Part-of-speech tags by a second-order hidden Markov model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import distinct_rows
from lpcfg._options import check_positive
from lpcfg._threads import thread_count
from lpcfg.errors import InputError, ModelFileError
from lpcfg.io.lexicon_file import LEXICON_DOCUMENT, pack_lexicon, read_lexicon
from lpcfg.io.model_file import (
    ModelFile,
    pack_strings,
    read_document,
    unpack_strings,
    write_model_file,
)
from lpcfg.lexicon.estimation import estimate_from_columns
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_table import initial_words
from lpcfg.sequence._hmm_symbols import FlatSequences
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.treebank import Treebank

__all__ = ["Tagger"]

#: Sentences that go to the core at once.
BATCH = 1024

# The table of transitions has the cube of this many entries.
_MOST_TAGS = 400

_SMOOTHING = {"trigram_smoothing": float, "bigram_smoothing": float}


@dataclass
class Tagger:
    """Finds tags of words: a tag depends on the two before it, and a word on its tag.

    Words are known or have classes, as in grammars; see :class:`lpcfg.LexiconOptions`.
    ``trigram_smoothing``, ``bigram_smoothing``: strengths, in tokens, of the priors of P(tag | two
    tags before), which is P(tag | tag before), and of that, which is P(tag).
    ``n_jobs``: the number of threads, -1 for one on each core; the result does not depend on it.

    The defaults were chosen on the development part of GUM.

    >>> from lpcfg import embedded_trees
    >>> tagger = Tagger().fit(Treebank.from_trees(embedded_trees()))
    >>> tagger.tag(["The", "dog", "saw", "him", "."])
    ['DT', 'NN', 'VBD', 'PRP', '.']
    """

    lexicon: LexiconOptions = field(default_factory=LexiconOptions)
    trigram_smoothing: float = 100.0
    bigram_smoothing: float = 20.0
    n_jobs: int = -1

    tags_: tuple[str, ...] = field(init=False, repr=False, compare=False)
    #: How the trees were cleaned that it has learnt from.
    cleaning_: Cleaning = field(init=False, repr=False, compare=False)
    #: Numbers of tags that follow each other, and how often; one more than tags is for the ends.
    trigrams_: NDArray[np.uint32] = field(init=False, repr=False, compare=False)
    counts_: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    lexicon_: Lexicon = field(init=False, repr=False, compare=False)
    model_: _core.SecondOrderModel = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Learn from the words and tags of a treebank.

        >>> from lpcfg import Tree
        >>> Tagger().fit(Treebank.from_trees([Tree("NN", "rain")])).tags_
        ('NN',)
        """
        self.cleaning_ = treebank.cleaning or Cleaning()
        leaves = np.flatnonzero(treebank.word >= 0)
        names = [symbol.labels[-1] for symbol in treebank.symbols]
        used = np.unique(treebank.symbol[leaves])
        self.tags_ = tuple(sorted({names[symbol] for symbol in used.tolist()}))
        if len(self.tags_) > _MOST_TAGS:
            raise InputError(
                f"{len(self.tags_)} tags are more than the {_MOST_TAGS} that a tagger can have; "
                "simplify them first"
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
        self.model_ = self._core_model()
        return self

    def _core_model(self) -> _core.SecondOrderModel:
        for name in _SMOOTHING:
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if not np.all(self.counts_ > 0):
            raise InputError("counts must be above 0")
        size = len(self.tags_) + 1
        counts = np.zeros((size, size, size))
        counts[tuple(self.trigrams_.T)] = self.counts_
        pairs = counts.sum(axis=0)
        singles = pairs.sum(axis=0)
        frequencies = (singles + 1) / (singles.sum() + size)
        bigrams = _shrink(pairs, frequencies, self.bigram_smoothing)
        return _core.SecondOrderModel(
            transitions=_shrink(counts, bigrams, self.trigram_smoothing),
            offsets=self.lexicon_.offsets,
            tags=self.lexicon_.symbols.astype(np.uint32),
            emissions=self.lexicon_.probabilities,
        )

    def tag(self, words: Sequence[str]) -> list[str]:
        """The most probable tag of each word of a sentence.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(Treebank.from_trees(embedded_trees()))
        >>> tagger.tag(["A", "bird", "sang", "."])
        ['DT', 'NN', 'VBD', '.']
        """
        return next(self.tag_many([words]))

    def tag_many(
        self, sentences: Iterable[Sequence[str]], batch_size: int = BATCH
    ) -> Iterator[list[str]]:
        """The same for many sentences, lazily and in their order, some at once.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(Treebank.from_trees(embedded_trees()))
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

        With these beside words a parser has less to choose from; see :meth:`lpcfg.Parser.parse`.

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(Treebank.from_trees(embedded_trees()))
        >>> list(tagger.sure_tags([["The", "blorp", "sang"]], probability=0.99))
        [['DT', None, None]]
        """
        for tags, probabilities in self._best(sentences, batch_size):
            pairs = zip(tags, probabilities, strict=True)
            yield [tag if found >= probability else None for tag, found in pairs]

    def _best(
        self, sentences: Iterable[Sequence[str]], batch_size: int
    ) -> Iterator[tuple[list[str], list[float]]]:
        check_positive("batch_size", batch_size)
        rest = iter(sentences)
        while batch := list(islice(rest, batch_size)):
            flat, encoded = self._encode(batch)
            best, found = encoded.best_tags(self.model_)
            for numbers, probabilities in zip(flat.split(best), flat.split(found), strict=True):
                yield [self.tags_[number] for number in numbers.tolist()], probabilities.tolist()

    def posteriors(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The probabilities of all tags (columns, as in ``tags_``) of each word (row).

        >>> from lpcfg import embedded_trees
        >>> tagger = Tagger().fit(Treebank.from_trees(embedded_trees()))
        >>> table = tagger.posteriors(["A", "bird", "sang", "."])
        >>> table[3, tagger.tags_.index(".")].round(2)
        np.float64(1.0)
        """
        return self._encode([words])[1].tag_posteriors(self.model_)

    def _encode(self, sentences: Sequence[Sequence[str]]) -> tuple[FlatSequences, _core.Sequences]:
        flat = FlatSequences.of(sentences, "sentence")
        ids = np.concatenate([self.lexicon_.encode(words) for words in sentences])
        return flat, _core.Sequences(flat.offsets, ids.astype(np.uint32), thread_count(self.n_jobs))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tagger to a file; :meth:`load` reads it.

        >>> import tempfile, pathlib
        >>> from lpcfg import Tree
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tags.lpcfg")
        ...     Tagger().fit(Treebank.from_trees([Tree("NN", "rain")])).save(path)
        ...     Tagger.load(path).tag(["snow"])
        ['NN']
        """
        arrays, document = pack_lexicon(self.lexicon_)
        arrays |= {"trigrams": self.trigrams_, "counts": self.counts_}
        smoothing = {name: float(getattr(self, name)) for name in _SMOOTHING}
        document |= {"kind": "tagger", "cleaning": self.cleaning_.to_dict(), **smoothing}
        write_model_file(path, arrays | pack_strings("tags", self.tags_), document)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Tagger:
        """Read a tagger that :meth:`save` has written, after checking it.

        >>> Tagger.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        file = ModelFile(path)
        document = read_document(
            file, LEXICON_DOCUMENT | _SMOOTHING | {"cleaning": dict}, kind="tagger"
        )
        tagger = cls(**{name: document[name] for name in _SMOOTHING})
        try:
            tagger.cleaning_ = Cleaning.from_dict(document["cleaning"])
            tagger.tags_ = unpack_strings(file, "tags")
            tagger.trigrams_ = file.array("trigrams", np.uint32, (None, 3))
            tagger.counts_ = file.array("counts", np.float64, (len(tagger.trigrams_),))
            tagger.lexicon_ = read_lexicon(file, document)
            tagger.model_ = tagger._core_model()
        except (IndexError, TypeError, ValueError) as error:
            if str(error).startswith(f"{file.path}: "):
                raise
            raise ModelFileError(f"{file.path}: {error}") from error
        return tagger


def _count_trigrams(
    tags: NDArray[np.integer], first: NDArray[np.bool_], boundary: int
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Distinct triples of tags, sentences with two boundaries before and one behind them."""
    padded = np.insert(tags, np.repeat(np.flatnonzero(first), 2), boundary)
    padded = np.append(padded, boundary)
    third = np.arange(2, len(padded))
    # The first of the two boundaries before a sentence is the one behind the sentence before it.
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
