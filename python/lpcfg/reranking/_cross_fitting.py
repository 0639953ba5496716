"""Cross-fitting of a reranker: the training data of each fold, here or as jobs of a backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lpcfg.estimators.base import Estimator
from lpcfg.formats.dependencies import loaded_dependencies
from lpcfg.jobs import Shared, backend_is_chosen, run_jobs, worker_threads
from lpcfg.parsing.base import BATCH
from lpcfg.reranking._model import RerankerSamples
from lpcfg.reranking._parsers import Classes, fit_groups, make_parsers, propose_to_each
from lpcfg.treebank.head_rules import resolve_head_rules
from lpcfg.treebank.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.reranking.reranker import Reranker

__all__ = ["cross_fitted"]


@dataclass(frozen=True)
class _CrossFitting:
    """What the jobs of all folds share."""

    reranker: Reranker
    treebank: Treebank
    classes: Classes
    subsets: Sequence[Sequence[int]]

    def samples(self, fold: int) -> list[RerankerSamples]:
        """Training data from one fold, whose trees are parsed by grammars of the others."""
        reranker, treebank = self.reranker, self.treebank
        trees = treebank.trees()
        start, end = (len(trees) * bound // reranker.folds for bound in (fold, fold + 1))
        others = Treebank.from_trees(
            trees[:start] + trees[end:],
            cleaning=treebank.cleaning or False,
            transform=treebank.transform,
        )
        grammars = fit_groups(reranker.estimators, others)
        parsers = make_parsers(reranker, grammars, self.classes)
        found = _no_samples(treebank, self.subsets)
        for first in range(start, end, BATCH):
            gold = trees[first : min(first + BATCH, end)]
            proposed = propose_to_each(
                parsers,
                self.subsets,
                words=[tree.words() for tree in gold],
                candidates=reranker.candidates,
                batch_size=BATCH,
            )
            for samples, candidates in zip(found, zip(*proposed, strict=True), strict=True):
                samples.add(candidates, gold, reranker.n_jobs)
        return found


def cross_fitted(
    reranker: Reranker, treebank: Treebank, classes: Classes, subsets: Sequence[Sequence[int]]
) -> list[RerankerSamples]:
    """The training data of a reranker over each subset of the parsers, from all folds.

    The grammars of a fold are estimated once, and each of them parses the fold once.
    """
    # Read once, not for each fold.
    reranker = replace(reranker, dependencies=loaded_dependencies(reranker.dependencies))
    folds = reranker.progress(range(reranker.folds))
    if backend_is_chosen():
        jobs = replace(reranker, estimators=_for_workers(reranker.estimators), progress=iter)
        shared = Shared.of(_CrossFitting(jobs, treebank, classes, subsets))
        finished = run_jobs(_fold_samples, range(reranker.folds), shared)
        by_fold = dict(pair for pair, _ in zip(finished, folds, strict=False))
    else:
        here = _CrossFitting(reranker, treebank, classes, subsets)
        by_fold = {fold: here.samples(fold) for fold in folds}
    result = _no_samples(treebank, subsets)
    for fold in sorted(by_fold):
        for samples, others in zip(result, by_fold[fold], strict=True):
            samples.extend(others)
    return result


def _no_samples(treebank: Treebank, subsets: Sequence[Sequence[int]]) -> list[RerankerSamples]:
    heads = resolve_head_rules("auto", treebank)
    return [RerankerSamples(heads) for _ in subsets]


def _for_workers(
    estimators: Sequence[Estimator | Sequence[Estimator]],
) -> list[Estimator | Sequence[Estimator]]:
    """Copies with one thread and without progress bars; one that occurs twice stays one."""
    copies: dict[int, Estimator] = {}
    values = {"n_jobs": 1, "progress": iter}

    def copied(estimator: Estimator) -> Estimator:
        if id(estimator) not in copies:
            names = [(name, name.rpartition("__")[2]) for name in estimator.get_params()]
            changes = {name: values[last] for name, last in names if last in values}
            copies[id(estimator)] = estimator.with_params(**changes)
        return copies[id(estimator)]

    return [
        tuple(map(copied, group)) if isinstance(group, Sequence) else copied(group)
        for group in estimators
    ]


def _fold_samples(shared: _CrossFitting, fold: int) -> list[RerankerSamples]:
    reranker = replace(shared.reranker, n_jobs=worker_threads())
    return replace(shared, reranker=reranker).samples(fold)
