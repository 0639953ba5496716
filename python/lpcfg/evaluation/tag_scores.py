"""The accuracy and the speed of a tagger on a treebank."""

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
    """Tagging accuracy on words, unknown words and sentences, and the time it took.

    >>> scores = TagScores(200, 190, 10, 8, 20, 15, 0.5)
    >>> print(scores)
    accuracy 95.00 (known words 95.79, unknown words 80.00)
    sentences without an error 75.00 %
    400 tokens/s (20 sentences, 200 tokens in 0.50 s)
    """

    tokens: int
    correct: int
    """The number of tokens with the tag of the treebank."""
    unknown: int
    """The number of tokens whose word the tagger has not seen in training."""
    unknown_correct: int
    sentences: int
    sentences_correct: int
    """The number of sentences all of whose tags are correct."""
    seconds: float

    @property
    def accuracy(self) -> float:
        """Tokens with the correct tag, in percent of all.

        >>> TagScores(200, 190, 10, 8, 20, 15, 0.5).accuracy
        95.0
        """
        return 100 * self.correct / self.tokens

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON.

        >>> TagScores(200, 190, 10, 8, 20, 15, 0.5).to_dict()["accuracy"]
        95.0
        """
        return {"accuracy": self.accuracy, **asdict(self)}

    def __str__(self) -> str:
        def percent(part: int, whole: int) -> str:
            return f"{100 * part / whole:.2f}" if whole else "-"

        known, known_correct = self.tokens - self.unknown, self.correct - self.unknown_correct
        return (
            f"accuracy {percent(self.correct, self.tokens)} "
            f"(known words {percent(known_correct, known)}, "
            f"unknown words {percent(self.unknown_correct, self.unknown)})\n"
            f"sentences without an error {percent(self.sentences_correct, self.sentences)} %\n"
            f"{self.tokens / self.seconds:.0f} tokens/s ({self.sentences} sentences, "
            f"{self.tokens} tokens in {self.seconds:.2f} s)"
        )


def evaluate_tagger(
    tagger: Tagger,
    treebank: Treebank,
    progress: Callable[[Iterable[list[str]]], Iterable[list[str]]] = iter,
) -> TagScores:
    """Tag the words of a treebank and compare with its tags.

    - ``tagger``: a fitted tagger.
    - ``treebank``: one tree or more.
    - ``progress``: wraps the iterator of tagged sentences, for instance to show a progress bar.

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
    correct = np.array(
        [
            one == other
            for pair in zip(predicted, gold, strict=True)
            for one, other in zip(*pair, strict=True)
        ]
    )
    return TagScores(
        tokens=len(correct),
        correct=int(correct.sum()),
        unknown=int(unknown.sum()),
        unknown_correct=int((correct & unknown).sum()),
        sentences=len(gold),
        sentences_correct=sum(map(list.__eq__, predicted, gold)),
        seconds=seconds,
    )
