"""Estimators of grammars: from a treebank to a PCFG, an L-PCFG, a CRF or a network."""

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.clustering import ClusteringEstimator
from lpcfg.estimators.crf import CRFEstimator, CRFParser
from lpcfg.estimators.em import EMEstimator, Smoothing, SplitMergeEstimator
from lpcfg.estimators.features import Noise
from lpcfg.estimators.neural import NeuralEstimator
from lpcfg.estimators.noisy_models import NoisyModels
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.pivot import PivotEstimator
from lpcfg.estimators.registry import ESTIMATORS, make_estimator
from lpcfg.estimators.spectral import SpectralDecomposition, SpectralEstimator
from lpcfg.estimators.transformed import Transformed

__all__ = [
    "ESTIMATORS",
    "CRFEstimator",
    "CRFParser",
    "ClusteringEstimator",
    "EMEstimator",
    "Estimator",
    "NeuralEstimator",
    "Noise",
    "NoisyModels",
    "PCFGEstimator",
    "PivotEstimator",
    "Smoothing",
    "SpectralDecomposition",
    "SpectralEstimator",
    "SplitMergeEstimator",
    "Transformed",
    "make_estimator",
]
