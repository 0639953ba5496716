"""Pruned charts that parsers share."""

from __future__ import annotations

from functools import partial

from lpcfg import _core
from lpcfg.parsing.options import check_memory

__all__ = ["ChartCache"]


class ChartCache:
    """Pruned charts, for parsers with the same backbone that parse the same sentences.

    The coarse and the PCFG pass take most of the time of a parse, and do not depend on latent
    states. Parsers that are given the same cache run them once for each sentence, so the second
    parser of the same sentences takes a fraction of the time. Results are the same as without a
    cache: charts are found by everything that they depend on, which is the rules and words of the
    backbone with their probabilities, the sentence, the pruning thresholds and the memory limit.

    ``memory``: the number of bytes that charts may take in sum, by default a gigabyte. When they
    take as much, no more are added or, with ``replace``, new ones replace the oldest ones: for
    parsers that take turns, batch by batch, instead of one after the other.

    >>> from lpcfg import Parser, SpectralEstimator, Treebank, embedded_trees
    >>> decomposition = SpectralEstimator().decompose(Treebank.from_trees(embedded_trees()))
    >>> charts = ChartCache()
    >>> for ridge in (0.2, 0.4):
    ...     parser = Parser(decomposition.grammar(ridge=ridge), charts=charts)
    ...     tree = parser.parse(words="The dog saw him .".split())
    ...     print(len(charts))
    1
    1
    """

    def __init__(self, memory: int = 1 << 30, *, replace: bool = False) -> None:
        check_memory(memory)
        self.memory = memory
        self.replace = replace
        self.core = _core.ChartCache(memory=memory, replace=replace)

    def __len__(self) -> int:
        return len(self.core)

    def __reduce__(self) -> tuple[partial[ChartCache], tuple[int]]:
        # A copy in another process starts empty.
        return partial(type(self), replace=self.replace), (self.memory,)

    def __repr__(self) -> str:
        return f"<ChartCache: {len(self)} charts, {self.core.bytes / 1e6:.1f} MB>"
