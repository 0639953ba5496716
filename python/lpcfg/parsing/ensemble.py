"""Several parsers that parse as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import numpy as np

from lpcfg.errors import InputError
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing._coverage import Coverage, covering_trees
from lpcfg.parsing.member_parses import Votes
from lpcfg.parsing.parser import (
    COMBINATIONS,
    MEMORY,
    Parse,
    Parser,
    Pruning,
    check_positive,
    parse_of,
)
from lpcfg.parsing.sentence_parser import BATCH, SentenceParser, Tags, analyze_together

__all__ = ["Ensemble", "Member", "joint_parser"]

Member: TypeAlias = Grammar | SentenceParser


class Ensemble(SentenceParser):
    r"""Combines grammars or parsers of any kind, other ensembles and rerankers among them.

    Where :class:`Parser` brings grammars with one backbone together in one chart, an ensemble
    brings together what parsers say of labelled spans, whatever their grammars are: trees that
    branch to the left or to the right, more or less markovisation, other estimators. Of the
    ``members``, grammars with the same backbone become one parser, which has the weight of all of
    them. ``combine`` says how the tree is found (Narayan & Cohen 2015): by ``posteriors``, it is
    the tree with the best expected F1 according to the mean of the members' marginals, by ``trees``
    the one that has most brackets in common with the members' trees. ``weights`` are those of the
    members, all the same by default. The other options are those of :class:`Parser`, for members
    that are grammars, and of the search.

    Members that find no more than fragments are left out if there are others. The probability of
    a tree is that of the first member that proposes it; what no member proposes has none, which is
    written as minus infinity. The probability of a sentence is the mean of the members', without
    span models if there are others: to these it is 1 by definition.

    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> snow = Grammar.from_string("S -> NP VP | V NP \n NP -> 'it' \n VP -> 'snowed' \n V -> 'do'")
    >>> print(Ensemble([rain, snow]).parse(words=["it", "rained"]))
    (S (NP it) (VP rained))
    """

    def __init__(
        self,
        members: Sequence[Member],
        *,
        combine: str = "posteriors",
        weights: Sequence[float] | None = None,
        decoder: str = "max-f1",
        prune: Pruning | float | None = Pruning(),  # noqa: B008 - an immutable default
        memory: int = MEMORY,
        n_jobs: int = -1,
    ) -> None:
        _check_members(members)
        if combine not in COMBINATIONS:
            raise InputError(f"combine must be one of {', '.join(COMBINATIONS)}, not {combine!r}")
        shares = [1.0] * len(members) if weights is None else [float(own) for own in weights]
        if len(shares) != len(members) or not all(0 < own < np.inf for own in shares):
            raise InputError(
                f"weights must be {len(members)} positive numbers, one for each member, "
                f"not {weights}"
            )
        self.combine = combine
        self.n_jobs = n_jobs
        self.members: list[SentenceParser] = []
        self.weights: list[float] = []
        for own, share in _grouped(members, shares):
            if isinstance(own, list):
                self.members.append(
                    Parser(
                        own,
                        decoder=decoder,
                        combine=combine,
                        prune=prune,
                        memory=memory,
                        n_jobs=n_jobs,
                    )
                )
            else:
                self.members.append(own)
            self.weights.append(share)

    @property
    def grammar(self) -> Grammar:
        r"""The grammar of the first member: it knows how trees were cleaned.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> Ensemble([grammar]).grammar is grammar
        True
        """
        return self.members[0].grammar

    @property
    def tags(self) -> frozenset[str]:
        r"""The tags that members know.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> sorted(Ensemble([grammar]).tags)
        ['NP', 'VP']
        """
        return frozenset().union(*(member.tags for member in self.members))

    def summary(self) -> str:
        r"""A few lines on the ensemble and on each of its members.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> Ensemble([grammar]).summary().splitlines()[0]
        'ensemble of 1 parsers by posteriors, weights 1'
        """
        weights = ", ".join(f"{weight:g}" for weight in self.weights)
        own = f"ensemble of {len(self.members)} parsers by {self.combine}, weights {weights}"
        return "\n\n".join([own, *(member.summary() for member in self.members)])

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        r"""What :meth:`lpcfg.Parser.analyze_many` gives.

        The first of the ``candidates`` is the tree that members make together, the others are the
        best of theirs.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> [parse.status for parse in Ensemble([grammar]).analyze_many([["NP", "VP"], ["VP"]])]
        ['parsed', 'fragments']
        """
        parts = self.analyze_parts(tags, words=words, candidates=candidates, batch_size=batch_size)
        return (parses[-1] for parses in parts)

    def analyze_parts(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        batch_size: int = BATCH,
    ) -> Iterator[tuple[Parse, ...]]:
        r"""For each sentence the parses of the members, and after these that of the ensemble.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> ensemble = Ensemble([grammar, Parser(grammar)])
        >>> [len(parses) for parses in ensemble.analyze_parts(words=[["it", "rained"]])]
        [3]
        """
        check_positive("candidates", candidates)
        check_positive("batch_size", batch_size)
        together = analyze_together(
            [member.analyze_many for member in self.members],
            tags,
            words,
            candidates=candidates,
            marginals=True,
            batch_size=batch_size,
        )
        return self._combined(together, candidates, batch_size)

    def _combined(
        self, together: Iterator[tuple[Parse, ...]], candidates: int, batch_size: int
    ) -> Iterator[tuple[Parse, ...]]:
        tags = self.tags
        while batch := list(islice(together, batch_size)):
            votes = [Votes(parses, self.weights) for parses in batch]
            tables = [own.marginals() for own in votes]
            coverages = [
                Coverage(
                    own.shares() if self.combine == "trees" or own.status == "fragments" else table,
                    [parse.tree for parse in own.parses],
                    tags,
                )
                for own, table in zip(votes, tables, strict=True)
            ]
            trees = covering_trees(coverages, self.n_jobs)
            for row, tree in enumerate(trees):
                own = parse_of(
                    votes[row].candidates(tree, coverages[row], candidates),
                    tables[row],
                    status=votes[row].status,
                    sentence_log_probability=votes[row].log_probability(),
                    conditional=votes[row].conditional,
                )
                yield *batch[row], own


def joint_parser(
    grammars: Sequence[Grammar],
    *,
    classes: Sequence[Sequence[int]] | None = None,
    decoder: str = "max-f1",
    combine: str = "posteriors",
    prune: Pruning | float | None = Pruning(),  # noqa: B008 - an immutable default
    memory: int = MEMORY,
    n_jobs: int = -1,
) -> Parser | Ensemble:
    r"""What parses with all of some grammars: a parser if they have one backbone, or an ensemble.

    ``classes``: which of them share a chart, if not all that can; see
    :func:`~lpcfg.grammar.backbone.backbone_classes`.

    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> [type(joint_parser([rain] * count)).__name__ for count in (1, 2)]
    ['Parser', 'Ensemble']
    """
    if classes is None:
        classes = backbone_classes(grammars)
    parsers = [
        Parser(
            [grammars[place] for place in own],
            decoder=decoder,
            combine=combine,
            prune=prune,
            memory=memory,
            n_jobs=n_jobs,
        )
        for own in classes
    ]
    if len(parsers) == 1:
        return parsers[0]
    return Ensemble(parsers, combine=combine, weights=[len(own) for own in classes], n_jobs=n_jobs)


def _check_members(members: Sequence[Member]) -> None:
    if not isinstance(members, Sequence):
        raise InputError(
            f"members must be a list of grammars and parsers, not a {type(members).__name__}"
        )
    if not members:
        raise InputError("an ensemble needs a member or more")
    for number, member in enumerate(members, start=1):
        if not isinstance(member, Grammar) and not hasattr(member, "analyze_many"):
            raise InputError(
                f"member {number} must be a grammar or a parser, not {member!r}; "
                "lpcfg.load and lpcfg.Parser.load read them from files"
            )


def _grouped(
    members: Sequence[Member], weights: Sequence[float]
) -> list[tuple[list[Grammar] | SentenceParser, float]]:
    """Members with their weights; grammars of one weight that can share a chart are together."""
    groups: dict[int, tuple[list[Grammar] | SentenceParser, float]] = {}
    grammars: dict[float, dict[int, Grammar]] = {}
    for place, (member, weight) in enumerate(zip(members, weights, strict=True)):
        if isinstance(member, Grammar):
            grammars.setdefault(weight, {})[place] = member
        else:
            groups[place] = (member, weight)
    for weight, alike in grammars.items():
        places, own = list(alike), list(alike.values())
        for several in backbone_classes(own):
            groups[places[several[0]]] = ([own[n] for n in several], weight * len(several))
    return [groups[place] for place in sorted(groups)]
