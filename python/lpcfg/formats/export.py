"""The export format of NEGRA and TIGER, version 4: a line for each word and for each node.

Lines have six columns: word, lemma, tag, morphology, edge label and parent. Nodes have numbers from
500; the parent 0 is the virtual root. Files of version 3 have no lemma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lpcfg.errors import TreebankError
from lpcfg.formats._crossing import ROOT, CrossingTree
from lpcfg.treebank.escaping import escape, escape_brackets, unescape, unescape_brackets
from lpcfg.treebank.sources import Sources, find_sources, read_chunks, source_name
from lpcfg.treebank.tree import Tree

__all__ = ["EXPORT_HEADER", "read_export", "write_export"]

#: The first line of a file.
EXPORT_HEADER = "#FORMAT 4\n"

_FIRST_NODE = 500
_NODE = re.compile(r"#(\d+)$")

#: Labels of roots that stand for the virtual root.
_ROOT_LABELS = ("", "ROOT", "TOP", "S1", "VROOT")

#: Words that would be read as something else; their first character is escaped.
_SPECIAL = re.compile(r"#(\d+$|BOS|EOS|BOT|EOT|FORMAT)|%%")
_ESCAPED_FIRST = re.compile(r"-U\+(0023|0025)-")


def write_export(tree: Tree, number: int = 1) -> str:
    """A tree in the export format, without the header of the file.

    ``number``: the number of the sentence (default 1).

    >>> print(write_export(Tree.from_string("(ROOT (S (NP (PRP it)) (VBD rained)))")), end="")
    #BOS 1 0 0 0
    it	--	PRP	--	--	500
    rained	--	VBD	--	--	501
    #500	--	NP	--	--	501
    #501	--	S	--	--	0
    #EOS 1
    """
    tops: tuple[Tree, ...] = (tree,)
    if tree.label in _ROOT_LABELS and not tree.is_preterminal:
        tops = tree.children
    words: list[str] = []
    nodes: list[str] = []
    # In post-order a node has its number before its parent has one, so parents are filled in last.
    parents: list[int] = []
    parent_of_node: dict[int, int] = {}
    for top in tops:
        pending: list[tuple[Tree, bool]] = [(top, False)]
        # What is complete and waits for its parent: words as -1 - place, nodes by their numbers.
        complete: list[int] = []
        while pending:
            node, opened = pending.pop()
            if node.word is not None:
                words.append(f"{_word(node.word)}\t--\t{_field(node.label)}")
                complete.append(-len(words))
                parents.append(ROOT)
            elif opened:
                identity = _FIRST_NODE + len(nodes)
                nodes.append(f"#{identity}\t--\t{_field(node.label)}")
                for child in complete[len(complete) - len(node.children) :]:
                    if child < 0:
                        parents[-child - 1] = identity
                    else:
                        parent_of_node[child] = identity
                del complete[len(complete) - len(node.children) :]
                complete.append(identity)
            else:
                pending.append((node, True))
                pending.extend((child, False) for child in reversed(node.children))
    lines = [f"{word}\t--\t--\t{parent}" for word, parent in zip(words, parents, strict=True)]
    for identity, text in enumerate(nodes, start=_FIRST_NODE):
        lines.append(f"{text}\t--\t--\t{parent_of_node.get(identity, ROOT)}")
    return "\n".join([f"#BOS {number} 0 0 0", *lines, f"#EOS {number}", ""])


def _field(token: str) -> str:
    """A token without white space; brackets need no escape sequence here."""
    return unescape_brackets(escape(token))


def _word(token: str) -> str:
    field = _field(token)
    return f"-U+{ord(field[0]):04X}-{field[1:]}" if _SPECIAL.match(field) else field


def _unescaped(field: str) -> str:
    """The token of a field; brackets are escaped as in all trees."""
    first = _ESCAPED_FIRST.match(field)
    if first:
        field = chr(int(first[1], 16)) + field[first.end() :]
    return escape_brackets(unescape(field))


def read_export(sources: Sources, *, attach_higher: bool = False) -> Iterator[Tree]:
    r"""The trees of files in the export format, lazily and in their order.

    Lemmas, morphology, edge labels and secondary edges are left out. Every tree gets the root
    ``ROOT``.

    ``sources``: a path, a folder, a pattern, ``"-"`` for standard input, an open binary file, or
    several of them; files may be gzipped.
    ``attach_higher``: what to do with a node that covers words that are not adjacent: False
    (default) raises a :class:`~lpcfg.TreebankError`; with True its longest part stays, and the
    others become children of its parent.

    >>> import io
    >>> text = EXPORT_HEADER + write_export(Tree.from_string("(ROOT (NP (DT the) (NN rain)))"))
    >>> print(*read_export(io.BytesIO(text.encode())))
    (ROOT (NP (DT the) (NN rain)))
    """
    for source in find_sources(sources):
        yield from _read(b"".join(read_chunks(source)), source_name(source), attach_higher)


def _read(data: bytes, name: str, attach_higher: bool) -> Iterator[Tree]:
    version = 3
    start = 0
    rows: list[tuple[int, list[str]]] = []
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise TreebankError(
            "the text is not UTF-8; convert it first, for example with iconv -f LATIN1 -t UTF-8",
            file=name,
        ) from None
    for number, line in enumerate(lines, start=1):
        columns = line.split()
        if line.startswith("#FORMAT"):
            version = 4 if columns[1:] == ["4"] else 3
        elif line.startswith("#BOS"):
            start, rows = number, []
        elif line.startswith("#EOS") and not rows:
            # A sentence without a tree.
            start = 0
        elif line.startswith("#EOS"):
            try:
                tree = _crossing_tree(rows, version, name).tree(attach_higher=attach_higher)
            except TreebankError as error:
                if error.file is not None:
                    raise
                raise TreebankError(error.message, file=name, line=start) from None
            start = 0
            yield tree
        elif start and columns and not line.startswith("%%"):
            rows.append((number, columns))
    if start:
        raise TreebankError("the sentence has no end (#EOS)", file=name, line=start)


def _crossing_tree(rows: list[tuple[int, list[str]]], version: int, name: str) -> CrossingTree:
    words: list[str] = []
    tags: list[str] = []
    word_parents: list[int] = []
    labels: dict[int, str] = {}
    parents: dict[int, int] = {}
    least = version + 2
    for line, row in rows:
        if len(row) < least or not row[least - 1].isdecimal():
            raise TreebankError(
                f"expected {least} columns, the last one a number, as format {version} has them",
                file=name,
                line=line,
            )
        # The lemma of version 4 is the second column.
        label, parent = _unescaped(row[version - 2]), int(row[least - 1])
        node = _NODE.match(row[0])
        if node is None:
            words.append(_unescaped(row[0]))
            tags.append(label)
            word_parents.append(parent)
            continue
        identity = int(node[1])
        if identity in labels or identity == ROOT:
            raise TreebankError(f"a second node {identity}", file=name, line=line)
        labels[identity], parents[identity] = label, parent
    return CrossingTree(words, tags, word_parents, labels, parents)
