"""L-PCFGs whose latent states are clusters of nodes (Narayan & Cohen 2015)."""

from lpcfg.estimators.clustering.estimator import ClusteringEstimator

__all__ = [
    "ClusteringEstimator",
]
