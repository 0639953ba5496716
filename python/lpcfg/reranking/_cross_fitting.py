"""Cross-fitting of a reranker: the training data of each fold, here or as jobs of a backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from lpcfg.estimators.base import Estimator
from lpcfg.jobs import Shared, backend_is_chosen, run_jobs, worker_threads
from lpcfg.reranking._model import RerankerSamples
from lpcfg.treebank.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.reranking.reranker import Reranker

__all__ = ["cross_fitted"]

Classes: TypeAlias = Sequence[Sequence[Sequence[int]]]


@dataclass(frozen=True)
class _CrossFitting:
    """What the jobs of all folds share."""

    reranker: Reranker
    treebank: Treebank
    classes: Classes


def cross_fitted(
    reranker: Reranker, treebank: Treebank, classes: Classes
) -> Iterator[RerankerSamples]:
    """The training data of all folds, in their order."""
    folds = reranker.progress(range(reranker.folds))
    if not backend_is_chosen():
        for fold in folds:
            yield reranker.fold_samples(treebank, classes, fold)
        return
    jobs = replace(reranker, estimators=_for_workers(reranker.estimators), progress=iter)
    shared = Shared.of(_CrossFitting(jobs, treebank, classes))
    finished = {}
    for (fold, samples), _ in zip(
        run_jobs(_fold_samples, range(reranker.folds), shared), folds, strict=False
    ):
        finished[fold] = samples
    yield from (finished[fold] for fold in sorted(finished))


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


def _fold_samples(shared: _CrossFitting, fold: int) -> RerankerSamples:
    # A copy, because fitting changes it, and a worker may have several threads.
    reranker = replace(shared.reranker, n_jobs=worker_threads())
    return reranker.fold_samples(shared.treebank, shared.classes, fold)
