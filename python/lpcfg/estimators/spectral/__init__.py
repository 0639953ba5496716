"""Spectral estimation of L-PCFGs (Cohen et al. 2012, 2013; Peng 2021)."""

from lpcfg.estimators.spectral.decomposition import SpectralDecomposition
from lpcfg.estimators.spectral.estimator import SpectralEstimator

__all__ = [
    "SpectralDecomposition",
    "SpectralEstimator",
]
