"""Immutable constituency trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["Tree", "escape", "unescape"]

_ESCAPES = {"(": "-LRB-", ")": "-RRB-"}
_UNESCAPES = {bracket: plain for plain, bracket in _ESCAPES.items()}


def escape(token: str) -> str:
    """Write a token so that its round brackets cannot be taken for those of a tree.

    >>> escape("("), escape(":-)")
    ('-LRB-', ':--RRB-')
    """
    for plain, bracket in _ESCAPES.items():
        token = token.replace(plain, bracket)
    return token


def unescape(token: str) -> str:
    """Undo :func:`escape`.

    >>> unescape("-LRB-"), unescape(escape(":-)"))
    ('(', ':-)')
    """
    for bracket, plain in _UNESCAPES.items():
        token = token.replace(bracket, plain)
    return token


class Tree:
    """A node with a label and either children or, if it is a preterminal, one word.

    >>> tree = Tree("S", [Tree("NP", [Tree("PRP", "it")]), Tree("VP", [Tree("VBD", "rained")])])
    >>> tree.words(), tree.tags()
    (['it', 'rained'], ['PRP', 'VBD'])
    >>> print(tree)
    (S (NP (PRP it)) (VP (VBD rained)))
    """

    __slots__ = ("children", "label", "word")

    label: str
    children: tuple[Tree, ...]
    word: str | None

    def __init__(self, label: str, content: str | Sequence[Tree]) -> None:
        set_field = object.__setattr__
        set_field(self, "label", label)
        if isinstance(content, str):
            set_field(self, "children", ())
            set_field(self, "word", content)
        else:
            set_field(self, "children", tuple(content))
            set_field(self, "word", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree is immutable: cannot delete {name!r}")

    @property
    def is_preterminal(self) -> bool:
        """Whether the node carries a word.

        >>> Tree("NN", "dog").is_preterminal
        True
        """
        return self.word is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (self.label, self.word, self.children) == (other.label, other.word, other.children)

    def __hash__(self) -> int:
        return hash((self.label, self.word, self.children))

    def __repr__(self) -> str:
        return f"Tree.from_string({str(self)!r})"

    def nodes(self) -> Iterator[Tree]:
        """All nodes in pre-order, without recursion, so that depth is no limit.

        >>> [node.label for node in Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).nodes()]
        ['NP', 'DT', 'NN']
        """
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def words(self) -> list[str]:
        """The words from left to right.

        >>> Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).words()
        ['a', 'cat']
        """
        return [node.word for node in self.nodes() if node.word is not None]

    def tags(self) -> list[str]:
        """The labels of the preterminals from left to right.

        >>> Tree("NP", [Tree("DT", "a"), Tree("NN", "cat")]).tags()
        ['DT', 'NN']
        """
        return [node.label for node in self.nodes() if node.word is not None]
