"""Trees as scorers see them: words, tags, and brackets with the positions they span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from lpcfg.treebank.tree import Tree

__all__ = ["Bracketing", "Scorable", "outline", "phrase_label"]

Scorable: TypeAlias = Tree | Sequence[Tree] | None
"""What can be scored: a tree, the fragments of a partial parse, or None where there is no parse."""


@dataclass(frozen=True, slots=True)
class Bracketing:
    """The words and brackets of one sentence.

    Brackets are in pre-order and come as parallel lists: ``labels[k]`` spans the words from
    ``starts[k]`` up to, but not including, ``ends[k]``. ``opened[i]`` is the number of brackets
    that open before word ``i`` does.

    >>> outline(Tree("NP", [Tree("NN", "rain")]))
    Bracketing(words=['rain'], tags=['NN'], opened=[1], labels=['NP'], starts=[0], ends=[1])
    """

    words: list[str]
    tags: list[str]
    opened: list[int]
    labels: list[str]
    starts: list[int]
    ends: list[int]


def outline(parse: Scorable) -> Bracketing:
    """Flatten a tree, or the fragments of one, without recursion.

    >>> found = outline(Tree("S", [Tree("NP", [Tree("PRP", "it")]), Tree("VBD", "rained")]))
    >>> found.words, found.tags
    (['it', 'rained'], ['PRP', 'VBD'])
    >>> list(zip(found.labels, found.starts, found.ends))
    [('S', 0, 2), ('NP', 0, 1)]
    >>> outline(None).words
    []
    """
    words: list[str] = []
    tags: list[str] = []
    opened: list[int] = []
    labels: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    # A number on the stack says that the bracket of that number closes here.
    stack: list[Tree | int] = []
    if isinstance(parse, Tree):
        stack.append(parse)
    elif parse is not None:
        stack.extend(reversed(parse))
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            ends[item] = len(words)
        elif item.word is not None:
            words.append(item.word)
            tags.append(item.label)
            opened.append(len(labels))
        else:
            stack.append(len(labels))
            stack.extend(reversed(item.children))
            labels.append(item.label)
            starts.append(len(words))
            ends.append(-1)
    return Bracketing(words, tags, opened, labels, starts, ends)


@lru_cache(maxsize=4096)
def phrase_label(label: str) -> str:
    """The part of a phrase label that is scored: all before the first ``-`` or ``=``.

    >>> phrase_label("NP-SBJ-1"), phrase_label("NP=2"), phrase_label("NP")
    ('NP', 'NP', 'NP')
    """
    return label.split("-", 1)[0].split("=", 1)[0]
