"""Immutable constituency trees."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank._nltk import import_nltk
from lpcfg.treebank.escaping import escape, unescape

if TYPE_CHECKING:
    import nltk
    import numpy as np
    from numpy.typing import NDArray

    from lpcfg.treebank.search import Match

__all__ = ["Tree", "escape", "tree_from_nodes", "unescape"]


class Tree:
    """An immutable constituency tree.

    ``label``: the label of its root. ``content``: its children, or the word of a preterminal.

    >>> tree = Tree("S", [Tree("NP", [Tree("PRP", "it")]), Tree("VP", [Tree("VBD", "rained")])])
    >>> tree.words(), tree.tags()
    (['it', 'rained'], ['PRP', 'VBD'])
    >>> print(tree)
    (S (NP (PRP it)) (VP (VBD rained)))
    >>> len(tree), tree.height
    (2, 3)

    A tree is iterable and can be indexed like a sequence of its children, or by the path to a node
    further below. Its length is the number of its words.

    >>> [child.label for child in tree], tree[-1].label, tree[1, 0].word
    (['NP', 'VP'], 'VP', 'rained')
    """

    __slots__ = ("children", "label", "word")

    label: str
    children: tuple[Tree, ...]
    word: str | None

    def __init__(self, label: str, content: str | Sequence[Tree]) -> None:
        _set_label(self, label)
        if isinstance(content, str):
            _set_children(self, ())
            _set_word(self, content)
        elif isinstance(content, Tree):
            # It is iterable, so its children would silently take its place.
            raise InputError("expected a word or a list of trees, not one tree", argument="content")
        else:
            _set_children(self, tuple(content))
            _set_word(self, None)

    @classmethod
    def from_string(cls, text: str, *, unescape: bool = False) -> Tree:
        """Read one bracketed tree from ``text``.

        This undoes ``str(tree)``, except that ``-LRB-`` and ``-RRB-`` are kept unless ``unescape``
        asks for brackets.

        >>> Tree.from_string("(NP (DT the) (NN rain))").words()
        ['the', 'rain']
        >>> Tree.from_string("(-LRB- -LRB-)", unescape=True).word
        '('
        """
        # The reader builds trees, so it imports this module first.
        from lpcfg.treebank.reader import read_trees

        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise TreebankError(f"not Unicode text: {error}") from error
        trees = list(read_trees(io.BytesIO(data), unescape=unescape))
        if len(trees) != 1:
            raise TreebankError(f"expected one tree, found {len(trees)}: {text[:60]!r}")
        return trees[0]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree is immutable: cannot delete {name!r}")

    def __reduce__(
        self,
    ) -> tuple[Callable[[list[str], list[str | int]], Tree], tuple[list[str], list[str | int]]]:
        # The nodes in pre-order: pickling subtrees recursively would limit the depth of trees.
        nodes = self._nodes()
        contents = [len(node.children) if node.word is None else node.word for node in nodes]
        return tree_from_nodes, ([node.label for node in nodes], contents)

    @property
    def is_preterminal(self) -> bool:
        """Whether the node has a word.

        >>> Tree("NN", "dog").is_preterminal
        True
        """
        return self.word is not None

    @property
    def height(self) -> int:
        """The number of nodes on the longest path from this node to a word.

        >>> Tree("NN", "dog").height
        1
        """
        heights: list[int] = []
        for node in reversed(self._nodes()):
            below = [heights.pop() for _ in node.children]
            heights.append(1 + max(below, default=0))
        return heights[0]

    def __len__(self) -> int:
        return len(self.words())

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.children)

    def __reversed__(self) -> Iterator[Tree]:
        # The default would count down from the number of words.
        return reversed(self.children)

    @overload
    def __getitem__(self, place: int | tuple[int, ...]) -> Tree: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Tree, ...]: ...
    def __getitem__(self, place: int | tuple[int, ...] | slice) -> Tree | tuple[Tree, ...]:
        if not isinstance(place, tuple):
            return self.children[place]
        node = self
        for child in place:
            node = node.children[child]
        return node

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.object_]:
        # NumPy would take a tree for a sequence, and an array of trees for one of their children.
        import numpy as np

        single = np.empty((), dtype=object)
        single[()] = self
        return single

    # Equality and hashing compare nodes in pre-order with their numbers of children, which
    # determine a tree, because recursion would limit the depth of trees.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if self is other:
            return True
        mine, theirs = [self], [other]
        while mine:
            one, two = mine.pop(), theirs.pop()
            same = one.label == two.label and one.word == two.word
            if not same or len(one.children) != len(two.children):
                return False
            mine += one.children
            theirs += two.children
        return True

    def __hash__(self) -> int:
        nodes = self._nodes()
        return hash(tuple([node.word or (node.label, len(node.children)) for node in nodes]))

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                parts.append(")")
            elif node.word is None:
                # Only the root of a phrase may go without a label.
                label = escape(node.label) if node.label or parts else ""
                parts.append(f" ({label}")
                stack.append(None)
                stack += node.children[::-1]
            else:
                parts.append(f" ({escape(node.label)} {escape(node.word)})")
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"Tree.from_string({str(self)!r})"

    def nodes(self) -> Iterator[Tree]:
        """All nodes in pre-order, without recursion, so that trees may have any depth.

        >>> [node.label for node in Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).nodes()]
        ['NP', 'DT', 'NN']
        """
        return iter(self._nodes())

    def _nodes(self) -> list[Tree]:
        nodes, stack = [], [self]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if node.children:
                stack += node.children[::-1]
        return nodes

    def words(self) -> list[str]:
        """The words from left to right.

        >>> Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).words()
        ['a', 'cat']
        """
        return [node.word for node in self._nodes() if node.word is not None]

    def leaves(self) -> list[str]:
        """The words from left to right, by the name that nltk has for them.

        >>> Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).leaves()
        ['a', 'cat']
        """
        return self.words()

    def subtrees(self, accept: Callable[[Tree], bool] | None = None) -> Iterator[Tree]:
        """The tree itself and all trees below it in pre-order, as in nltk.

        ``accept``: a function that says which of them to keep (default all).

        >>> tree = Tree.from_string("(S (NP (DT a) (NN cat)) (VP (VBD slept)))")
        >>> [str(subtree) for subtree in tree.subtrees(lambda subtree: subtree.height == 2)]
        ['(NP (DT a) (NN cat))', '(VP (VBD slept))']
        """
        return filter(accept, self.nodes()) if accept else self.nodes()

    def find(self, label: str) -> list[Match]:
        """The subtrees with a label, tags included, in pre-order, with their places.

        >>> tree = Tree.from_string("(S (NP (DT a) (NN cat)) (VP (VBD saw) (NP (PRP it))))")
        >>> [(match.tree.words(), match.start, match.end) for match in tree.find("NP")]
        [(['a', 'cat'], 0, 2), (['it'], 3, 4)]
        """
        from lpcfg.treebank.search import find_label

        return find_label(self, label)

    def search(self, pattern: str) -> list[Match]:
        """The subtrees that match a pattern of tgrep, in pre-order, with their places.

        This needs nltk, whose ``nltk.tgrep`` describes patterns. A word that matches stands for
        its preterminal. For many trees, :func:`lpcfg.search_trees` is faster.

        ``pattern``: for example ``NP < PP``, a noun phrase with a prepositional phrase as a child;
        ``/^VB/ . it``, a verb before the word *it*; ``"."``, quoted, because it has a meaning.

        >>> tree = Tree.from_string("(S (NP (DT a) (NN cat)) (VP (VBD saw) (NP (PRP it))))")
        >>> [str(match.tree) for match in tree.search("NP > VP")]
        ['(NP (PRP it))']
        """
        from lpcfg.treebank.search import search_trees

        return [match for _, match in search_trees([self], pattern)]

    def tags(self) -> list[str]:
        """The labels of the preterminals from left to right.

        >>> Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).tags()
        ['DT', 'NN']
        """
        return [node.label for node in self._nodes() if node.word is not None]

    def spans(self, *, preterminals: bool = False) -> list[tuple[str, int, int]]:
        """The (label, start, end) of each phrase in pre-order; ``end`` is exclusive.

        ``preterminals``: whether to include preterminals (default False).

        >>> tree = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
        >>> tree.spans()
        [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)]
        >>> tree.spans(preterminals=True)[2]
        ('PRP', 0, 1)
        """
        spans: list[tuple[str, int, int]] = []
        nodes = self._nodes()
        # In reverse pre-order a node comes after its children. Their ends are on top of the stack,
        # and the node starts at the last word so far.
        ends: list[int] = []
        start = sum(node.word is not None for node in nodes)
        for node in reversed(nodes):
            if node.word is not None:
                start -= 1
                end = start + 1
            elif node.children:
                end = ends[-len(node.children)]
                del ends[-len(node.children) :]
            else:
                end = start
            ends.append(end)
            if preterminals or node.word is None:
                spans.append((node.label, start, end))
        return spans[::-1]

    def pretty(self, *, width: int = 100) -> str:
        """Draw the tree in text, or indent it if the drawing is wider than ``width`` columns.

        >>> print(Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))").pretty())
            S
         ┌──┴──┐
         NP    VP
         │     │
        PRP   VBD
         │     │
         it  rained
        """
        from lpcfg.treebank._draw_text import draw_text

        return draw_text(self, width)

    def to_svg(
        self, *, marked: Collection[int] = (), probabilities: Mapping[int, float] | None = None
    ) -> str:
        """Draw the tree as an SVG document, on a white background and without style rules.

        ``marked``: the nodes to draw in red, by their numbers in :meth:`nodes` (default none).
        ``probabilities``: by these numbers, the probabilities to show (default none).

        >>> Tree.from_string("(NN rain)").to_svg().startswith("<svg")
        True
        """
        from lpcfg.treebank.drawing import draw_svg

        return draw_svg(self, marked, probabilities)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def to_nltk(self) -> nltk.Tree:
        """The same tree as an ``nltk.Tree``.

        >>> print(Tree.from_string("(NP (NN rain))").to_nltk())
        (NP (NN rain))
        """
        nltk_tree = import_nltk("conversion from and to nltk trees").Tree
        built: list[Any] = []
        for node in reversed(list(self.nodes())):
            children = [built.pop() for _ in node.children]
            built.append(nltk_tree(node.label, children if node.word is None else [node.word]))
        return built[0]

    @classmethod
    def from_nltk(cls, tree: nltk.Tree) -> Tree:
        """Convert ``tree``, in which every word must be the only child of its node.

        >>> import nltk
        >>> Tree.from_nltk(nltk.Tree.fromstring("(NP (NN rain))"))
        Tree.from_string('(NP (NN rain))')
        """
        nltk_tree = import_nltk("conversion from and to nltk trees").Tree
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(child for child in node if isinstance(child, nltk_tree))
        # In this order, which has parents first and children from the right, each node's children
        # are the last ones built.
        built: list[Tree] = []
        for node in reversed(order):
            inner = sum(isinstance(child, nltk_tree) for child in node)
            if inner == len(node) and inner > 0:
                children = built[-inner:]
                del built[-inner:]
                built.append(Tree(node.label(), children))
            elif len(node) == 1:
                built.append(Tree(node.label(), str(node[0])))
            else:
                raise TreebankError(
                    f"the node {node.label()!r} must have either subtrees or one word"
                )
        return built[0]


# The setters of the fields, which `__setattr__` hides.
_set_label, _set_children, _set_word = (
    vars(Tree)[field].__set__ for field in ("label", "children", "word")
)


def tree_from_nodes(labels: list[str], contents: list[str | int]) -> Tree:
    """A tree from its nodes in pre-order: their labels, and their words or numbers of children.

    >>> print(tree_from_nodes(["NP", "DT", "NN"], [2, "the", "rain"]))
    (NP (DT the) (NN rain))
    """
    built: list[Tree] = []
    for label, content in zip(reversed(labels), reversed(contents), strict=True):
        children = content if isinstance(content, str) else [built.pop() for _ in range(content)]
        built.append(Tree(label, children))
    return built[0]
