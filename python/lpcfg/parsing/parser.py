"""The chart parser: parses with one grammar, or with several over one chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from os import PathLike
from typing import Any, Unpack

from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._batches import batches
from lpcfg._options import check_positive
from lpcfg.formats.dependencies import Dependencies, loaded_dependencies
from lpcfg.grammar.backbone import check_same_backbone
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing._build_core import build_core
from lpcfg.parsing._core_parses import best_trees, build_parses, marginal_tables, outcomes
from lpcfg.parsing._sentences import Sentence, Tags, check_sentences, encode_sentences
from lpcfg.parsing.base import BATCH, BaseParser, limited_batch
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.member_columns import Guide, MemberColumns, SpanColumns
from lpcfg.parsing.options import (
    COMBINATIONS,
    MAX_LENGTH,
    MEMORY,
    ParserOptions,
    Pruning,
    check_choice,
    check_decoder,
    check_memory,
    check_timeout,
    checked_pruning,
)
from lpcfg.parsing.parse import STATUSES, Parse, brackets_from_spans
from lpcfg.profiling import active_profile, phase
from lpcfg.treebank.escaping import escape

__all__ = ["Parser"]

#: The phases that the core measures; the last one is fallbacks, and everything else.
PHASES = ("coarse pass", "PCFG pass", "latent passes", "decoding", "rest of parsing")

#: The factor on the fine threshold of a member that closes spans of other members.
_GUIDING = 0.3

#: The default threshold for members of an ensemble that come after a neural network.
_AFTER_NETWORK = 3e-3

#: As large a number as the core takes.
_NO_LIMIT = (1 << 63) - 1


class Parser(BaseParser):
    r"""A chart parser for one grammar, or for several grammars with the same backbone.

    Parameters
    ----------
    grammars : Grammar or sequence of Grammar
        The grammar, or several with latent states that were trained on the same trees, with
        different seeds, noise or estimators. Several share one pruned chart; for grammars with
        different symbols or rules use :class:`~lpcfg.Ensemble`.
    decoder : str
        The objective that the best tree maximises:

        - ``max-f1`` (default): the expected F1 of its labelled brackets;
        - ``max-recall``: the expected number of correct nodes of the binary tree (Goodman 1996);
        - ``max-rule``: the product of the posterior probabilities of its rules (Petrov & Klein
          2007);
        - ``viterbi``: its probability; not for L-PCFGs.

        Neural networks have the first two.
    combine : str
        How several grammars are combined; without effect on a single one:

        - ``posteriors`` (default): the posteriors of labelled spans are averaged, which is maximal
          marginal coverage (Narayan & Cohen 2015); with ``max-rule``, the posteriors of rules are
          multiplied (Petrov 2010);
        - ``trees``: each grammar finds its best tree, and the result is the tree with most brackets
          in common with these, which is maximal tree coverage (Narayan & Cohen 2015).
    prune : Pruning, float or None
        Posterior probabilities, from 0 to below 1, below which parts of the chart are pruned: a
        :class:`~lpcfg.Pruning`, one threshold for both passes and no span filter, or None for an
        exact search. The default is ``Pruning()``. Higher thresholds are faster and less accurate.
        Without effect on neural networks, which have no chart to prune.
    memory : int
        The largest number of bytes for the charts of one sentence, by default a gigabyte. If they
        would take more, more is pruned; a sentence that is still too long is parsed in parts. Lists
        of candidates that would take more than a quarter of it are shorter than requested.
    max_length : int or None
        The largest number of words that are parsed as a whole (default 200), or None for no limit.
        Longer sentences are split at punctuation, and the trees of the parts are joined under a
        root. Parsing time grows with the cube of this number.
    timeout : float or None
        The number of seconds for a sentence, or None (default) for no limit. When the time is up,
        the result is the best tree of what has been computed, or else a tree of short fragments,
        and its status is ``timeout``. Results then depend on the speed of the machine. A neural
        network reads several sentences side by side, in the sum of their times, and may be left
        with a flat tree.
    n_jobs : int
        The number of threads, from 1 to 1024, or -1 (default) for one on each core. The result does
        not depend on it.
    charts : ChartCache or None
        Pruned charts to share with other parsers (default: None); the result does not depend on it.
        Neural networks have none.
    dependencies : Dependencies, path or None
        Tags and dependencies that are known of sentences, or their file (default: None). The tags
        are taken as given; heads and relations are features of a conditional random field that was
        trained with dependencies.

    Examples
    --------
    >>> grammar = Grammar.from_string("S -> NP VP [1] \n NP -> 'it' [1] \n VP -> 'rained' [1]")
    >>> parser = Parser(grammar, decoder="viterbi")
    >>> print(parser.parse(words=["it", "rained"]))
    (S (NP it) (VP rained))
    >>> parser
    <Parser: hand-written grammar, decoder='viterbi'>

    """

    def __init__(
        self,
        grammars: Grammar | Sequence[Grammar],
        *,
        decoder: str = "max-f1",
        combine: str = "posteriors",
        prune: Pruning | float | None = Pruning(),  # noqa: B008 - an immutable default
        memory: int = MEMORY,
        max_length: int | None = MAX_LENGTH,
        timeout: float | None = None,
        n_jobs: int = -1,
        charts: ChartCache | None = None,
        dependencies: Dependencies | str | PathLike[str] | None = None,
    ) -> None:
        check_choice("combine", combine, COMBINATIONS)
        check_memory(memory)
        if max_length is not None:
            check_positive("max_length", max_length)
        check_timeout(timeout)
        prune = checked_pruning(prune)
        if isinstance(grammars, Grammar):
            grammars = (grammars,)
        else:
            grammars = tuple(grammars)
            check_same_backbone(grammars)
        first = grammars[0]
        check_decoder(
            decoder,
            latent=first.latent is not None and first.crf_weights is None,
            neural=first.neural_weights is not None,
        )
        self.grammars = grammars
        self.decoder = decoder
        self.combine = combine
        self.prune = prune
        self.memory = memory
        self.max_length = max_length
        self.timeout = timeout
        self.n_jobs = n_jobs
        self.charts = charts
        self.dependencies = loaded_dependencies(dependencies)
        self._core = build_core(grammars, charts, n_jobs)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        memory: int = MEMORY,
        max_length: int | None = MAX_LENGTH,
        timeout: float | None = None,
        n_jobs: int = -1,
        dependencies: Dependencies | str | PathLike[str] | None = None,
        **options: Unpack[ParserOptions],
    ) -> BaseParser:
        """Load a parser, an :class:`~lpcfg.Ensemble` or a :class:`~lpcfg.Reranker`.

        ``path``: ``"english"`` for the embedded English model, a model file, a folder of model
        files, or the folder of an ensemble or a reranker. Grammars in a folder that have the same
        backbone make one parser, others an ensemble.
        ``memory``, ``max_length``, ``timeout``, ``n_jobs``, ``dependencies`` and the other
        ``options`` are as for :class:`Parser`; several parsers share the time of a sentence. The
        other ``options`` (``decoder``, ``combine``, ``prune``) of ensembles and rerankers are
        stored with them and cannot be changed here.

        >>> print(Parser.load("english").parse(words="The dog saw him .".split()))
        (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
        """
        # The modules of ensembles import this one.
        from lpcfg.parsing._load import load_parser

        return load_parser(
            path,
            memory=memory,
            max_length=max_length,
            timeout=timeout,
            n_jobs=n_jobs,
            dependencies=dependencies,
            **options,
        )

    def __getstate__(self) -> dict[str, Any]:
        # The core is built again from the grammars.
        return {name: value for name, value in vars(self).items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._core = build_core(self.grammars, self.charts, self.n_jobs)

    def __repr__(self) -> str:
        kinds = Counter(grammar.provenance.get("estimator", "unknown") for grammar in self.grammars)
        if len(self.grammars) == 1:
            return f"<Parser: {next(iter(kinds))} grammar, decoder={self.decoder!r}>"
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        return f"<Parser: {counts} grammars, decoder={self.decoder!r}, combine={self.combine!r}>"

    @property
    def grammar(self) -> Grammar:
        """The first grammar: all have its symbols, rules and words."""
        return self.grammars[0]

    def summary(self) -> str:
        """A description of each grammar in a few lines."""
        return "\n\n".join(grammar.summary() for grammar in self.grammars)

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

        The arguments are as for :meth:`BaseParser.analyze_many`. Of candidates that differ only in
        the unary rules between two nodes, only the most probable is returned.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> [parse.status for parse in Parser(grammar).analyze_many([["NP", "VP"], ["VP", "NP"]])]
        ['parsed', 'fragments']
        """
        check_positive("candidates", candidates)
        check_positive("batch_size", batch_size)
        sentences = check_sentences(tags, words, self.grammar.tag_ids)
        return (
            parse
            for batch in batches(sentences, limited_batch(batch_size, candidates))
            for parse in self._parses(batch, candidates, marginals=marginals)
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
        >>> list(Parser(grammar).analyze_to_brackets([["NP", "VP"]]))
        [('(S (NP NP) (VP VP))', 'parsed')]
        """
        check_positive("batch_size", batch_size)
        sentences = check_sentences(tags, words, self.grammar.tag_ids)
        labels = [escape(label) for label, _ in self.grammar.node_labels]
        return (
            found
            for batch in batches(sentences, batch_size)
            for found in self._brackets(batch, labels)
        )

    def _brackets(
        self, sentences: list[Sentence], labels: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """The best trees of a batch in brackets, from the columns of the core."""
        columns = self._analyze(sentences, 1, marginals=False)
        names = [labels[label] for label in columns["span_labels"].tolist()]
        starts, ends = columns["span_starts"].tolist(), columns["span_ends"].tolist()
        offsets, statuses = columns["span_offsets"].tolist(), columns["statuses"].tolist()
        for sentence, (first, last), status in zip(
            sentences, pairwise(offsets), statuses, strict=True
        ):
            tree = slice(first, last)
            text = brackets_from_spans(names[tree], starts[tree], ends[tree], sentence.tokens)
            yield text, STATUSES[status]

    def _parses(
        self, sentences: list[Sentence], candidates: int, *, marginals: bool
    ) -> Iterator[Parse]:
        columns = self._analyze(sentences, candidates, marginals=marginals)
        tables = marginal_tables(self.grammar, columns) if marginals else repeat(None)
        return build_parses(self.grammar, sentences, columns, tables)

    def analyze_columns(
        self,
        sentences: list[Sentence],
        candidates: int,
        others: MemberColumns | None,
        *,
        guides: bool,
    ) -> MemberColumns:
        """What the parser says of a batch of checked sentences, as a member of an ensemble.

        ``candidates``: the largest number of trees of a sentence.
        ``others``: what another member says of them, which closes spans if only the best trees are
        wanted; see :class:`~lpcfg.Pruning`.
        ``guides``: whether this member closes spans of others, and prunes less itself.
        """
        grammar, guide, prune = self.grammar, None, self.prune
        threshold = prune.members
        if threshold is None:
            threshold = _AFTER_NETWORK if others is not None and others.from_network else 0.0
        if candidates == 1 and threshold > 0:
            if others is not None:
                guide = others.guide(grammar.node_labels, threshold)
            elif guides:
                prune = prune._replace(fine=prune.fine * _GUIDING)
        columns = self._analyze(sentences, candidates, marginals=True, guide=guide, prune=prune)
        return MemberColumns(
            grammar.node_labels,
            SpanColumns.from_core(columns, "marginal"),
            best_trees(columns),
            outcomes(grammar, columns),
            lambda: list(
                build_parses(grammar, sentences, columns, marginal_tables(grammar, columns))
            ),
            from_network=grammar.neural_weights is not None,
        )

    def _analyze(
        self,
        sentences: list[Sentence],
        candidates: int,
        *,
        marginals: bool,
        guide: Guide | None = None,
        prune: Pruning | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Parse a batch in one call of the core."""
        profile = active_profile()
        prune = prune or self.prune
        if self.dependencies is not None:
            known, tag_ids = self.dependencies, self.grammar.tag_ids
            sentences = [sentence.with_dependencies(known, tag_ids) for sentence in sentences]
        with phase("lookup of words"):
            encoded = encode_sentences(self.grammar, sentences)
        if isinstance(self._core, _core.NeuralParser):
            assert encoded.spellings is not None
            return self._core.analyze(
                encoded.offsets,
                encoded.spellings,
                encoded.tags,
                breaks=encoded.breaks,
                decoder=self.decoder,
                max_length=self.max_length or _NO_LIMIT,
                memory=self.memory,
                candidates=candidates,
                marginals=marginals,
                timeout=self.timeout,
            )
        columns = self._core.analyze(
            encoded.offsets,
            encoded.words,
            encoded.tags,
            breaks=encoded.breaks,
            decoder=self.decoder,
            combine=self.combine,
            coarse_threshold=prune.coarse,
            threshold=prune.fine,
            # Other candidates may need what the first model considers improbable.
            member_threshold=(prune.members or 0.0) if candidates == 1 else 0.0,
            span_recall=prune.spans,
            memory=self.memory,
            max_length=self.max_length or _NO_LIMIT,
            timeout=self.timeout,
            candidates=candidates,
            marginals=marginals,
            times=profile is not None,
            spellings=encoded.spellings,
            heads=encoded.heads,
            relations=encoded.relations,
            guide=guide,
            tag_factors=encoded.tag_factors,
        )
        if profile is not None:
            *phases, total, reused = columns["times"].tolist()
            profile.move(dict(zip(PHASES, (*phases, total - sum(phases)), strict=True)))
            profile.reused += reused
        return columns
