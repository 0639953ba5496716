"""Inspection of latent states: annotated trees, and the typical words and rules of states."""

from lpcfg.inspection.annotation import annotate_states, show_states
from lpcfg.inspection.explanation import StateExplanation, explain_states

__all__ = [
    "StateExplanation",
    "annotate_states",
    "explain_states",
    "show_states",
]
