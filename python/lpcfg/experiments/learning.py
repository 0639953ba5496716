"""Trials that train a grammar and evaluate it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lpcfg.estimators.base import Estimator
from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.experiments.trials import Trial, digest
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.parser import Parser
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree

__all__ = ["Subject", "count_parameters", "learning_trial", "nested_samples"]


class Subject(NamedTuple):
    """An estimator, and the transform of its training trees.

    >>> from lpcfg import PCFGEstimator
    >>> Subject(PCFGEstimator()).transform.vertical
    1
    """

    estimator: Estimator
    transform: Transform = Transform()


def nested_samples(forest: Forest, sizes: Sequence[int], seed: int = 0) -> Iterator[Forest]:
    """Samples of the given sizes, in the order of the forest; each contains the smaller ones.

    >>> forest = Forest.from_trees(Tree("NN", word) for word in ("rain", "sun", "wind"))
    >>> [[str(tree) for tree in sample.trees()] for sample in nested_samples(forest, [1, 3])]
    [['(NN wind)'], ['(NN rain)', '(NN sun)', '(NN wind)']]
    """
    order = np.random.default_rng(seed).permutation(len(forest))
    for size in sizes:
        yield forest.select(np.sort(order[:size]))


def learning_trial(
    settings: Mapping[str, Any],
    subject: Subject,
    forest: Forest,
    gold: Sequence[Tree],
    *,
    n_jobs: int = -1,
) -> Trial:
    """Train a grammar, and parse the words of gold trees with it.

    Times are CPU times, summed over all processors.

    >>> from lpcfg import PCFGEstimator
    >>> gold = [Tree("NN", "rain")]
    >>> forest = Forest.from_trees(gold)
    >>> row = learning_trial({}, Subject(PCFGEstimator()), forest, gold).measure()
    >>> list(row)[:4]
    ['F1', 'unlabelled F1', 'mean sentence F1', 'exact']
    """
    treebank = subject.transform.apply(forest)

    def measure() -> dict[str, Any]:
        started = time.process_time()
        grammar = subject.estimator.fit(treebank).grammar_
        trained = time.process_time()
        parser = Parser(grammar, n_jobs=n_jobs)
        begun = time.process_time()
        scores = evaluate_parser(parser, gold).scores
        return {
            "F1": scores.f1,
            "unlabelled F1": scores.unlabelled.f1,
            "mean sentence F1": scores.mean_sentence_f1,
            "exact": scores.exact_match,
            "tags": scores.tag_accuracy,
            "parameters": count_parameters(grammar),
            "training CPU s": trained - started,
            "sentences / CPU s": len(gold) / (time.process_time() - begun),
        }

    return Trial(settings, digest(*subject, treebank.digest, list(map(str, gold))), measure)


def count_parameters(grammar: Grammar) -> int:
    r"""The number of parameters: of latent states, or else of rules and words; and of weights.

    >>> count_parameters(Grammar.from_string("S -> X X \n X -> 'go'"))
    2
    """
    if grammar.neural_weights is not None:
        return len(grammar.neural_weights.values)
    weights = 0
    if grammar.crf_weights is not None:
        weights = int(np.count_nonzero(grammar.crf_weights.weights))
    if grammar.latent is not None:
        return grammar.latent.size + weights
    return len(grammar.binary_rules) + len(grammar.lexicon.symbols) + weights
