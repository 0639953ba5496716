"""One parser for several grammars: the models of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from lpcfg.formats.dependencies import Dependencies, loaded_dependencies
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing._ensemble_members import default_weight
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.options import MAX_LENGTH, MEMORY, Pruning, timeout_share
from lpcfg.parsing.parser import Parser

__all__ = ["joint_parser"]


def joint_parser(
    grammars: Sequence[Grammar],
    *,
    classes: Sequence[Sequence[int]] | None = None,
    decoder: str = "max-f1",
    combine: str = "posteriors",
    prune: Pruning | float | None = Pruning(),  # noqa: B008 - an immutable default
    memory: int = MEMORY,
    max_length: int | None = MAX_LENGTH,
    timeout: float | None = None,
    n_jobs: int = -1,
    dependencies: Dependencies | str | PathLike[str] | None = None,
    charts: ChartCache | None = None,
) -> Parser | Ensemble:
    r"""One parser for several grammars: an ensemble, unless they have the same backbone.

    ``classes`` are groups of indices of grammars that share a chart, by default as large as
    possible; see :func:`~lpcfg.grammar.backbone.backbone_classes`. The other arguments are as for
    :class:`~lpcfg.Parser`; the parsers of an ensemble share the time of a sentence.

    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> [type(joint_parser([rain] * count)).__name__ for count in (1, 2)]
    ['Parser', 'Ensemble']
    """
    if classes is None:
        classes = backbone_classes(grammars)
    # A network is the best model, and the first member closes spans for the others.
    classes = sorted(classes, key=lambda group: grammars[group[0]].neural_weights is None)
    dependencies = loaded_dependencies(dependencies)
    parsers = [
        Parser(
            [grammars[index] for index in group],
            decoder=decoder,
            combine=combine,
            prune=prune,
            memory=memory,
            max_length=max_length,
            timeout=timeout_share(timeout, len(classes)),
            n_jobs=n_jobs,
            dependencies=dependencies,
            charts=charts,
        )
        for group in classes
    ]
    if len(parsers) == 1:
        return parsers[0]
    weights = [sum(default_weight(grammars[index]) for index in group) for group in classes]
    return Ensemble(parsers, combine=combine, weights=weights, n_jobs=n_jobs)
