"""What each pass over the chart of a sentence keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.marginals import MarginalTable
from lpcfg.parsing.options import Pruning
from lpcfg.parsing.parser import Parser

__all__ = ["ChartView"]

#: The largest number of labels that are listed for a span.
_LABELS = 6
#: Seconds for what the coarse pass keeps: with nothing pruned after it, a sentence for which
#: pruning had to be loosened takes many times as long as its parse.
_SECONDS = 0.5


class ChartView:
    """The spans of a sentence with the labels that are left after each pass.

    The passes are run one by one: the coarse pass and the PCFG pass with nothing pruned after the
    latter give what the coarse pass keeps, the parser itself what is kept in the end.
    """

    def __init__(self, parser: BaseParser) -> None:
        self.coarse: Parser | None = None
        if (
            isinstance(parser, Parser)
            and parser.grammar.coarse is not None
            # A network scores all spans, without a chart that is pruned.
            and parser.grammar.neural_weights is None
        ):
            backbone = replace(parser.grammar, latent=None, crf_weights=None)
            self.coarse = Parser(
                backbone,
                prune=Pruning(parser.prune.coarse, 0.0, parser.prune.spans),
                memory=parser.memory,
                timeout=_SECONDS,
                n_jobs=parser.n_jobs,
            )

    def as_json(self, words: Sequence[str], marginals: MarginalTable) -> dict[str, Any]:
        """The cells of the triangle in which a label is left after the first pass.

        ``first``: the number of labels after the first pass, None if there is no coarse pass or
        the time for it was not enough.
        ``labels``: the most probable labels in the end. ``count``: the number of them all.
        """
        kept = _labels_by_span(marginals)
        first = self._after_coarse_pass(words)
        cells = []
        for span in sorted(kept.keys() | (first or {}).keys()):
            labels = sorted(kept.get(span, ()), key=lambda label: -label[1])
            cells.append(
                {
                    "start": span[0],
                    "end": span[1],
                    "first": None if first is None else first.get(span, 0),
                    "count": len(labels),
                    "labels": [[label, round(p, 6)] for label, p in labels[:_LABELS]],
                }
            )
        return {"passes": 1 if first is None else 2, "cells": cells}

    def _after_coarse_pass(self, words: Sequence[str]) -> dict[tuple[int, int], int] | None:
        """The number of labels of each span that has any."""
        if self.coarse is None:
            return None
        parse = self.coarse.analyze(words=words, marginals=True)
        if parse.status == "timeout":
            return None
        assert parse.marginals is not None
        spans = np.stack([parse.marginals["start"], parse.marginals["end"]], axis=1)
        found, counts = np.unique(spans, axis=0, return_counts=True)
        return dict(zip(map(tuple, found.tolist()), counts.tolist(), strict=True))


def _labels_by_span(marginals: MarginalTable) -> dict[tuple[int, int], list[tuple[str, float]]]:
    spans: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for start, end, label, probability, _ in marginals.tolist():
        spans[start, end].append((label, probability))
    return spans
