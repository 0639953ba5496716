"""Several parsers on the same sentences: scores side by side, significance, classes of errors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg import _html
from lpcfg.errors import InputError
from lpcfg.evaluation._comparison_tables import comparison_tables, comparison_text
from lpcfg.evaluation.bracketing import Bracketing, Scorable
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.error_classes import classify_errors
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters
from lpcfg.evaluation.scores import Scores, evaluate
from lpcfg.evaluation.significance import Significance, compare_counts
from lpcfg.evaluation.strict import compare_strictly

__all__ = ["Comparison", "compare_parsers"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """The parses of several parsers, compared with gold trees and with each other.

    ``print(comparison)`` shows tables; :meth:`to_html` is a report in one file.

    >>> from lpcfg import Tree
    >>> gold = [Tree.from_string("(S (NP (NN rain)) (VP (VBD fell)))")] * 9
    >>> flat = [Tree.from_string("(S (NN rain) (VBD fell))")] * 9
    >>> comparison = compare_parsers(gold, {"flat": flat, "full": gold}, samples=999)
    >>> comparison.scores["flat"].f1, comparison.scores["full"].f1
    (50.0, 100.0)
    >>> comparison.significance["flat", "full"].randomization < 0.01
    True
    >>> comparison.errors["flat"]
    Counter({'single-word phrase': 18})
    """

    gold: tuple[Scorable, ...]
    """The gold trees."""
    predicted: Mapping[str, tuple[Scorable, ...]]
    """The trees of each parser."""
    scores: Mapping[str, Scores]
    """The scores of each parser."""
    significance: Mapping[tuple[str, str], Significance]
    """The difference between every two parsers: the second minus the first."""
    errors: Mapping[str, Counter[str]]
    """The number of wrong brackets of each parser by class, see :func:`classify_errors`."""
    groups: tuple[str, ...] = ()
    """The group, such as a genre, of each sentence; empty if there are no groups."""
    parameters: EvalbParameters = NEW
    """The EVALB parameters of all scores."""

    @cached_property
    def by_group(self) -> dict[str, dict[str, BracketCounts]]:
        """The counts of each group, by parser.

        >>> from lpcfg import Tree
        >>> trees = [Tree.from_string("(NP (NN rain))"), Tree.from_string("(NP (NN snow))")]
        >>> comparison = compare_parsers(trees, {"mine": trees}, groups=["news", "fiction"])
        >>> comparison.by_group["news"]["mine"].f1
        100.0
        """
        return {
            group: {
                name: sum(
                    (
                        BracketCounts(score.matched, score.gold, score.predicted)
                        for score, own in zip(scores.by_sentence, self.groups, strict=True)
                        if own == group
                    ),
                    BracketCounts(),
                )
                for name, scores in self.scores.items()
            }
            for group in dict.fromkeys(self.groups)
        }

    def largest_differences(self, count: int) -> list[int]:
        """The sentences where the parsers differ most, by their numbers from 0.

        The difference is the number of wrong brackets of the worst parser minus that of the best.

        ``count``: the largest number of sentences.

        >>> from lpcfg import Tree
        >>> rain, snow = Tree.from_string("(NP (NN rain))"), Tree.from_string("(NP (NN snow))")
        >>> first, second = [rain, snow], [rain, Tree("NN", "snow")]
        >>> compare_parsers(first, {"a": first, "b": second}).largest_differences(5)
        [1]
        """
        wrong = np.array(
            [
                [score.gold + score.predicted - 2 * score.matched for score in scores.by_sentence]
                for scores in self.scores.values()
            ]
        )
        # For one parser this is the number of its wrong brackets.
        spread = np.ptp(wrong, axis=0) if len(wrong) > 1 else wrong[0]
        order = np.argsort(-spread, kind="stable")[:count]
        return [number for number in order.tolist() if spread[number] > 0]

    def to_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON.

        >>> from lpcfg import Tree
        >>> trees = [Tree.from_string("(NP (NN rain))")]
        >>> sorted(compare_parsers(trees, {"mine": trees}).to_dict())
        ['errors', 'groups', 'scores', 'significance']
        """
        return {
            "scores": {name: scores.to_dict() for name, scores in self.scores.items()},
            "significance": [
                {"first": first, "second": second, **found.to_dict()}
                for (first, second), found in self.significance.items()
            ],
            "errors": {name: dict(classes.most_common()) for name, classes in self.errors.items()},
            "groups": {
                group: {name: counts.to_dict() for name, counts in rows.items()}
                for group, rows in self.by_group.items()
            },
        }

    def to_html(self, *, sentences: int = 20) -> str:
        """A report in one HTML file, with the trees of the sentences that differ most.

        ``sentences``: the number of sentences whose trees are drawn (default 20).

        >>> from lpcfg import Tree
        >>> trees = [Tree.from_string("(NP (NN rain))")]
        >>> compare_parsers(trees, {"mine": trees}).to_html().startswith("<!doctype html>")
        True
        """
        from lpcfg.evaluation._comparison_html import comparison_html

        return comparison_html(self, sentences)

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {scores.f1:.2f}" for name, scores in self.scores.items())
        return f"<Comparison of {len(self.gold)} sentences, F1: {found}>"

    def _repr_html_(self) -> str:
        """The tables as notebooks show them."""
        return "".join(
            _html.caption(title) + _html.table(rows, heading)
            for title, (heading, *rows) in comparison_tables(self)
        )

    def __str__(self) -> str:
        return comparison_text(self)


def compare_parsers(
    gold: Iterable[Scorable],
    predicted: Mapping[str, Iterable[Scorable]],
    *,
    groups: Sequence[str] | None = None,
    parameters: EvalbParameters | str | os.PathLike[str] = NEW,
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare the trees of one or more parsers with gold trees and with each other.

    - ``gold``: the trees of the treebank.
    - ``predicted``: the name of each parser and its trees, as :func:`lpcfg.evaluate` takes them.
    - ``groups``: a name for each sentence, such as its genre, for scores by group.
    - ``parameters``: EVALB parameters, as for :func:`lpcfg.evaluate`.
    - ``samples``: the number of random samples of each significance test (default 10,000).
    - ``seed``: the seed of these samples (default 0).

    >>> from lpcfg import Tree
    >>> trees = [Tree.from_string("(NP (NN rain))")]
    >>> compare_parsers(trees, {"mine": trees})
    <Comparison of 1 sentences, F1: mine 100.00>
    """
    trees = tuple(gold)
    parses = {name: tuple(found) for name, found in predicted.items()}
    if not trees or not parses:
        raise InputError("there is nothing to compare", argument="predicted" if trees else "gold")
    if groups is not None and len(groups) != len(trees):
        raise InputError(
            f"{len(groups)} groups for {len(trees)} sentences: give one for each",
            argument="groups",
        )
    chosen = find_parameters(parameters)
    scores = {name: evaluate(trees, found, chosen) for name, found in parses.items()}
    counts = {name: _counts(found) for name, found in scores.items()}
    return Comparison(
        trees,
        parses,
        scores,
        {
            (first, second): compare_counts(
                counts[first], counts[second], samples=samples, seed=seed
            )
            for first, second in combinations(parses, 2)
        },
        {name: _classes(trees, found, chosen) for name, found in parses.items()},
        tuple(groups or ()),
        chosen,
    )


def _counts(scores: Scores) -> NDArray[np.int64]:
    return np.array([(row.matched, row.gold, row.predicted) for row in scores.by_sentence])


def _classes(
    gold: Iterable[Scorable], predicted: Iterable[Scorable], parameters: EvalbParameters
) -> Counter[str]:
    """The wrong brackets by class; those of a sentence that failed are not classified."""
    classes: Counter[str] = Counter()
    for one, other in zip(gold, predicted, strict=True):
        result = compare_strictly(Bracketing.of(one), Bracketing.of(other), parameters)
        if result.failure:
            classes["no tree"] += len(result.gold) + len(result.predicted)
        else:
            classes.update(classify_errors(result))
    return classes
