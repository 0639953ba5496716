"""Learning from trees and from text without trees: self-training."""

from lpcfg.semi_supervised.self_training import SelfTrainingEstimator, label_text, mixed_treebank

__all__ = ["SelfTrainingEstimator", "label_text", "mixed_treebank"]
