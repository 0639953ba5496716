"""Drawings of trees, for terminals and as SVG."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from html import escape as escape_xml

from lpcfg.tree import Tree

__all__ = ["draw_svg", "draw_text"]

_GAP = 2
"""Columns between neighbouring subtrees."""


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
        word = "" if node.word is None else f" {node.word}"
        lines.append(f"{lead}{node.label}{word}")
        last = len(node.children) - 1
        branches = [("└─ ", "   ") if i == last else ("├─ ", "│  ") for i in range(last + 1)]
        for child, (branch, indent) in reversed(list(zip(node.children, branches, strict=True))):
            stack.append((child, below + branch, below + indent))
    return "\n".join(lines)


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
        if node.word is None:
            below = [blocks.pop() for _ in node.children]
        else:
            below = [_centred(node.word)]
        block = _stack(_centred(node.label), _branches(below))
        if block.width > width:
            return None
        blocks.append(block)
    return "\n".join(line.rstrip() for line in blocks[0].lines)


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
    width = max(_columns(text), 1)
    return _Block([text or " "], width, (width - 1) // 2)


def _columns(text: str) -> int:
    """How many columns a terminal gives to a text: East Asian characters take two, marks none."""
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


# Sizes of the SVG drawing in pixels.
_CHARACTER = 8.4
_LEVEL = 44
_MARGIN = 12
_FONT = 14
_SPACE = 18


def draw_svg(tree: Tree) -> str:
    """Draw a tree as an SVG document: labels above, words below.

    >>> svg = draw_svg(Tree.from_string("(NP (DT the) (NN rain))"))
    >>> svg.count("<text"), svg.count("<line")
    (5, 4)
    """
    # Nodes from the last to the first in pre-order, so that children come before their parents
    # and words from right to left; x is counted from the right edge.
    depths = _depths(tree)
    placed: list[tuple[float, int]] = []
    shapes: list[str] = []
    edge = float(_MARGIN)
    texts: list[tuple[float, int, str, str]] = []
    lines: list[tuple[float, int, float, int]] = []
    for node, depth in zip(reversed(list(tree.nodes())), reversed(depths), strict=True):
        if node.word is None:
            below = [placed.pop() for _ in node.children]
            x = (below[0][0] + below[-1][0]) / 2
        else:
            room = max(_columns(node.word), _columns(node.label)) * _CHARACTER
            x = edge + room / 2
            edge += room + _SPACE
            below = [(x, depth + 1)]
            texts.append((x, depth + 1, node.word, "word"))
        texts.append((x, depth, node.label, "label"))
        lines += [(x, depth, child, level) for child, level in below]
        placed.append((x, depth))
    reach = max([x + _columns(text) * _CHARACTER / 2 for x, _, text, _ in texts]) + _MARGIN
    width = max(edge - _SPACE + _MARGIN, reach)
    height = max(level for _, level, _, _ in texts) * _LEVEL + _FONT + 2 * _MARGIN
    for x, level, child, child_level in lines:
        top = _MARGIN + level * _LEVEL + _FONT + 4
        bottom = _MARGIN + child_level * _LEVEL - 2
        shapes.append(
            f'<line x1="{width - x:.1f}" y1="{top}" x2="{width - child:.1f}" y2="{bottom}"/>'
        )
    for x, level, text, kind in texts:
        y = _MARGIN + level * _LEVEL + _FONT - 2
        shapes.append(f'<text class="{kind}" x="{width - x:.1f}" y="{y}">{escape_xml(text)}</text>')
    style = (
        f"text{{font:{_FONT}px sans-serif;text-anchor:middle;fill:#222}}"
        ".word{font-style:italic;fill:#05a}line{stroke:#888}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}"><style>{style}</style>{"".join(shapes)}</svg>'
    )


def _depths(tree: Tree) -> list[int]:
    """The depth of each node in pre-order."""
    depths = []
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        depths.append(depth)
        stack.extend((child, depth + 1) for child in reversed(node.children))
    return depths
