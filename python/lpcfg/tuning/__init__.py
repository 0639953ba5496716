"""A search for the best hyper-parameters of an estimator (Peng 2021, chapter 9)."""

from lpcfg.tuning.search import Tuning, tune
from lpcfg.tuning.space import Choice, Range, SearchSpace

__all__ = ["Choice", "Range", "SearchSpace", "Tuning", "tune"]
