"""Parse sentences with a grammar, or with several at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice, pairwise, repeat, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.errors import InputError
from lpcfg.grammar.backbone import check_same_backbone
from lpcfg.grammar.grammar import Grammar
from lpcfg.parsing.marginals import MarginalTable, marginal_table, span_probabilities
from lpcfg.parsing.sentence_parser import BATCH, SentenceParser, Tags
from lpcfg.treebank.tree import Tree

__all__ = [
    "COMBINATIONS",
    "DECODERS",
    "STATUSES",
    "LabelledSpan",
    "Parse",
    "Parser",
    "Pruning",
    "check_positive",
    "checked_pruning",
    "parse_of",
    "tree_from_spans",
]

DECODERS = ("max-f1", "max-recall", "max-rule", "viterbi")

#: How the answers of several grammars become one; see :class:`Parser`.
COMBINATIONS = ("posteriors", "trees")

#: What became of a sentence; see :class:`Parse`.
STATUSES = (
    "parsed",
    "loosened",
    "smoothed",
    "fragments",
    "backbone",
    "negative",
    "fewer",
    "tightened",
)

#: How many bytes the charts of a sentence may take: enough for sentences of several hundred words.
MEMORY = 1 << 30

_MOST = 10**9

#: What stands for a tag that is not given.
_NO_TAG = 2**32 - 1


class Pruning(NamedTuple):
    """Posterior probabilities below which parts of the chart are dropped.

    ``coarse`` applies to classes of symbols after the first pass, ``fine`` to symbols.

    >>> Pruning(fine=1e-6)
    Pruning(coarse=0.0005, fine=1e-06)
    """

    coarse: float = 5e-4
    fine: float = 1e-3


def checked_pruning(prune: Pruning | float | None) -> Pruning:
    """Thresholds from what :class:`Parser` takes for them.

    >>> checked_pruning(None), checked_pruning(1e-4)
    (Pruning(coarse=0.0, fine=0.0), Pruning(coarse=0.0001, fine=0.0001))
    """
    if not isinstance(prune, Pruning):
        prune = Pruning(0.0, 0.0) if prune is None else Pruning(prune, prune)
    for name, threshold in prune._asdict().items():
        if not isinstance(threshold, (int, float, np.floating)) or not 0.0 <= threshold < 1.0:
            raise InputError(
                f"prune: the {name} threshold must be from 0 to below 1, not {threshold!r}"
            )
    return prune


class LabelledSpan(NamedTuple):
    """A labelled span of words, and the probability that the sentence's tree has it.

    >>> LabelledSpan("NP", 0, 2, 0.9).probability
    0.9
    """

    label: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class Parse:
    r"""What a parser knows of a sentence.

    ``status`` says how the tree was found: ``parsed``, or after pruning less (``loosened``), or
    after letting every word have every tag (``smoothed``), or not at all (``fragments``: the
    largest pieces that can be parsed stand side by side under a root), or after pruning more, so
    that the charts fit into the memory they may take (``tightened``). A linear latent model is
    right only up to noise and may give a sentence a negative number for a probability, relative to
    whose size the spans then are (``negative``), or none; the answer is then that of its PCFG
    (``backbone``). Of several grammars, those that give a sentence no probability are left out if
    there are others (``fewer``).

    The probabilities that several grammars give are the means of theirs.

    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> parse = Parser(grammar).analyze(words=["it", "snowed"])
    >>> print(parse.tree, parse.status)
    (S (NP it) (VP snowed)) smoothed
    """

    tree: Tree
    status: str
    #: Of the tree and the sentence together; minus infinity for fragments.
    log_probability: float
    #: Of the sentence: the sum over all its trees.
    sentence_log_probability: float
    #: The labelled spans of the tree in pre-order, those of single words included.
    spans: tuple[LabelledSpan, ...]
    #: The best trees with their log-probabilities if several were asked for; `tree` is the first.
    candidates: tuple[tuple[Tree, float], ...] = ()
    #: What :meth:`Parser.marginals` gives, if it was asked for.
    marginals: MarginalTable | None = field(default=None, repr=False, compare=False)
    #: Whether probabilities are those of trees given the sentence, whose own is then 1.
    conditional: bool = field(default=False, repr=False)


def parse_of(
    candidates: Sequence[tuple[Tree, float]],
    table: MarginalTable,
    *,
    status: str,
    sentence_log_probability: float,
    conditional: bool = False,
) -> Parse:
    """A parse from its trees, best first, with their log-probabilities, and a table of marginals.

    >>> table = marginal_table([0], [1], ["UH"], [0.5])
    >>> parse_of([(Tree("UH", "ha"), -1.0)], table, status="parsed", sentence_log_probability=0.0)
    Parse(tree=Tree.from_string('(UH ha)'), status='parsed', log_probability=-1.0,
          sentence_log_probability=0.0,
          spans=(LabelledSpan(label='UH', start=0, end=1, probability=0.5),),
          candidates=((Tree.from_string('(UH ha)'), -1.0),))
    """
    tree, log_probability = candidates[0]
    probabilities = span_probabilities(table)
    return Parse(
        tree=tree,
        status=status,
        log_probability=log_probability,
        sentence_log_probability=sentence_log_probability,
        spans=tuple(
            LabelledSpan(*span, probabilities.get(span, 0.0))
            for span in tree.spans(preterminals=True)
        ),
        candidates=tuple(candidates),
        marginals=table,
        conditional=conditional,
    )


class Parser(SentenceParser):
    r"""Finds the trees of sentences, by one grammar or by several with the same backbone.

    ``decoder`` is what the best tree maximises: ``max-f1`` the expected F1 of its labelled
    brackets, ``max-recall`` the expected number of right nodes of the binary tree (Goodman 1996),
    ``max-rule`` the product of the posterior probabilities of its rules (Petrov & Klein 2007),
    ``viterbi`` the tree's probability. ``prune`` is a :class:`Pruning`, one threshold for both
    passes, or None for an exact and slow search. ``memory`` is how many bytes the charts of a
    sentence may take; where they would take more, more is pruned, and a sentence that is still too
    long is parsed in pieces. ``n_jobs`` is the number of threads, -1 for one on each core; the
    result does not depend on it.

    Several grammars with latent states, learnt from the same trees but with different seeds, noise
    or estimators, share one pruned chart. They are combined by ``posteriors``: those of labelled
    spans are averaged (Narayan & Cohen 2015), or for ``max-rule`` those of rules multiplied (Petrov
    2010). Or they are combined by ``trees``: each grammar finds its own best one, and the tree that
    is best by what it has in common with those is taken.

    >>> grammar = Grammar.from_string("S -> NP VP [1] \n NP -> 'it' [1] \n VP -> 'rained' [1]")
    >>> print(Parser(grammar).parse(words=["it", "rained"]))
    (S (NP it) (VP rained))
    """

    def __init__(
        self,
        grammars: Grammar | Sequence[Grammar],
        *,
        decoder: str = "max-f1",
        combine: str = "posteriors",
        prune: Pruning | float | None = Pruning(),  # noqa: B008 - an immutable default
        memory: int = MEMORY,
        n_jobs: int = -1,
    ) -> None:
        if decoder not in DECODERS:
            raise InputError(f"decoder must be one of {', '.join(DECODERS)}, not {decoder!r}")
        if combine not in COMBINATIONS:
            raise InputError(f"combine must be one of {', '.join(COMBINATIONS)}, not {combine!r}")
        grammars = (grammars,) if isinstance(grammars, Grammar) else tuple(grammars)
        check_same_backbone(grammars)
        if decoder == "viterbi" and grammars[0].latent is not None:
            raise InputError(
                "the best tree of a grammar with latent states cannot be found by viterbi; "
                "use max-f1, max-recall or max-rule"
            )
        prune = checked_pruning(prune)
        if not isinstance(memory, int) or not 0 < memory < 1 << 63:
            raise InputError(f"memory must be a positive number of bytes, not {memory!r}")
        self.grammars = grammars
        self.decoder = decoder
        self.combine = combine
        self.prune = prune
        self.memory = memory
        self.n_jobs = n_jobs
        core, *others = (grammar.core for grammar in grammars)
        self._core = _core.Parser(
            core, others, threads=thread_count(n_jobs), crf=self.grammar.crf_core
        )

    @property
    def grammar(self) -> Grammar:
        r"""The first grammar: its symbols, rules and words are those of all.

        >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
        >>> parser.grammar.labels
        ('NP', 'S', 'VP')
        """
        return self.grammars[0]

    def summary(self) -> str:
        r"""A few lines on each grammar.

        >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
        >>> parser.summary().splitlines()[0].split(":")[0]
        'hand-written grammar'
        """
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
        r"""What :meth:`analyze` gives, for many sentences, lazily and in their order.

        ``batch_size`` sentences are taken from the iterable and parsed at once. ``marginals`` asks
        for what :meth:`marginals` gives, too. Of ``candidates`` that differ in nothing but the
        unary rules between two nodes, only the likeliest is there.

        >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
        >>> [parse.status for parse in Parser(grammar).analyze_many([["NP", "VP"], ["VP", "NP"]])]
        ['parsed', 'fragments']
        """
        if tags is None and words is None:
            raise InputError("give the tags of the sentences, their words, or both")
        check_positive("candidates", candidates)
        check_positive("batch_size", batch_size)
        return self._batches(_sentences(tags, words), candidates, marginals, batch_size)

    def _batches(
        self, sentences: Iterator[_Sentence], candidates: int, marginals: bool, size: int
    ) -> Iterator[Parse]:
        done = 0
        while batch := list(islice(sentences, size)):
            yield from self._run(batch, candidates, marginals=marginals, done=done)
            done += len(batch)

    def _run(
        self, sentences: list[_Sentence], candidates: int, *, marginals: bool, done: int
    ) -> Iterator[Parse]:
        """Parse a batch of sentences, after ``done`` others of which errors need not tell."""
        columns = self._columns(sentences, candidates=candidates, marginals=marginals, done=done)
        labels = self.grammar.labels
        table = marginal_table(
            columns["marginal_starts"],
            columns["marginal_ends"],
            np.array(labels)[columns["marginal_labels"]],
            columns["marginal_probabilities"],
        )
        table_offsets = columns["marginal_offsets"]
        spans = list(
            zip(
                [labels[label] for label in columns["span_labels"].tolist()],
                columns["span_starts"].tolist(),
                columns["span_ends"].tolist(),
                columns["span_probabilities"].tolist(),
                strict=True,
            )
        )
        span_offsets = columns["span_offsets"].tolist()
        tree_offsets = columns["tree_offsets"].tolist()
        log_probabilities = columns["tree_log_probabilities"].tolist()
        for row, sentence in enumerate(sentences):
            first, last = tree_offsets[row], tree_offsets[row + 1]
            trees = tuple(
                (tree_from_spans(spans[slice(*bounds)], sentence.tokens), log_probability)
                for bounds, log_probability in zip(
                    pairwise(span_offsets[first : last + 1]),
                    log_probabilities[first:last],
                    strict=True,
                )
            )
            best = spans[span_offsets[first] : span_offsets[first + 1]]
            yield Parse(
                tree=trees[0][0],
                status=STATUSES[columns["statuses"][row]],
                log_probability=trees[0][1],
                sentence_log_probability=float(columns["log_probabilities"][row]),
                spans=tuple(map(LabelledSpan._make, best)),
                candidates=trees,
                marginals=table[slice(*table_offsets[row : row + 2])] if marginals else None,
                conditional=self.grammar.crf_weights is not None,
            )

    def _columns(
        self, sentences: list[_Sentence], *, candidates: int, marginals: bool, done: int = 0
    ) -> dict[str, NDArray[np.generic]]:
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)], dtype=np.int64)
        encode = self.grammar.lexicon.encode
        # Either all sentences have words (or tags), or none has.
        words = [encode(s.words, s.tags) for s in sentences if s.words is not None]
        tags = [
            self._tag_id(tag, done + row, place)
            for row, sentence in enumerate(sentences)
            for place, tag in enumerate(sentence.tags or ())
        ]
        spellings = None
        if self.grammar.crf_weights is not None:
            if not words:
                raise InputError("a model with features of words needs the words of the sentence")
            spellings = [word for sentence in sentences for word in sentence.words or ()]
        return self._core.analyze(
            offsets,
            np.concatenate(words).astype(np.uint32) if words else None,
            np.array(tags, dtype=np.uint32) if tags else None,
            decoder=self.decoder,
            combine=self.combine,
            coarse_threshold=self.prune.coarse,
            threshold=self.prune.fine,
            memory=self.memory,
            candidates=candidates,
            marginals=marginals,
            spellings=spellings,
        )

    def _tag_id(self, tag: str | None, row: int, place: int) -> int:
        if tag is None:
            return _NO_TAG
        found = self.grammar.tag_ids.get(tag)
        if found is not None:
            return found
        near = get_close_matches(tag, self.grammar.tag_ids, n=3, cutoff=0.0)
        raise InputError(
            f"sentence {row + 1}, token {place + 1}: the grammar has no tag {tag!r}; "
            f"the nearest it has are {', '.join(map(repr, near))}"
        )


class _Sentence(NamedTuple):
    """A sentence that can be parsed: tags or words or both, as many, at least one."""

    tags: list[str | None] | None
    words: list[str] | None

    @property
    def tokens(self) -> list[str]:
        if self.words is not None:
            return self.words
        # Without words, all tags are there.
        return [tag for tag in self.tags or () if tag is not None]


def check_positive(name: str, number: int) -> None:
    """Raise an :class:`InputError` if an argument is no number of things.

    >>> check_positive("candidates", 0)
    Traceback (most recent call last):
    lpcfg.errors.InputError: candidates must be a number from 1 to 1000000000, not 0
    """
    if not isinstance(number, (int, np.integer)) or not 1 <= number <= _MOST:
        raise InputError(f"{name} must be a number from 1 to {_MOST}, not {number!r}")


def _sentences(
    tags: Iterable[Tags] | None, words: Iterable[Sequence[str]] | None
) -> Iterator[_Sentence]:
    if tags is None or words is None:
        pairs: Iterable[tuple[Tags | None, Sequence[str] | None]] = zip(
            repeat(None) if tags is None else tags,
            repeat(None) if words is None else words,
            strict=False,
        )
        yield from (_checked(*pair, row) for row, pair in enumerate(pairs))
        return
    for row, (own_tags, own_words) in enumerate(zip_longest(tags, words)):
        if own_tags is None or own_words is None:
            missing = "tags" if own_tags is None else "words"
            raise InputError(f"sentence {row + 1}: there are no {missing} for it")
        yield _checked(own_tags, own_words, row)


def _checked(tags: Tags | None, words: Sequence[str] | None, row: int) -> _Sentence:
    """A sentence, after checking that it can be parsed."""
    sentence = _Sentence(
        _tokens("tags", tags, row, gaps=words is not None), _tokens("words", words, row)
    )
    if sentence.tags is not None and sentence.words is not None:
        numbers = len(sentence.tags), len(sentence.words)
        if numbers[0] != numbers[1]:
            raise InputError(f"sentence {row + 1}: {numbers[0]} tags but {numbers[1]} words")
    if not sentence.tokens:
        raise InputError(f"sentence {row + 1} is empty; leave it out")
    return sentence


def _tokens(name: str, tokens: Tags | None, row: int, gaps: bool = False) -> list[Any] | None:
    """A list of strings; of None, too, if gaps are allowed."""
    if tokens is None:
        return None
    if isinstance(tokens, str):
        raise InputError(
            f"sentence {row + 1}: {name} must be a sequence of strings, not one string; "
            f"split it first: {tokens[:60]!r}.split()"
        )
    listed = list(tokens)
    for place, token in enumerate(listed):
        if not isinstance(token, str) and not (gaps and token is None):
            raise InputError(f"sentence {row + 1}: {name}[{place}] must be a string, not {token!r}")
    return listed


def tree_from_spans(spans: Sequence[tuple[str, int, int, float]], words: Sequence[str]) -> Tree:
    """A tree from its labelled spans in pre-order, those of single words included.

    >>> rows = [("NP", 0, 2, 1.0), ("DT", 0, 1, 1.0), ("NN", 1, 2, 1.0)]
    >>> print(tree_from_spans([LabelledSpan(*row) for row in rows], ["the", "dog"]))
    (NP (DT the) (NN dog))
    """
    # Backwards, all parts of a node are complete before it, the leftmost on top.
    stack: list[tuple[int, int, Tree]] = []
    for label, start, end, _ in reversed(spans):
        children = []
        while stack and stack[-1][0] >= start and stack[-1][1] <= end:
            children.append(stack.pop()[2])
        stack.append((start, end, Tree(label, children or words[start])))
    return stack[0][2]
