"""Inside and outside features of tree nodes, and their low-dimensional projections."""

from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.features.noise import Noise
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator

__all__ = [
    "FeatureSet",
    "Noise",
    "ProjectedTreebank",
    "ProjectingEstimator",
]
