"""Grammars of several estimators, which share what does not depend on noise."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import replace

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.treebank.treebank import Treebank

__all__ = ["fit_each"]


def fit_each(estimators: Iterable[Estimator], treebank: Treebank) -> list[Grammar]:
    """The grammar of each estimator, which itself stays as it is.

    Estimators that differ by noise alone share the PCFG and the projections; one that occurs twice
    is fitted once.

    >>> from lpcfg import ClusteringEstimator, Tree
    >>> from lpcfg.estimators.features.noise import Noise
    >>> estimators = [ClusteringEstimator(noise=Noise("add", sigma)) for sigma in (0.1, 0.2)]
    >>> grammars = fit_each(estimators, Treebank.from_trees([Tree("NN", "rain")]))
    >>> [str(grammar.provenance["noise"]["sigma"]) for grammar in grammars]
    ['0.1', '0.2']
    """
    projections: dict[str, ProjectedTreebank] = {}

    def fitted(estimator: Estimator) -> Grammar:
        if not isinstance(estimator, ProjectingEstimator):
            return copy.copy(estimator).fit(treebank).grammar_
        estimator.validate()
        record = replace(estimator, noise=None).provenance_params()
        key = json.dumps([estimator.name, record], sort_keys=True)
        if key not in projections:
            projections[key] = estimator.project(treebank)
        return estimator.estimate_projected(projections[key])

    grammars: dict[int, Grammar] = {}
    found = []
    for estimator in estimators:
        if id(estimator) not in grammars:
            grammars[id(estimator)] = fitted(estimator)
        found.append(grammars[id(estimator)])
    return found
