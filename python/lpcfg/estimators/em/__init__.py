"""Expectation maximisation over trees, and split-merge training (Petrov et al. 2006)."""

from lpcfg.estimators.em.estimator import EMEstimator
from lpcfg.estimators.em.smoothing import Smoothing
from lpcfg.estimators.em.split_merge import SplitMergeEstimator

__all__ = [
    "EMEstimator",
    "Smoothing",
    "SplitMergeEstimator",
]
