"""A neural classifier of spans over a recurrent encoder (del Canto 2021; Stern et al. 2017)."""

from lpcfg.estimators.neural.estimator import NeuralEstimator

__all__ = ["NeuralEstimator"]
