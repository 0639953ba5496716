"""How well a tagger does on a treebank."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lpcfg.errors import TreebankError
from lpcfg.sequence.tagger import Tagger
from lpcfg.treebank.treebank import Treebank

__all__ = ["TagScores", "evaluate_tagger"]


@dataclass(frozen=True)
class TagScores:
    """Words and sentences, those that have the right tags, and what it took.

    >>> scores = TagScores(200, 190, 10, 8, 20, 15, 0.5)
    >>> print(scores)
    accuracy 95.00 (known words 95.79, unknown words 80.00)
    sentences without a mistake 75.00 %
    400 tokens/s (20 sentences, 200 tokens in 0.50 s)
    """

    tokens: int
    right: int
    unknown: int
    unknown_right: int
    sentences: int
    sentences_right: int
    seconds: float

    @property
    def accuracy(self) -> float:
        """The part of the words that have the right tag, in percent.

        >>> TagScores(200, 190, 10, 8, 20, 15, 0.5).accuracy
        95.0
        """
        return 100 * self.right / self.tokens

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON.

        >>> TagScores(200, 190, 10, 8, 20, 15, 0.5).to_dict()["accuracy"]
        95.0
        """
        return {"accuracy": self.accuracy, **asdict(self)}

    def __str__(self) -> str:
        def percent(part: int, whole: int) -> str:
            return f"{100 * part / whole:.2f}" if whole else "-"

        known, known_right = self.tokens - self.unknown, self.right - self.unknown_right
        return (
            f"accuracy {percent(self.right, self.tokens)} "
            f"(known words {percent(known_right, known)}, "
            f"unknown words {percent(self.unknown_right, self.unknown)})\n"
            f"sentences without a mistake {percent(self.sentences_right, self.sentences)} %\n"
            f"{self.tokens / self.seconds:.0f} tokens/s ({self.sentences} sentences, "
            f"{self.tokens} tokens in {self.seconds:.2f} s)"
        )


def evaluate_tagger(
    tagger: Tagger,
    treebank: Treebank,
    progress: Callable[[Iterable[list[str]]], Iterable[list[str]]] = iter,
) -> TagScores:
    """Tag the words of a treebank and compare; ``progress`` may wrap the results.

    >>> from lpcfg import Tree
    >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
    >>> evaluate_tagger(Tagger().fit(treebank), treebank).accuracy
    100.0
    """
    if len(treebank) == 0:
        raise TreebankError("there are no trees to evaluate on")
    words, gold = zip(*treebank.sentences(), strict=True)
    started = time.perf_counter()
    predicted = list(progress(tagger.tag_many(words)))
    seconds = time.perf_counter() - started
    vocabulary = frozenset(tagger.lexicon_.words)
    unknown = np.array([word not in vocabulary for sentence in words for word in sentence])
    right = np.array(
        [
            one == other
            for pair in zip(predicted, gold, strict=True)
            for one, other in zip(*pair, strict=True)
        ]
    )
    return TagScores(
        tokens=len(right),
        right=int(right.sum()),
        unknown=int(unknown.sum()),
        unknown_right=int((right & unknown).sum()),
        sentences=len(gold),
        sentences_right=sum(map(list.__eq__, predicted, gold)),
        seconds=seconds,
    )
