"""The trees and the English model that come with the package."""

from lpcfg.datasets.embedded import default_model, embedded_rules, embedded_trees

__all__ = [
    "default_model",
    "embedded_rules",
    "embedded_trees",
]
