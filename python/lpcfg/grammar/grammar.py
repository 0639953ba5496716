"""Grammars: the one type that all estimators return and all parsers use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core, _html
from lpcfg.errors import GrammarError
from lpcfg.grammar._flat_rules import flatten_rules
from lpcfg.grammar.crf_weights import CRFWeights
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.grammar.neural_weights import NeuralWeights
from lpcfg.grammar.notation import read_rules
from lpcfg.grammar.span_filter import SpanFilter
from lpcfg.lexicon.lexicon import Lexicon, lexicon_from_entries
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import NORMALIZATIONS, Normalization

__all__ = ["Grammar"]


@dataclass(frozen=True, eq=False)
class Grammar:
    r"""A PCFG, an L-PCFG or a grammar-based CRF over binarised trees.

    The rules and the lexicon are a PCFG. An L-PCFG also has ``latent`` parameters; the PCFG is its
    backbone and prunes the chart. A CRF also has ``crf_weights``; the PCFG, or the L-PCFG if there
    are latent parameters, is its prior. The parameters of a PCFG are defined as in Peng (2021,
    section 2.1, equation 2.1).

    ``symbols``: the nonterminals: interminals, preterminals and binarisation symbols. Rules refer
    to them by their indices.
    ``roots``: pi(a), the probability that the root of a tree is each symbol.
    ``binary_rules``, ``binary_probabilities``: rules a -> b c as rows (a, b, c), and
    t(a -> b c | a).
    ``unary_rules``, ``unary_probabilities``: rules a -> b as rows (a, b), and their probabilities;
    none where the tree transform collapses unary chains, as CRFs and all estimators of latent
    states require.
    ``lexicon``: the probabilities q(a -> x | a) of lexical rules.
    ``coarse``: for coarse-to-fine pruning, the coarse class of each symbol; without it, there is no
    coarse pass.
    ``weights``: the count of each symbol in the treebank, by which the rules of coarse classes are
    averaged.
    ``latent``: the parameters over latent states, for an L-PCFG.
    ``crf_weights``: the weights of span features, for a CRF.
    ``neural_weights``: a neural network that parses in place of the rules, for a neural model.
    ``span_filter``: closes spans before the coarse pass.
    ``provenance``: where the grammar comes from: the estimator with its parameters, the treebank,
    its cleaning and its transform.

    >>> grammar = Grammar.from_string("S -> NP VP [1] \n NP -> 'it' [1] \n VP -> 'rained' [1]")
    >>> grammar
    <Grammar: hand-written, 3 symbols, 1 binary and 0 unary rules, 2 words>
    >>> [str(symbol) for symbol in grammar.symbols]
    ['S', 'NP', 'VP']
    """

    symbols: tuple[Symbol, ...]
    roots: NDArray[np.float64]
    binary_rules: NDArray[np.uint32]
    binary_probabilities: NDArray[np.float64]
    unary_rules: NDArray[np.uint32]
    unary_probabilities: NDArray[np.float64]
    lexicon: Lexicon
    coarse: NDArray[np.uint32] | None = None
    weights: NDArray[np.float64] | None = None
    latent: LatentStates | None = None
    crf_weights: CRFWeights | None = None
    neural_weights: NeuralWeights | None = None
    span_filter: SpanFilter | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.crf_weights is not None and len(self.unary_rules):
            raise GrammarError("a CRF needs a grammar without unary rules")

    @classmethod
    def from_string(cls, text: str, start: str | None = None) -> Grammar:
        """Read a hand-written grammar in the notation of NLTK, see :mod:`lpcfg.grammar.notation`.

        ``text``: the rules, one or several alternatives a line. ``start``: the start symbol; None
        (the default) for the one that the text names, or the first left side.

        >>> grammar = Grammar.from_string("S -> 'a' S 'b' [0.5] | 'a' 'b' [0.5]")
        >>> len(grammar.binary_rules)
        3
        """
        rules = flatten_rules(read_rules(text, start))
        grammar = cls(
            symbols=rules.symbols,
            roots=rules.root,
            binary_rules=rules.binary_rules.astype(np.uint32),
            binary_probabilities=rules.binary_probabilities,
            unary_rules=rules.unary_rules.astype(np.uint32),
            unary_probabilities=rules.unary_probabilities,
            lexicon=lexicon_from_entries(rules.lexical_rules),
            provenance={"estimator": "hand-written"},
        )
        # What cannot be parsed with, such as a unary rule S -> S [1], is an error here, not later.
        _ = grammar.core
        return grammar

    def __reduce__(self) -> tuple[Callable[[bytes], Grammar], tuple[bytes]]:
        # As a model file, so that versions and values are checked when the pickle is read.
        from lpcfg.grammar._file import GRAMMAR_FORMAT

        return _grammar_from_bytes, (GRAMMAR_FORMAT.to_bytes(self),)

    @property
    def cleaning(self) -> Cleaning:
        """The cleaning of the training trees, which gold trees need as well.

        >>> Grammar.from_string("S -> 'a'").cleaning.root_label
        'ROOT'
        """
        return Cleaning.from_dict(self.provenance.get("cleaning", {}))

    @property
    def normalization(self) -> Normalization | None:
        """The Unicode normal form to which words are brought before they are looked up, or None.

        >>> Grammar.from_string("S -> 'a'").normalization is None
        True
        """
        form = self.provenance.get("normalization")
        if form is not None and form not in NORMALIZATIONS:
            raise GrammarError(f"there is no normal form {form!r} of words")
        return form

    @property
    def transform(self) -> Transform:
        """The transform of the training trees: binarisation, Markovisation, unary chains.

        >>> Grammar.from_string("S -> 'a'").transform.vertical
        1
        """
        return Transform.from_dict(self.provenance.get("transform", {}))

    def __repr__(self) -> str:
        kind = self.provenance.get("estimator", "unknown estimator")
        rules = f"{len(self.binary_rules)} binary and {len(self.unary_rules)} unary rules"
        text = f"{kind}, {len(self.symbols)} symbols, {rules}, {len(self.lexicon.words)} words"
        if self.latent is not None:
            text += f", up to {self.latent.states.max(initial=1)} states per symbol"
        if self.crf_weights is not None:
            text += f", {np.count_nonzero(self.crf_weights.weights)} feature weights"
        if self.neural_weights is not None:
            text += f", {len(self.neural_weights.values)} neural parameters"
        return f"<Grammar: {text}>"

    def _repr_html_(self) -> str:
        """A summary as notebooks show it: sizes, origin and the most frequent rules."""
        sizes: list[tuple[object, ...]] = [
            ("estimator", self.provenance.get("estimator", "unknown")),
            ("symbols", len(self.symbols)),
            ("binary rules", len(self.binary_rules)),
            ("unary rules", len(self.unary_rules)),
            ("words", len(self.lexicon.words)),
            ("classes of unknown words", len(self.lexicon.classes)),
        ]
        if self.latent is not None:
            sizes += [
                ("latent states of a symbol", f"up to {self.latent.states.max(initial=1)}"),
                ("latent parameters", self.latent.size),
            ]
        if self.crf_weights is not None:
            sizes += [("feature weights", np.count_nonzero(self.crf_weights.weights))]
        rules = [(rule, f"{probability:.4f}") for probability, rule in self._frequent_rules(5)]
        return _html.table(sizes) + _html.table(rules, ("frequent rule", "probability"))

    def __str__(self) -> str:
        details = ""
        if self.lexicon.tag_model is not None:
            details += f", {self.lexicon.tag_model.weights.size} weights of their spelling"
        if self.latent is not None:
            details += f", {self.latent.size} latent parameters"
        if self.crf_weights is not None:
            details += f", {np.count_nonzero(self.crf_weights.weights)} feature weights"
        if self.neural_weights is not None:
            details += f", {len(self.neural_weights.values)} neural parameters"
        if (learnt_from := self.provenance.get("learnt_from")) is not None:
            details += f" trained on {learnt_from} of {self.provenance.get('trees')} trees"
        return (
            f"{self.provenance.get('estimator', 'unknown')} grammar: {len(self.symbols)} symbols, "
            f"{len(self.binary_rules)} binary and {len(self.unary_rules)} unary rules, "
            f"{len(self.lexicon.words)} words and {len(self.lexicon.classes)} classes of unknown "
            f"words{details}"
        )

    def summary(self, limit: int = 10) -> str:
        r"""A readable description: sizes, provenance, and the most frequent roots and rules.

        ``limit``: the largest number of roots and of rules (default 10).

        >>> rules = "S -> NP VP [0.9] | VP NP [0.1] \n NP -> 'it' \n VP -> 'rained'"
        >>> print(Grammar.from_string(rules).summary())
        hand-written grammar: 3 symbols, 2 binary and 0 unary rules, 2 words and 1 classes of
        unknown words
        estimator: hand-written
        roots: S 1.0000
        most frequent rules:
          0.9000  S -> NP VP
          0.1000  S -> VP NP
        """
        names = [str(symbol) for symbol in self.symbols]
        roots = [(p, names[a]) for a, p in enumerate(self.roots.tolist()) if p > 0]
        roots = sorted(roots, key=lambda root: -root[0])[:limit]
        lines = [str(self), *self._origin()]
        lines.append("roots: " + ", ".join(f"{name} {p:.4f}" for p, name in roots))
        lines.append("most frequent rules:")
        lines += [
            f"  {probability:.4f}  {rule}" for probability, rule in self._frequent_rules(limit)
        ]
        return "\n".join(lines)

    def _frequent_rules(self, limit: int) -> Iterator[tuple[float, str]]:
        """The binary rules with the highest expected counts, and their probabilities."""
        weights = np.ones(len(self.symbols)) if self.weights is None else self.weights
        uses = weights[self.binary_rules[:, 0]] * self.binary_probabilities
        for row in np.argsort(-uses, kind="stable")[:limit].tolist():
            parent, left, right = (
                self.symbols[symbol] for symbol in self.binary_rules[row].tolist()
            )
            yield float(self.binary_probabilities[row]), f"{parent} -> {left} {right}"

    def _origin(self) -> Iterator[str]:
        for key, value in self.provenance.items():
            if isinstance(value, Mapping):
                value = ", ".join(f"{name} {setting}" for name, setting in value.items())
            yield f"{key}: {value}"

    @property
    def is_conditional(self) -> bool:
        """Whether it models trees given sentences, from features of the words: a CRF or a network.

        >>> Grammar.from_string("S -> 'go'").is_conditional
        False
        """
        return self.crf_weights is not None or self.neural_weights is not None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        r"""The labels of this grammar's trees, including tags, in alphabetical order.

        >>> Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'").labels
        ('NP', 'S', 'VP')
        """
        return tuple(sorted({label for symbol in self.symbols for label in symbol.labels}))

    @cached_property
    def node_labels(self) -> tuple[tuple[str, bool], ...]:
        r"""The labels of tree nodes, each with whether the node is a preterminal, sorted.

        A label that is used both as a tag and for phrases is there twice.

        >>> Grammar.from_string("S -> S S [0.25] | 'ha' [0.75]").node_labels
        (('S', False), ('S', True))
        """
        return tuple(sorted({node for symbol in self.symbols for node in _node_labels(symbol)}))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        r"""The part-of-speech tags, in alphabetical order.

        >>> Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'").tags
        ('NP', 'VP')
        """
        return tuple(sorted({s.labels[-1] for s in self.symbols if s.preterminal}))

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        r"""The position of each tag in :attr:`tags`.

        >>> Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'").tag_ids
        {'NP': 0, 'VP': 1}
        """
        return {tag: identity for identity, tag in enumerate(self.tags)}

    @cached_property
    def tag_model_columns(self) -> list[int]:
        r"""The position in :attr:`tags` of each tag of the lexicon's model of unknown words.

        >>> Grammar.from_string("S -> 'go'").tag_model_columns
        []
        """
        model = self.lexicon.tag_model
        names = () if model is None else model.tags
        if unknown := [name for name in names if name not in self.tag_ids]:
            raise GrammarError(f"unknown words have the tag {unknown[0]!r}, the grammar does not")
        return [self.tag_ids[name] for name in names]

    @cached_property
    def core(self) -> _core.Grammar:
        """The grammar indexed for parsing; every index and probability is checked first.

        >>> Grammar.from_string("S -> 'go'").core
        <lpcfg._core.Grammar object at ...>
        """
        for symbol, root in zip(self.symbols, self.roots.tolist(), strict=False):
            if symbol.is_binarization and (root > 0 or symbol.preterminal):
                raise GrammarError(
                    f"symbol {symbol} is a binarisation symbol, which has no label in trees: "
                    "it can be neither a root nor a preterminal"
                )
        try:
            return self._index()
        except GrammarError as error:
            # The core knows symbols by their numbers.
            raise GrammarError(re.sub(r"(?<=from symbol )\d+", self._name, str(error))) from None

    def _name(self, number: re.Match[str]) -> str:
        return str(self.symbols[int(number[0])])

    def _index(self) -> _core.Grammar:
        tag_of_symbol = np.array(
            [self.tag_ids[s.labels[-1]] if s.preterminal else -1 for s in self.symbols],
            dtype=np.int32,
        )
        emitting = self.lexicon.symbols
        emitting = emitting[(emitting >= 0) & (emitting < len(self.symbols))]
        wrong = emitting[tag_of_symbol[emitting] < 0]
        if len(wrong):
            # Words under a binarisation symbol would be missing from trees.
            raise GrammarError(
                f"the lexicon has words of symbol {self.symbols[wrong[0]]}, which is no preterminal"
            )
        label_ids = {node: identity for identity, node in enumerate(self.node_labels)}
        written = [() if s.siblings is not None else _node_labels(s) for s in self.symbols]
        return _core.Grammar(
            roots=self.roots,
            binary_rules=self.binary_rules,
            binary_probabilities=self.binary_probabilities,
            unary_rules=self.unary_rules,
            unary_probabilities=self.unary_probabilities,
            emission_offsets=self.lexicon.offsets,
            # Without a copy; a negative number becomes one that is out of range.
            emission_symbols=self.lexicon.symbols.view(np.uint32),
            emission_probabilities=self.lexicon.probabilities,
            tag_of_symbol=tag_of_symbol,
            output_offsets=np.cumsum([0, *map(len, written)], dtype=np.uint32),
            output_labels=np.array(
                [label_ids[node] for nodes in written for node in nodes], dtype=np.uint32
            ),
            coarse=self.coarse,
            weights=self.weights if self.coarse is not None else None,
            latent=None if self.latent is None else self.latent.arrays,
        )

    @cached_property
    def crf_core(self) -> _core.CRFModel | None:
        """The CRF ready for parsing, if the grammar has one; its arrays are checked first.

        >>> Grammar.from_string("S -> 'go'").crf_core is None
        True
        """
        return None if self.crf_weights is None else self.crf_weights.core(self.symbols)

    @cached_property
    def neural_core(self) -> _core.NeuralModel | None:
        """The neural network ready for parsing, if there is one; its arrays are checked first.

        >>> Grammar.from_string("S -> 'go'").neural_core is None
        True
        """
        return None if self.neural_weights is None else self.neural_weights.core(self.node_labels)

    @cached_property
    def neural_tag_ids(self) -> dict[str, int]:
        """The number of each tag of the neural network, which may know other tags than the rules.

        >>> Grammar.from_string("S -> 'go'").neural_tag_ids
        {}
        """
        tags = () if self.neural_weights is None else self.neural_weights.tags
        return {tag: number for number, tag in enumerate(tags)}


def _node_labels(symbol: Symbol) -> tuple[tuple[str, bool], ...]:
    """The labels of a symbol's unary chain; the last one of a preterminal is the tag of a word."""
    last = len(symbol.labels) - 1
    return tuple(
        (label, symbol.preterminal and place == last) for place, label in enumerate(symbol.labels)
    )


def _grammar_from_bytes(data: bytes) -> Grammar:
    from lpcfg.grammar._file import GRAMMAR_FORMAT

    return GRAMMAR_FORMAT.from_bytes(data)
