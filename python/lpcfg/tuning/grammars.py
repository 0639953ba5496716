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
from lpcfg.experiments.trials import digest
from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.treebank import Treebank

__all__ = ["GrammarCache"]

#: The number of decompositions that are kept: each takes some hundred bytes for every node.
_KEPT = 4

Part = TypeVar("Part", SpectralDecomposition, ProjectedTreebank)


class GrammarCache:
    """Estimates grammars from one treebank, and keeps the last decompositions.

    A decomposition is found by everything that it depends on: the class of the estimator, and all
    parameters that are used before or by the SVD.

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
        self.treebank = treebank
        self.largest = largest
        #: The number of decompositions that were computed.
        self.decompositions = 0
        self._kept: OrderedDict[str, Any] = OrderedDict()
        # A worker of dask may run several trials at once; one computes what the others wait for.
        self._lock = Lock()

    def grammar(self, estimator: Estimator) -> Grammar:
        """The grammar of an estimator."""
        estimator.validate()
        if not isinstance(estimator, ProjectingEstimator):
            return estimator.estimate(self.treebank)
        if isinstance(estimator, SpectralEstimator) and estimator.noise is None:
            widest = estimator.with_params(**self.largest)
            decomposition = self._part(widest, lambda: widest.decompose(self.treebank))
            changed = {name: getattr(estimator, name) for name in HYPERPARAMETERS}
            return decomposition.grammar(**changed)
        projected = self._part(estimator, lambda: estimator.project(self.treebank))
        return estimator.estimate_projected(projected)

    def _part(self, estimator: ProjectingEstimator, compute: Callable[[], Part]) -> Part:
        """What the SVD of an estimator gives, from the cache or new."""
        key = digest(
            type(estimator).__name__,
            estimator.features,
            estimator.kappa,
            estimator.cutoff,
            estimator.head_rules,
            estimator.lexicon,
            estimator.random_state,
            estimator.ranks(self.treebank).tolist(),
        )
        with self._lock:
            if key not in self._kept:
                while len(self._kept) >= _KEPT:
                    self._kept.popitem(last=False)
                self._kept[key] = compute()
                self.decompositions += 1
            self._kept.move_to_end(key)
            part: Part = self._kept[key]
        return part
