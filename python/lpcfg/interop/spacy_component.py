"""The component ``lpcfg`` of spaCy pipelines.

The attributes of spans are those of the component of benepar, so that code for one works with the
other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lpcfg._batches import batches
from lpcfg.errors import InputError, MissingPackageError
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.marginals import node_spans
from lpcfg.parsing.parse import Parse
from lpcfg.parsing.parser import Parser
from lpcfg.text.penn import penn_words
from lpcfg.treebank.tree import tree_from_nodes

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token
except ImportError as error:
    raise MissingPackageError(
        "a component of spaCy pipelines", package="spacy", extra="spacy"
    ) from error

__all__ = ["ConstituencyParser", "make_component"]

#: Where a document keeps its constituents; plain lists, which are saved with the document.
_KEY = "lpcfg_constituents"


class ConstituencyParser:
    """A component that finds the constituents of the sentences of a document.

    It is the factory ``lpcfg`` of spaCy. Sentences must have been found by a component before it,
    for example ``sentencizer``. Spans then have these attributes:

    - ``span._.constituents``: all constituents within the span as spans, in pre-order, the span
      itself and single words included;
    - ``span._.labels``: the labels of the constituent, several for a unary chain, none for a word;
    - ``span._.parse_string``: its tree in brackets;
    - ``span._.parent``, ``span._.children``: the next larger constituent, or None; the next smaller
      ones;
    - ``span._.probability``: its posterior probability (that of its last label).

    A span that is no constituent raises an :class:`~lpcfg.InputError`. Tokens have ``labels``,
    ``parse_string`` and ``parent`` too.

    Parameters
    ----------
    parser : BaseParser
        The parser. In a pipeline, ``config={"model": ...}`` is a path, or ``english`` (default).
    set_tags : bool
        Whether tokens without a tag get the tag of the tree (default True).
    use_tags : bool
        Whether the tags of earlier components are used where the grammar has them (default False:
        the parser finds them).

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> _ = nlp.add_pipe("sentencizer")
    >>> _ = nlp.add_pipe("lpcfg")
    >>> sentence = next(nlp("The dog saw him. It ran.").sents)
    >>> sentence._.parse_string
    '(S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .))'
    >>> [(str(span), span._.labels) for span in sentence._.constituents if len(span) > 1]
    [('The dog saw him.', ('S',)), ('The dog', ('NP',)), ('saw him', ('VP',))]

    """

    def __init__(
        self, parser: BaseParser, *, set_tags: bool = True, use_tags: bool = False
    ) -> None:
        self.parser = parser
        self.set_tags = set_tags
        self.use_tags = use_tags
        _add_attributes()

    def __call__(self, doc: Doc) -> Doc:
        """Parse the sentences of a document."""
        return next(self._parsed([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Parse many documents, the sentences of ``batch_size`` documents at once."""
        for docs in batches(stream, batch_size):
            yield from self._parsed(docs)

    def _parsed(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        sentences = [[_words(sentence) for sentence in _sentences(doc)] for doc in docs]
        tokens = [words for own in sentences for words in own if words]
        vocabulary = self.parser.grammar.lexicon
        words = [penn_words([token.text for token in own], vocabulary) for own in tokens]
        tags = None
        if self.use_tags:
            known = self.parser.tags
            tags = [[t.tag_ if t.tag_ in known else None for t in own] for own in tokens]
        parses = self.parser.analyze_many(tags, words=words) if words else iter(())
        for doc, own in zip(docs, sentences, strict=True):
            found = [(words, next(parses)) for words in own if words]
            self._store(doc, found)
            yield doc

    def _store(self, doc: Doc, found: Iterable[tuple[list[Token], Parse]]) -> None:
        root = self.parser.grammar.cleaning.root_label
        constituents = _Constituents([], [], [], [], [""] * len(doc))
        for words, parse in found:
            constituents.add(words, parse, root)
            for token, tag in zip(words, parse.tree.tags(), strict=True):
                constituents.tags[token.i] = tag
                if self.set_tags and not token.tag_:
                    token.tag_ = tag
        doc.user_data[_KEY] = list(constituents)


class _Constituents(NamedTuple):
    """The constituents of a document in pre-order, with the nodes of a unary chain as one."""

    starts: list[int]
    ends: list[int]
    labels: list[list[str]]
    probabilities: list[float]
    #: The tag of each token; empty for white space.
    tags: list[str]

    def add(self, words: Sequence[Token], parse: Parse, root_label: str | None) -> None:
        """Add the constituents of a sentence."""
        nodes = list(zip(node_spans(parse.tree), parse.span_probabilities, strict=True))
        if parse.tree.label == root_label and len(parse.tree.children) == 1:
            # Every tree has this root, which says nothing.
            del nodes[0]
        previous = None
        for (label, start, end, preterminal), probability in nodes:
            if (start, end) != previous:
                self.starts.append(words[start].i)
                self.ends.append(words[end - 1].i + 1)
                self.labels.append([])
                self.probabilities.append(probability)
            if not preterminal:
                self.labels[-1].append(label)
                self.probabilities[-1] = probability
            previous = start, end

    def place(self, span: Span) -> int:
        """The place of a span among the constituents."""
        start, end = _trimmed(span)
        for place in range(bisect_left(self.starts, start), len(self.starts)):
            if self.starts[place] != start:
                break
            if self.ends[place] == end:
                return place
        raise InputError(f"{span.text!r} is no constituent", argument="span")

    def within(self, place: int) -> range:
        """The places of a constituent and of all below it."""
        return range(place, bisect_left(self.starts, self.ends[place], lo=place))


def _of(span: Span) -> tuple[_Constituents, int]:
    """The constituents of the span's document, and the place of the span among them."""
    stored = span.doc.user_data.get(_KEY)
    if stored is None:
        raise InputError(
            'this document was not parsed; add the component: nlp.add_pipe("lpcfg")', argument="doc"
        )
    constituents = _Constituents(*stored)
    return constituents, constituents.place(span)


def _labels(span: Span) -> tuple[str, ...]:
    constituents, place = _of(span)
    return tuple(constituents.labels[place])


def _probability(span: Span) -> float:
    constituents, place = _of(span)
    return constituents.probabilities[place]


def _all_within(span: Span) -> Iterator[Span]:
    constituents, place = _of(span)
    for below in constituents.within(place):
        yield span.doc[constituents.starts[below] : constituents.ends[below]]


def _parent(span: Span) -> Span | None:
    constituents, place = _of(span)
    for above in range(place - 1, -1, -1):
        if constituents.ends[above] >= constituents.ends[place]:
            return span.doc[constituents.starts[above] : constituents.ends[above]]
    return None


def _children(span: Span) -> Iterator[Span]:
    constituents, place = _of(span)
    end = constituents.starts[place]
    for below in constituents.within(place)[1:]:
        if constituents.starts[below] >= end:
            end = constituents.ends[below]
            yield span.doc[constituents.starts[below] : end]


def _parse_string(span: Span) -> str:
    constituents, place = _of(span)
    labels: list[str] = []
    contents: list[str | int] = []
    for below in constituents.within(place):
        start, end = constituents.starts[below], constituents.ends[below]
        chain = constituents.labels[below]
        labels += chain
        contents += [1] * len(chain)
        inner = constituents.within(below)
        if len(inner) == 1:
            labels.append(constituents.tags[start])
            contents.append(span.doc[start].text)
        else:
            contents[-1] = sum(1 for _ in _children(span.doc[start:end]))
    return str(tree_from_nodes(labels, contents))


def _trimmed(span: Span) -> tuple[int, int]:
    """The tokens of a span without white space at its ends, which no tree has."""
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while end > start and span.doc[end - 1].is_space:
        end -= 1
    return start, end


def _words(sentence: Span) -> list[Token]:
    return [token for token in sentence if not token.is_space]


def _sentences(doc: Doc) -> list[Span]:
    if not doc.has_annotation("SENT_START"):
        if not len(doc):
            return []
        raise InputError(
            "the sentences of the document are not known; add a component that finds them before "
            'this one: nlp.add_pipe("sentencizer", before="lpcfg")',
            argument="doc",
        )
    return list(doc.sents)


def _of_token(attribute: Callable[[Span], Any]) -> Callable[[Token], Any]:
    return lambda token: attribute(token.doc[token.i : token.i + 1])


def _add_attributes() -> None:
    attributes: dict[str, Callable[[Span], Any]] = {
        "constituents": _all_within,
        "labels": _labels,
        "parse_string": _parse_string,
        "parent": _parent,
        "children": _children,
        "probability": _probability,
    }
    for name, attribute in attributes.items():
        # The component that was made last has the names, if another one has them as well.
        Span.set_extension(name, getter=attribute, force=True)
        if name in ("labels", "parse_string", "parent"):
            Token.set_extension(name, getter=_of_token(attribute), force=True)


def make_component(
    nlp: Language, name: str, model: str, set_tags: bool, use_tags: bool, n_jobs: int
) -> ConstituencyParser:
    """Make the component; spaCy calls this with the configuration of ``nlp.add_pipe("lpcfg")``.

    ``model``: the path of a model, or ``english``; ``n_jobs``: the number of threads, -1 for one on
    each core. The others are those of :class:`ConstituencyParser`.

    >>> import spacy
    >>> config = {"model": "english", "n_jobs": 1, "set_tags": False}
    >>> spacy.blank("en").add_pipe("lpcfg", config=config).set_tags
    False
    """
    parser = Parser.load(model, n_jobs=n_jobs)
    return ConstituencyParser(parser, set_tags=set_tags, use_tags=use_tags)


Language.factory(
    "lpcfg",
    default_config={"model": "english", "set_tags": True, "use_tags": False, "n_jobs": -1},
    requires=["token.is_sent_start"],
    func=make_component,
)
