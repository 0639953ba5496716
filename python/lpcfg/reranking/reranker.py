"""Choose among the candidate trees of parsers with a log-linear model."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Self

from lpcfg._options import build_options
from lpcfg.errors import InputError, ModelFileError
from lpcfg.estimators.base import Estimator
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.ensemble import Ensemble, joint_parser
from lpcfg.parsing.parser import MEMORY, Parse, Pruning, check_positive, checked_pruning
from lpcfg.parsing.sentence_parser import BATCH, SentenceParser, Tags, analyze_together
from lpcfg.reranking._file import read_reranker, write_reranker
from lpcfg.reranking._model import RerankerModel, RerankerSamples
from lpcfg.reranking.candidates import SCORES, Candidates, merge_candidates
from lpcfg.treebank.treebank import Treebank

__all__ = ["Reranker"]

#: What a saved reranker remembers of how it was made.
_OPTIONS = ("candidates", "folds", "penalty", "min_count", "iterations", "decoder")


@dataclass
class Reranker(SentenceParser):
    """Chooses among the ``candidates`` best trees of parsers (Charniak & Johnson 2005).

    ``estimators`` learn a grammar each; several in a tuple parse together, as one parser or as an
    ensemble, of which each member proposes trees and judges them too. The features are patterns in
    the trees (:mod:`lpcfg.reranking._features`) that tell the candidates of ``min_count`` sentences
    apart, and what the parsers think of the trees. The weights are those of a log-linear model
    whose choices may expect the best F1, with a quadratic ``penalty``, after at most so many
    ``iterations``. ``decoder``, ``prune``, ``memory`` and ``n_jobs`` are those of the parsers.

    Grammars know the trees they were learnt from too well, so :meth:`fit` makes candidates by cross
    fitting: each of the ``folds`` is parsed by grammars that were learnt from the other ones.
    ``progress`` may wrap the folds, before which the grammars are learnt from all trees.

    A fitted reranker is used as a :class:`~lpcfg.Parser` is.

    >>> import lpcfg
    >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
    >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
    >>> print(reranker.parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    estimators: Sequence[Estimator | Sequence[Estimator]] = ()
    candidates: int = 30
    folds: int = 5
    penalty: float = 30.0
    min_count: int = 5
    iterations: int = 200
    decoder: str = "max-f1"
    prune: Pruning | float | None = field(default_factory=Pruning)
    memory: int = MEMORY
    n_jobs: int = -1
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    grammars_: list[list[Grammar]] = field(init=False, repr=False, compare=False)
    parsers_: list[SentenceParser] = field(init=False, repr=False, compare=False)
    model_: RerankerModel = field(init=False, repr=False, compare=False)

    def fit(self, treebank: Treebank) -> Self:
        """Learn the grammars from a treebank, then to choose from its trees fold by fold.

        >>> import lpcfg
        >>> Reranker().fit(Treebank.from_trees([lpcfg.Tree("NN", "rain")]))
        Traceback (most recent call last):
        lpcfg.errors.InputError: estimators: a reranker needs one or more to learn grammars with
        """
        if not self.estimators:
            raise InputError("estimators: a reranker needs one or more to learn grammars with")
        self.check()
        if self.folds > len(treebank):
            raise InputError(
                f"folds must not be more than trees, {len(treebank)}, but there are {self.folds}"
            )
        trees = treebank.trees()
        grammars = self._learn(treebank)
        # In a fold, grammars may happen to have one backbone that otherwise have not.
        classes = [backbone_classes(group) for group in grammars]
        samples = RerankerSamples()
        for fold in self.progress(range(self.folds)):
            start, end = (len(trees) * bound // self.folds for bound in (fold, fold + 1))
            others = Treebank.from_trees(
                trees[:start] + trees[end:],
                cleaning=treebank.cleaning or False,
                transform=treebank.transform,
            )
            self._use(self._learn(others), classes)
            for first in range(start, end, BATCH):
                gold = trees[first : min(first + BATCH, end)]
                proposed = self.propose(words=[tree.words() for tree in gold])
                samples.add(list(proposed), gold, self.n_jobs)
        self.model_ = samples.fit(self.penalty, self.min_count, self.iterations)
        self._use(grammars, classes)
        return self

    def check(self) -> None:
        """Complain about options that cannot be.

        >>> Reranker(folds=1).check()
        Traceback (most recent call last):
        lpcfg.errors.InputError: folds must be at least 2, not 1
        """
        if not self.folds >= 2:
            raise InputError(f"folds must be at least 2, not {self.folds}")
        for name in ("candidates", "min_count", "iterations"):
            check_positive(name, getattr(self, name))
        if not isinstance(self.penalty, (int, float)) or not 0 < self.penalty < math.inf:
            raise InputError(f"penalty must be a positive number, not {self.penalty!r}")

    def _learn(self, treebank: Treebank) -> list[list[Grammar]]:
        """The grammars of each parser; an estimator that is there twice learns once."""
        learnt: dict[int, Grammar] = {}
        for estimator in (member for group in self._groups() for member in group):
            if id(estimator) not in learnt:
                learnt[id(estimator)] = copy.copy(estimator).fit(treebank).grammar_
        return [[learnt[id(member)] for member in group] for group in self._groups()]

    def _groups(self) -> list[Sequence[Estimator]]:
        return [own if isinstance(own, Sequence) else (own,) for own in self.estimators]

    def _use(
        self, grammars: list[list[Grammar]], classes: Sequence[Sequence[Sequence[int]]]
    ) -> None:
        """Make parsers of grammars, of which some share a chart."""
        self.grammars_ = grammars
        self.parsers_ = [
            joint_parser(
                group,
                classes=own,
                decoder=self.decoder,
                prune=self.prune,
                memory=self.memory,
                n_jobs=self.n_jobs,
            )
            for group, own in zip(grammars, classes, strict=True)
        ]

    def _voices(self) -> int:
        """How many parsers propose and judge candidates, members of ensembles included."""
        return sum(
            1 + len(parser.members) if isinstance(parser, Ensemble) else 1
            for parser in self.parsers_
        )

    @property
    def grammar(self) -> Grammar:
        """The first grammar of the first parser: it knows how trees were cleaned.

        >>> import lpcfg
        >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
        >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
        >>> reranker.grammar.tags[:3]
        (',', '.', 'CC')
        """
        return self.parsers_[0].grammar

    @property
    def tags(self) -> frozenset[str]:
        """The tags that its parsers know.

        >>> import lpcfg
        >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
        >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
        >>> sorted(reranker.tags)[:3]
        [',', '.', 'CC']
        """
        return frozenset().union(*(parser.tags for parser in self.parsers_))

    def propose(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[Candidates]:
        """The candidates of many sentences, lazily and in their order.

        >>> import lpcfg
        >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
        >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
        >>> sentence = "The dog saw him with them .".split()
        >>> [len(candidates.trees) for candidates in reranker.propose(words=[sentence])]
        [5]
        """
        together = analyze_together(
            [parser.analyze_parts for parser in self.parsers_],
            tags,
            words,
            candidates=self.candidates,
            batch_size=batch_size,
        )
        # What parts find is there as well, but what they make together comes first.
        return (
            merge_candidates(
                [parse for parts in several for parse in reversed(parts)],
                whole=[parts[-1] for parts in several],
            )
            for several in together
        )

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        """What :meth:`lpcfg.Parser.analyze_many` gives, the best candidates first.

        A span is as likely as the candidates that have it, to the log-linear model.

        >>> import lpcfg
        >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
        >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
        >>> [parse.status for parse in reranker.analyze_many([["DT", "NN", "VBD", "."], ["."]])]
        ['parsed', 'fragments']
        """
        check_positive("candidates", candidates)
        check_positive("batch_size", batch_size)
        return self._choose(
            self.propose(tags, words=words, batch_size=batch_size), candidates, batch_size
        )

    def _choose(
        self, proposed: Iterator[Candidates], candidates: int, batch_size: int
    ) -> Iterator[Parse]:
        while batch := list(itertools.islice(proposed, batch_size)):
            scores = self.model_.scores(batch, self.n_jobs)
            for own, row in zip(batch, scores, strict=True):
                yield own.parse(row, candidates)

    def summary(self) -> str:
        """A few lines on the reranker and on each of its grammars.

        >>> import lpcfg
        >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
        >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
        >>> reranker.summary().splitlines()[0].split(" with ")[0]
        'reranker'
        """
        own = (
            f"reranker with {len(self.model_.keys)} features of trees, over {self.candidates} "
            f"candidates from each of {self._voices()} parsers"
        )
        return "\n\n".join([own, *(parser.summary() for parser in self.parsers_)])

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the reranker and its grammars into a folder, a new or an empty one.

        >>> import lpcfg
        >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
        >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     reranker.save(folder)
        ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
        ['1-1.lpcfg', 'reranker.lpcfg']
        """
        options = {name: getattr(self, name) for name in _OPTIONS}
        options["prune"] = checked_pruning(self.prune)._asdict()
        write_reranker(folder, self.model_, self.grammars_, options)

    @classmethod
    def load(cls, folder: str | PathLike[str], *, memory: int = MEMORY, n_jobs: int = -1) -> Self:
        """Read a reranker that :meth:`save` wrote.

        >>> Reranker.load("missing")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing/reranker.lpcfg'
        """
        model, grammars, options = read_reranker(folder)
        try:
            if unknown := options.keys() - {*_OPTIONS, "prune"}:
                raise InputError(f"unknown options: {', '.join(sorted(unknown))}")
            options["prune"] = build_options(Pruning, options.get("prune", {}))
            reranker = cls(**options, memory=memory, n_jobs=n_jobs)
            reranker.check()
            reranker._use(grammars, [backbone_classes(group) for group in grammars])
        except InputError as error:
            raise ModelFileError(f"{folder}: {error}") from error
        if len(model.score_weights) != reranker._voices() * len(SCORES):
            raise ModelFileError(
                f"{folder}: there are {len(model.score_weights)} score_weights, and "
                f"{reranker._voices()} parsers with {len(SCORES)} each; train the reranker again"
            )
        reranker.model_ = model
        return reranker
