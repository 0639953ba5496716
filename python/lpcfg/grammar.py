"""Grammars: one type for every estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg.flat_rules import flatten_rules
from lpcfg.lexicon import Lexicon, lexicon_from_entries
from lpcfg.notation import read_rules
from lpcfg.symbol import Symbol

__all__ = ["Grammar"]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules over numbered symbols with their probabilities, and a lexicon.

    Rows of ``binary_rules`` are parent, left and right child; of ``unary_rules`` parent and child.
    ``coarse`` gives each symbol its class for the first pruning pass, and ``weights`` how often
    the symbol is expected; without them the first pass is left out.

    >>> grammar = Grammar.from_string("S -> NP VP [1] \\n NP -> 'it' [1] \\n VP -> 'rained' [1]")
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
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_string(cls, text: str, start: str | None = None) -> Grammar:
        """Read a hand-written grammar in the notation of nltk.

        >>> grammar = Grammar.from_string("S -> 'a' S 'b' [0.5] | 'a' 'b' [0.5]")
        >>> len(grammar.binary_rules)
        4
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

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that trees of this grammar have, tags included, in order."""
        return tuple(sorted({label for symbol in self.symbols for label in symbol.labels}))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags, in order."""
        return tuple(sorted({s.labels[-1] for s in self.symbols if s.preterminal}))

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """The number of each tag."""
        return {tag: identity for identity, tag in enumerate(self.tags)}

    @cached_property
    def core(self) -> _core.Grammar:
        """The grammar indexed for parsing."""
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
        )
