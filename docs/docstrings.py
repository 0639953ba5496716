"""How docstrings become Markdown on the documentation site: an extension of Griffe.

Docstrings have examples as doctests, without fences, and names of classes and functions as in
reStructuredText. Both are readable in a terminal. Markdown needs fences and plain code.
"""

import importlib
import re
from itertools import groupby

import griffe

from lpcfg.parameters.parameterized import Parameterized

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?([^`]+)`")


class Docstrings(griffe.Extension):
    """Rewrite the docstring of every object of the package."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Called once for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value) + parameter_table(obj)


def parameter_table(obj: griffe.Object) -> str:
    """The declared parameters of an estimator as a table; nothing for other objects."""
    if not obj.is_class or obj.parent is None or not obj.parent.is_module:
        return ""
    kind = getattr(importlib.import_module(obj.parent.path), obj.name, None)
    if not (isinstance(kind, type) and issubclass(kind, Parameterized)):
        return ""
    rows = [
        f"| `{name}` | {_cell(declared.help)} | {_cell(declared.constraint)} "
        f"| {'' if declared.default is None else f'`{declared.default!r}`'} |"
        for name, declared in kind.parameters().items()
    ]
    heading = "| parameter | meaning | values | default |\n|---|---|---|---|\n"
    return "\n\n" + heading + "\n".join(rows) if rows else ""


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def to_markdown(text: str) -> str:
    r"""Put doctests into fences, and names into code.

    >>> print(to_markdown("Like :func:`lpcfg.load`.\n\n>>> 1 + 1\n2\n\nThe end."))
    Like `lpcfg.load`.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    The end.
    """
    blocks = [list(lines) for _, lines in groupby(text.splitlines(), key=lambda line: not line)]
    parts = []
    for lines in blocks:
        if any(line.lstrip().startswith(">>> ") for line in lines):
            start = next(n for n, line in enumerate(lines) if line.lstrip().startswith(">>> "))
            lines = [*lines[:start], *([""] if start else []), "```pycon", *lines[start:], "```"]
        else:
            lines = [_ROLE.sub(r"`\1`", line) for line in lines]
        parts += lines
    return "\n".join(parts)
