"""Ensembles of parsers of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike

import numpy as np

from lpcfg._batches import batches
from lpcfg._options import check_positive
from lpcfg.errors import InputError
from lpcfg.formats.dependencies import Dependencies, loaded_dependencies
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing._coverage import Combination
from lpcfg.parsing._ensemble_members import (
    Member,
    check_members,
    default_weight,
    grouped_members,
    is_weight,
)
from lpcfg.parsing._sentences import Sentence, check_sentences
from lpcfg.parsing.base import BATCH, BaseParser, Tags, limited_batch
from lpcfg.parsing.marginals import node_spans, span_probabilities
from lpcfg.parsing.member_columns import MemberColumns
from lpcfg.parsing.member_parses import MemberParses, outcome_status
from lpcfg.parsing.options import (
    COMBINATIONS,
    MAX_LENGTH,
    MEMORY,
    Pruning,
    check_choice,
    timeout_share,
)
from lpcfg.parsing.parse import Parse, brackets_from_spans, tree_from_spans
from lpcfg.parsing.parser import Parser
from lpcfg.treebank.escaping import escape
from lpcfg.treebank.tree import Tree

__all__ = ["Ensemble", "Member"]


class Ensemble(BaseParser):
    r"""An ensemble of grammars and parsers of any kind, including other ensembles and rerankers.

    :class:`~lpcfg.Parser` combines grammars with one backbone in one chart. An ensemble combines
    the labelled spans of its members' parses (Narayan & Cohen 2015). Their grammars may have
    different binarisation, Markovisation and estimators. Ensembles of models with complementary
    errors do better.

    If all members have the same tree, it is the tree of the ensemble. Members that find only
    fragments of a sentence are ignored if there are others. The probability of a sentence is the
    mean of the members' probabilities, without CRFs if there are other members, because CRFs define
    it as 1. The probability of a tree given the sentence is that of the first member that proposes
    the tree; a tree that no member proposes has no probability, and the status ``combined``.

    Parameters
    ----------
    members : sequence of Grammar and BaseParser
        At least one member. Grammars with the same backbone and weight become one parser, whose
        weight is the sum of their weights.
    combine : str
        How the tree is found: ``posteriors`` (default) takes the tree with the best expected F1
        under the mean of the members' marginals (maximal marginal coverage), ``trees`` the tree
        with most brackets in common with the members' trees (maximal tree coverage).
    weights : sequence of float, optional
        The weight of each member, above 0; by default 2 for neural networks, which are the most
        accurate members, and 1 for others.
    decoder, prune, memory, max_length
        As for :class:`~lpcfg.Parser`, for members that are grammars.
    timeout : float or None
        As for :class:`~lpcfg.Parser`, for members that are grammars: each member has an equal share
        of this time. Members that are parsers keep their own.
    n_jobs : int
        The number of threads, from 1 to 1024, or -1 (default) for one on each core; members that
        are parsers keep their setting. The result does not depend on it.
    dependencies : Dependencies, path or None
        As for :class:`~lpcfg.Parser`, for members that are grammars.

    Examples
    --------
    >>> rain = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> snow = Grammar.from_string("S -> NP VP | V NP \n NP -> 'it' \n VP -> 'snowed' \n V -> 'do'")
    >>> ensemble = Ensemble([rain, snow])
    >>> print(ensemble.parse(words=["it", "rained"]))
    (S (NP it) (VP rained))
    >>> ensemble
    <Ensemble: 2 members, combine='posteriors', weights=[1.0, 1.0]>

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
        max_length: int | None = MAX_LENGTH,
        timeout: float | None = None,
        n_jobs: int = -1,
        dependencies: Dependencies | str | PathLike[str] | None = None,
    ) -> None:
        check_members(members)
        check_choice("combine", combine, COMBINATIONS)
        values = list(map(default_weight, members)) if weights is None else list(weights)
        if len(values) != len(members) or not all(map(is_weight, values)):
            raise InputError(
                f"must be {len(members)} positive numbers, one for each member, not {weights}",
                argument="weights",
            )
        self.combine = combine
        self.n_jobs = n_jobs
        self.members: list[BaseParser] = []
        self.weights: list[float] = []
        grouped = grouped_members(members, values)
        dependencies = loaded_dependencies(dependencies)
        for member, weight in grouped:
            if isinstance(member, list):
                member = Parser(
                    member,
                    decoder=decoder,
                    combine=combine,
                    prune=prune,
                    memory=memory,
                    max_length=max_length,
                    timeout=timeout_share(timeout, len(grouped)),
                    n_jobs=n_jobs,
                    dependencies=dependencies,
                )
            self.members.append(member)
            self.weights.append(float(weight))

    def __repr__(self) -> str:
        return (
            f"<Ensemble: {len(self.members)} members, combine={self.combine!r}, "
            f"weights={self.weights}>"
        )

    @property
    def grammar(self) -> Grammar:
        """The grammar of the first member, with the cleaning of its training trees."""
        return self.members[0].grammar

    @property
    def tags(self) -> frozenset[str]:
        """The tags of all members."""
        return frozenset().union(*(member.tags for member in self.members))

    def check_tags(self, tags: Tags) -> None:
        """Raise an :class:`~lpcfg.errors.InputError` for a tag that some member does not have."""
        for member in self.members:
            member.check_tags(tags)

    def summary(self) -> str:
        """A description of the ensemble and of each of its members in a few lines."""
        weights = ", ".join(f"{weight:g}" for weight in self.weights)
        heading = f"ensemble of {len(self.members)} parsers by {self.combine}, weights {weights}"
        return "\n\n".join([heading, *(member.summary() for member in self.members)])

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        r"""The parses of many sentences, lazily and in their order.

        The arguments are as for :meth:`BaseParser.analyze_many`. The first candidate is the tree of
        the ensemble, the others are the members' candidates with the largest coverage.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> [parse.status for parse in Ensemble([grammar]).analyze_many([["NP", "VP"], ["VP"]])]
        ['parsed', 'fragments']
        """
        combined = self.analyze_with_members(
            tags, words=words, candidates=candidates, batch_size=batch_size
        )
        parses = (parses[-1] for parses in combined)
        return parses if marginals else (replace(parse, marginals=None) for parse in parses)

    def analyze_with_members(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        batch_size: int = BATCH,
    ) -> Iterator[tuple[Parse, ...]]:
        r"""For each sentence the parses of the members, then the parse of the ensemble.

        ``tags``, ``words``, ``candidates``, ``batch_size``: as for :meth:`analyze_many`.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> ensemble = Ensemble([grammar, Parser(grammar)])
        >>> [len(parses) for parses in ensemble.analyze_with_members(words=[["it", "rained"]])]
        [3]
        """
        check_positive("candidates", candidates)
        check_positive("batch_size", batch_size)
        return (
            parses
            for batch in self._batches(tags, words, limited_batch(batch_size, candidates))
            for parses in self._combined(batch, candidates)
        )

    def analyze_to_brackets(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[tuple[str, str]]:
        r"""The best trees of many sentences as text, with their statuses, without building trees.

        ``tags``, ``words`` and ``batch_size`` are as for :meth:`analyze_many`.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> list(Ensemble([grammar]).analyze_to_brackets([["NP", "VP"]]))
        [('(S (NP NP) (VP VP))', 'parsed')]
        """
        check_positive("batch_size", batch_size)
        return (
            found
            for batch in self._batches(tags, words, batch_size)
            for found in self._brackets(batch)
        )

    def member_columns(
        self, words: Iterable[Sequence[str]], *, batch_size: int = BATCH
    ) -> Iterator[list[MemberColumns]]:
        r"""What each member says of the sentences of a batch, one batch after the other.

        It does not depend on the weights; :meth:`trees` combines it.

        - ``words``: the sentences.
        - ``batch_size``: the number of sentences of a batch.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> batches = Ensemble([grammar, Parser(grammar)]).member_columns([["it", "rained"]])
        >>> [len(members) for members in batches]
        [2]
        """
        check_positive("batch_size", batch_size)
        found = self._batches(None, words, batch_size)
        return (list(self._members(batch, 1)) for batch in found)

    def trees(
        self,
        members: Sequence[MemberColumns],
        words: Sequence[Sequence[str]],
        weights: Sequence[float],
    ) -> list[Tree]:
        r"""The trees of a batch from what the members say of it.

        - ``members``: an item of :meth:`member_columns`.
        - ``words``: the sentences of the batch.
        - ``weights``: the weight of each member, one of them above 0; 0 leaves a member out.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> ensemble, words = Ensemble([grammar, Parser(grammar)]), [["it", "rained"]]
        >>> members = next(ensemble.member_columns(words))
        >>> print(ensemble.trees(members, words, [0, 1])[0])
        (S (NP it) (VP rained))
        """
        kept = [number for number, weight in enumerate(weights) if weight > 0]
        found = self._combination(
            [members[number] for number in kept], [weights[number] for number in kept]
        )
        return [tree_from_spans(found.nodes(row), own) for row, own in enumerate(words)]

    def _batches(
        self,
        tags: Iterable[Tags] | None,
        words: Iterable[Sequence[str]] | None,
        batch_size: int,
    ) -> Iterator[list[Sentence]]:
        """Checked sentences; tags are those that all parsers know."""
        known = [frozenset(parser.grammar.tag_ids) for parser in _parsers(self)]
        sentences = check_sentences(tags, words, frozenset.intersection(*known) if known else None)
        return batches(sentences, batch_size)

    def _members(self, sentences: list[Sentence], candidates: int) -> Iterator[MemberColumns]:
        """What the members say of a batch, one after the other."""
        first = None
        for member in self.members:
            if isinstance(member, Parser):
                guides = first is None and len(self.members) > 1
                columns = member.analyze_columns(sentences, candidates, first, guides=guides)
                first = first or columns
            else:
                # Either all sentences have words, or none; the same holds for tags.
                given = [sentence.tags for sentence in sentences if sentence.tags is not None]
                words = [sentence.words for sentence in sentences if sentence.words is not None]
                columns = MemberColumns.from_parses(
                    list(
                        member.analyze_many(
                            given or None,
                            words=words or None,
                            candidates=candidates,
                            marginals=True,
                            batch_size=len(sentences),
                        )
                    )
                )
            yield columns

    def _combined(self, sentences: list[Sentence], candidates: int) -> Iterator[tuple[Parse, ...]]:
        members = list(self._members(sentences, candidates))
        found = self._combination(members, self.weights)
        tables = found.tables()
        every = [member.make_parses() for member in members]
        for row, parses in enumerate(zip(*every, strict=True)):
            own = MemberParses(parses, self.weights)
            tree = tree_from_spans(found.nodes(row), parses[0].tree.words())
            probabilities = found.probabilities(row)
            if probabilities is None:
                table = span_probabilities(tables[row])
                probabilities = tuple(table.get(span, 0.0) for span in node_spans(tree))
            ranked = own.candidates(tree, candidates, partial(found.searched, row))
            parse = Parse(
                tree=tree,
                status=own.status(*ranked[0], proposed=tree in own),
                log_probability=ranked[0][1],
                sentence_log_probability=own.sentence_log_probability,
                span_probabilities=probabilities,
                candidates=tuple(ranked),
                marginals=tables[row],
                conditional=own.conditional,
            )
            yield *parses, parse

    def _combination(
        self, members: Sequence[MemberColumns], weights: Sequence[float]
    ) -> Combination:
        return Combination(
            members,
            weights,
            by_trees=self.combine == "trees",
            n_jobs=self.n_jobs,
        )

    def _brackets(self, sentences: list[Sentence]) -> Iterator[tuple[str, str]]:
        members = list(self._members(sentences, 1))
        found = self._combination(members, self.weights)
        for row, sentence in enumerate(sentences):
            labels, starts, ends = zip(*found.nodes(row), strict=True)
            names = [escape(label) for label in labels]
            text = brackets_from_spans(names, starts, ends, sentence.tokens)
            used = np.flatnonzero(found.used[:, row]).tolist()
            status = outcome_status(
                [members[member].outcomes[row] for member in used],
                found.proposed(row)[used].tolist(),
                len(used) == len(members),
            )
            yield text, status


def _parsers(member: BaseParser) -> list[Parser]:
    """The chart parsers and neural parsers of an ensemble, and of its members."""
    if isinstance(member, Ensemble):
        return [parser for own in member.members for parser in _parsers(own)]
    return [member] if isinstance(member, Parser) else []
