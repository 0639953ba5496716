"""Embedded data: trees sampled from a hand-written grammar, and an English model."""

from lpcfg.datasets.embedded import embedded_models, embedded_rules, embedded_trees

__all__ = [
    "embedded_models",
    "embedded_rules",
    "embedded_trees",
]
