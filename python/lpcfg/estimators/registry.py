"""All estimators by name, for the command line, experiments and rerankers."""

from __future__ import annotations

from collections.abc import Mapping

from lpcfg.errors import InputError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.clustering.estimator import ClusteringEstimator
from lpcfg.estimators.crf.estimator import CRFEstimator
from lpcfg.estimators.em.estimator import EMEstimator
from lpcfg.estimators.em.split_merge import SplitMergeEstimator
from lpcfg.estimators.neural.estimator import NeuralEstimator
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.pivot.estimator import PivotEstimator
from lpcfg.estimators.spectral.estimator import SpectralEstimator

__all__ = [
    "DEFAULT_ESTIMATOR",
    "ESTIMATORS",
    "LATENT_ESTIMATORS",
    "estimator_class",
    "make_estimator",
]

#: The classes of all estimators, by name. A new estimator is added here.
ESTIMATORS: Mapping[str, type[Estimator]] = {
    estimator.name: estimator
    for estimator in (
        PCFGEstimator,
        SpectralEstimator,
        ClusteringEstimator,
        PivotEstimator,
        EMEstimator,
        SplitMergeEstimator,
        CRFEstimator,
        NeuralEstimator,
    )
}

#: The names of the estimators of latent states.
LATENT_ESTIMATORS = (
    SpectralEstimator.name,
    ClusteringEstimator.name,
    PivotEstimator.name,
    EMEstimator.name,
    SplitMergeEstimator.name,
)

#: The estimator of ``lpcfg train`` unless another is named: the best F1 for seconds of training.
#: F1 on GUM dev and CRAFT dev, and seconds of CPU time for training: spectral 84.87 in 3 s and
#: 83.33 in 5 s; split-merge 84.07 in 8 s and 83.15 in 20 s; crf, to the left, 84.66 in 16 s and, to
#: the right, 83.57 in 29 s; pcfg 80.98 in 1 s (GUM).
DEFAULT_ESTIMATOR = SpectralEstimator.name


def estimator_class(name: str) -> type[Estimator]:
    """The class of an estimator.

    >>> estimator_class("em").__name__
    'EMEstimator'
    >>> print(estimator_class("split-merge").description)
    latent states by splitting, EM and merging
    """
    if name not in ESTIMATORS:
        raise InputError(
            f"there is no estimator {name!r}; there are {', '.join(ESTIMATORS)}",
            argument="estimator",
        )
    return ESTIMATORS[name]


def make_estimator(name: str, **parameters: object) -> Estimator:
    """An estimator by its name, with some parameters, or parts of them as in ``lexicon__rare``.

    >>> make_estimator("spectral", states=(4, 4), lexicon__rare=3)
    SpectralEstimator(states=(4, 4), lexicon=LexiconOptions(rare=3))
    """
    return estimator_class(name)().set_params(**parameters)
