"""The parses of one sentence by several parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import tee
from typing import TypeVar

import numpy as np

from lpcfg.parsing._coverage import coverage_gain
from lpcfg.parsing.base import Tags
from lpcfg.parsing.marginals import NodeSpan
from lpcfg.parsing.member_columns import Outcome
from lpcfg.parsing.parse import INCOMPLETE, Candidate, Parse
from lpcfg.treebank.tree import Tree

__all__ = [
    "MemberParses",
    "analyze_with_each",
    "joint_status",
    "log_posteriors",
    "outcome_status",
]

Result = TypeVar("Result")


def analyze_with_each(
    methods: Sequence[Callable[..., Iterator[Result]]],
    tags: Iterable[Tags] | None,
    words: Iterable[Sequence[str]] | None,
    **options: object,
) -> Iterator[tuple[Result, ...]]:
    r"""The results of methods of several parsers for each sentence, lazily.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
    >>> sentences = iter([["it", "rained"]])
    >>> results = analyze_with_each([parser.parse_many] * 2, None, sentences, batch_size=1)
    >>> [[str(tree) for tree in trees] for trees in results]
    [['(S (NP it) (VP rained))', '(S (NP it) (VP rained))']]
    """
    count = len(methods)
    tags_copies = [None] * count if tags is None else tee(tags, count)
    words_copies = [None] * count if words is None else tee(words, count)
    results = [
        method(tags, words=words, **options)
        for method, tags, words in zip(methods, tags_copies, words_copies, strict=True)
    ]
    return zip(*results, strict=True)


def log_posteriors(parses: Iterable[Parse]) -> dict[Tree, float | None]:
    r"""The candidates of several parses of a sentence, with log-probabilities given the sentence.

    They are those of the first parse that gives the tree a probability, or None.

    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> 'ha' [0.25] | 'ho' [0.75]"))
    >>> log_posteriors([parser.analyze(words=["ho"])])
    {Tree.from_string('(S ho)'): 0.0}
    """
    posteriors: dict[Tree, float | None] = {}
    for parse in parses:
        sentence = parse.sentence_log_probability
        for tree, log_probability in parse.candidates:
            if log_probability is None or sentence is None:
                posteriors.setdefault(tree)
            elif posteriors.get(tree) is None:
                posteriors[tree] = log_probability - sentence
    return posteriors


def joint_status(
    members: Sequence[Parse | Outcome],
    has_tree: Sequence[bool],
    *,
    with_probability: bool,
    is_complete: bool,
    proposed: bool,
) -> str:
    """The status of a parse of an ensemble for a sentence with a probability.

    ``members``: the parses that are not ignored. ``has_tree``: whether the tree is that of each of
    them.
    ``with_probability``: whether the tree has a probability.
    ``is_complete``: whether no member is ignored.
    ``proposed``: whether the tree is a candidate of any member.

    >>> members = [Outcome("parsed", -1.0, -0.5, False)]
    >>> joint_status(
    ...     members, [False], with_probability=False, is_complete=True, proposed=False
    ... )
    'combined'
    """
    if with_probability and not is_complete:
        return "fewer"
    own = (
        member.status
        for member, same in zip(members, has_tree, strict=True)
        if (member.log_probability is not None) == with_probability and (with_probability or same)
    )
    default = "parsed" if with_probability else "inconsistent" if proposed else "combined"
    return next(own, default)


def outcome_status(members: Sequence[Outcome], has_tree: Sequence[bool], is_complete: bool) -> str:
    """The status of a parse of an ensemble whose members have one candidate each.

    The arguments are as for :func:`joint_status`.

    >>> outcome_status([Outcome("parsed", -1.0, -0.5, False)], [True], True)
    'parsed'
    """
    conditional = all(member.conditional for member in members)
    known = [
        member.sentence_log_probability is not None and (conditional or not member.conditional)
        for member in members
    ]
    if not any(known):
        return members[0].status
    return joint_status(
        members,
        has_tree,
        with_probability=any(
            same and None not in (member.log_probability, member.sentence_log_probability)
            for member, same in zip(members, has_tree, strict=True)
        ),
        is_complete=is_complete,
        proposed=any(has_tree),
    )


class MemberParses:
    r"""The parses of a sentence by several parsers; incomplete ones are ignored if others exist.

    >>> from lpcfg import Grammar, Parser
    >>> rain, snow = "S -> NP VP \n NP -> 'it' \n VP -> 'rained'", "S -> VP \n VP -> 'snowed'"
    >>> parsers = [Parser(Grammar.from_string(rules)) for rules in (snow, rain)]
    >>> parses = [parser.analyze(words=["it", "rained"]) for parser in parsers]
    >>> [parse.status for parse in parses], len(MemberParses(parses, [1, 1]).parses)
    (['fragments', 'parsed'], 1)
    """

    def __init__(self, parses: Sequence[Parse], weights: Sequence[float]) -> None:
        weighted = list(zip(parses, weights, strict=True))
        used = [pair for pair in weighted if pair[0].status not in INCOMPLETE] or weighted
        self.parses = [parse for parse, _ in used]
        self.weights = [weight for _, weight in used]
        self._is_complete = len(used) == len(parses)
        self.conditional = all(parse.conditional for parse in self.parses)

    def __contains__(self, tree: Tree) -> bool:
        """Whether the tree is a candidate of any member."""
        return any(tree == own for parse in self.parses for own, _ in parse.candidates)

    def status(self, tree: Tree, log_probability: float | None, *, proposed: bool) -> str:
        """The status of an ensemble's parse with this tree and its log-probability.

        ``proposed``: whether the tree is a candidate of any member.
        """
        if self.sentence_log_probability is None:
            return self.parses[0].status
        return joint_status(
            self.parses,
            [parse.tree == tree for parse in self.parses],
            with_probability=log_probability is not None,
            is_complete=self._is_complete,
            proposed=proposed,
        )

    @cached_property
    def sentence_log_probability(self) -> float | None:
        """The log of the weighted mean of the sentence's probabilities; None if there are none.

        Conditional members (CRFs) are ignored if there are others.
        """
        pairs = [
            (parse.sentence_log_probability, weight)
            for parse, weight in zip(self.parses, self.weights, strict=True)
            if parse.sentence_log_probability is not None
            and (self.conditional or not parse.conditional)
        ]
        if not pairs:
            return None
        logs, weights = np.array(pairs).T
        return float(np.logaddexp.reduce(np.log(weights / weights.sum()) + logs))

    def log_probability(self, log_posterior: float | None) -> float | None:
        """The log-probability of a tree from its log-probability given the sentence.

        It is consistent with the log-probability of the sentence, although members have different
        ones, and conditional members (CRFs) have none.
        """
        sentence = self.sentence_log_probability
        return None if log_posterior is None or sentence is None else log_posterior + sentence

    def candidates(
        self, best: Tree, count: int, probabilities: Callable[[], dict[NodeSpan, float]]
    ) -> list[Candidate]:
        """The best tree, then the members' candidates with the largest coverage.

        ``probabilities``: gives those of labelled spans, if there are several candidates.
        """
        if count == 1:
            # Without a dictionary, whose keys would be trees, which take long to hash.
            found = (
                log_probability - parse.sentence_log_probability
                for parse in self.parses
                if parse.sentence_log_probability is not None
                for tree, log_probability in parse.candidates
                if log_probability is not None and tree == best
            )
            return [(best, self.log_probability(next(found, None)))]
        posteriors = log_posteriors(self.parses)
        table = probabilities()
        others = (tree for tree in posteriors if tree != best)
        ranked = sorted(others, key=lambda tree: -coverage_gain(tree, table))
        trees = [best, *ranked[: count - 1]]
        return [(tree, self.log_probability(posteriors.get(tree))) for tree in trees]
