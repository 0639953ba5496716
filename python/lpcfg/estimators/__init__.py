"""Estimators of grammars: from a treebank to a PCFG, an L-PCFG or a CRF."""

from lpcfg.estimators.base import Transformed
from lpcfg.estimators.clustering import ClusteringEstimator
from lpcfg.estimators.crf import CRFEstimator, CRFParser
from lpcfg.estimators.em import EMEstimator, Smoothing, SplitMergeEstimator
from lpcfg.estimators.features import Noise
from lpcfg.estimators.noisy_models import NoisyModels
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.pivot import PivotEstimator
from lpcfg.estimators.spectral import SpectralCut, SpectralEstimator

__all__ = [
    "CRFEstimator",
    "CRFParser",
    "ClusteringEstimator",
    "EMEstimator",
    "Noise",
    "NoisyModels",
    "PCFGEstimator",
    "PivotEstimator",
    "Smoothing",
    "SpectralCut",
    "SpectralEstimator",
    "SplitMergeEstimator",
    "Transformed",
]
