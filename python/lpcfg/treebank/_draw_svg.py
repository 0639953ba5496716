"""Drawings of trees as SVG."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lpcfg.treebank._draw_text import count_columns
from lpcfg.treebank.tree import Tree

__all__ = ["draw_svg"]

# Sizes in pixels.
_FONT = 14
_COLUMN = 8.4
_LEVEL = 44
_GAP = 18
_MARGIN = 12

#: Attributes rather than style rules, which would apply to the whole page around the drawing.
_ATTRIBUTES = {
    "label": 'fill="#222"',
    "word": 'fill="#05a" font-style="italic"',
    "marked": 'fill="#c00" font-weight="bold"',
}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(slots=True)
class _Item:
    """A label or a word with its position, and the items below it."""

    text: str
    kind: str
    x: float
    level: int
    below: list[_Item]

    @property
    def half_width(self) -> float:
        return count_columns(self.text) * _COLUMN / 2

    @property
    def y(self) -> int:
        return _MARGIN + self.level * _LEVEL


def draw_svg(tree: Tree, marked: Collection[int] = ()) -> str:
    """Draw a tree as an SVG document: labels above, words below, on a white background.

    ``marked``: the numbers in pre-order of the nodes to draw in red.

    >>> svg = draw_svg(Tree.from_string("(NP (DT the) (NN rain))"))
    >>> svg.count("<text"), svg.count("<line")
    (5, 4)
    """
    items = _layout(tree, marked)
    left = min(item.x - item.half_width for item in items) - _MARGIN
    width = max(item.x + item.half_width for item in items) + _MARGIN - left
    height = max(item.y for item in items) + _FONT + _MARGIN
    lines = [line for item in items for line in _lines(item)]
    texts = [
        f'<text class="{item.kind}" {_ATTRIBUTES[item.kind]} '
        f'x="{item.x:.1f}" y="{item.y + _FONT - 2}">'
        f"{_escape(item.text)}</text>"
        for item in items
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="{left:.1f} 0 {width:.1f} {height}">'
        f'<rect x="{left:.1f}" width="{width:.1f}" height="{height}" fill="#fff"/>'
        f'<g stroke="#888">{"".join(lines)}</g>'
        f'<g font-family="sans-serif" font-size="{_FONT}" text-anchor="middle">'
        f"{''.join(texts)}</g></svg>"
    )


def _escape(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _layout(tree: Tree, marked: Collection[int]) -> list[_Item]:
    """Put words side by side, and each label above the middle of its children."""
    items: list[_Item] = []
    pending: list[_Item] = []
    # From the last node in pre-order to the first: children before parents, words from the right.
    edge = 0.0
    for number, (node, level) in reversed(list(enumerate(_levels(tree)))):
        below = [pending.pop() for _ in node.children]
        if below:
            x = (below[0].x + below[-1].x) / 2
        else:
            room = max(count_columns(node.word or ""), count_columns(node.label)) * _COLUMN
            x = edge - room / 2
            edge -= room + _GAP
        if node.word is not None:
            below = [_Item(node.word, "word", x, level + 1, [])]
            items += below
        kind = "marked" if number in marked else "label"
        pending.append(_Item(node.label, kind, x, level, below))
        items.append(pending[-1])
    return items


def _levels(tree: Tree) -> Iterator[tuple[Tree, int]]:
    """Each node in pre-order with its distance from the root."""
    stack = [(tree, 0)]
    while stack:
        node, level = stack.pop()
        yield node, level
        stack.extend((child, level + 1) for child in reversed(node.children))


def _lines(item: _Item) -> Iterator[str]:
    for child in item.below:
        yield (
            f'<line x1="{item.x:.1f}" y1="{item.y + _FONT + 4}" '
            f'x2="{child.x:.1f}" y2="{child.y - 2}"/>'
        )
