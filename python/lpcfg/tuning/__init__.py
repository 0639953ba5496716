"""A search for the best hyper-parameters of an estimator (Peng 2021, chapter 9)."""

from lpcfg.tuning.ensemble_weights import EnsembleWeights, learn_weights
from lpcfg.tuning.search import Tuning, tune
from lpcfg.tuning.space import Choice, Range, SearchSpace
from lpcfg.tuning.treebank_defaults import TreebankDefaults, choose_defaults

__all__ = [
    "Choice",
    "EnsembleWeights",
    "Range",
    "SearchSpace",
    "TreebankDefaults",
    "Tuning",
    "choose_defaults",
    "learn_weights",
    "tune",
]
