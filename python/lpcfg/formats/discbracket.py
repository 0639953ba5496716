"""The discbracket format of disco-dop: brackets whose words have their places, ``(DT 0=the)``."""

from __future__ import annotations

from collections.abc import Iterator

from lpcfg.errors import TreebankError
from lpcfg.formats._crossing import ROOT, CrossingTree
from lpcfg.treebank.reader import OnError, ReadReport, read_trees
from lpcfg.treebank.sources import Sources
from lpcfg.treebank.tree import Tree, tree_from_nodes

__all__ = ["read_discbracket", "write_discbracket"]


def write_discbracket(tree: Tree) -> str:
    """A tree in the discbracket format, in one line.

    >>> write_discbracket(Tree.from_string("(NP (DT the) (NN rain))"))
    '(NP (DT 0=the) (NN 1=rain))'
    """
    labels: list[str] = []
    contents: list[str | int] = []
    place = 0
    for node in tree.nodes():
        labels.append(node.label)
        if node.word is None:
            contents.append(len(node.children))
        else:
            contents.append(f"{place}={node.word}")
            place += 1
    return str(tree_from_nodes(labels, contents))


def read_discbracket(
    sources: Sources,
    *,
    attach_higher: bool = False,
    on_error: OnError = "raise",
    report: ReadReport | None = None,
) -> Iterator[Tree]:
    r"""The trees of files in the discbracket format, lazily and in their order.

    ``sources``: a path, a folder, a pattern, ``"-"`` for standard input, an open binary file, or
    several of them; files may be gzipped.
    ``attach_higher``: what to do with a node that covers words that are not adjacent: False
    (default) raises a :class:`~lpcfg.TreebankError`; with True its longest part stays, and the
    others become children of its parent.
    ``on_error``, ``report``: as for :func:`lpcfg.read_trees`, for malformed brackets.

    >>> import io
    >>> crossing = b"(ROOT (VP (VB 0=Wake) (PRT 2=up)) (PRP 1=him))"
    >>> print(*read_discbracket(io.BytesIO(crossing), attach_higher=True))
    (ROOT (VP (VB Wake)) (PRP him) (PRT up))
    """
    brackets = read_trees(sources, on_error=on_error, report=report)
    for number, tree in enumerate(brackets, start=1):
        try:
            yield _continuous(tree, attach_higher)
        except TreebankError as error:
            raise TreebankError(f"tree {number}: {error.message}") from None


def _continuous(tree: Tree, attach_higher: bool) -> Tree:
    leaves: list[tuple[int, str, str, int]] = []
    labels: dict[int, str] = {}
    parents: dict[int, int] = {}
    stack = [(tree, ROOT)]
    while stack:
        node, parent = stack.pop()
        if node.word is None:
            identity = len(labels) + 1
            labels[identity], parents[identity] = node.label, parent
            stack.extend((child, identity) for child in node.children)
            continue
        place, mark, word = node.word.partition("=")
        if not mark or not place.isdecimal():
            raise TreebankError(f"expected a word with its place, such as 0={node.word}")
        leaves.append((int(place), word, node.label, parent))
    leaves.sort()
    places = [place for place, *_ in leaves]
    if places != list(range(len(places))):
        raise TreebankError(f"the places of words must be 0 to {len(places) - 1}, each once")
    _, words, tags, word_parents = zip(*leaves, strict=True)
    crossing = CrossingTree(words, tags, word_parents, labels, parents)
    return crossing.tree(attach_higher=attach_higher).children[0]
