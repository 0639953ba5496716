"""Maximal tree coverage of trees that are already there (Narayan & Cohen 2015, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lpcfg.parsing._coverage import Coverage, maximal_coverage_trees
from lpcfg.parsing.marginals import mean_marginals, tree_marginals
from lpcfg.treebank.tree import Tree

__all__ = ["tree_coverage"]


def tree_coverage(candidates: Iterable[Sequence[Tree]], n_jobs: int = -1) -> list[Tree]:
    """For each sentence the tree with most brackets in common with several trees of its words.

    An :class:`~lpcfg.Ensemble` with ``combine="trees"`` does the same with the trees of parsers.

    ``candidates``: the trees of each sentence.
    ``n_jobs``: the number of threads, -1 for one on each core; the result does not depend on it.

    >>> flat = Tree.from_string("(S (PRP it) (VP (VBD rained) (RB hard)))")
    >>> deep = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained) (ADVP (RB hard))))")
    >>> print(*tree_coverage([[flat, deep, flat]]))
    (S (PRP it) (VP (VBD rained) (RB hard)))
    """
    coverages = [
        Coverage(mean_marginals([tree_marginals(tree) for tree in trees]), trees)
        for trees in candidates
    ]
    return maximal_coverage_trees(coverages, n_jobs)
