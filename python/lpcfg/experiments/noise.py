"""Kinds of noise and combinations of models, as in table 1 of Narayan & Cohen (2015)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.features.noise import NoiseKind
from lpcfg.estimators.noisy_models import NoisyModels
from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.experiments.trials import Trial, digest
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.ensemble import Ensemble, joint_parser
from lpcfg.parsing.parser import Parser
from lpcfg.reranking.candidates import oracle_f1
from lpcfg.reranking.reranker import Reranker
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = ["COMBINATIONS", "RERANKING", "noise_trials"]

#: The combinations of models, by name: the decoder, and the option ``combine``.
COMBINATIONS = {
    "tree coverage": ("max-f1", "trees"),
    "marginal coverage": ("max-f1", "posteriors"),
    "rule product": ("max-rule", "posteriors"),
}

#: The column with the F1 of a reranker, if there is one.
RERANKING = "reranking"


def noise_trials(
    family: NoisyModels,
    treebank: Treebank,
    gold: Sequence[Tree],
    folder: Path,
    reranker: Reranker | None = None,
) -> Iterator[Trial]:
    """Trials that combine models: of each kind of noise, of all kinds, and one without noise.

    All kinds are combined at once, and by kinds: first the models of each kind by marginal
    coverage, then the results of the kinds, which is not possible for products of rules. With a
    ``reranker``, which has the options of reranking, reranking is another combination; its
    cross-fitting takes long. Models are kept in the folder.

    >>> from lpcfg import ClusteringEstimator
    >>> gold = [Tree("NN", "rain")]
    >>> family = NoisyModels(ClusteringEstimator())
    >>> trials = noise_trials(family, Treebank.from_trees(gold), gold, Path("models"))
    >>> [(trial.settings["noise"], trial.settings["models"]) for trial in trials]
    [('dropout', 20), ('add', 20), ('mul', 20), ('all', 60), ('by kinds', 60), ('none', 1)]
    """
    common = (replace(family, kinds=()), treebank.digest, list(map(str, gold)), reranker)

    def grammars(kind: NoiseKind) -> list[Grammar]:
        models = replace(family, kinds=(kind,))
        return [load(file) for file in models.train(treebank, folder / kind)]

    def estimators(kind: NoiseKind) -> list[Estimator]:
        return [member.alone() for member in replace(family, kinds=(kind,)).members()]

    def trial(noise: str, groups: Sequence[Sequence[NoiseKind]]) -> Trial:
        """Models of the kinds of each group are combined first, and then the groups."""

        def measure() -> dict[str, float | None]:
            several = [[each for kind in kinds for each in grammars(kind)] for kinds in groups]
            parts = [tuple(each for kind in kinds for each in estimators(kind)) for kinds in groups]
            fitted = None
            if reranker is not None:
                fitted = replace(reranker, estimators=parts or [family.estimator]).fit(treebank)
            several = several or [[family.estimator.fit(treebank).grammar_]]
            return _combinations(several, fitted, gold, family.n_jobs)

        count = family.models * sum(map(len, groups)) or 1
        settings = {"noise": noise, "models": count}
        # Models and folds are the jobs: trials share models, which are trained once.
        return Trial(settings, digest(*common, groups), measure, has_jobs=True)

    yield from (trial(kind, [[kind]]) for kind in family.kinds)
    if len(family.kinds) > 1:
        yield trial("all", [family.kinds])
        yield trial("by kinds", [[kind] for kind in family.kinds])
    yield trial("none", [])


def _combinations(
    groups: Sequence[Sequence[Grammar]],
    reranker: Reranker | None,
    gold: Sequence[Tree],
    n_jobs: int,
) -> dict[str, float | None]:
    """F1 of grammars, single and combined, and of the oracle over the trees of single grammars."""
    grammars = [grammar for group in groups for grammar in group]
    alone = [evaluate_parser(Parser(grammar, n_jobs=n_jobs), gold) for grammar in grammars]
    candidates = zip(*(evaluation.trees for evaluation in alone), strict=True)

    def f1(parser: BaseParser) -> float:
        return evaluate_parser(parser, gold).scores.f1

    def combined(decoder: str, combine: str) -> float | None:
        if len(groups) == 1:
            parser = joint_parser(grammars, decoder=decoder, combine=combine, n_jobs=n_jobs)
        else:
            parts = [joint_parser(group, n_jobs=n_jobs) for group in groups]
            parser = Ensemble(parts, combine=combine, n_jobs=n_jobs)
        # Products of rules need one chart.
        return None if decoder == "max-rule" and isinstance(parser, Ensemble) else f1(parser)

    return {
        "mean of single": float(np.mean([evaluation.scores.f1 for evaluation in alone])),
        **{name: combined(*combination) for name, combination in COMBINATIONS.items()},
        **({} if reranker is None else {RERANKING: f1(reranker)}),
        "oracle": oracle_f1(candidates, gold),
    }
