"""The reranker: a parser that chooses from the k-best lists of other parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Self, Unpack

from lpcfg._batches import batches
from lpcfg._options import check_positive
from lpcfg.estimators.base import BaseEstimator, Estimator
from lpcfg.formats.dependencies import Dependencies
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import examine, save
from lpcfg.io.formats import Resources
from lpcfg.parameters.common import N_JOBS, PROGRESS
from lpcfg.parameters.constraints import AnyOf, Instance, Interval, Options, Several
from lpcfg.parameters.parameterized import parameter
from lpcfg.parsing.base import BATCH, BaseParser, Tags
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.options import (
    DECODERS,
    MAX_LENGTH,
    MEMORY,
    Pruning,
    checked_pruning,
)
from lpcfg.parsing.parse import Parse
from lpcfg.reranking._cross_fitting import cross_fitted
from lpcfg.reranking._model import RerankerModel
from lpcfg.reranking._parsers import Classes, fit_groups, make_parsers, propose_to_each
from lpcfg.reranking.candidates import Candidates
from lpcfg.treebank.treebank import Treebank

__all__ = ["Reranker"]


def _records(estimators: Sequence[Estimator | Sequence[Estimator]]) -> list[object]:
    """Estimators as the file of a reranker records them."""
    return [
        _records(each)
        if isinstance(each, Sequence)
        else {"estimator": each.name, **each.provenance_params()}
        for each in estimators
    ]


@dataclass(repr=False, kw_only=True)
class Reranker(BaseEstimator, BaseParser):
    """A log-linear (MaxEnt) reranker of k-best lists.

    It follows Charniak & Johnson (2005), over several parsers as in Narayan & Cohen (2015). Each
    parser proposes its k best trees of a sentence. A log-linear model scores every tree by
    sparse features of its structure and words (:mod:`lpcfg.reranking._features`) and by the scores
    that each parser gives it (:data:`lpcfg.reranking.candidates.SCORES`). The tree with the highest
    score is the parse. The weights of the model maximise the expected F1 of that choice.

    A grammar parses its training trees better than new ones, so :meth:`fit` produces the k-best
    lists for training by cross-fitting (jackknifing): the treebank is divided into folds, and each
    fold is parsed by grammars that were estimated from the other folds. Inside
    ``joblib.parallel_config``, folds are jobs of its backend; the reranker is the same.

    It has the parameters and methods of an estimator, and a fitted reranker has the methods of a
    :class:`~lpcfg.Parser`.

    >>> import lpcfg
    >>> treebank = Treebank.from_trees(lpcfg.embedded_trees())
    >>> reranker = Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=5).fit(treebank)
    >>> print(reranker.parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))

    The examples of the methods use this reranker.
    """

    estimators: Sequence[Estimator | Sequence[Estimator]] = field(
        default=(),
        kw_only=False,
        metadata=parameter(
            Several(
                AnyOf(Instance(Estimator), Several(Instance(Estimator), 1, repeated=True)),
                repeated=True,
            ),
            "one estimator for each parser; a tuple of estimators makes one parser of several "
            "grammars, and if their tree transforms differ it is an ensemble, whose members also "
            "propose and score trees",
            option=False,
            provenance=_records,
        ),
    )
    candidates: int = field(
        default=30,
        metadata=parameter(
            Interval(int, 1),
            "the k of the k-best lists: the number of trees that each parser proposes; a higher "
            "number raises the oracle F1, and the time of training and parsing",
        ),
    )
    folds: int = field(
        default=5,
        metadata=parameter(
            Interval(int, 2),
            "the number of folds for cross-fitting, at most the number of trees; with more folds, "
            "the grammars that produce the lists are closer to the final ones, and training takes "
            "longer",
        ),
    )
    penalty: float = field(
        default=30.0,
        metadata=parameter(
            Interval(float, 0, closed="neither"),
            "the weight of the L2 penalty; the larger it is, the smaller the weights, and the less "
            "the choice depends on single features",
        ),
    )
    min_count: int = field(
        default=5,
        metadata=parameter(
            Interval(int, 1),
            "the smallest number of sentences among whose candidates a feature must differ to be "
            "used; a smaller number means more features, a larger model and more overfitting",
        ),
    )
    iterations: int = field(
        default=200, metadata=parameter(Interval(int, 1), "the largest number of L-BFGS iterations")
    )
    decoder: str = field(
        default="max-f1",
        metadata=parameter(Options(*DECODERS), "the decoder of the parsers, as in a Parser"),
    )
    prune: Pruning | float | None = field(
        default=Pruning(),
        metadata=parameter(
            AnyOf(Interval(float, 0, 1, "left"), Instance(Pruning, None)),
            "the pruning thresholds of the parsers, as in a Parser",
            option=False,
            provenance=lambda prune: checked_pruning(prune)._asdict(),
        ),
    )
    memory: int = field(
        default=MEMORY,
        metadata=parameter(
            Interval(int, 1, (1 << 63) - 1),
            "the largest number of bytes for the charts of a sentence, as in a Parser",
            option=False,
            provenance=False,
        ),
    )
    max_length: int | None = field(
        default=MAX_LENGTH,
        metadata=parameter(
            AnyOf(Interval(int, 1), Instance(None)),
            "the largest number of words that are parsed as a whole, as in a Parser",
            option=False,
            provenance=False,
        ),
    )
    timeout: float | None = field(
        default=None,
        metadata=parameter(
            AnyOf(Interval(float, 0, closed="neither"), Instance(None)),
            "the number of seconds for a sentence, which the parsers share, as in a Parser",
            option=False,
            provenance=False,
        ),
    )
    dependencies: Dependencies | str | PathLike[str] | None = field(
        default=None,
        metadata=parameter(
            Instance(Dependencies, str, PathLike, None),
            "known tags and dependencies of sentences, or their file, as in a Parser",
            option=False,
            provenance=False,
        ),
    )
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    grammars_: list[list[Grammar]] = field(init=False, repr=False, compare=False)
    parsers_: list[BaseParser] = field(init=False, repr=False, compare=False)
    model_: RerankerModel = field(init=False, repr=False, compare=False)

    def _fit(self, treebank: Treebank) -> None:
        """Estimate the grammars, then the weights from k-best lists of the same trees."""
        if not self.estimators:
            raise self.invalid("estimators", "must not be empty: a reranker needs at least one")
        if self.folds > len(treebank):
            raise self.invalid(
                "folds", f"must be at most the number of trees, {len(treebank)}, not {self.folds}"
            )
        grammars = fit_groups(self.estimators, treebank)
        # Grammars share a chart in a fold only if they also do so in the end.
        classes = [backbone_classes(group) for group in grammars]
        (samples,) = cross_fitted(self, treebank, classes, [range(len(grammars))])
        self.model_ = samples.fit(self.penalty, self.min_count, self.iterations)
        self._use(grammars, classes)

    def parser(self) -> BaseParser:
        """The reranker itself, once it is fitted.

        >>> reranker.parser() is reranker
        True
        """
        self._check_fitted("parsers_")
        return self

    def _use(self, grammars: list[list[Grammar]], classes: Classes) -> None:
        """Make parsers from grammars; grammars of one backbone class share a chart."""
        self.grammars_ = grammars
        self.parsers_ = make_parsers(self, grammars, classes)

    def _n_parsers(self) -> int:
        """The number of parsers that propose and score trees, including members of ensembles."""
        return sum(
            1 + len(parser.members) if isinstance(parser, Ensemble) else 1
            for parser in self.parsers_
        )

    @property
    def grammar(self) -> Grammar:
        """The first grammar of the first parser, which has the cleaning and transform of trees.

        >>> reranker.grammar.tags[:3]
        (',', '.', 'CC')
        """
        return self.parsers_[0].grammar

    @property
    def tags(self) -> frozenset[str]:
        """The tags of all its parsers.

        >>> sorted(reranker.tags)[:3]
        [',', '.', 'CC']
        """
        return frozenset().union(*(parser.tags for parser in self.parsers_))

    def check_tags(self, tags: Tags) -> None:
        """Raise an :class:`~lpcfg.errors.InputError` for a tag that some parser does not have.

        >>> reranker.check_tags(["DT", "NN"])
        """
        for parser in self.parsers_:
            parser.check_tags(tags)

    def propose(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[Candidates]:
        """The merged k-best lists of many sentences, lazily and in their order.

        ``tags``, ``words`` and ``batch_size`` are as for :meth:`lpcfg.Parser.analyze_many`.

        >>> sentence = "The dog saw him with them .".split()
        >>> [len(candidates.trees) for candidates in reranker.propose(words=[sentence])]
        [5]
        """
        proposed = propose_to_each(
            self.parsers_,
            [range(len(self.parsers_))],
            tags,
            words=words,
            candidates=self.candidates,
            batch_size=batch_size,
        )
        return (candidates for (candidates,) in proposed)

    def analyze_many(
        self,
        tags: Iterable[Tags] | None = None,
        *,
        words: Iterable[Sequence[str]] | None = None,
        candidates: int = 1,
        marginals: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[Parse]:
        """Parse many sentences, as :meth:`lpcfg.Parser.analyze_many` does.

        The probability of a span is the sum, over the candidates that have it, of their
        probabilities under the log-linear model.

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
        for batch in batches(proposed, batch_size):
            scores = self.model_.scores(batch, self.n_jobs)
            for merged, row in zip(batch, scores, strict=True):
                yield merged.parse(row, candidates)

    def summary(self) -> str:
        """A description of the reranker and of each of its grammars in a few lines.

        >>> reranker.summary().splitlines()[0].split(" with ")[0]
        'reranker'
        """
        heading = (
            f"reranker with {len(self.model_.keys)} features of trees, over {self.candidates} "
            f"candidates from each of {self._n_parsers()} parsers"
        )
        return "\n\n".join([heading, *(parser.summary() for parser in self.parsers_)])

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the reranker and its grammars into a new or empty folder.

        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     reranker.save(folder)
        ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
        ['1-1.lpcfg', 'reranker.lpcfg']
        """
        save(self, folder)

    @classmethod
    def load(cls, folder: str | PathLike[str], **resources: Unpack[Resources]) -> Self:
        """Load a reranker that :meth:`save` wrote to ``folder``.

        ``resources``: ``memory``, ``max_length``, ``timeout``, ``n_jobs`` and ``dependencies``.

        >>> Reranker.load("missing")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing'
        """
        stored = examine(folder)
        stored.expect("reranker")
        reranker: Self = stored.load(**resources)
        return reranker
