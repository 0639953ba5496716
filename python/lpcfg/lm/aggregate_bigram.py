"""The aggregate bigram model: a class-based bigram model with latent states."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal, Self, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._options import check_positive
from lpcfg.errors import InputError
from lpcfg.io import load, save
from lpcfg.lm.aggregate_em import Factors, Refinement, Stopping, pair_counts, random_start, refine
from lpcfg.lm.aggregate_pivot import PivotOptions, pivot_start
from lpcfg.lm.vocabulary import UNKNOWN, Corpus, Vocabulary

__all__ = ["METHODS", "AggregateBigram", "Method"]

Method = Literal["em", "pivot", "pivot+em"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass
class AggregateBigram:
    """The aggregate bigram model (Saul & Pereira 1997): bigrams with latent states.

    P(word | last word) = sum over states of P(state | last word) P(word | state). It is estimated
    by EM, or by the pivot method of Cohen & Collins (2014).

    ``n_states``: the number of latent states.
    ``min_count``: words seen less often are unknown words; default 2.
    ``symmetry_breaking``: how far random starts of EM differ from the unigram model; default 1.
    Large values give uniformly random starts.
    ``restarts``: the number of random starts, of which the one with the best held-out likelihood,
    or training likelihood, is kept; default 1.
    ``max_iterations``, ``tolerance``, ``patience``: when EM stops; default 200, 1e-4 and 3. See
    :class:`~lpcfg.lm.aggregate_em.Stopping`.
    ``pivot``: the hyper-parameters of the pivot method.
    ``n_jobs``: the number of threads, -1 (the default) for one on each core; the result does not
    depend on it.
    ``random_state``: the seed; the same seed gives the same model; default 0.
    ``progress``: a function that wraps the iterations, for a progress bar; by default ``iter``,
    which shows none.

    After :meth:`fit`, ``vocabulary_`` has the words and ``factors_`` the probabilities.

    >>> text = "a dog saw a cat and a cat saw a dog".split()
    >>> model = AggregateBigram(2).fit([text])
    >>> model.probabilities(["saw"], ["a", "dog"]).round(3)
    array([[1., 0.]], dtype=float32)
    """

    n_states: int
    min_count: int = 2
    symmetry_breaking: float = 1.0
    restarts: int = 1
    max_iterations: int = 200
    tolerance: float = 1e-4
    patience: int = 3
    pivot: PivotOptions = field(default_factory=PivotOptions)
    n_jobs: int = -1
    random_state: int = 0
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    vocabulary_: Vocabulary = field(init=False, repr=False, compare=False)
    #: P(state | word) as rows, and P(word | state) as columns; the first row is for unknown words.
    factors_: Factors = field(init=False, repr=False, compare=False)
    #: The number of iterations of EM after which the parameters were taken.
    iterations_: int = field(init=False, repr=False, compare=False)
    #: Log-likelihoods per word before each iteration; of held-out words also after the last.
    log_likelihoods_: list[float] = field(init=False, repr=False, compare=False)
    held_out_log_likelihoods_: list[float] = field(init=False, repr=False, compare=False)

    def fit(self, corpus: Corpus, method: Method = "em", held_out: Corpus | None = None) -> Self:
        """Estimate the model from texts, each a sequence of words.

        ``method``: ``"em"`` from random starts, the ``"pivot"`` method, or ``"pivot+em"``, EM that
        starts from the result of the pivot method.
        ``held_out``: texts on which the best iteration of EM is chosen.

        >>> model = AggregateBigram(2, min_count=1).fit([["ding", "dong", "ding"]], "pivot+em")
        >>> model.perplexity([["ding", "dong"]])
        1.0
        """
        if method not in METHODS:
            raise InputError(
                f"method must be one of {', '.join(METHODS)}, not {method!r}", argument="method"
            )
        check_positive("n_states", self.n_states)
        check_positive("restarts", self.restarts)
        self.vocabulary_ = Vocabulary.from_corpus(corpus, self.min_count)
        counts = self.vocabulary_.count_bigrams(corpus)
        if not counts.nnz:
            raise InputError("there are no bigrams to train on", argument="corpus")
        stopping = Stopping(self.max_iterations, self.tolerance, self.patience)
        held_out_counts = None if held_out is None else self._known_bigrams(held_out)
        best: Refinement | None = None
        for start in self._starts(counts, method):
            if method == "pivot":
                best = Refinement(start)
                continue
            refined = refine(counts, start, stopping, held_out_counts, self.n_jobs, self.progress)
            best = refined if best is None or refined.score > best.score else best
        assert best is not None
        self.factors_, self.iterations_ = best.factors, best.iterations
        self.log_likelihoods_ = best.log_likelihoods
        self.held_out_log_likelihoods_ = best.held_out
        return self

    def _starts(self, counts: scipy.sparse.csr_array, method: Method) -> Iterator[Factors]:
        if method == "em":
            for seed in np.random.SeedSequence(self.random_state).spawn(self.restarts):
                generator = np.random.default_rng(seed)
                yield random_start(counts, self.n_states, self.symmetry_breaking, generator)
        else:
            yield pivot_start(counts, self.n_states, self.pivot, self.random_state, self.n_jobs)

    def probabilities(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """P(second word | first word), a row for each first and a column for each second word.

        Words that are not in the vocabulary share the probability of one unknown word.

        >>> model = AggregateBigram(1).fit(["a rose is a rose is a rose".split()])
        >>> model.probabilities(["a"], ["a", "rose"]).round(3)
        array([[0.286, 0.429]], dtype=float32)
        """
        states, words = self.factors_
        encode = self.vocabulary_.encode
        table: NDArray[np.float32] = states[encode(first)] @ words[encode(second)].T
        return table

    def perplexity(self, corpus: Corpus) -> float:
        """The exponential of minus the mean log-probability of the known words.

        Unknown words, and the first word of each text, are not scored.

        >>> model = AggregateBigram(1).fit(["a rose is a rose is a rose".split()])
        >>> round(model.perplexity([["a", "rose", "is", "an", "iris"]]), 3)
        2.858
        """
        return math.exp(-self.score(corpus))

    def score(self, corpus: Corpus) -> float:
        """The mean log-probability of the known words: the higher, the better.

        >>> model = AggregateBigram(1).fit(["a rose is a rose is a rose".split()])
        >>> round(model.score([["a", "rose", "is", "an", "iris"]]), 3)
        -1.05
        """
        counts = self._known_bigrams(corpus)
        pairs = pair_counts(counts, self.n_jobs)
        return pairs.log_likelihood(*self.factors_) / float(counts.sum())

    def _known_bigrams(self, corpus: Corpus) -> scipy.sparse.csr_array:
        counts = self.vocabulary_.count_bigrams(corpus).tocoo()
        known = counts.coords[1] != UNKNOWN
        if not known.any():
            raise InputError("there is no known word that follows another word", argument="corpus")
        coordinates = tuple(column[known] for column in counts.coords)
        return scipy.sparse.coo_array((counts.data[known], coordinates), counts.shape).tocsr()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file.

        >>> import tempfile, pathlib
        >>> model = AggregateBigram(2).fit(["a rose is a rose is a rose".split()])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "roses.lpcfg")
        ...     model.save(path)
        ...     print(AggregateBigram.load(path).vocabulary_.words)
        ('a', 'rose', 'is')
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> AggregateBigram:
        """Load a model that :meth:`save` has written.

        >>> AggregateBigram.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        return load(path, AggregateBigram)
