"""Parsers: the chart parser, ensembles, the span decoder, and their results and options."""

from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.options import Pruning
from lpcfg.parsing.parse import LabelledSpan, Parse
from lpcfg.parsing.parser import Parser
from lpcfg.parsing.span_decoder import (
    SpanMarginals,
    SpanScores,
    SpanTree,
    decode_spans,
    span_marginals,
)

__all__ = [
    "BaseParser",
    "ChartCache",
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
