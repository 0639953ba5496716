"""What reading a treebank reports: numbers of trees, and what was wrong with some."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["MAX_ERRORS", "ReadReport", "TreebankWarning"]

MAX_ERRORS = 20
"""The number of errors that a report keeps."""


class TreebankWarning(UserWarning):
    """Malformed trees were skipped, or phrases with gaps raised.

    >>> import io, warnings
    >>> from lpcfg import read_trees
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     trees = list(read_trees(io.BytesIO(b"(NN rain) (NN)"), on_error="skip"))
    >>> caught[0].category.__name__
    'TreebankWarning'
    """


@dataclass
class ReadReport:
    """The numbers of trees read and skipped. With a report, reading issues no warning.

    >>> import io
    >>> from lpcfg import read_trees
    >>> report = ReadReport()
    >>> trees = list(read_trees(io.BytesIO(b"(NN rain) (NN)"), on_error="skip", report=report))
    >>> report.trees, report.skipped
    (1, 1)
    """

    trees: int = 0
    """The number of trees that were read, including empty ones."""
    empty: int = 0
    """The number of trees that were empty, or had no nodes left after cleaning."""
    skipped: int = 0
    """The number of malformed trees that were skipped."""
    errors: list[str] = field(default_factory=list)
    """The positions and reasons of the first 20 errors."""
    style: str = "penn"
    """The style of the treebank, given or recognised."""
    discontinuous: int = 0
    """The number of phrases with gaps; their children beyond a gap were raised."""

    def __str__(self) -> str:
        text = f"{self.trees} trees read"
        if self.style != "penn":
            text += f" in the style {self.style}"
        if self.empty:
            text += f", {self.empty} empty"
        if self.discontinuous:
            text += f", {self.discontinuous} discontinuous constituents raised"
        if self.skipped:
            text += f", {self.skipped} malformed ones skipped; the first: {self.errors[0]}"
        return text
