"""The trees and the English model that come with the package."""

from lpcfg.datasets.embedded import embedded_models, embedded_rules, embedded_trees

__all__ = [
    "embedded_models",
    "embedded_rules",
    "embedded_trees",
]
