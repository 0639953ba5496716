"""The log-linear model of a reranker, and the samples that it is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.reranking._features import FeatureRows, extract_features
from lpcfg.reranking._log_linear import Choices, fit_weights
from lpcfg.reranking.candidates import Candidates, candidate_brackets
from lpcfg.treebank.tree import Tree

__all__ = ["RerankerModel", "RerankerSamples"]


@dataclass(frozen=True, eq=False)
class RerankerModel:
    """Weights of what parsers say of a tree, and of the patterns in it.

    ``keys`` are the hashes of the patterns, sorted.

    >>> model = RerankerModel(np.ones(6), np.array([], np.uint32), np.array([], np.float32))
    >>> model.scores([])
    []
    """

    score_weights: NDArray[np.float64]
    keys: NDArray[np.uint32]
    weights: NDArray[np.float32]

    def scores(
        self, sentences: Sequence[Candidates], n_jobs: int = -1
    ) -> list[NDArray[np.float64]]:
        """The scores of the candidates of each sentence; only their differences mean something."""
        if not sentences:
            return []
        rows = extract_features([candidates.trees for candidates in sentences], n_jobs=n_jobs)
        scores = np.concatenate([candidates.scores for candidates in sentences])
        totals = rows.matrix(self.keys) @ self.weights + scores @ self.score_weights
        return np.split(totals, np.cumsum([len(candidates) for candidates in sentences])[:-1])


@dataclass
class RerankerSamples:
    """Sentences whose candidates can be compared with the right tree, collected batch by batch.

    >>> RerankerSamples().sentence_sizes
    []
    """

    sentence_sizes: list[int] = field(default_factory=list)
    rows: list[FeatureRows] = field(default_factory=list)
    distinct: list[NDArray[np.uint32]] = field(default_factory=list)
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    brackets: list[BracketCounts] = field(default_factory=list)
    #: Those of the first candidate of every sentence.
    first: BracketCounts = field(default_factory=BracketCounts)

    def add(self, sentences: Sequence[Candidates], gold: Sequence[Tree], n_jobs: int = -1) -> None:
        """Add sentences; those whose candidates are all equally good teach nothing."""
        judged = [
            (candidates, candidate_brackets(candidates.trees, tree))
            for candidates, tree in zip(sentences, gold, strict=True)
        ]
        self.first = sum((brackets[0] for _, brackets in judged), self.first)
        useful = [
            (candidates, brackets) for candidates, brackets in judged if len(set(brackets)) > 1
        ]
        if not useful:
            return
        sizes = [len(candidates) for candidates, _ in useful]
        rows = extract_features([candidates.trees for candidates, _ in useful], n_jobs=n_jobs)
        self.sentence_sizes += sizes
        self.rows.append(rows)
        self.distinct.append(rows.sentence_keys(np.cumsum([0, *sizes])))
        self.scores += [candidates.scores for candidates, _ in useful]
        self.brackets += [own for _, brackets in useful for own in brackets]

    def fit(self, penalty: float, min_count: int, iterations: int) -> RerankerModel:
        """Fit a model whose patterns tell the candidates of ``min_count`` sentences apart."""
        if not self.rows:
            raise InputError(
                "there is no sentence whose candidates differ in F1, so nothing to learn a choice "
                "from; use more trees, or more candidates"
            )
        keys, sentences = np.unique(np.concatenate(self.distinct), return_counts=True)
        keys = keys[sentences >= min_count]
        # What parsers say is brought to one scale, that of a pattern that is there or not.
        centred = np.concatenate([scores - scores.mean(axis=0) for scores in self.scores])
        scale = centred.std(axis=0)
        scale[scale == 0] = 1.0
        patterns = scipy.sparse.vstack([rows.matrix(keys) for rows in self.rows], format="csr")
        choices = Choices(
            scipy.sparse.hstack([scipy.sparse.csr_array(centred / scale), patterns], format="csr"),
            np.cumsum([0, *self.sentence_sizes]),
            self._gains(),
        )
        weights = fit_weights(choices, penalty, iterations)
        own, others = weights[: len(scale)], weights[len(scale) :]
        return RerankerModel(own / scale, keys, others.astype(np.float32))

    def _gains(self) -> NDArray[np.float64]:
        """How much a candidate adds to the F1 of all trees, times something that is constant.

        Near a value F of 2 M / (G + P), that grows where 2 M - F (G + P) does, which is a sum over
        sentences; F is that of the first candidates.
        """
        f1 = self.first.f1 / 100
        return np.array(
            [2 * own.matched - f1 * (own.gold + own.predicted) for own in self.brackets]
        )
