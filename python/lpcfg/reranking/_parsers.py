"""The parsers of a reranker: their grammars, and the k-best lists that they propose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.shared_projections import fit_each
from lpcfg.formats.dependencies import loaded_dependencies
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.base import BaseParser, Tags
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.joint_parser import joint_parser
from lpcfg.parsing.member_parses import analyze_with_each
from lpcfg.parsing.options import timeout_share
from lpcfg.reranking.candidates import Candidates, merge_candidates
from lpcfg.treebank.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.reranking.reranker import Reranker

__all__ = ["Classes", "fit_groups", "make_parsers", "propose_to_each"]

#: For each parser, the groups of its grammars that share a chart.
Classes: TypeAlias = Sequence[Sequence[Sequence[int]]]


def fit_groups(
    estimators: Sequence[Estimator | Sequence[Estimator]], treebank: Treebank
) -> list[list[Grammar]]:
    """The grammars of each parser; an estimator that occurs twice is fitted once."""
    groups = [group if isinstance(group, Sequence) else (group,) for group in estimators]
    grammars = iter(fit_each(chain(*groups), treebank))
    return [[next(grammars) for _ in group] for group in groups]


def make_parsers(
    reranker: Reranker, grammars: Sequence[Sequence[Grammar]], classes: Classes
) -> list[BaseParser]:
    """A parser for each group of grammars, with the options of the reranker."""
    # Parsers take turns at each batch of sentences.
    charts = ChartCache(replace=True) if len(grammars) > 1 else None
    dependencies = loaded_dependencies(reranker.dependencies)
    return [
        joint_parser(
            group,
            classes=group_classes,
            decoder=reranker.decoder,
            prune=reranker.prune,
            memory=reranker.memory,
            max_length=reranker.max_length,
            timeout=timeout_share(reranker.timeout, len(grammars)),
            n_jobs=reranker.n_jobs,
            charts=charts,
            dependencies=dependencies,
        )
        for group, group_classes in zip(grammars, classes, strict=True)
    ]


def propose_to_each(
    parsers: Sequence[BaseParser],
    subsets: Sequence[Sequence[int]],
    tags: Iterable[Tags] | None = None,
    *,
    words: Iterable[Sequence[str]] | None,
    candidates: int,
    batch_size: int,
) -> Iterator[list[Candidates]]:
    """For each sentence, the merged k-best lists of each subset of the parsers, lazily.

    Each parser parses a sentence once.
    """
    all_parses = analyze_with_each(
        [parser.analyze_with_members for parser in parsers],
        tags,
        words,
        candidates=candidates,
        batch_size=batch_size,
    )
    for several in all_parses:
        yield [
            # The parse of an ensemble comes before the parses of its members, which are scored too.
            merge_candidates(
                [parse for number in subset for parse in reversed(several[number])],
                whole=[several[number][-1] for number in subset],
            )
            for subset in subsets
        ]
