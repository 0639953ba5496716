"""PCFGs by relative frequency."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import sum_weights
from lpcfg.errors import TreebankError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import LEXICON
from lpcfg.estimators.span_filter import train_span_filter
from lpcfg.grammar.coarse import coarse_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.lexicon.estimation import estimate_lexicon
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.treebank.treebank import Treebank

__all__ = ["PCFGEstimator", "count_rules"]


def count_rules(
    treebank: Treebank,
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint32], NDArray[np.float64]]:
    """The binary and unary rules of a treebank, sorted, each with the weight of its uses.

    >>> from lpcfg import Tree
    >>> tree = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> binary, counts, unary, _ = count_rules(Treebank.from_trees([tree]))
    >>> binary.shape, counts.tolist(), unary.shape
    ((1, 3), [1.0], (0, 2))
    """
    symbol = treebank.symbol.astype(np.int64)
    base = len(treebank.symbols)
    is_binary = treebank.right >= 0
    is_unary = (treebank.left >= 0) & ~is_binary
    left, right = treebank.left[is_binary], treebank.right[is_binary]
    keys, rule = np.unique(
        (symbol[is_binary] * base + symbol[left]) * base + symbol[right], return_inverse=True
    )
    binary_counts = sum_weights(rule, treebank.node_weights(is_binary))
    binary = np.stack([keys // (base * base), keys // base % base, keys % base], axis=1)
    keys, rule = np.unique(
        symbol[is_unary] * base + symbol[treebank.left[is_unary]], return_inverse=True
    )
    unary_counts = sum_weights(rule, treebank.node_weights(is_unary))
    unary = np.stack([keys // base, keys % base], axis=1)
    return binary.astype(np.uint32), binary_counts, unary.astype(np.uint32), unary_counts


@dataclass(repr=False, kw_only=True)
class PCFGEstimator(Estimator):
    """PCFG estimation by relative frequency.

    The PCFG is the backbone of the grammars of all other estimators, and prunes their charts.

    >>> from lpcfg import Tree
    >>> tree = Tree.from_string("(S (NP (PRP it)) (VP (VBD rained)))")
    >>> PCFGEstimator().fit([tree]).grammar_.binary_probabilities
    array([1.])
    """

    name = "pcfg"
    description = "a PCFG: relative frequencies of rules, no latent states"

    lexicon: LexiconOptions = field(default_factory=LexiconOptions, metadata=LEXICON)

    def estimate(self, treebank: Treebank) -> Grammar:
        """Count rules, and divide by the counts of their parents.

        >>> from lpcfg import embedded_trees
        >>> treebank = Treebank.from_trees(embedded_trees())
        >>> PCFGEstimator().estimate(treebank).tags[:3]
        (',', '.', 'CC')
        """
        if len(treebank) == 0:
            raise TreebankError("the treebank has no trees to learn from")
        size, root = len(treebank.symbols), treebank.parent < 0
        count = sum_weights(treebank.symbol, treebank.node_weights(), size)
        binary, binary_counts, unary, unary_counts = count_rules(treebank)
        roots = sum_weights(treebank.symbol[root], treebank.node_weights(root), size)
        grammar = Grammar(
            symbols=treebank.symbols,
            roots=roots / roots.sum(),
            binary_rules=binary,
            binary_probabilities=binary_counts / count[binary[:, 0]],
            unary_rules=unary,
            unary_probabilities=unary_counts / count[unary[:, 0]],
            lexicon=estimate_lexicon(treebank, self.lexicon, weights=treebank.node_weights()),
            weights=count,
            coarse=coarse_classes(treebank.symbols, count),
            provenance=self.provenance(treebank),
        )
        return replace(grammar, span_filter=train_span_filter(treebank, grammar))
