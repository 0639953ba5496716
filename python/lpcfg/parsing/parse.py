"""The result of parsing a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

from lpcfg import _html
from lpcfg.parsing.marginals import MarginalTable, NodeSpan, node_spans, span_probabilities
from lpcfg.text.segmentation import TextSentence, Token
from lpcfg.treebank.escaping import EMPTY, escape
from lpcfg.treebank.tree import Tree

__all__ = [
    "INCOMPLETE",
    "STATUSES",
    "Candidate",
    "LabelledSpan",
    "Parse",
    "TextParse",
    "brackets_from_spans",
    "tree_from_spans",
]

#: A tree and its log-probability, which is None if the tree has no probability.
Candidate: TypeAlias = tuple[Tree, float | None]

#: How the tree of a sentence was found, in the order of the core's numbers; see :class:`Parse`.
#: Only ensembles use the last one.
STATUSES = (
    "parsed",
    "loosened",
    "smoothed",
    "fragments",
    "backbone",
    "negative",
    "fewer",
    "tightened",
    "split",
    "timeout",
    "inconsistent",
    "combined",
)

#: Statuses of trees that may be made of fragments, which have no probabilities.
INCOMPLETE = ("fragments", "timeout")

#: The largest number of characters of a tree in the ``repr`` of its parse.
_MAX_REPR_LENGTH = 60


class LabelledSpan(NamedTuple):
    """A labelled span of words, and the probability that the tree of the sentence has it.

    ``label``: the label of the node, or the tag of a preterminal.
    ``start``, ``end``: the first word of the span, and the word after its last one, from 0.
    ``probability``: the posterior probability of the span with this label, from 0 to 1.

    >>> LabelledSpan("NP", 0, 2, 0.9).probability
    0.9
    """

    label: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True, repr=False)
class Parse:
    r"""The result of parsing a sentence: the best tree, its probabilities and a status.

    ``status`` says how the tree was found:

    ================  ==========================================================================
    status            meaning
    ================  ==========================================================================
    ``parsed``        Parsed as usual: pruned with the parser's thresholds, then decoded.
    ``loosened``      Pruning removed every tree; thresholds 30 to 1,000 times lower kept some. Or a
                      spectral model gave the sentence or its tree no probability, and a model
                      between it and the PCFG was used: its latent states were damped.
    ``tightened``     The charts would not have fitted into the parser's ``memory``; thresholds ten
                      or more times higher made them smaller.
    ``smoothed``      The grammar has no tree with these words and tags; every word was allowed to
                      have every tag.
    ``fragments``     No tree covers the sentence; the smallest number of subtrees that cover it
                      are joined under a root.
    ``split``         The sentence has more words than the parser's ``max_length``, or its charts
                      are too large; its parts were parsed and are joined under a root.
    ``timeout``       The parser's ``timeout`` was over. The tree is the best one of what had been
                      computed, with the backbone's probability, or of fragments. With several
                      candidates, there may be fewer than requested.
    ``negative``      A linear model (spectral or pivot), which is exact only up to estimation
                      error, gave the sentence a negative number instead of a probability. Span
                      probabilities are relative to it; there are no log-probabilities.
    ``inconsistent``  The spans of the tree are probable, but the tree as a whole has no
                      probability: zero with these latent states or, in a linear model, a negative
                      number or one above the probability of the sentence.
    ``backbone``      A grammar with latent states gave the sentence the probability zero; its
                      backbone, a PCFG, parsed it.
    ``fewer``         Some of several grammars or ensemble members failed on the sentence; only the
                      others were used.
    ``combined``      An ensemble combined the parses of its members into a tree that none of them
                      proposed. It has no probability.
    ================  ==========================================================================

    With several grammars, probabilities are the means of the grammars' probabilities.

    Log-probabilities are finite numbers, or None. Neither the tree nor the sentence has one if the
    status is ``fragments``, ``split`` or ``negative``, or in some cases ``timeout``. The tree has
    none if it is ``inconsistent`` or ``combined``. A tree is never more probable than its sentence.

    >>> from lpcfg import Grammar, Parser
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> parse = Parser(grammar).analyze(words=["it", "snowed"])
    >>> print(parse.tree, parse.status)
    (S (NP it) (VP snowed)) smoothed
    >>> parse.spans[1]
    LabelledSpan(label='NP', start=0, end=1, probability=1.0)
    """

    tree: Tree
    status: str
    #: The log-probability of the tree with its words; None if it has no probability.
    log_probability: float | None
    #: The log-probability of the sentence: the log of the sum over all its trees; None if it has
    #: no probability.
    sentence_log_probability: float | None
    #: The probability of each of :attr:`spans`.
    span_probabilities: tuple[float, ...]
    #: The requested number of best trees, or fewer, with log-probabilities; the first is `tree`.
    candidates: tuple[Candidate, ...] = ()
    #: The table of :meth:`Parser.marginals`, if marginals were requested.
    marginals: MarginalTable | None = field(default=None, compare=False)
    #: Whether probabilities are conditional on the sentence, whose probability is then 1 (a CRF).
    conditional: bool = False

    @classmethod
    def from_candidates(
        cls,
        candidates: Sequence[Candidate],
        marginals: MarginalTable,
        *,
        sentence_log_probability: float | None,
        status: str = "parsed",
        conditional: bool = False,
        probabilities: Mapping[NodeSpan, float] | None = None,
    ) -> Self:
        """A parse from its trees with their log-probabilities, best first, and its marginals.

        ``candidates``: the trees with their log-probabilities, the best one first; at least one.
        ``marginals``: the probabilities of all labelled spans. ``conditional``: whether
        probabilities are given the words, as those of a CRF (default False).
        ``probabilities``: the marginals as a mapping, if there is one already.

        >>> from lpcfg.parsing.marginals import marginal_table
        >>> table = marginal_table([0], [1], ["UH"], [0.5], [True])
        >>> Parse.from_candidates([(Tree("UH", "ha"), -1.0)], table, sentence_log_probability=-0.3)
        Parse('(UH ha)', status='parsed', log_probability=-1)
        """
        tree, log_probability = candidates[0]
        if probabilities is None:
            probabilities = span_probabilities(marginals)
        return cls(
            tree=tree,
            status=status,
            log_probability=log_probability,
            sentence_log_probability=sentence_log_probability,
            span_probabilities=tuple(probabilities.get(span, 0.0) for span in node_spans(tree)),
            candidates=tuple(candidates),
            marginals=marginals,
            conditional=conditional,
        )

    @cached_property
    def spans(self) -> tuple[LabelledSpan, ...]:
        """The labelled spans of the tree in pre-order, including preterminals."""
        spans = self.tree.spans(preterminals=True)
        return tuple(
            LabelledSpan(*span, probability)
            for span, probability in zip(spans, self.span_probabilities, strict=True)
        )

    def __repr__(self) -> str:
        text = str(self.tree)
        if len(text) > _MAX_REPR_LENGTH:
            text = text[: _MAX_REPR_LENGTH - 3] + "..."
        probability = "None" if self.log_probability is None else f"{self.log_probability:.6g}"
        return f"Parse({text!r}, status={self.status!r}, log_probability={probability})"

    def to_svg(self) -> str:
        """Draw the tree as an SVG document with the probabilities of its spans.

        The less probable a span is, the redder is its label. Probabilities below 0.995 are written
        below labels, the others are shown when the mouse is over them.

        >>> from lpcfg import Parser
        >>> parse = Parser.load("english").analyze(words=["Birds", "sing", "."])
        >>> parse.to_svg().count("<title>probability") == len(parse.spans)
        True
        """
        return self.tree.to_svg(probabilities=dict(enumerate(self.span_probabilities)))

    def _repr_html_(self) -> str:
        """The drawing as notebooks show it."""
        parts = [f"status {self.status}"]
        if self.log_probability is not None:
            parts.append(f"log-probability {self.log_probability:.4g}")
        if self.span_probabilities:
            parts.append(f"least probable span {min(self.span_probabilities):.2f}")
        if len(self.candidates) > 1:
            parts.append(f"best of {len(self.candidates)} trees")
        return _html.drawing(self.to_svg()) + _html.caption(", ".join(parts))


class TextParse(NamedTuple):
    """A sentence of running text with its parse.

    ``sentence``: its text, its tokens, and their offsets in the running text.
    ``parse``: its parse. Word i of the tree is token i of the sentence.

    >>> from lpcfg import Parser
    >>> parsed = next(Parser.load("english").parse_text("(She saw it.)"))
    >>> parsed.tokens[0], parsed.tree.words()[0]
    (Token(text='(', start=0, end=1), '-LRB-')
    """

    sentence: TextSentence
    parse: Parse

    @property
    def tree(self) -> Tree:
        """The best tree."""
        return self.parse.tree

    @property
    def start(self) -> int:
        """The offset of the sentence in the text."""
        return self.sentence.start

    @property
    def end(self) -> int:
        """The offset of the character after the sentence."""
        return self.sentence.end

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens with their offsets."""
        return self.sentence.tokens

    def _repr_html_(self) -> str:
        """The text and the drawing as notebooks show them."""
        return _html.caption(self.sentence.text) + self.parse._repr_html_()


def tree_from_spans(spans: Sequence[tuple[str, int, int]], words: Sequence[str]) -> Tree:
    """A tree from its labelled spans in pre-order, including preterminals.

    >>> print(tree_from_spans([("NP", 0, 2), ("DT", 0, 1), ("NN", 1, 2)], ["the", "dog"]))
    (NP (DT the) (NN dog))
    """
    # In reverse order, the children of a node are complete before it, the leftmost on top.
    complete: list[tuple[int, Tree]] = []
    for label, start, end in reversed(spans):
        children = []
        while complete and complete[-1][0] <= end:
            children.append(complete.pop()[1])
        complete.append((end, Tree(label, children or words[start])))
    return complete[0][1]


def brackets_from_spans(
    labels: Sequence[str], starts: Sequence[int], ends: Sequence[int], words: Sequence[str]
) -> str:
    """The text of a tree from its labelled spans in pre-order, including preterminals.

    This is ``str(tree)`` without the tree. Labels are escaped already.

    >>> brackets_from_spans(["NP", "DT", "NN"], [0, 0, 1], [2, 1, 2], ["the", "dog"])
    '(NP (DT the) (NN dog))'
    """
    parts: list[str] = []
    open_ends: list[int] = []
    # After the last node, nothing is inside its span.
    following = [*starts[1:], len(words)]
    for label, start, end, after in zip(labels, starts, ends, following, strict=True):
        if after < end:
            # Only the root of a phrase may go without a label.
            parts.append(f" ({label}" if parts or label != EMPTY else " (")
            open_ends.append(end)
            continue
        brackets = ")"
        while open_ends and open_ends[-1] <= end:
            open_ends.pop()
            brackets += ")"
        parts.append(f" ({label} {escape(words[start])}{brackets}")
    return "".join(parts)[1:]
