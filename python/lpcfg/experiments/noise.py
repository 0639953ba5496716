"""Kinds of noise and combinations of models, as in table 1 of Narayan & Cohen (2015)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lpcfg.errors import InputError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.features.noise import NoiseKind
from lpcfg.estimators.noisy_models import NoisyModels
from lpcfg.evaluation.parser_scores import Evaluation, evaluate_parser
from lpcfg.evaluation.scores import evaluate
from lpcfg.experiments.trials import Trial, digest
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load
from lpcfg.io.replacing import write_text
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.joint_parser import joint_parser
from lpcfg.parsing.parser import Parser
from lpcfg.parsing.tree_coverage import tree_coverage
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
    """Trials that combine models: of each kind of noise, of all kinds, and without noise.

    All kinds are combined at once, and by kinds: first the models of each kind by marginal
    coverage, then the results of the kinds, which is not possible for products of rules. ``seeds``
    are models without noise that differ by their seeds, and ``none`` is a single model.

    With a ``reranker``, which has the options of reranking, reranking is another combination; its
    cross-fitting takes long. If it has one candidate, it chooses among the best trees of the single
    models, as MaxEnt in the paper does; otherwise among the best trees of their combination. The
    last trial is then the hierarchy of the paper: the trees that the rerankers of each kind and of
    all kinds have chosen are combined by tree coverage.

    Models and the trees of rerankers are kept in the folder. Pruned charts are shared by models.

    >>> from lpcfg import ClusteringEstimator
    >>> gold = [Tree("NN", "rain")]
    >>> family = NoisyModels(ClusteringEstimator())
    >>> trials = noise_trials(family, Treebank.from_trees(gold), gold, Path("models"))
    >>> [(trial.settings["noise"], trial.settings["models"]) for trial in trials]
    [('dropout', 20), ('add', 20), ('mul', 20), ('all', 60), ('by kinds', 60), ('seeds', 20),
     ('none', 1)]
    """
    common = (replace(family, kinds=()), treebank.digest, list(map(str, gold)), reranker)
    charts = ChartCache()
    # Trials share single models, and those of all kinds a reranker if it chooses among their trees.
    single: dict[Path, Evaluation] = {}
    rerankings: dict[tuple[NoiseKind | None, ...], Evaluation] = {}

    def models(kind: NoiseKind | None) -> NoisyModels:
        """The models of a kind of noise, or without noise."""
        if kind is None:
            return replace(family, kinds=("add",), sigmas=(0.0,))
        return replace(family, kinds=(kind,))

    def grammars(kind: NoiseKind | None) -> list[tuple[Grammar, Evaluation]]:
        """The models of a kind, and their parses."""
        files = models(kind).train(treebank, folder / (kind or "seeds"))
        pairs = []
        for file in files:
            grammar = load(file)
            if file not in single:
                single[file] = parses(grammar)
            pairs.append((grammar, single[file]))
        return pairs

    def parses(grammar: Grammar) -> Evaluation:
        return evaluate_parser(Parser(grammar, n_jobs=family.n_jobs, charts=charts), gold)

    def reranking(groups: Sequence[Sequence[NoiseKind | None]]) -> Evaluation | None:
        """The trees that a reranker chooses."""
        if reranker is None:
            return None
        parts: list[tuple[Estimator, ...]] = [
            tuple(member.alone() for kind in kinds for member in models(kind).members())
            for kinds in groups
        ] or [(family.estimator,)]
        if reranker.candidates > 1:
            return evaluate_parser(replace(reranker, estimators=parts).fit(treebank), gold)
        key = tuple(kind for kinds in groups for kind in kinds)
        if key not in rerankings:
            alone = [estimator for part in parts for estimator in part]
            fitted = replace(reranker, estimators=alone).fit(treebank)
            rerankings[key] = evaluate_parser(fitted, gold)
        return rerankings[key]

    def trial(noise: str, groups: Sequence[Sequence[NoiseKind | None]]) -> Trial:
        """Models of the kinds of each group are combined first, and then the groups."""

        def measure() -> dict[str, float | None]:
            several = [[pair for kind in kinds for pair in grammars(kind)] for kinds in groups]
            if not several:
                grammar = family.estimator.fit(treebank).grammar_
                several = [[(grammar, parses(grammar))]]
            reranked = reranking(groups)
            found = _combinations(several, reranked, gold, charts, family.n_jobs)
            if reranked is not None:
                write_text(_trees_file(folder, noise), "".join(f"{t}\n" for t in reranked.trees))
            return found

        count = family.models * sum(map(len, groups)) or 1
        settings = {"noise": noise, "models": count}
        # Models and folds are the jobs: trials share models, which are trained once.
        return Trial(settings, digest(*common, groups), measure, has_jobs=True)

    yield from (trial(kind, [[kind]]) for kind in family.kinds)
    if len(family.kinds) > 1:
        yield trial("all", [family.kinds])
        yield trial("by kinds", [[kind] for kind in family.kinds])
    yield trial("seeds", [[None]])
    yield trial("none", [])
    if reranker is not None and len(family.kinds) > 1:
        names = [*family.kinds, "all"]
        yield Trial(
            {"noise": "hierarchy", "models": family.models * len(family.kinds)},
            digest(*common, names),
            _hierarchy(names, folder, gold, family.n_jobs),
            has_jobs=True,
        )


def _trees_file(folder: Path, noise: str) -> Path:
    return folder / f"{noise.replace(' ', '-')}-reranked.txt"


def _hierarchy(
    names: Sequence[str], folder: Path, gold: Sequence[Tree], n_jobs: int
) -> Callable[[], dict[str, float | None]]:
    """Tree coverage of the trees that rerankers have chosen."""

    def measure() -> dict[str, float | None]:
        chosen = []
        for name in names:
            file = _trees_file(folder, name)
            trees = [Tree.from_string(line) for line in file.read_text("utf-8").splitlines()]
            if len(trees) != len(gold):
                raise InputError(f"these are not the trees of {len(gold)} sentences", path=file)
            chosen.append(trees)
        candidates = list(zip(*chosen, strict=True))
        return {
            "mean of single": None,
            "tree coverage": evaluate(gold, tree_coverage(candidates, n_jobs)).f1,
            **dict.fromkeys((*list(COMBINATIONS)[1:], RERANKING)),
            "oracle": oracle_f1(candidates, gold),
        }

    return measure


def _combinations(
    groups: Sequence[Sequence[tuple[Grammar, Evaluation]]],
    reranked: Evaluation | None,
    gold: Sequence[Tree],
    charts: ChartCache,
    n_jobs: int,
) -> dict[str, float | None]:
    """F1 of grammars, single and combined, and of the oracle over the trees of single grammars.

    Grammars come with their own parses.
    """
    several = [[grammar for grammar, _ in group] for group in groups]
    alone = [evaluation for group in groups for _, evaluation in group]
    candidates = zip(*(evaluation.trees for evaluation in alone), strict=True)

    def joint(some: Sequence[Grammar], decoder: str, combine: str) -> BaseParser:
        """A parser of several grammars; if they have one backbone, charts are shared."""
        if len(backbone_classes(some)) == 1:
            return Parser(some, decoder=decoder, combine=combine, n_jobs=n_jobs, charts=charts)
        return joint_parser(some, decoder=decoder, combine=combine, n_jobs=n_jobs)

    def combined(decoder: str, combine: str) -> float | None:
        if len(several) == 1:
            parser = joint(several[0], decoder, combine)
        else:
            parts = [joint(group, "max-f1", "posteriors") for group in several]
            parser = Ensemble(parts, combine=combine, n_jobs=n_jobs)
        # Products of rules need one chart.
        if decoder == "max-rule" and isinstance(parser, Ensemble):
            return None
        return evaluate_parser(parser, gold).scores.f1

    return {
        "mean of single": float(np.mean([evaluation.scores.f1 for evaluation in alone])),
        **{name: combined(*combination) for name, combination in COMBINATIONS.items()},
        **({} if reranked is None else {RERANKING: reranked.scores.f1}),
        "oracle": oracle_f1(candidates, gold),
    }
