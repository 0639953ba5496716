"""The labelled brackets of a tree, with the spans of words that they cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self, TypeAlias

from lpcfg.errors import InputError
from lpcfg.treebank.tree import Tree

__all__ = ["Bracketing", "Scorable", "phrase_label"]

Scorable: TypeAlias = Tree | Sequence[Tree] | None
"""A tree, the fragments of a partial parse, or None for a sentence without a parse."""


@dataclass(frozen=True, slots=True)
class Bracketing:
    """The words, tags and labelled brackets of one sentence.

    Brackets are in pre-order and come as parallel lists: ``labels[k]`` spans the words from
    ``starts[k]`` up to, but not including, ``ends[k]``. ``opened[i]`` is the number of brackets
    that open before word ``i``.

    >>> Bracketing.of(Tree("NP", [Tree("NN", "rain")]))
    Bracketing(words=['rain'], tags=['NN'], opened=[1], labels=['NP'], starts=[0], ends=[1])
    """

    words: list[str]
    tags: list[str]
    opened: list[int]
    labels: list[str]
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, parse: Scorable) -> Self:
        """The bracketing of a tree or of fragments, computed without recursion.

        >>> tree = Tree("S", [Tree("NP", [Tree("PRP", "it")]), Tree("VBD", "rained")])
        >>> brackets = Bracketing.of(tree)
        >>> brackets.words, brackets.tags
        (['it', 'rained'], ['PRP', 'VBD'])
        >>> list(zip(brackets.labels, brackets.starts, brackets.ends))
        [('S', 0, 2), ('NP', 0, 1)]
        >>> Bracketing.of(None).words
        []
        """
        bracketing = cls([], [], [], [], [], [])
        # A number on the stack marks the end of the bracket with that number.
        stack: list[Tree | int] = []
        if isinstance(parse, Tree):
            stack.append(parse)
        elif parse is not None:
            if not all(isinstance(fragment, Tree) for fragment in parse):
                raise InputError("must be a tree, a sequence of trees or None", argument="parse")
            stack.extend(reversed(parse))
        while stack:
            item = stack.pop()
            if isinstance(item, int):
                bracketing.ends[item] = len(bracketing.words)
            elif item.word is not None:
                bracketing.words.append(item.word)
                bracketing.tags.append(item.label)
                bracketing.opened.append(len(bracketing.labels))
            else:
                stack.append(len(bracketing.labels))
                stack.extend(reversed(item.children))
                bracketing.labels.append(item.label)
                bracketing.starts.append(len(bracketing.words))
                bracketing.ends.append(-1)
        return bracketing


@lru_cache(maxsize=4096)
def phrase_label(label: str) -> str:
    """The part of a phrase label that is scored: everything before the first ``-`` or ``=``.

    >>> phrase_label("NP-SBJ-1"), phrase_label("NP=2"), phrase_label("NP")
    ('NP', 'NP', 'NP')
    """
    return label.split("-", 1)[0].split("=", 1)[0]
