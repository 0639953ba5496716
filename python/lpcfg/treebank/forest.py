"""Many trees as columns, the form in which trees pass between Python and the core."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpcfg.errors import TreebankError
from lpcfg.treebank.escaping import unescape_brackets
from lpcfg.treebank.tree import Tree

__all__ = ["Forest", "ForestColumns"]

ForestColumns: TypeAlias = tuple[
    NDArray[np.uint32],
    NDArray[np.int32],
    NDArray[np.uint32],
    NDArray[np.int64],
    list[str],
    list[str],
]


@dataclass(frozen=True, eq=False, slots=True)
class Forest:
    """Trees of any arity as columns, with nodes in post-order; an empty tree has no nodes.

    ``sizes`` has the number of nodes of each subtree. So the last child of a node is the node
    before it, and each earlier sibling lies one subtree further left. ``words`` is -1 except at
    preterminals.

    >>> forest = Forest.from_trees([Tree.from_string("(NP (DT the) (NN rain))")])
    >>> forest.sizes.tolist(), forest.words.tolist()
    ([1, 1, 3], [0, 1, -1])
    >>> [str(tree) for tree in forest.trees()]
    ['(NP (DT the) (NN rain))']
    """

    labels: NDArray[np.uint32]
    words: NDArray[np.int32]
    sizes: NDArray[np.uint32]
    tree_offsets: NDArray[np.int64]
    label_names: list[str]
    word_names: list[str]

    @property
    def columns(self) -> ForestColumns:
        """All columns, as the core takes them.

        >>> Forest.from_trees([Tree("NN", "rain")]).columns[4:]
        (['NN'], ['rain'])
        """
        return (
            self.labels,
            self.words,
            self.sizes,
            self.tree_offsets,
            self.label_names,
            self.word_names,
        )

    @classmethod
    def from_trees(cls, trees: Iterable[Tree | None]) -> Forest:
        """Columns of the given trees; None is an empty tree.

        >>> len(Forest.from_trees([Tree("NN", "rain"), None]))
        2
        """
        label_ids: dict[str, int] = {}
        word_ids: dict[str, int] = {}
        labels: list[int] = []
        words: list[int] = []
        sizes: list[int] = []
        offsets = [0]
        for tree in trees:
            pending: list[int] = []
            for node in _postorder(tree):
                labels.append(label_ids.setdefault(node.label, len(label_ids)))
                if node.word is None:
                    if not node.children:
                        raise TreebankError(f"the node {node.label!r} has no word or children")
                    words.append(-1)
                    sizes.append(1 + sum(pending.pop() for _ in node.children))
                else:
                    words.append(word_ids.setdefault(node.word, len(word_ids)))
                    sizes.append(1)
                pending.append(sizes[-1])
            offsets.append(len(labels))
        _check_unicode((*label_ids, *word_ids))
        return cls(
            np.array(labels, dtype=np.uint32),
            np.array(words, dtype=np.int32),
            np.array(sizes, dtype=np.uint32),
            np.array(offsets, dtype=np.int64),
            list(label_ids),
            list(word_ids),
        )

    def __len__(self) -> int:
        return len(self.tree_offsets) - 1

    def trees(self, *, unescape: bool = False) -> Iterator[Tree | None]:
        """Build the trees one by one; an empty tree is None.

        ``unescape`` turns ``-LRB-`` into a bracket.

        >>> forest = Forest.from_trees([None, Tree("-LRB-", "-LRB-")])
        >>> [tree and tree.word for tree in forest.trees(unescape=True)]
        [None, '(']
        """
        label_names, word_names = self.label_names, self.word_names
        if unescape:
            label_names = [unescape_brackets(name) for name in label_names]
            word_names = [unescape_brackets(name) for name in word_names]
        offsets = self.tree_offsets.tolist()
        for start, end in itertools.pairwise(offsets):
            labels = self.labels[start:end].tolist()
            words = self.words[start:end].tolist()
            sizes = self.sizes[start:end].tolist()
            built: list[tuple[Tree, int]] = []
            for label, word, size in zip(labels, words, sizes, strict=True):
                if word >= 0:
                    built.append((Tree(label_names[label], word_names[word]), 1))
                    continue
                missing = size - 1
                children = []
                while missing:
                    child, below = built.pop()
                    children.append(child)
                    missing -= below
                built.append((Tree(label_names[label], children[::-1]), size))
            yield built[0][0] if built else None

    def nonempty(self) -> Forest:
        """The trees that have nodes.

        >>> len(Forest.from_trees([None, Tree("NN", "rain"), None]).nonempty())
        1
        """
        # Empty trees have no nodes, so it is enough to drop their offsets.
        kept = np.diff(self.tree_offsets, prepend=-1) > 0
        return replace(self, tree_offsets=self.tree_offsets[kept])

    def select(self, trees: ArrayLike) -> Forest:
        """The trees with these indices, in the given order.

        >>> forest = Forest.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> [str(tree) for tree in forest.select([1]).trees()]
        ['(NN sun)']
        """
        nodes, offsets = gather_trees(self.tree_offsets, trees)
        return replace(
            self,
            labels=self.labels[nodes],
            words=self.words[nodes],
            sizes=self.sizes[nodes],
            tree_offsets=offsets,
        )

    def without(self, removed: NDArray[np.bool_]) -> Forest:
        """The trees without the marked nodes, what is below them, and phrases that lose all words.

        A tree that has no words left becomes an empty tree.

        >>> forest = Forest.from_trees([Tree.from_string("(S (NP (NN rain)) (ID 1))")])
        >>> print(*forest.without(np.array([False, False, True, False])).trees())
        (S (NP (NN rain)))
        """
        nodes = np.arange(len(self.labels))
        first = nodes - self.sizes.astype(np.int64) + 1
        depth = np.zeros(len(nodes) + 1, dtype=np.int64)
        np.add.at(depth, first[removed], 1)
        depth[1:][removed] -= 1
        words = (self.words >= 0) & (np.cumsum(depth[:-1]) == 0)
        before = np.concatenate([[0], np.cumsum(words)])
        kept = before[nodes + 1] > before[first]
        number = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        return replace(
            self,
            labels=self.labels[kept],
            words=self.words[kept],
            sizes=(number[nodes + 1] - number[first])[kept].astype(np.uint32),
            tree_offsets=number[self.tree_offsets],
        )

    @classmethod
    def concatenate(cls, forests: Iterable[Forest]) -> Forest:
        """All trees of several forests in order.

        >>> one, two = (Forest.from_trees([Tree("NN", word)]) for word in ("rain", "sun"))
        >>> print(*Forest.concatenate([one, two]).trees())
        (NN rain) (NN sun)
        """
        parts = list(forests)
        label_ids: dict[str, int] = {}
        word_ids: dict[str, int] = {}
        labels, words, offsets = [], [], [np.zeros(1, dtype=np.int64)]
        nodes = 0
        for part in parts:
            labels.append(_renumbered(part.label_names, label_ids)[part.labels])
            # The last entry is -1, which is the word of a phrase.
            words.append(np.append(_renumbered(part.word_names, word_ids), -1)[part.words])
            offsets.append(part.tree_offsets[1:] + nodes)
            nodes += len(part.labels)
        return cls(
            np.concatenate([np.empty(0), *labels]).astype(np.uint32),
            np.concatenate([np.empty(0), *words]).astype(np.int32),
            np.concatenate([np.empty(0), *(part.sizes for part in parts)]).astype(np.uint32),
            np.concatenate(offsets),
            list(label_ids),
            list(word_ids),
        )


def _renumbered(names: list[str], ids: dict[str, int]) -> NDArray[np.int64]:
    """The ids of names, which get new ones where they have none."""
    return np.array([ids.setdefault(name, len(ids)) for name in names], dtype=np.int64)


def gather_trees(
    tree_offsets: NDArray[np.int64], trees: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes of the trees with these indices, concatenated, and their new tree offsets.

    >>> nodes, offsets = gather_trees(np.array([0, 2, 5]), [1, 0])
    >>> nodes.tolist(), offsets.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    chosen = np.asarray(trees, dtype=np.int64)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(tree_offsets) - 1):
        raise IndexError(f"tree numbers must lie between 0 and {len(tree_offsets) - 2}")
    starts = tree_offsets[chosen]
    sizes = tree_offsets[chosen + 1] - starts
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nodes = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    return nodes, offsets


def _check_unicode(tokens: Iterable[str]) -> None:
    """Raise a TreebankError for halves of surrogate pairs, which UTF-8 cannot represent."""
    try:
        "".join(tokens).encode()
    except UnicodeEncodeError as error:
        raise TreebankError(f"a word or label is not Unicode text: {error}") from error


def _postorder(tree: Tree | None) -> Iterator[Tree]:
    # Pre-order from right to left is post-order backwards.
    backwards = []
    stack = [] if tree is None else [tree]
    while stack:
        node = stack.pop()
        backwards.append(node)
        stack.extend(node.children)
    return reversed(backwards)
