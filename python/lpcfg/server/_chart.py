"""What each pass over the chart of a sentence keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.marginals import MarginalTable
from lpcfg.parsing.options import Pruning
from lpcfg.parsing.parser import Parser

__all__ = ["ChartView"]

#: The largest number of labels that are listed for a span.
_LABELS = 6


class ChartView:
    """The spans of a sentence with the labels that are left after each pass.

    The passes are run one by one: the coarse pass and the PCFG pass with nothing pruned after the
    latter give what the coarse pass keeps, the parser itself what is kept in the end.
    """

    def __init__(self, parser: BaseParser) -> None:
        self.coarse: Parser | None = None
        if isinstance(parser, Parser) and parser.grammar.coarse is not None:
            backbone = replace(parser.grammar, latent=None, crf_weights=None, neural_weights=None)
            self.coarse = Parser(
                backbone,
                prune=Pruning(parser.prune.coarse, 0.0, parser.prune.spans),
                memory=parser.memory,
                n_jobs=parser.n_jobs,
            )

    def as_json(self, words: Sequence[str], marginals: MarginalTable) -> dict[str, Any]:
        """The cells of the triangle in which a label is left after the first pass.

        ``first``: the number of labels after the first pass, None if there is no coarse pass.
        ``labels``: the most probable labels in the end. ``count``: the number of them all.
        """
        kept = _labels_by_span(marginals)
        first = {}
        if self.coarse is not None:
            first = _labels_by_span(self.coarse.marginals(words=words))
        cells = []
        for span in sorted(kept.keys() | first.keys()):
            labels = sorted(kept.get(span, ()), key=lambda label: -label[1])
            cells.append(
                {
                    "start": span[0],
                    "end": span[1],
                    "first": len(first.get(span, ())) if self.coarse is not None else None,
                    "count": len(labels),
                    "labels": [[label, round(p, 6)] for label, p in labels[:_LABELS]],
                }
            )
        return {"passes": 1 if self.coarse is None else 2, "cells": cells}


def _labels_by_span(marginals: MarginalTable) -> dict[tuple[int, int], list[tuple[str, float]]]:
    spans: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for start, end, label, probability, _ in marginals.tolist():
        spans[start, end].append((label, probability))
    return spans
