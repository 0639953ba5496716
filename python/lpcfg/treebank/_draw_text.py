"""Drawings of trees in text, for terminals."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from lpcfg.treebank.tree import Tree

__all__ = ["count_columns", "draw_text"]

_GAP = 2
"""Columns between neighbouring subtrees."""

_LEFT_TO_RIGHT_MARK = "\u200e"

_NOT_SHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that would break lines, control the terminal, or cannot be encoded."""


def draw_text(tree: Tree, width: int) -> str:
    """Draw a tree top down, or indent it if that would be wider than ``width`` columns.

    >>> tree = Tree.from_string("(NP (DT the) (NN rain))")
    >>> print(draw_text(tree, width=80))
       NP
     ┌─┴──┐
     DT   NN
     │    │
    the  rain
    >>> print(draw_text(tree, width=5))
    NP
    ├─ DT the
    └─ NN rain
    """
    return _top_down(tree, width) or _indented(tree)


def _indented(tree: Tree) -> str:
    lines: list[str] = []
    stack = [(tree, "", "")]
    while stack:
        node, lead, below = stack.pop()
        word = "" if node.word is None else f" {_shown(node.word)}"
        lines.append(f"{lead}{_shown(node.label)}{word}")
        last = len(node.children) - 1
        branches = [("└─ ", "   ") if i == last else ("├─ ", "│  ") for i in range(last + 1)]
        for child, (branch, indent) in reversed(list(zip(node.children, branches, strict=True))):
            stack.append((child, below + branch, below + indent))
    return "\n".join(lines)


def _shown(token: str) -> str:
    shown = _NOT_SHOWN.sub("\ufffd", token)
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in shown):
        # Without a mark, terminals would swap neighbouring words of a right-to-left script.
        shown += _LEFT_TO_RIGHT_MARK
    return shown


@dataclass(slots=True)
class _Block:
    """Lines of ``width`` columns; the node at their top stands over the column ``root``."""

    lines: list[str]
    width: int
    root: int


def _top_down(tree: Tree, width: int) -> str | None:
    """The drawing, or None as soon as it gets too wide."""
    blocks: list[_Block] = []
    for node in reversed(list(tree.nodes())):
        below = [blocks.pop() for _ in node.children]
        if node.word is not None:
            below = [_centred(_shown(node.word))]
        block = _centred(_shown(node.label))
        if below:
            block = _stack(block, _branches(below))
        if block.width > width:
            return None
        blocks.append(block)
    return "\n".join(line.rstrip(" ") for line in blocks[0].lines)


def _branches(blocks: list[_Block]) -> _Block:
    """Blocks side by side under a line that joins them."""
    height = max(len(block.lines) for block in blocks)
    rows = [
        (" " * _GAP).join(
            block.lines[row] if row < len(block.lines) else " " * block.width for block in blocks
        )
        for row in range(height)
    ]
    roots, offset = [], 0
    for block in blocks:
        roots.append(offset + block.root)
        offset += block.width + _GAP
    width = offset - _GAP
    first, last = roots[0], roots[-1]
    root = (first + last) // 2
    if len(blocks) == 1:
        joint = "│"
    else:
        marks = dict.fromkeys(roots, "┬") | {first: "┌", last: "┐"}
        marks[root] = "┼" if root in roots else "┴"
        joint = "".join(marks.get(column, "─") for column in range(first, last + 1))
    bar = " " * first + joint + " " * (width - last - 1)
    return _Block([bar, *rows], width, root)


def _stack(top: _Block, below: _Block) -> _Block:
    """One block over the other, their roots in one column."""
    root = max(top.root, below.root)
    width = root + max(top.width - top.root, below.width - below.root)
    lines = []
    for block in (top, below):
        left = " " * (root - block.root)
        right = " " * (width - block.width - len(left))
        lines += [left + line + right for line in block.lines]
    return _Block(lines, width, root)


def _centred(text: str) -> _Block:
    width = max(count_columns(text), 1)
    return _Block([text or " "], width, (width - 1) // 2)


def count_columns(text: str) -> int:
    """The number of terminal columns of a text: two for East Asian characters, none for marks.

    Marks are accents, vowels above and below letters, as in Thai and Hindi, and joiners.

    >>> count_columns("rain"), count_columns("雨"), count_columns("e\u0301"), count_columns("ที่")
    (4, 2, 1, 1)
    """
    return sum(_character_columns(character) for character in text)


def _character_columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
