"""The dependencies of the words of a treebank as columns for the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.formats.dependencies import Dependencies
from lpcfg.treebank.treebank import Treebank

__all__ = ["DependencyColumns", "check_dependencies", "dependency_columns"]

#: The id of a tag that is not given.
_NO_TAG = 2**32 - 1


class DependencyColumns(TypedDict, total=False):
    """A value for each word: the ids of its tag and relation, and the distance of its head.

    The first of the names of relations is empty: it is for sentences without dependencies.
    """

    tags: NDArray[np.uint32]
    heads: NDArray[np.int32]
    relations: NDArray[np.uint32]
    relation_names: list[str]


def dependency_columns(
    treebank: Treebank, dependencies: Dependencies, tag_ids: Mapping[str, int]
) -> DependencyColumns:
    r"""The dependencies of all words of a treebank, one sentence after the other.

    >>> from lpcfg import Tree
    >>> from lpcfg.formats.dependencies import DependencyTree
    >>> trees = [Tree.from_string("(S (PRP it) (VBD rained))"), Tree("UH", "oh")]
    >>> tree = DependencyTree(("PRP", "VBD"), (1, 0), ("nsubj", "root"))
    >>> known = Dependencies([(["it", "rained"], tree)])
    >>> dependency_columns(Treebank.from_trees(trees), known, {"PRP": 0, "UH": 1, "VBD": 2})
    {'tags': array([         0,          2, 4294967295], dtype=uint32),
     'heads': array([1, 0, 0], dtype=int32),
     'relations': array([1, 2, 0], dtype=uint32),
     'relation_names': ['', 'nsubj', 'root']}
    """
    tags: list[int] = []
    heads: list[int] = []
    relations: list[int] = []
    names = {"": 0}
    for words, _ in treebank.sentences():
        found = dependencies.find(words)
        if found is None:
            tags += [_NO_TAG] * len(words)
            heads += [0] * len(words)
            relations += [0] * len(words)
            continue
        tags += [_NO_TAG if tag is None else tag_ids.get(tag, _NO_TAG) for tag in found.tags]
        heads += found.heads
        relations += [names.setdefault(relation, len(names)) for relation in found.relations]
    return {
        "tags": np.array(tags, dtype=np.uint32),
        "heads": np.array(heads, dtype=np.int32),
        "relations": np.array(relations, dtype=np.uint32),
        "relation_names": list(names),
    }


def check_dependencies(treebank: Treebank, dependencies: Dependencies) -> None:
    """Raise an InputError if no sentence of a treebank has dependencies.

    >>> from lpcfg import Tree
    >>> check_dependencies(Treebank.from_trees([Tree("UH", "oh")]), Dependencies([]))
    Traceback (most recent call last):
    lpcfg.errors.InputError: dependencies: none of the sentences of the treebank is among these; ...
    """
    if not any(dependencies.find(words) for words, _ in treebank.sentences()):
        raise InputError(
            "none of the sentences of the treebank is among these; their words must be the same",
            argument="dependencies",
        )
