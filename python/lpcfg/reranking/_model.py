"""The log-linear model of a reranker, and the k-best lists that it is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.reranking._features import FeatureRows, extract_features
from lpcfg.reranking._log_linear import KBestLists, fit_weights
from lpcfg.reranking.candidates import Candidates, candidate_brackets
from lpcfg.treebank.head_rules import HeadRules
from lpcfg.treebank.tree import Tree

__all__ = ["RerankerModel", "RerankerSamples"]


@dataclass(frozen=True, eq=False)
class RerankerModel:
    """The log-linear model of a reranker: weights of parser scores and of sparse tree features.

    ``score_weights``: the weights of :data:`~lpcfg.reranking.candidates.SCORES` for each parser.
    ``weights``: ``weights[i]`` is the weight of the feature with the hash ``keys[i]``.
    ``keys``: the hashes of the features, sorted.
    ``heads``: the rules by which features find heads.

    >>> model = RerankerModel(np.ones(6), np.array([], np.uint32), np.array([], np.float32))
    >>> model.scores([])
    []
    """

    score_weights: NDArray[np.float64]
    keys: NDArray[np.uint32]
    weights: NDArray[np.float32]
    heads: HeadRules = field(default_factory=HeadRules)

    def scores(
        self, sentences: Sequence[Candidates], n_jobs: int = -1
    ) -> list[NDArray[np.float64]]:
        """The scores of the candidates of each sentence.

        They are logarithms of probabilities up to a constant for each sentence.
        """
        if not sentences:
            return []
        trees = [candidates.trees for candidates in sentences]
        rows = extract_features(trees, self.heads, n_jobs=n_jobs)
        scores = np.concatenate([candidates.scores for candidates in sentences])
        totals = rows.matrix(self.keys) @ self.weights + scores @ self.score_weights
        return np.split(totals, np.cumsum([len(candidates) for candidates in sentences])[:-1])


@dataclass
class RerankerSamples:
    """Training data of a reranker: k-best lists with gold trees, collected batch by batch.

    >>> RerankerSamples().sentence_sizes
    []
    """

    heads: HeadRules = field(default_factory=HeadRules)
    """The rules by which features find heads."""
    sentence_sizes: list[int] = field(default_factory=list)
    """The number of candidates of each sentence."""
    rows: list[FeatureRows] = field(default_factory=list)
    """The features of the candidates, batch by batch."""
    sentence_keys: list[NDArray[np.uint32]] = field(default_factory=list)
    """The keys in which the candidates of a sentence differ, once per sentence, batch by batch."""
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    """The parser scores of the candidates of each sentence."""
    brackets: list[BracketCounts] = field(default_factory=list)
    """The bracket counts of all candidates."""
    one_best: BracketCounts = field(default_factory=BracketCounts)
    """The bracket counts of the first candidates of all sentences."""

    def add(self, sentences: Sequence[Candidates], gold: Sequence[Tree], n_jobs: int = -1) -> None:
        """Add sentences; a sentence whose candidates are all equally good is only counted."""
        counted = [
            (candidates, candidate_brackets(candidates.trees, tree))
            for candidates, tree in zip(sentences, gold, strict=True)
        ]
        self.one_best = sum((brackets[0] for _, brackets in counted), self.one_best)
        differing = [
            (candidates, brackets) for candidates, brackets in counted if len(set(brackets)) > 1
        ]
        if not differing:
            return
        sizes = [len(candidates) for candidates, _ in differing]
        trees = [candidates.trees for candidates, _ in differing]
        rows = extract_features(trees, self.heads, n_jobs=n_jobs)
        self.sentence_sizes += sizes
        self.rows.append(rows)
        self.sentence_keys.append(rows.sentence_keys(np.cumsum([0, *sizes])))
        self.scores += [candidates.scores for candidates, _ in differing]
        self.brackets += [counts for _, brackets in differing for counts in brackets]

    def extend(self, others: RerankerSamples) -> None:
        """Add the sentences of other samples after these."""
        self.sentence_sizes += others.sentence_sizes
        self.rows += others.rows
        self.sentence_keys += others.sentence_keys
        self.scores += others.scores
        self.brackets += others.brackets
        self.one_best = self.one_best + others.one_best

    def fit(self, penalty: float, min_count: int, iterations: int) -> RerankerModel:
        """Fit a model to the features in which the candidates of ``min_count`` sentences differ."""
        if not self.rows:
            raise InputError(
                "there is no sentence whose candidates differ in F1, so a reranker cannot be "
                "trained; use more trees, or more candidates",
                argument="trees",
            )
        keys, sentences = np.unique(np.concatenate(self.sentence_keys), return_counts=True)
        keys = keys[sentences >= min_count]
        # Parser scores are standardised, so that one penalty fits both scores and feature counts.
        centred = np.concatenate([scores - scores.mean(axis=0) for scores in self.scores])
        scale = centred.std(axis=0)
        scale[scale == 0] = 1.0
        features = scipy.sparse.vstack([rows.matrix(keys) for rows in self.rows], format="csr")
        lists = KBestLists(
            scipy.sparse.hstack([scipy.sparse.csr_array(centred / scale), features], format="csr"),
            np.cumsum([0, *self.sentence_sizes]),
            self._gains(),
        )
        weights = fit_weights(lists, penalty, iterations)
        dense, sparse = weights[: len(scale)], weights[len(scale) :]
        return RerankerModel(dense / scale, keys, sparse.astype(np.float32), self.heads)

    def _gains(self) -> NDArray[np.float64]:
        """The contribution of each candidate to the F1 of all trees, up to a constant factor.

        F1 is 2 M / (G + P), with M matched, G gold and P predicted brackets in total. This is not a
        sum over sentences. Near a value F, F1 is linearised as 2 M - F (G + P), which is a sum; F
        is the F1 of the first candidates.
        """
        f1 = self.one_best.f1 / 100
        return np.array(
            [2 * each.matched - f1 * (each.gold + each.predicted) for each in self.brackets]
        )
