"""A conditional random field over the spans and rules of a tree."""

from lpcfg.estimators.crf.estimator import CRFEstimator
from lpcfg.estimators.crf.parser import CRFParser

__all__ = [
    "CRFEstimator",
    "CRFParser",
]
