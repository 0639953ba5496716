"""A conditional random field over the spans and rules of a tree."""

from lpcfg.estimators.crf.estimator import SpanEstimator
from lpcfg.estimators.crf.parser import SpanParser

__all__ = [
    "SpanEstimator",
    "SpanParser",
]
