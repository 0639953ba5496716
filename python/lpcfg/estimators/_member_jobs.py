"""The models of a family as jobs for other processes or machines."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import TypeAlias

from lpcfg._threads import one_thread
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.jobs import Shared, run_jobs
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["run_members"]

Member: TypeAlias = tuple[ProjectingEstimator, Transform | None]
Banks: TypeAlias = Mapping[Transform | None, Treebank]


class _WorkerTreebanks:
    """The treebanks of a family in a worker, and the projections that it has used last."""

    def __init__(self, banks: Banks) -> None:
        self._banks = banks
        self._lock = Lock()
        self._last: tuple[object, ProjectedTreebank] | None = None

    def projected(
        self, estimator: ProjectingEstimator, transform: Transform | None
    ) -> ProjectedTreebank:
        variant = (transform, estimator.features)
        with self._lock:
            if self._last is None or self._last[0] != variant:
                self._last = (variant, estimator.project(self._banks[transform]))
            return self._last[1]


def run_members(banks: Banks, members: Sequence[Member]) -> Iterator[tuple[int, Grammar]]:
    """Estimate the grammars of members on joblib's backend; yield their numbers and grammars.

    Treebanks travel once to each worker.
    """
    variants = [(transform, estimator.features) for estimator, transform in members]
    # One variant after the other, so that a worker seldom needs other projections.
    order = sorted(range(len(members)), key=lambda number: variants.index(variants[number]))
    shared = Shared(_load, pickle.dumps(dict(banks)))
    for place, grammar in run_jobs(_estimate, (members[number] for number in order), shared):
        yield order[place], grammar


def _load(payload: bytes) -> _WorkerTreebanks:
    return _WorkerTreebanks(pickle.loads(payload))


def _estimate(banks: _WorkerTreebanks, member: Member) -> Grammar:
    estimator, transform = member
    with one_thread():
        return estimator.estimate_projected(banks.projected(estimator, transform))
