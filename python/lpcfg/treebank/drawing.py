"""Drawings of trees as SVG."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from lpcfg.treebank._draw_text import count_columns
from lpcfg.treebank.tree import Tree

__all__ = ["draw_svg", "stack_drawings"]

# Sizes in pixels.
_FONT = 14
_COLUMN = 8.4
_LEVEL = 44
_GAP = 18
_MARGIN = 12
_SMALL_FONT = 10

#: Attributes rather than style rules, which would apply to the whole page around the drawing.
_ATTRIBUTES = {
    "label": 'fill="#222"',
    "word": 'fill="#05a" font-style="italic"',
    "marked": 'fill="#c00" font-weight="bold"',
}
#: From here on, a probability is as good as 1.
_CERTAIN = 0.995
_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(slots=True)
class _Item:
    """A label or a word with its position, and the items below it."""

    text: str
    kind: str
    x: float
    level: int
    below: list[_Item]
    probability: float | None = None

    @property
    def half_width(self) -> float:
        return count_columns(self.text) * _COLUMN / 2

    @property
    def y(self) -> int:
        return _MARGIN + self.level * _LEVEL

    @property
    def note(self) -> str:
        """The probability that is written below the label: only if it is not nearly 1."""
        if self.probability is None or self.probability >= _CERTAIN:
            return ""
        return f"{self.probability:.2f}"

    @property
    def attributes(self) -> str:
        if self.probability is None or not self.note:
            return _ATTRIBUTES[self.kind]
        return f'fill="{_confidence_colour(self.probability)}"'


def draw_svg(
    tree: Tree, marked: Collection[int] = (), probabilities: Mapping[int, float] | None = None
) -> str:
    """Draw a tree as an SVG document: labels above, words below, on a white background.

    ``marked``: the numbers in pre-order of the nodes to draw in red.
    ``probabilities``: by the numbers of nodes, their probabilities. They are shown when the mouse
    is over a label; those below 0.995 are also written below it, the lower the redder.

    >>> svg = draw_svg(Tree.from_string("(NP (DT the) (NN rain))"))
    >>> svg.count("<text"), svg.count("<line")
    (5, 4)
    """
    items = _layout(tree, marked, probabilities or {})
    left = min(item.x - item.half_width for item in items) - _MARGIN
    width = max(item.x + item.half_width for item in items) + _MARGIN - left
    height = max(item.y for item in items) + _FONT + _MARGIN
    lines = [line for item in items for line in _lines(item)]
    texts = [text for item in items for text in _texts(item)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="{left:.1f} 0 {width:.1f} {height}">'
        f'<rect x="{left:.1f}" width="{width:.1f}" height="{height}" fill="#fff"/>'
        f'<g stroke="#888">{"".join(lines)}</g>'
        f'<g font-family="sans-serif" font-size="{_FONT}" text-anchor="middle">'
        f"{''.join(texts)}</g></svg>"
    )


def stack_drawings(drawings: Iterable[str]) -> str:
    """Drawings of :func:`draw_svg` below each other, as one SVG document.

    >>> one = draw_svg(Tree.from_string("(NN rain)"))
    >>> stack_drawings([one, one]).count("<text")
    4
    """
    listed = list(drawings)
    if len(listed) == 1:
        return listed[0]
    sizes = [(int(found[1]), int(found[2])) for svg in listed if (found := _SIZE.search(svg))]
    tops = [0, *accumulate(height + _GAP for _, height in sizes)]
    width, height = max(width for width, _ in sizes), tops[-1] - _GAP
    placed = (
        svg.replace("<svg ", f'<svg y="{top}" ', 1) for svg, top in zip(listed, tops, strict=False)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(placed)}</svg>'
    )


def _texts(item: _Item) -> Iterator[str]:
    title = "" if item.probability is None else f"<title>probability {item.probability:.4f}</title>"
    yield (
        f'<text class="{item.kind}" {item.attributes} '
        f'x="{item.x:.1f}" y="{item.y + _FONT - 2}">{_escape(item.text)}{title}</text>'
    )
    if item.note:
        yield (
            f'<text class="probability" {item.attributes} font-size="{_SMALL_FONT}" '
            f'x="{item.x:.1f}" y="{item.y + _FONT + _SMALL_FONT - 2}">{item.note}</text>'
        )


def _confidence_colour(probability: float) -> str:
    """From the colour of labels, for certain nodes, to red."""
    red, other = (round(low + probability * (34 - low)) for low in (204, 0))
    return f"#{red:02x}{other:02x}{other:02x}"


def _escape(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _layout(tree: Tree, marked: Collection[int], probabilities: Mapping[int, float]) -> list[_Item]:
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
        pending.append(_Item(node.label, kind, x, level, below, probabilities.get(number)))
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
    top = item.y + _FONT + 4 + (_SMALL_FONT if item.note else 0)
    for child in item.below:
        yield (f'<line x1="{item.x:.1f}" y1="{top}" x2="{child.x:.1f}" y2="{child.y - 2}"/>')
