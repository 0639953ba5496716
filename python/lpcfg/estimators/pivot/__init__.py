"""The pivot algorithm for L-PCFGs (Cohen & Collins 2014)."""

from lpcfg.estimators.pivot.estimator import PivotEstimator

__all__ = [
    "PivotEstimator",
]
