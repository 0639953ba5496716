"""The parser of the core for some grammars."""

from __future__ import annotations

from collections.abc import Sequence

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.charts import ChartCache

__all__ = ["build_core"]


def build_core(
    grammars: Sequence[Grammar], charts: ChartCache | None, n_jobs: int
) -> _core.Parser | _core.NeuralParser:
    """A chart parser or, for a grammar with a neural network, a parser that needs no rules."""
    first, *others = grammars
    if first.neural_core is not None:
        return _core.NeuralParser(first.neural_core, threads=thread_count(n_jobs))
    return _core.Parser(
        first.core,
        [grammar.core for grammar in others],
        threads=thread_count(n_jobs),
        crf=first.crf_core,
        span_filter=None if first.span_filter is None else first.span_filter.core,
        charts=None if charts is None else charts.core,
    )
