"""Rerankers over several subsets of the same parsers, at the cost of one."""

from __future__ import annotations

from collections.abc import Sequence

from lpcfg._batches import batches
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.base import BATCH
from lpcfg.reranking._cross_fitting import cross_fitted
from lpcfg.reranking._parsers import make_parsers, propose_to_each
from lpcfg.reranking.reranker import Reranker
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = ["rerank_subsets"]


def rerank_subsets(
    reranker: Reranker,
    grammars: Sequence[Sequence[Grammar]],
    treebank: Treebank,
    subsets: Sequence[Sequence[int]],
    sentences: Sequence[Sequence[str]],
) -> list[list[Tree]]:
    """For each subset of the parsers, the trees that a reranker over them chooses.

    The trees are those of a :class:`~lpcfg.Reranker` that is fitted to each subset alone, but the
    grammars of each fold are estimated once, and each parser parses a sentence once. Where the
    parsers of a subset never differ in F1, there is nothing to learn, and their first tree is
    chosen.

    - ``reranker``: the options, and the estimators of all parsers.
    - ``grammars``: those of each parser, from all trees.
    - ``treebank``: the training trees.
    - ``subsets``: the indices of the parsers of each subset.
    - ``sentences``: the words of the sentences to parse.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> estimator = PCFGEstimator().fit(treebank)
    >>> reranker = Reranker([estimator], folds=2, candidates=5)
    >>> words = ["The dog saw him .".split()]
    >>> ((tree,),) = rerank_subsets(reranker, [[estimator.grammar_]], treebank, [[0]], words)
    >>> print(tree)
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """
    classes = [backbone_classes(group) for group in grammars]
    models = [
        samples.fit(reranker.penalty, reranker.min_count, reranker.iterations)
        if samples.rows
        else None
        for samples in cross_fitted(reranker, treebank, classes, subsets)
    ]
    proposed = propose_to_each(
        make_parsers(reranker, grammars, classes),
        subsets,
        words=sentences,
        candidates=reranker.candidates,
        batch_size=BATCH,
    )
    chosen: list[list[Tree]] = [[] for _ in subsets]
    for batch in batches(proposed, BATCH):
        for trees, model, several in zip(chosen, models, zip(*batch, strict=True), strict=True):
            if model is None:
                trees += [candidates.trees[0] for candidates in several]
                continue
            scores = model.scores(several, reranker.n_jobs)
            trees += [
                candidates.trees[int(row.argmax())]
                for candidates, row in zip(several, scores, strict=True)
            ]
    return chosen
