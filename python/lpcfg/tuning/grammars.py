"""Grammars of many similar estimators: what they have in common is computed once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TypeVar

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.spectral.decomposition import HYPERPARAMETERS, SpectralDecomposition
from lpcfg.estimators.spectral.estimator import SpectralEstimator
from lpcfg.estimators.transformed import Transformed
from lpcfg.experiments.trials import digest
from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["GrammarCache"]

#: The number of decompositions that are kept: each takes some hundred bytes for every node.
_KEPT = 4

Part = TypeVar("Part", SpectralDecomposition, ProjectedTreebank)


class GrammarCache:
    """Estimates grammars from one treebank, and keeps the last decompositions.

    A decomposition is found by everything that it depends on: the class of the estimator, all
    parameters that are used before or by the SVD, and the tree transform. The treebank is kept in
    every transform that was asked for.

    ``largest``: the parameters of the largest models that will be asked for. A spectral
    decomposition has their rank, and all grammars are cut from it.

    >>> from lpcfg import Tree
    >>> cache = GrammarCache(Treebank.from_trees([Tree("NN", "rain")]), {})
    >>> for ridge in (0.1, 0.7):
    ...     print(cache.grammar(SpectralEstimator(ridge=ridge)).tags, cache.decompositions)
    ('NN',) 1
    ('NN',) 1
    """

    def __init__(self, treebank: Treebank, largest: Mapping[str, Any]) -> None:
        self.treebanks = {treebank.transform: treebank}
        self.transform = treebank.transform
        self.largest = largest
        #: The number of decompositions that were computed.
        self.decompositions = 0
        self._kept: OrderedDict[str, Any] = OrderedDict()
        # A worker of dask may run several trials at once; one computes what the others wait for.
        self._lock = Lock()

    def grammar(self, estimator: Estimator) -> Grammar:
        """The grammar of an estimator, which may have another tree transform."""
        transform = self.transform
        if isinstance(estimator, Transformed):
            transform, estimator = estimator.transform, estimator.estimator
        estimator.validate()
        treebank = self._treebank(transform)
        if not isinstance(estimator, ProjectingEstimator):
            return estimator.estimate(treebank)
        if isinstance(estimator, SpectralEstimator) and estimator.noise is None:
            widest = estimator.with_params(**self.largest)
            decomposition = self._part(widest, treebank, lambda: widest.decompose(treebank))
            changed = {name: getattr(estimator, name) for name in HYPERPARAMETERS}
            return decomposition.grammar(**changed)
        projecting = estimator
        projected = self._part(projecting, treebank, lambda: projecting.project(treebank))
        return projecting.estimate_projected(projected)

    def _treebank(self, transform: Transform) -> Treebank:
        with self._lock:
            if transform not in self.treebanks:
                original = self.treebanks[self.transform]
                self.treebanks[transform] = original.transformed(transform)
            return self.treebanks[transform]

    def _part(
        self, estimator: ProjectingEstimator, treebank: Treebank, compute: Callable[[], Part]
    ) -> Part:
        """What the SVD of an estimator gives, from the cache or new."""
        record = estimator.provenance_params()
        for name in _later_parameters(estimator):
            record.pop(name, None)
        # Values tell functions and seeds apart, of which records have names and sizes alone.
        values = {name: getattr(estimator, name) for name in record}
        ranks = estimator.ranks(treebank).tolist()
        key = digest(estimator.name, record, values, ranks, treebank.transform)
        with self._lock:
            if key not in self._kept:
                while len(self._kept) >= _KEPT:
                    self._kept.popitem(last=False)
                self._kept[key] = compute()
                self.decompositions += 1
            self._kept.move_to_end(key)
            part: Part = self._kept[key]
        return part


def _later_parameters(estimator: ProjectingEstimator) -> set[str]:
    """The parameters that are used after the SVD, apart from what decides its ranks."""
    if isinstance(estimator, SpectralEstimator):
        return {"noise", *HYPERPARAMETERS}
    # Projections are computed by the base class, which knows its own parameters alone.
    return {"noise"} | (estimator.parameters().keys() - ProjectingEstimator.parameters().keys())
