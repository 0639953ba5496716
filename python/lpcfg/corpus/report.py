"""The result of parsing a corpus, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CorpusReport"]


@dataclass(frozen=True)
class CorpusReport:
    """How much of a corpus has been parsed, in this and in earlier runs.

    ``parts``: the number of parts of the corpus, ``finished`` those that have been parsed.
    ``lines``, ``sentences``, ``words``, ``blank``, ``bad``: their lines, the sentences and words
    that were parsed, blank lines, and lines that could not be parsed.
    ``statuses``: the number of sentences with each status; see :class:`lpcfg.Parse`.
    ``bytes``: the size of the output.

    >>> report = CorpusReport(parts=2, finished=1, lines=3, sentences=2, words=9, blank=1)
    >>> report.complete
    False
    """

    parts: int
    finished: int = 0
    lines: int = 0
    sentences: int = 0
    words: int = 0
    blank: int = 0
    bad: int = 0
    bytes: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: int, records: Iterable[Mapping[str, Any]]) -> CorpusReport:
        """The sums over the records of finished parts.

        >>> CorpusReport.of(3, []).finished
        0
        """
        totals = dict.fromkeys(("finished", "lines", "sentences", "words", "blank", "bad"), 0)
        totals["bytes"] = 0
        statuses: Counter[str] = Counter()
        for record in records:
            counted = {**record, "finished": 1, "bad": len(record["bad_lines"])}
            for name in totals:
                totals[name] += counted[name]
            statuses.update(record["statuses"])
        return cls(parts, statuses=dict(sorted(statuses.items())), **totals)

    @property
    def complete(self) -> bool:
        """Whether all parts have been parsed."""
        return self.finished == self.parts
