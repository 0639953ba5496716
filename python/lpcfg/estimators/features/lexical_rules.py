"""The lexical rules of a treebank, and the rules of word classes to which they back off."""

from __future__ import annotations

from copy import copy

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import IntegerColumn, distinct_rows, sum_weights
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_table import initial_words
from lpcfg.treebank.treebank import Treebank

__all__ = ["LexicalRules", "node_emissions"]

Floats = NDArray[np.float32]


class LexicalRules:
    """Lexical rules a -> x that occur in a treebank, with the class rules they back off to.

    Emissions x are words or word classes, as in :class:`~lpcfg.lexicon.lexicon.Lexicon`. Rules are
    numbered in three blocks: rule 0 stands for all rules that did not occur, then follow class
    rules (a preterminal and the class of a rare word that it emitted), and from
    :attr:`first_observed` on the rules of the preterminal nodes. Most entries of a lexicon are due
    to smoothing and never occurred, so there are fewer rules than entries.

    ``rare``: words that occur at most this often are counted for their classes as well.

    >>> from lpcfg import Tree
    >>> from lpcfg.lexicon.estimation import estimate_lexicon
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> rules = LexicalRules(bank, estimate_lexicon(bank), rare=1)
    >>> rules.counts  # nothing, NN -> the class of both words, NN -> rain, NN -> sun
    array([0., 2., 1., 1.], dtype=float32)
    >>> rules.node_rules
    array([0, 1])
    """

    def __init__(self, treebank: Treebank, lexicon: Lexicon, rare: int) -> None:
        self.lexicon = lexicon
        nodes = np.flatnonzero(treebank.word >= 0)
        emission, word_class = node_emissions(treebank, lexicon, nodes)
        weights = treebank.node_weights(nodes)
        frequency = sum_weights(treebank.word[nodes], weights)[treebank.word[nodes]]
        # Where no word is rare, all words are counted for their classes.
        counts_for_class = frequency <= rare if np.any(frequency <= rare) else frequency > 0
        counts_for_class &= emission != word_class

        base, symbol = len(treebank.symbols), treebank.symbol[nodes].astype(np.int64)
        class_keys, class_rule = np.unique(
            (word_class * base + symbol)[counts_for_class], return_inverse=True
        )
        #: The rule of each preterminal node, counted from :attr:`first_observed`.
        self.node_rules: NDArray[np.int64]
        observed_keys, self.node_rules = np.unique(emission * base + symbol, return_inverse=True)
        #: The preterminal symbol of each observed rule.
        self.symbols = observed_keys % base
        self.first_observed = 1 + len(class_keys)
        rule = np.concatenate([1 + class_rule, self.first_observed + self.node_rules])
        member = np.concatenate([np.flatnonzero(counts_for_class), np.arange(len(nodes))])
        self._occurrences = scipy.sparse.csr_array(
            (np.ones(len(rule)) if weights is None else weights[member], (rule, member)),
            shape=(self.first_observed + len(observed_keys), len(nodes)),
        )
        #: The weight of the nodes at which each rule occurs.
        self.counts: Floats = self._occurrences.sum(axis=1).astype(np.float32)

        class_of = np.arange(len(lexicon.offsets) - 1)
        class_of[emission] = word_class
        #: The rule to which each observed rule backs off.
        self.backoff = 1 + _find(
            class_keys, class_of[observed_keys // base] * base + observed_keys % base
        )
        emissions = np.repeat(np.arange(len(class_of)), np.diff(lexicon.offsets))
        observed = _find(observed_keys, emissions * base + lexicon.symbols)
        backoff = 1 + _find(class_keys, class_of[emissions] * base + lexicon.symbols)
        rule = np.where(observed >= 0, self.first_observed + observed, backoff)
        #: The lexicon's entry for each observed rule.
        self.entries = np.empty(len(observed_keys), dtype=np.int64)
        self.entries[observed[observed >= 0]] = np.flatnonzero(observed >= 0)

        # Emission ratios are stored once for each rule that an entry uses. Rule 0 belongs to all
        # symbols, so it is stored once for each symbol.
        rules = len(self.counts)
        stored = np.where(rule > 0, rule, rules + lexicon.symbols)
        used = np.zeros(rules + base, dtype=bool)
        used[stored] = True
        symbol_of = np.empty(rules + base, dtype=np.int64)
        symbol_of[stored] = lexicon.symbols
        #: The stored ratio vector of each entry of the lexicon.
        self.entry_ratios = (np.cumsum(used) - 1)[stored]
        #: The symbol and the rule of each stored ratio vector.
        self.ratio_symbols = symbol_of[used]
        self.ratio_rules = np.append(np.arange(rules), np.zeros(base, dtype=np.int64))[used]

    def sums(self, vectors: Floats) -> Floats:
        """For each rule the weighted sum of the vectors of its nodes, one per preterminal node.

        >>> from lpcfg import Tree
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> rules = LexicalRules(bank, estimate_lexicon(bank), rare=1)
        >>> rules.sums(np.array([[1], [3]], dtype=np.float32)).ravel()
        array([0., 4., 1., 3.], dtype=float32)
        """
        # Summed in double precision: a class rule may occur at thousands of nodes.
        sums: Floats = (self._occurrences @ vectors).astype(np.float32)
        return sums

    def restricted_to(self, nodes: NDArray[np.int64]) -> LexicalRules:
        """The same rules, counted at some of the preterminal nodes only.

        >>> from lpcfg import Tree
        >>> from lpcfg.lexicon.estimation import estimate_lexicon
        >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
        >>> rules = LexicalRules(bank, estimate_lexicon(bank), rare=1)
        >>> rules.restricted_to(np.array([0])).counts
        array([0., 1., 1., 0.], dtype=float32)
        """
        rules = copy(self)
        rules.node_rules = self.node_rules[nodes]
        rules._occurrences = self._occurrences[:, nodes]
        rules.counts = rules._occurrences.sum(axis=1).astype(np.float32)
        return rules


def node_emissions(
    treebank: Treebank, lexicon: Lexicon, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The emissions of the words of preterminal nodes, and the emissions of their classes.

    >>> from lpcfg import Tree
    >>> from lpcfg.lexicon.lexicon import lexicon_from_entries
    >>> bank = Treebank.from_trees([Tree("NN", "rain"), Tree("NN", "sun")])
    >>> node_emissions(bank, lexicon_from_entries([(0, "rain", 1.0)]), np.arange(2))
    (array([0, 1]), array([1, 1]))
    """
    word = treebank.word[nodes]
    columns: list[IntegerColumn] = [
        word,
        initial_words(treebank.words, word, treebank.start[nodes]),
    ]
    tags = [symbol.labels[-1] for symbol in treebank.symbols]
    names = sorted(set(tags))
    if lexicon.classifier.determines_tag:
        columns.append(np.array([names.index(tag) for tag in tags])[treebank.symbol[nodes]])
    (words, initial, *tag), rows, _ = distinct_rows(*columns)
    emission, word_class = lexicon.emissions(
        [treebank.words[identity] for identity in words.tolist()],
        initial.astype(bool),
        [names[identity] for identity in tag[0].tolist()] if tag else None,
    )
    return emission.astype(np.int64)[rows], word_class.astype(np.int64)[rows]


def _find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of each wanted key among the sorted keys, -1 if absent; no key is negative."""
    index = np.searchsorted(keys, wanted)
    return np.where(np.append(keys, -1)[index] == wanted, index, -1)
