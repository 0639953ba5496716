"""The charts from which a conditional random field is trained."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.estimators.crf.dependency_columns import DependencyColumns, dependency_columns
from lpcfg.estimators.span_filter import training_emissions
from lpcfg.formats.dependencies import Dependencies
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.tag_factors import tag_factors
from lpcfg.parsing.options import Pruning
from lpcfg.treebank.treebank import Treebank

__all__ = ["TrainingCharts", "cross_fitting_folds"]

#: The factor on the fraction of correct spans that the span filter may close in training. It was
#: trained on the same trees and is too sure of them: with 1, charts would lack wrong trees that the
#: filter lets pass in new sentences, and F1 on GUM is half a point lower.
_CLOSED_IN_TRAINING = 0.1

#: The largest number of trees of a block of a fold, and the least number of blocks of a fold. With
#: blocks of 100 trees, where more texts are cut in two, F1 on GUM is 0.2 points lower.
_BLOCK = 300
_BLOCKS_OF_FOLD = 6


@dataclass(frozen=True)
class TrainingCharts:
    """Adds the charts of sentences to a trainer, as a grammar prunes them.

    ``prune``, ``memory``: as for a Parser.
    """

    trainer: _core.CRFTrainer
    prune: Pruning
    memory: int

    def add_gold_constrained(
        self, treebank: Treebank, grammar: Grammar, dependencies: Dependencies | None
    ) -> int:
        """Add charts that keep all nodes of the gold trees; returns how many were too large.

        ``grammar``: a PCFG that was estimated from these trees.
        """
        return self._add(
            treebank,
            grammar,
            dependencies,
            emissions=training_emissions(treebank, grammar.lexicon),
            span_recall=1 - (1 - self.prune.spans) * _CLOSED_IN_TRAINING,
        )

    def add_held_out(
        self, treebank: Treebank, grammar: Grammar, dependencies: Dependencies | None
    ) -> int:
        """Add charts as those of new sentences; returns how many were too large.

        ``grammar``: an L-PCFG that was estimated from other trees. Sentences that it cannot derive
        are left out.
        """
        sentences = [words for words, _ in treebank.sentences()]
        offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        words = list(chain.from_iterable(sentences))
        emissions = grammar.lexicon.encode_all(words, offsets)
        return self._add(
            treebank,
            grammar,
            dependencies,
            emissions=emissions.astype(np.uint32),
            span_recall=self.prune.spans,
            factors=tag_factors(grammar, words, offsets, emissions),
        )

    def _add(
        self,
        treebank: Treebank,
        grammar: Grammar,
        dependencies: Dependencies | None,
        *,
        emissions: NDArray[np.uint32],
        span_recall: float,
        factors: tuple[NDArray[np.uint32], NDArray[np.float32]] | None = None,
    ) -> int:
        leaves = np.flatnonzero(treebank.word >= 0)
        columns: DependencyColumns = {}
        if dependencies is not None:
            columns = dependency_columns(treebank, dependencies, grammar.tag_ids)
        return self.trainer.add(
            grammar.core,
            spellings=list(treebank.words),
            word_column=treebank.word[leaves].astype(np.uint32),
            emissions=emissions,
            word_offsets=np.searchsorted(leaves, treebank.tree_offsets),
            symbols=treebank.symbol,
            starts=treebank.start,
            ends=treebank.end,
            tree_offsets=treebank.tree_offsets,
            tree_weights=treebank.weights,
            coarse_threshold=self.prune.coarse,
            threshold=self.prune.fine,
            span_recall=span_recall,
            memory=self.memory,
            span_filter=None if grammar.span_filter is None else grammar.span_filter.core,
            tag_factors=factors,
            **columns,
        )


def cross_fitting_folds(
    trees: int, folds: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each fold, the indices of the trees of all other folds, and those of its own.

    Blocks of neighbouring trees, which are often from the same text, are dealt to the folds in
    turn. So folds are alike, even if the trees of a treebank have different origins. There are as
    many folds as trees if there are few trees, and none for a single tree.
    """
    folds = min(folds, trees) if trees > 1 else 0
    block = max(1, min(_BLOCK, trees // (_BLOCKS_OF_FOLD * max(folds, 1))))
    fold_of_tree = np.arange(trees) // block % max(folds, 1)
    return [
        (np.flatnonzero(fold_of_tree != fold), np.flatnonzero(fold_of_tree == fold))
        for fold in range(folds)
    ]
