"""Grammars: one type for every estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.errors import GrammarError
from lpcfg.grammar._flat_rules import flatten_rules
from lpcfg.grammar.crf_weights import CRFWeights
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.grammar.notation import read_rules
from lpcfg.lexicon.lexicon import Lexicon, lexicon_from_entries
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.symbol import Symbol
from lpcfg.treebank.transform import Transform

__all__ = ["Grammar"]


@dataclass(frozen=True, eq=False)
class Grammar:
    r"""Rules over numbered symbols with their probabilities, and a lexicon.

    Rows of ``binary_rules`` are parent, left and right child; of ``unary_rules`` parent and child.
    ``coarse`` gives each symbol its class for the first pruning pass, and ``weights`` how often the
    symbol is expected; without them the first pass is left out. ``latent`` has the parameters over
    latent states of an L-PCFG, whose pruning backbone the rules then are; ``crf_weights`` those of
    a model that weighs the trees of the rules by features of their words.

    >>> grammar = Grammar.from_string("S -> NP VP [1] \n NP -> 'it' [1] \n VP -> 'rained' [1]")
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
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.crf_weights is not None and (self.latent is not None or len(self.unary_rules)):
            raise GrammarError(
                "features weigh trees only under a grammar without latent states and unary rules"
            )

    @classmethod
    def from_string(cls, text: str, start: str | None = None) -> Grammar:
        """Read a hand-written grammar in the notation of nltk.

        >>> grammar = Grammar.from_string("S -> 'a' S 'b' [0.5] | 'a' 'b' [0.5]")
        >>> len(grammar.binary_rules)
        3
        """
        rules = flatten_rules(read_rules(text, start))
        return cls(
            symbols=rules.symbols,
            roots=rules.root,
            binary_rules=rules.binary_rules.astype(np.uint32),
            binary_probabilities=rules.binary_probabilities,
            unary_rules=rules.unary_rules.astype(np.uint32),
            unary_probabilities=rules.unary_probabilities,
            lexicon=lexicon_from_entries(rules.lexical_rules),
            provenance={"estimator": "hand-written"},
        )

    @property
    def cleaning(self) -> Cleaning:
        """How the trees that the grammar was learnt from were cleaned, and gold ones should be.

        >>> Grammar.from_string("S -> 'a'").cleaning.root_label
        'ROOT'
        """
        return Cleaning.from_dict(self.provenance.get("cleaning", {}))

    @property
    def transform(self) -> Transform:
        """How the trees that the grammar was learnt from were made binary.

        >>> Grammar.from_string("S -> 'a'").transform.vertical
        1
        """
        return Transform.from_dict(self.provenance.get("transform", {}))

    def __str__(self) -> str:
        beside = "" if self.latent is None else f", {self.latent.size} latent parameters"
        if self.crf_weights is not None:
            beside += f", {np.count_nonzero(self.crf_weights.weights)} weights of features"
        if (learnt_from := self.provenance.get("learnt_from")) is not None:
            beside += f" learnt from {learnt_from} of {self.provenance.get('trees')} trees"
        return (
            f"{self.provenance.get('estimator', 'unknown')} grammar: {len(self.symbols)} symbols, "
            f"{len(self.binary_rules)} binary and {len(self.unary_rules)} unary rules, "
            f"{len(self.lexicon.words)} words and {len(self.lexicon.classes)} classes of others"
            f"{beside}"
        )

    def summary(self, most: int = 10) -> str:
        r"""What the grammar is and where it comes from, with its likeliest rules, for people.

        >>> rules = "S -> NP VP [0.9] | VP NP [0.1] \n NP -> 'it' \n VP -> 'rained'"
        >>> print(Grammar.from_string(rules).summary())
        hand-written grammar: 3 symbols, 2 binary and 0 unary rules, 2 words and 1 classes of others
        estimator: hand-written
        roots: S 1.0000
        commonest rules:
          0.9000  S -> NP VP
          0.1000  S -> VP NP
        """
        names = [str(symbol) for symbol in self.symbols]
        roots = [(p, names[a]) for a, p in enumerate(self.roots.tolist()) if p > 0]
        roots = sorted(roots, key=lambda root: -root[0])[:most]
        weights = np.ones(len(names)) if self.weights is None else self.weights
        uses = weights[self.binary_rules[:, 0]] * self.binary_probabilities
        lines = [str(self), *self._origin()]
        lines.append("roots: " + ", ".join(f"{name} {p:.4f}" for p, name in roots))
        lines.append("commonest rules:")
        for row in np.argsort(-uses, kind="stable")[:most].tolist():
            parent, left, right = (names[symbol] for symbol in self.binary_rules[row].tolist())
            lines.append(f"  {self.binary_probabilities[row]:.4f}  {parent} -> {left} {right}")
        return "\n".join(lines)

    def _origin(self) -> Iterator[str]:
        for key, value in self.provenance.items():
            if isinstance(value, Mapping):
                value = ", ".join(f"{name} {setting}" for name, setting in value.items())
            yield f"{key}: {value}"

    @cached_property
    def labels(self) -> tuple[str, ...]:
        r"""The labels that trees of this grammar have, tags included, in order.

        >>> Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'").labels
        ('NP', 'S', 'VP')
        """
        return tuple(sorted({label for symbol in self.symbols for label in symbol.labels}))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        r"""The part-of-speech tags, in order.

        >>> Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'").tags
        ('NP', 'VP')
        """
        return tuple(sorted({s.labels[-1] for s in self.symbols if s.preterminal}))

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        r"""The number of each tag.

        >>> Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'").tag_ids
        {'NP': 0, 'VP': 1}
        """
        return {tag: identity for identity, tag in enumerate(self.tags)}

    @cached_property
    def core(self) -> _core.Grammar:
        """The grammar indexed for parsing, after every index and probability has been checked.

        >>> Grammar.from_string("S -> 'go'").core
        <lpcfg._core.Grammar object at ...>
        """
        for symbol, root in zip(self.symbols, self.roots.tolist(), strict=False):
            if symbol.is_binarization and (root > 0 or symbol.preterminal):
                raise GrammarError(
                    f"symbol {symbol} is made by binarisation and writes no label: "
                    "it can be neither a root nor a preterminal"
                )
        label_ids = {label: identity for identity, label in enumerate(self.labels)}
        written = [() if s.siblings is not None else s.labels for s in self.symbols]
        return _core.Grammar(
            roots=self.roots,
            binary_rules=self.binary_rules,
            binary_probabilities=self.binary_probabilities,
            unary_rules=self.unary_rules,
            unary_probabilities=self.unary_probabilities,
            emission_offsets=self.lexicon.offsets,
            emission_symbols=self.lexicon.symbols.astype(np.uint32),
            emission_probabilities=self.lexicon.probabilities,
            tag_of_symbol=np.array(
                [self.tag_ids[s.labels[-1]] if s.preterminal else -1 for s in self.symbols],
                dtype=np.int32,
            ),
            output_offsets=np.cumsum([0, *map(len, written)], dtype=np.uint32),
            output_labels=np.array(
                [label_ids[label] for labels in written for label in labels], dtype=np.uint32
            ),
            coarse=self.coarse,
            weights=self.weights if self.coarse is not None else None,
            latent=None if self.latent is None else self.latent.arrays,
        )

    @cached_property
    def crf_core(self) -> _core.CRFModel | None:
        """The weights of features ready for parsing, if there are any, after a check.

        >>> Grammar.from_string("S -> 'go'").crf_core
        """
        return None if self.crf_weights is None else self.crf_weights.core(self.symbols)
