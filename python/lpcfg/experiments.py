"""What is learnt and measured in experiments."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lpcfg.candidates import oracle_f1
from lpcfg.estimator import Estimator
from lpcfg.forest import Forest
from lpcfg.grammar import Grammar
from lpcfg.grammar_file import load
from lpcfg.noise import NoiseKind
from lpcfg.noisy_models import NoisyModels
from lpcfg.parser import Parser
from lpcfg.parser_scores import evaluate_parser
from lpcfg.transform import Transform
from lpcfg.tree import Tree
from lpcfg.treebank import Treebank
from lpcfg.trials import Trial, digest

__all__ = ["COMBINATIONS", "Subject", "learning_trial", "nested_samples", "noise_trials"]

#: Ways to combine models, by name: the decoder, and what is combined.
COMBINATIONS = {
    "tree coverage": ("max-f1", "trees"),
    "marginal coverage": ("max-f1", "posteriors"),
    "rule product": ("max-rule", "posteriors"),
}


class Subject(NamedTuple):
    """An estimator, and what trees become before it learns from them.

    >>> from lpcfg import PCFGEstimator
    >>> Subject(PCFGEstimator()).transform.vertical
    1
    """

    estimator: Estimator
    transform: Transform = Transform()


def nested_samples(forest: Forest, sizes: Sequence[int], seed: int = 0) -> Iterator[Forest]:
    """Samples of so many trees, in the order of the forest; each has the smaller ones in it.

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
    """Learn a grammar, and parse the words of gold trees with it.

    Times are those of all processors together.

    >>> from lpcfg import PCFGEstimator
    >>> gold = [Tree("NN", "rain")]
    >>> forest = Forest.from_trees(gold)
    >>> row = learning_trial({}, Subject(PCFGEstimator()), forest, gold).measure()
    >>> list(row)
    ['F1', 'unlabelled F1', 'exact', 'tags', 'parameters', 'training CPU s', 'sentences / CPU s']
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
            "exact": scores.exact_match,
            "tags": scores.tag_accuracy,
            "parameters": _parameters(grammar),
            "training CPU s": trained - started,
            "sentences / CPU s": len(gold) / (time.process_time() - begun),
        }

    return Trial(settings, digest(*subject, treebank.digest, list(map(str, gold))), measure)


def _parameters(grammar: Grammar) -> int:
    if grammar.latent is not None:
        return grammar.latent.size
    weights = 0 if grammar.surface is None else np.count_nonzero(grammar.surface.weights)
    return len(grammar.binary_rules) + len(grammar.lexicon.symbols) + int(weights)


def noise_trials(
    family: NoisyModels, treebank: Treebank, gold: Sequence[Tree], folder: Path
) -> Iterator[Trial]:
    """Combine models with noise of each kind, and with all if there are several; and one without.

    Models are kept in the folder.

    >>> from lpcfg import ClusteringEstimator
    >>> gold = [Tree("NN", "rain")]
    >>> family = NoisyModels(ClusteringEstimator())
    >>> trials = noise_trials(family, Treebank.from_trees(gold), gold, Path("models"))
    >>> [(trial.settings["noise"], trial.settings["models"]) for trial in trials]
    [('dropout', 20), ('add', 20), ('mul', 20), ('all', 60), ('none', 1)]
    """
    inputs = digest(replace(family, kinds=()), treebank.digest, list(map(str, gold)))

    def grammars(kind: NoiseKind) -> list[Grammar]:
        models = replace(family, kinds=(kind,))
        return [load(file) for file in models.train(treebank, folder / kind)]

    def trial(noise: str, *kinds: NoiseKind) -> Trial:
        settings = {"noise": noise, "models": family.models * len(kinds) or 1}

        def measure() -> dict[str, float]:
            several = [grammar for kind in kinds for grammar in grammars(kind)]
            several = several or [family.estimator.fit(treebank).grammar_]
            return _combinations(several, gold, family.n_jobs)

        return Trial(settings, inputs, measure)

    yield from (trial(kind, kind) for kind in family.kinds)
    if len(family.kinds) > 1:
        yield trial("all", *family.kinds)
    yield trial("none")


def _combinations(
    grammars: Sequence[Grammar], gold: Sequence[Tree], n_jobs: int
) -> dict[str, float]:
    """F1 of grammars, alone and together; the oracle takes the best of the trees they find."""
    alone = [evaluate_parser(Parser(grammar, n_jobs=n_jobs), gold) for grammar in grammars]
    candidates = zip(*(evaluation.trees for evaluation in alone), strict=True)

    def together(decoder: str, combine: str) -> float:
        parser = Parser(grammars, decoder=decoder, combine=combine, n_jobs=n_jobs)
        return evaluate_parser(parser, gold).scores.f1

    return {
        "mean of single": float(np.mean([evaluation.scores.f1 for evaluation in alone])),
        **{name: together(*combination) for name, combination in COMBINATIONS.items()},
        "oracle": oracle_f1(candidates, gold),
    }
