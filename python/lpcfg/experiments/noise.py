"""Kinds of noise and combinations of models, as in table 1 of Narayan & Cohen (2015)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.features.noise import NoiseKind
from lpcfg.estimators.noisy_models import NoisyModels
from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.evaluation.scores import evaluate
from lpcfg.experiments.trials import Trial, digest
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load
from lpcfg.io.replacing import write_text
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.joint_parser import joint_parser
from lpcfg.parsing.parser import Parser
from lpcfg.parsing.tree_coverage import tree_coverage
from lpcfg.reranking.candidates import oracle_f1
from lpcfg.reranking.reranker import Reranker
from lpcfg.reranking.subsets import rerank_subsets
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = ["COMBINATIONS", "noise_trials"]

#: The ways to combine models: MaxTre, MaxMrg and MaxEnt in the paper.
COMBINATIONS = ("tree coverage", "marginal coverage", "reranking")

_COVERAGE, _MARGINALS, _RERANKING = COMBINATIONS

Measured: TypeAlias = dict[str, float | None]


def noise_trials(
    family: NoisyModels,
    treebank: Treebank,
    gold: Sequence[Tree],
    folder: Path,
    reranker: Reranker | None = None,
) -> Iterator[Trial]:
    """Trials that combine models: of each kind of noise, of all kinds, and without noise.

    ``seeds`` are models without noise that differ by their seeds, if they do, and ``none`` is a
    single model.

    With a ``reranker``, which has the options of reranking, reranking is another combination; its
    cross-fitting takes long. If it has one candidate, it chooses among the best trees of the single
    models, as MaxEnt in the paper does; otherwise among the best trees of their combination. The
    last trial is then the hierarchy of the paper: the trees that the rerankers of each kind and of
    all kinds have chosen are combined by tree coverage.

    Models and the trees of rerankers are kept in the folder. Models are parsed with once for all
    trials, also in each fold of the rerankers, and share pruned charts.

    >>> from lpcfg import ClusteringEstimator
    >>> gold = [Tree("NN", "rain")]
    >>> family = NoisyModels(ClusteringEstimator())
    >>> trials = noise_trials(family, Treebank.from_trees(gold), gold, Path("models"))
    >>> [(trial.settings["noise"], trial.settings["models"]) for trial in trials]
    [('dropout', 20), ('add', 20), ('mul', 20), ('all', 60), ('seeds', 20), ('none', 1)]
    """
    groups: dict[str, tuple[NoiseKind | None, ...]] = {kind: (kind,) for kind in family.kinds}
    if len(family.kinds) > 1:
        groups["all"] = tuple(family.kinds)
    if family.estimator.draws_numbers:
        groups["seeds"] = (None,)
    groups["none"] = ()
    inputs = (replace(family, kinds=()), treebank.digest, list(map(str, gold)), reranker)
    models = _Models(family, treebank, gold, folder, groups, reranker, digest(*inputs, groups))

    def trial(noise: str, count: int, key: object, measure: Callable[[], Measured]) -> Trial:
        # Models and folds are the jobs: trials share models, which are trained once.
        return Trial({"noise": noise, "models": count}, digest(*inputs, key), measure, True)

    for name, kinds in groups.items():
        yield trial(name, family.models * len(kinds) or 1, kinds, partial(models.combined, name))
    if reranker is not None and "all" in groups:
        names = [*family.kinds, "all"]
        measure = partial(models.hierarchy, names)
        yield trial("hierarchy", family.models * len(family.kinds), names, measure)


@dataclass
class _Models:
    """The models of a table, and what its rows share.

    ``groups``: the kinds of noise whose models each row combines; None for models that differ by
    their seeds, and no kinds for a single model.
    ``inputs``: a digest of everything that the trees of rerankers depend on.
    """

    family: NoisyModels
    treebank: Treebank
    gold: Sequence[Tree]
    folder: Path
    groups: Mapping[str, Sequence[NoiseKind | None]]
    reranker: Reranker | None
    inputs: str
    charts: ChartCache = field(default_factory=ChartCache)
    #: The best trees of single models, by their files.
    single: dict[Path | None, tuple[Tree, ...]] = field(default_factory=dict)

    def combined(self, name: str) -> Measured:
        """F1 of the models of a row, single and combined, and of the oracle over their trees."""
        models: list[tuple[Path | None, Grammar]] = [
            (file, load(file)) for kind in self.groups[name] for file in self._files(kind)
        ]
        models = models or [(None, self.family.estimator.fit(self.treebank).grammar_)]
        alone = [self._trees(file, grammar) for file, grammar in models]
        candidates = list(zip(*alone, strict=True))
        n_jobs = self.family.n_jobs
        joint = joint_parser([grammar for _, grammar in models], n_jobs=n_jobs, charts=self.charts)
        f1: Measured = {
            "mean of single": float(np.mean([self._f1(trees) for trees in alone])),
            _COVERAGE: self._f1(tree_coverage(candidates, n_jobs)),
            _MARGINALS: evaluate_parser(joint, self.gold).scores.f1,
        }
        if self.reranker is not None:
            f1[_RERANKING] = self._f1(self._reranked()[name])
        return {**f1, "oracle": oracle_f1(candidates, self.gold)}

    def hierarchy(self, names: Sequence[str]) -> Measured:
        """Tree coverage of the trees that the rerankers of some rows have chosen."""
        reranked = self._reranked()
        candidates = list(zip(*(reranked[name] for name in names), strict=True))
        return {
            "mean of single": None,
            **dict.fromkeys(COMBINATIONS),
            _COVERAGE: self._f1(tree_coverage(candidates, self.family.n_jobs)),
            "oracle": oracle_f1(candidates, self.gold),
        }

    def _f1(self, trees: Sequence[Tree]) -> float:
        return evaluate(self.gold, trees).f1

    def _models(self, kind: NoiseKind | None) -> NoisyModels:
        """The models of a kind of noise, or those that differ by their seeds."""
        if kind is None:
            return replace(self.family, kinds=("add",), sigmas=(0.0,))
        return replace(self.family, kinds=(kind,))

    def _files(self, kind: NoiseKind | None) -> list[Path]:
        return self._models(kind).train(self.treebank, self.folder / (kind or "seeds"))

    def _trees(self, file: Path | None, grammar: Grammar) -> tuple[Tree, ...]:
        """The best trees of a single model."""
        if file not in self.single:
            parser = Parser(grammar, n_jobs=self.family.n_jobs, charts=self.charts)
            self.single[file] = evaluate_parser(parser, self.gold).trees
        return self.single[file]

    def _reranked(self) -> dict[str, list[Tree]]:
        """The trees that the reranker of each row chooses, from the folder if it has them."""
        file = self.folder / "reranked.json"
        stored = json.loads(file.read_text("utf-8")) if file.exists() else {}
        if stored.get("inputs") != self.inputs:
            lines = {name: list(map(str, trees)) for name, trees in self._rerank().items()}
            stored = {"inputs": self.inputs, "trees": lines}
            write_text(file, json.dumps(stored))
        return {name: list(map(Tree.from_string, own)) for name, own in stored["trees"].items()}

    def _rerank(self) -> dict[str, list[Tree]]:
        assert self.reranker is not None  # otherwise there are no rows that need it
        plain = self.family.estimator
        members: dict[NoiseKind | None, list[tuple[Estimator, Grammar]]] = {
            kind: [
                (member.alone(), load(file))
                for member, file in zip(
                    self._models(kind).members(), self._files(kind), strict=True
                )
            ]
            for kind in dict.fromkeys(chain(*self.groups.values()))
        }
        rows = {
            name: list(chain(*(members[kind] for kind in kinds)))
            or [(plain, plain.fit(self.treebank).grammar_)]
            for name, kinds in self.groups.items()
        }
        if self.reranker.candidates > 1:
            parsers = list(rows.values())
            subsets = [[number] for number in range(len(parsers))]
        else:
            numbers = {id(model): model for row in rows.values() for model in row}
            parsers = [[model] for model in numbers.values()]
            places = {key: number for number, key in enumerate(numbers)}
            subsets = [[places[id(model)] for model in row] for row in rows.values()]
        chosen = rerank_subsets(
            replace(self.reranker, estimators=[tuple(e for e, _ in group) for group in parsers]),
            [[grammar for _, grammar in group] for group in parsers],
            self.treebank,
            subsets,
            [tree.words() for tree in self.gold],
        )
        return dict(zip(rows, chosen, strict=True))
