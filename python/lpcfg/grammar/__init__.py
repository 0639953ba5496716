"""The grammar type that every estimator makes and every parser reads."""

from lpcfg.grammar.crf_weights import SurfaceWeights
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.grammar.sampling import sample_trees

__all__ = [
    "Grammar",
    "LatentStates",
    "SurfaceWeights",
    "sample_trees",
]
