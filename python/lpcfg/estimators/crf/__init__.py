"""A grammar-based conditional random field over trees (Hall et al. 2014)."""

from lpcfg.estimators.crf.estimator import CRFEstimator, TrainingWarning
from lpcfg.estimators.crf.parser import CRFParser

__all__ = [
    "CRFEstimator",
    "CRFParser",
    "TrainingWarning",
]
