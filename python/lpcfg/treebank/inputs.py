"""What functions that learn from trees take: a treebank, trees, or the paths of files of trees."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, TypeAlias

from lpcfg.errors import InputError
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.reader import read_forest
from lpcfg.treebank.sources import Source
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank

__all__ = ["Trees", "as_treebank", "as_trees"]

Trees: TypeAlias = Treebank | Iterable[Tree] | Source | Iterable[Source]
"""A treebank, trees, or the paths of files of trees."""


def as_treebank(trees: Trees, transform: Transform | None = None) -> Treebank:
    """A treebank as it is, or trees or files as a treebank with the given transform.

    >>> as_treebank([Tree("NN", "rain")])
    <Treebank of 1 trees, 1 nodes, 1 symbols, 1 words>
    """
    if isinstance(trees, Treebank):
        return trees
    items = _listed(trees)
    if all(isinstance(item, Tree) for item in items):
        return Treebank.from_trees(items, transform=transform)
    return Treebank.read(items, transform=transform)


def as_trees(trees: Trees, cleaning: Cleaning | None) -> list[Tree]:
    """The trees of a treebank, of a list or of files, cleaned if a cleaning is given.

    >>> as_trees([Tree.from_string("(NP-SBJ (NN rain))")], Cleaning())
    [Tree.from_string('(ROOT (NP (NN rain)))')]
    """
    items: list[Any] = trees.trees() if isinstance(trees, Treebank) else _listed(trees)
    are_trees = all(isinstance(item, Tree) for item in items)
    forest = Forest.from_trees(items) if are_trees else read_forest(items)
    if cleaning is not None:
        forest = cleaning.apply(forest)
    return [tree for tree in forest.trees() if tree is not None]


def _listed(trees: Trees) -> list[Any]:
    """Trees or sources as a list; a single one becomes a list of one."""
    expected = "expected a treebank, trees, or paths of files of trees"
    if isinstance(trees, (str, PathLike, Tree)) or hasattr(trees, "read"):
        items: list[Any] = [trees]
    elif isinstance(trees, Iterable) and not isinstance(trees, (bytes, dict)):
        items = list(trees)
    else:
        raise InputError(f"{expected}, not {trees!r}", argument="trees")
    for item in items:
        if not isinstance(item, (str, PathLike, Tree)) and not hasattr(item, "read"):
            raise InputError(f"{expected}, not {item!r} among others", argument="trees")
        if item == "":
            raise InputError("a path must not be empty", argument="trees")
    if len({isinstance(item, Tree) for item in items}) > 1:
        raise InputError("expected trees or paths, not both", argument="trees")
    return items
