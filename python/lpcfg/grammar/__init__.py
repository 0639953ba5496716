"""Grammars: the type that estimators return and parsers use, hand-written grammars, sampling."""

from lpcfg.grammar.crf_weights import CRFWeights
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.grammar.sampling import sample_trees

__all__ = [
    "CRFWeights",
    "Grammar",
    "LatentStates",
    "sample_trees",
]
