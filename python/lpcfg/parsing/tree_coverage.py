"""Maximal tree coverage of trees that are already there (Narayan & Cohen 2015, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lpcfg.parsing._coverage import Combination
from lpcfg.parsing.marginals import tree_marginals
from lpcfg.parsing.member_columns import MemberColumns
from lpcfg.parsing.parse import Parse, tree_from_spans
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
    sentences = [list(trees) for trees in candidates]
    if not sentences:
        return []
    count = max(map(len, sentences))
    members = [
        MemberColumns.from_parses([_member(trees, number) for trees in sentences])
        for number in range(count)
    ]
    found = Combination(members, [1.0] * len(members), by_trees=True, n_jobs=n_jobs)
    return [
        tree_from_spans(found.nodes(row), trees[0].words()) for row, trees in enumerate(sentences)
    ]


def _member(trees: Sequence[Tree], number: int) -> Parse:
    """The parse of a member that finds tree ``number``; without one, it is to be ignored."""
    is_there = number < len(trees)
    tree = trees[number if is_there else 0]
    status = "parsed" if is_there else "fragments"
    return Parse.from_candidates(
        [(tree, None)], tree_marginals(tree), sentence_log_probability=None, status=status
    )
