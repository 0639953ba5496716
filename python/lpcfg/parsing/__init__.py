"""Parsers: sentences in, trees with probabilities out."""

from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.parser import LabelledSpan, Parse, Parser, Pruning
from lpcfg.parsing.span_decoder import (
    SpanMarginals,
    SpanScores,
    SpanTree,
    decode_spans,
    span_marginals,
)

__all__ = [
    "Ensemble",
    "LabelledSpan",
    "Parse",
    "Parser",
    "Pruning",
    "SpanMarginals",
    "SpanScores",
    "SpanTree",
    "decode_spans",
    "span_marginals",
]
