"""The E-step and M-step of EM over the latent states of treebank trees (Matsuzaki et al. 2005)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._columns import offsets, sum_weights
from lpcfg._threads import thread_count
from lpcfg.errors import GrammarError
from lpcfg.estimators.em.smoothing import Smoothing, smooth_rules
from lpcfg.estimators.em.state_parameters import StateParameters
from lpcfg.estimators.features.emission_ratios import EmissionLikelihoodRatios
from lpcfg.estimators.features.lexical_rules import LexicalRules
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates, refuse_unary_rules
from lpcfg.treebank.forest import gather_trees
from lpcfg.treebank.treebank import Treebank

__all__ = ["Expectations", "LatentTrees"]

Floats = NDArray[np.float32]

# Smaller probabilities become zero: they change no result, and zeros are skipped.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Expectations:
    """The result of an E-step.

    ``log_probabilities``: of each tree, times its weight.
    ``roots``, ``binary``: expected counts, in the layout of :class:`.StateParameters`.
    ``leaves``: the posterior state probabilities of each preterminal node, as rows.
    """

    log_probabilities: NDArray[np.float64]
    roots: NDArray[np.float64]
    binary: Floats
    leaves: Floats

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the treebank.

        >>> none = np.zeros(0)
        >>> Expectations(np.array([-2.0, -3.0]), none, none, none).log_likelihood
        -5.0
        """
        return float(self.log_probabilities.sum())


class LatentTrees:
    """The trees of a treebank, indexed by the rules of their backbone PCFG, for EM.

    ``smoothing``: see :class:`~lpcfg.estimators.em.smoothing.Smoothing`.
    ``chosen``: the indices of the trees to use; all by default.
    ``n_jobs``: the number of threads of the E-step; -1 for one per core.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> bank = Treebank.from_trees(embedded_trees())
    >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
    >>> parameters = trees.one_state()
    >>> trees.maximise(trees.expect(parameters), parameters.states).states.max()
    np.int64(1)
    """

    def __init__(
        self,
        treebank: Treebank,
        backbone: Grammar,
        smoothing: Smoothing | None = None,
        *,
        chosen: NDArray[np.int64] | None = None,
        n_jobs: int = -1,
    ) -> None:
        refuse_unary_rules(backbone.unary_rules)
        if treebank.symbols != backbone.symbols:
            raise GrammarError(
                "the grammar to start from has other symbols than the treebank; "
                "train it on the same trees with the same transform"
            )
        self.backbone = backbone
        self.smoothing = smoothing or Smoothing()
        lexical_rules = LexicalRules(treebank, backbone.lexicon, self.smoothing.rare)
        rule = _node_rules(treebank, backbone, lexical_rules)
        if chosen is not None:
            nodes, _ = gather_trees(treebank.tree_offsets, chosen)
            leaf = treebank.left < 0
            lexical_rules = lexical_rules.restricted_to((np.cumsum(leaf) - 1)[nodes[leaf[nodes]]])
            treebank, rule = treebank.subset(chosen), rule[nodes]
        self.lexical_rules = lexical_rules
        self._weights = treebank.weights
        inner, size = treebank.left >= 0, len(treebank.symbols)
        leaves, leaf_weights = treebank.symbol[~inner], treebank.node_weights(~inner)
        if leaf_weights is None:
            leaf_weights = np.ones(len(leaves))
        self._leaf_symbols = scipy.sparse.csr_array(
            (leaf_weights, (leaves, np.arange(len(leaves)))),
            shape=(size, len(leaves)),
        )
        self._rule_counts = sum_weights(
            rule[inner], treebank.node_weights(inner), len(backbone.binary_rules)
        )
        self._core = _core.LatentTrees(
            symbol=treebank.symbol,
            left=treebank.left,
            right=treebank.right,
            event=rule,
            tree_offsets=treebank.tree_offsets,
            weights=treebank.weights,
            rules=np.ascontiguousarray(backbone.binary_rules),
            emission_symbols=lexical_rules.symbols.astype(np.uint32),
            symbols=size,
            threads=thread_count(n_jobs),
        )

    def one_state(self) -> StateParameters:
        """The backbone PCFG as an L-PCFG with one state per symbol.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> LatentTrees(bank, PCFGEstimator().fit(bank).grammar_).one_state().state_priors
        array([1.])
        """
        return StateParameters(
            states=np.ones(len(self.backbone.symbols), dtype=np.int64),
            roots=self.backbone.roots.astype(np.float32),
            binary=self.backbone.binary_probabilities.astype(np.float32),
            emission_ratios=np.ones((len(self.lexical_rules.symbols), 1), dtype=np.float32),
            state_priors=np.ones(len(self.backbone.symbols)),
        )

    def parameters_of(self, latent: LatentStates) -> StateParameters:
        """The parameters of a probabilistic grammar with the same backbone, to start EM from.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.parameters_of(trees.grammar(trees.one_state()).latent).emission_ratios
        array([[1.]], dtype=float32)
        """
        if latent.kind != "probabilistic":
            raise GrammarError(
                "EM needs probabilities to start from, and the states of a spectral grammar have "
                "none; start from a grammar by EM, split-merge, clustering or pivot"
            )
        states = latent.states.astype(np.int64)
        symbols, entries = self.lexical_rules.symbols, self.lexical_rules.entries
        ratios = np.zeros((len(symbols), states.max()), dtype=np.float32)
        mask = np.arange(states.max()) < states[symbols][:, None]
        starts, sizes = latent.ratio_offsets[latent.entry_ratios[entries]], states[symbols]
        positions = np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(sizes.sum())
        ratios[mask] = latent.emission_ratios[positions]
        parameters = StateParameters(
            states=states,
            roots=latent.roots,
            binary=latent.dense(self.backbone.binary_rules).binary,
            emission_ratios=ratios,
            state_priors=np.zeros(int(states.sum())),
        )
        # A grammar does not store state priors; they are estimated from the expected counts.
        return replace(
            parameters, state_priors=self._state_priors(self.expect(parameters), states)[1]
        )

    def expect(self, parameters: StateParameters) -> Expectations:
        """The E-step: expected counts under the parameters, by the inside-outside algorithm.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.expect(trees.one_state()).leaves
        array([[1.]], dtype=float32)
        """
        expected = self._core.expect(self._arrays(parameters))
        if self._weights is not None:
            expected["log_probabilities"] *= self._weights
        return Expectations(**expected)

    def posteriors(self, parameters: StateParameters) -> Floats:
        """The posterior state probabilities of all nodes, concatenated.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.posteriors(trees.one_state())
        array([1.], dtype=float32)
        """
        return self._core.posteriors(self._arrays(parameters))

    def maximise(self, expectations: Expectations, states: NDArray[np.int64]) -> StateParameters:
        """The M-step: relative frequencies of the expected counts; emission ratios are smoothed.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.maximise(trees.expect(trees.one_state()), np.array([1])).roots
        array([1.], dtype=float32)
        """
        totals, state_priors = self._state_priors(expectations, states)
        row_states, row_lengths = _tensor_rows(states, self.backbone.binary_rules)
        inverse = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
        binary = expectations.binary * np.repeat(inverse[row_states], row_lengths)
        first = self.lexical_rules.first_observed
        ratios = self._emission_ratios(expectations, states, state_priors)
        return StateParameters(
            states=states,
            roots=(expectations.roots / expectations.roots.sum()).astype(np.float32),
            binary=np.where(binary < _NEGLIGIBLE, 0, binary).astype(np.float32),
            emission_ratios=ratios.smoothed(self.smoothing.words, self.smoothing.classes)[first:],
            state_priors=state_priors,
        )

    def normalised(self, parameters: StateParameters) -> StateParameters:
        """The parameters, scaled to probabilities: those of roots, of rules and of words sum to 1.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> doubled = replace(trees.one_state(), roots=np.full(1, 2, np.float32))
        >>> trees.normalised(doubled).roots
        array([1.], dtype=float32)
        """
        states, rules = parameters.states, self.backbone.binary_rules
        row_states, row_lengths = _tensor_rows(states, rules)
        binary = parameters.binary
        if len(row_states):
            sums = np.add.reduceat(binary, offsets(row_lengths)[:-1], dtype=np.float64)
            totals = np.bincount(row_states, sums, minlength=int(states.sum()))
            # A symbol may have both rules and words, which share the probability as in the PCFG.
            shares = np.bincount(
                rules[:, 0], self.backbone.binary_probabilities, minlength=len(states)
            )
            wanted = np.repeat(shares, states)
            factors = np.divide(wanted, totals, out=np.ones_like(totals), where=totals > 0)
            binary = binary * np.repeat(factors[row_states], row_lengths)
        symbols = self.lexical_rules.symbols
        counts = self.lexical_rules.counts[self.lexical_rules.first_observed :].astype(np.float64)
        ratios = parameters.emission_ratios
        means = np.zeros((len(states), ratios.shape[1]))
        np.add.at(means, symbols, counts[:, None] * ratios)
        means /= np.maximum(np.bincount(symbols, counts, minlength=len(states)), 1)[:, None]
        return replace(
            parameters,
            roots=(parameters.roots / parameters.roots.sum(dtype=np.float64)).astype(np.float32),
            binary=binary.astype(np.float32),
            emission_ratios=(ratios / np.where(means > 0, means, 1)[symbols]).astype(np.float32),
        )

    def merge_losses(self, parameters: StateParameters) -> NDArray[np.float64]:
        """The approximate loss in log-likelihood of merging each state with the next.

        The merging criterion of Petrov et al. (2006). States are split in pairs: only the values of
        states with even indices are used.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.merge_losses(trees.one_state())
        array([0.])
        """
        return self._core.merge_losses(self._arrays(parameters), parameters.state_priors)

    def smoothed(self, parameters: StateParameters) -> StateParameters:
        """The parameters with smoothed rules.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.smoothed(trees.one_state()).binary
        array([], dtype=float32)
        """
        binary = smooth_rules(
            parameters,
            self.backbone.binary_rules,
            self._rule_counts,
            self.backbone.binary_probabilities,
            self.smoothing.rules,
        )
        return replace(parameters, binary=binary)

    def grammar(
        self, parameters: StateParameters, expectations: Expectations | None = None
    ) -> Grammar:
        """The grammar with these parameters, smoothed.

        ``expectations``: expected counts, from which the emission ratios are estimated again,
        because the parameters have no ratios of word classes; by default the expected counts under
        the parameters.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.grammar(trees.one_state()).latent.kind
        'probabilistic'
        """
        states = parameters.states
        expected = self.expect(parameters) if expectations is None else expectations
        ratios = self._emission_ratios(expected, states, parameters.state_priors)
        emissions = ratios.emission_parameters(
            states, self.smoothing.words, self.smoothing.classes, normalise=True
        )
        rules = self.backbone.binary_rules
        latent = LatentStates(
            kind="probabilistic",
            states=states.astype(np.uint32),
            roots=parameters.roots,
            binary=self.smoothed(parameters).binary,
            binary_counts=states[rules].prod(axis=1).astype(np.uint32),
            binary_positions=np.zeros(0, dtype=np.uint32),
            **emissions._asdict(),
        )
        return replace(self.backbone, latent=latent.sparse(rules))

    def _arrays(
        self, parameters: StateParameters
    ) -> tuple[NDArray[np.uint32], Floats, Floats, Floats]:
        symbols, entries = self.lexical_rules.symbols, self.lexical_rules.entries
        probabilities = self.lexical_rules.lexicon.probabilities
        emissions = parameters.emission_ratios * probabilities[entries, None]
        return (
            parameters.states.astype(np.uint32),
            parameters.roots,
            parameters.binary,
            emissions[parameters.mask[symbols]].astype(np.float32),
        )

    def _state_priors(
        self, expectations: Expectations, states: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The expected counts of all symbols' states, and p(state | symbol)."""
        row_states, row_lengths = _tensor_rows(states, self.backbone.binary_rules)
        total = int(states.sum())
        totals = np.zeros(total)
        if len(row_states):
            bounds = offsets(row_lengths)[:-1]
            sums = np.add.reduceat(expectations.binary, bounds, dtype=np.float64)
            totals += np.bincount(row_states, sums, minlength=total)
        mask = np.arange(expectations.leaves.shape[1]) < states[:, None]
        totals += (self._leaf_symbols @ expectations.leaves)[mask]
        starts = offsets(states)[:-1]
        sums = np.repeat(np.add.reduceat(totals, starts), states)
        even = np.repeat(1 / states, states)
        return totals, np.divide(totals, sums, out=even, where=sums > 0)

    def _emission_ratios(
        self,
        expectations: Expectations,
        states: NDArray[np.int64],
        state_priors: NDArray[np.float64],
    ) -> EmissionLikelihoodRatios:
        leaves = expectations.leaves
        mask = np.arange(leaves.shape[1]) < states[:, None]
        inverse = np.zeros(mask.shape, dtype=np.float32)
        inverse[mask] = 1 / np.maximum(state_priors, np.finfo(np.float32).tiny)
        symbols = self._leaf_symbols.tocsc().indices
        vectors = leaves * inverse[symbols]
        return EmissionLikelihoodRatios(self.lexical_rules, vectors, np.ones(leaves.shape[1]))


def _node_rules(
    treebank: Treebank, backbone: Grammar, lexical_rules: LexicalRules
) -> NDArray[np.uint32]:
    """The binary rule of each interminal node, the observed lexical rule of each preterminal."""
    base, symbol, inner = len(backbone.symbols), treebank.symbol, treebank.left >= 0
    columns = (symbol[inner], symbol[treebank.left[inner]], symbol[treebank.right[inner]])
    wanted = np.ravel_multi_index(columns, (base,) * 3)
    keys = np.ravel_multi_index(tuple(backbone.binary_rules.T), (base,) * 3)
    order = np.argsort(keys)
    position = np.searchsorted(keys, wanted, sorter=order)
    if not np.isin(wanted, keys).all():
        raise GrammarError(
            "the grammar to start from lacks rules of the treebank; train it on the same trees"
        )
    rule = np.empty(len(symbol), dtype=np.uint32)
    rule[inner] = order[position]
    rule[~inner] = lexical_rules.node_rules
    return rule


def _tensor_rows(
    states: NDArray[np.int64], rules: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each rule and state of its parent: the state, and the number of values of the tensor."""
    sizes = states[rules]
    first = offsets(states)[:-1][rules[:, 0]]
    parents = sizes[:, 0]
    row_states = np.repeat(first - offsets(parents)[:-1], parents) + np.arange(parents.sum())
    return row_states, np.repeat(sizes[:, 1] * sizes[:, 2], parents)
