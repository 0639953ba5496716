"""The formats in which trees are written and read, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lpcfg.errors import InputError
from lpcfg.formats.conllu import ConlluSentence, read_conllu
from lpcfg.formats.discbracket import read_discbracket, write_discbracket
from lpcfg.formats.export import EXPORT_HEADER, read_export, write_export
from lpcfg.treebank.escaping import escape
from lpcfg.treebank.reader import OnError, ReadReport, read_trees
from lpcfg.treebank.sources import Sources
from lpcfg.treebank.tree import Tree

__all__ = ["READ_FORMATS", "TREE_FORMATS", "TreeFormat", "format_tree", "read_formatted"]

#: The largest number of characters of a line of an indented tree.
_WIDTH = 80


class TreeFormat(NamedTuple):
    r"""A format: how a tree is written with its number, without it, and what a file starts with.

    >>> TREE_FORMATS["brackets"].write(Tree("NN", "rain"), 1)
    '(NN rain)\n'
    """

    write: Callable[[Tree, int], str]
    empty: Callable[[int], str]
    header: str = ""


def _indented(tree: Tree) -> str:
    """A tree in brackets over several lines, as in files of the Penn Treebank."""
    lengths: list[int] = []
    sizes: dict[int, int] = {}
    nodes = list(tree.nodes())
    for number, node in reversed(list(enumerate(nodes))):
        below = sum(1 + lengths.pop() for _ in node.children)
        word = 0 if node.word is None else 1 + len(escape(node.word))
        lengths.append(2 + len(escape(node.label)) + below + word)
        sizes[number] = lengths[-1]
    lines: list[str] = []
    stack: list[tuple[Tree, int, int]] = [(tree, 0, 0)]
    number = 0
    while stack:
        node, level, closed = stack.pop()
        indent = "  " * level
        if node.word is not None or len(indent) + sizes[number] + closed <= _WIDTH:
            # Only a root may go without a label.
            text = str(node) if node.label or not lines else f"(-U+-{str(node)[1:]}"
            lines.append(f"{indent}{text}{')' * closed}")
            number += sum(1 for _ in node.nodes())
            continue
        label = escape(node.label) if node.label or lines else ""
        lines.append(f"{indent}({label}")
        number += 1
        # The last child closes the brackets of its ancestors.
        *others, last = node.children
        stack.append((last, level + 1, closed + 1))
        stack.extend((child, level + 1, 0) for child in reversed(others))
    return "\n".join(lines) + "\n"


#: The formats of trees. A sentence without a tree is the empty tree ``(())`` in brackets, and
#: nothing at all in CoNLL-U, which has no sentences without words.
TREE_FORMATS: dict[str, TreeFormat] = {
    "brackets": TreeFormat(lambda tree, _: f"{tree}\n", lambda _: "(())\n"),
    "penn": TreeFormat(lambda tree, _: _indented(tree) + "\n", lambda _: "(())\n\n"),
    "discbracket": TreeFormat(lambda tree, _: f"{write_discbracket(tree)}\n", lambda _: "(())\n"),
    "export": TreeFormat(
        write_export, lambda number: f"#BOS {number} 0 0 0\n#EOS {number}\n", EXPORT_HEADER
    ),
    "conllu": TreeFormat(
        lambda tree, number: f"{ConlluSentence.from_tree(tree, number=number)}\n", lambda _: ""
    ),
}

#: The formats that can be read, with functions that read them.
READ_FORMATS = ("brackets", "discbracket", "export", "conllu")


def format_tree(tree: Tree, form: str = "brackets", *, number: int = 1) -> str:
    """A tree in one of several formats, with its line ends.

    Parameters
    ----------
    tree : Tree
        The tree.
    form : str
        The format:

        - ``brackets`` (default): one line, as :meth:`Tree.__str__` has it. nltk, EVALB and most
          other programs read this;
        - ``penn``: brackets over several indented lines, as in files of the Penn Treebank;
        - ``discbracket``: brackets with the places of words, for disco-dop;
        - ``export``: the format of NEGRA and TIGER; a file also needs the line ``#FORMAT 4``
          before its first tree;
        - ``conllu``: CoNLL-U, with the tree in a comment.
    number : int
        The number of the sentence, from 1, which ``export`` and ``conllu`` contain (default 1).

    Examples
    --------
    >>> print(format_tree(Tree.from_string("(NP (DT the) (NN rain))"), "discbracket"), end="")
    (NP (DT 0=the) (NN 1=rain))

    """
    if form not in TREE_FORMATS:
        raise InputError(f"must be one of {', '.join(TREE_FORMATS)}, not {form!r}", argument="form")
    return TREE_FORMATS[form].write(tree, number)


def read_formatted(
    sources: Sources,
    form: str = "brackets",
    *,
    attach_higher: bool = False,
    on_error: OnError = "raise",
    report: ReadReport | None = None,
) -> Iterator[Tree]:
    r"""The trees of files in one of several formats, lazily and in their order.

    Parameters
    ----------
    sources : path, open binary file, or several of them
        As for :func:`lpcfg.read_trees`.
    form : str
        ``brackets`` (default), over any number of lines; ``discbracket``; ``export``; or
        ``conllu``, whose sentences have trees in comments ``# constituency = ...``.
    attach_higher : bool
        For ``discbracket`` and ``export``: what to do with a node that covers words that are not
        adjacent. False (default) raises a :class:`~lpcfg.TreebankError`; with True its longest
        part stays, and the others become children of its parent.
    on_error : str
        For ``brackets`` and ``discbracket``: ``raise`` (default) stops at malformed brackets,
        ``skip`` leaves them out.
    report : ReadReport, optional
        For the same formats: where numbers of trees are counted.

    Examples
    --------
    >>> import io
    >>> print(*read_formatted(io.BytesIO(b"(NP (DT 0=the) (NN 1=rain))\n"), "discbracket"))
    (NP (DT the) (NN rain))

    """
    if form == "brackets":
        return read_trees(sources, on_error=on_error, report=report)
    if form == "discbracket":
        return read_discbracket(
            sources, attach_higher=attach_higher, on_error=on_error, report=report
        )
    if form == "export":
        return read_export(sources, attach_higher=attach_higher)
    if form == "conllu":
        return (tree for row in read_conllu(sources) if (tree := row.tree) is not None)
    raise InputError(f"must be one of {', '.join(READ_FORMATS)}, not {form!r}", argument="form")
