"""Formulas between dollar signs as MathML: a hook of MkDocs.

MathML is drawn by browsers themselves, so that the site loads no script for it and works offline.
"""

import re

from latex2mathml.converter import convert

_STYLE = ' style="margin: 0.8em 0"'
_DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$`\w])\$([^$`\n]+(?:\n[^$`\n]+)?)\$(?![\w$])")
#: Fenced blocks and code, in which dollar signs stay.
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called for each page."""
    if "$" not in markdown:
        return markdown
    parts = _CODE.split(markdown)
    # Code is at the odd places.
    return "".join(part if place % 2 else _formulas(part) for place, part in enumerate(parts))


def _formulas(text: str) -> str:
    text = _DISPLAYED.sub(lambda found: f"<div{_STYLE}>{_mathml(found[1], 'block')}</div>", text)
    # Within a span, because Markdown takes a line that begins with <math> for a block.
    return _INLINE.sub(lambda found: f"<span>{_mathml(found[1], 'inline')}</span>", text)


def _mathml(formula: str, display: str) -> str:
    return convert(" ".join(formula.split()), display=display)
