"""The trees of a treebank, over whose latent states EM takes expectations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.errors import GrammarError, InputError
from lpcfg.estimators.em.state_parameters import StateParameters, offsets, smooth_rules
from lpcfg.estimators.features.emission_ratios import StateProfiles
from lpcfg.estimators.features.word_rows import WordRows
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates, refuse_unary_rules
from lpcfg.treebank.forest import gather_trees
from lpcfg.treebank.treebank import Treebank

__all__ = ["Expectations", "LatentTrees", "Smoothing"]

Floats = NDArray[np.float32]

# Probabilities below this become zero: they matter to nobody, and zeros cost no time.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Smoothing:
    """How far estimates for what is rare lean on those for what is common.

    ``rules``: see :func:`~lpcfg.estimators.em.state_parameters.smooth_rules`; at the end of
    training only.
    ``words``, ``classes``: strengths, in tokens, of the priors of what a word, or a class of
    words, tells about the state; in every step.
    ``rare``: words seen up to so often speak for the classes of unknown words.

    >>> Smoothing.none().words
    0.0
    """

    rules: float = 5.0
    words: float = 2.0
    classes: float = 2.0
    rare: int = 20

    def __post_init__(self) -> None:
        for name in ("rules", "words", "classes", "rare"):
            if not getattr(self, name) >= 0:
                value = getattr(self, name)
                raise InputError(f"smoothing ({name}) must not be negative, but is {value}")

    @classmethod
    def none(cls) -> Smoothing:
        """Relative frequencies as they are: EM then never lowers the likelihood.

        >>> Smoothing.none().rules
        0.0
        """
        return cls(0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Expectations:
    """What is expected of the latent states of trees under some parameters.

    ``log_probabilities``: of each tree.
    ``roots``, ``binary``: expected counts, in the form of the parameters.
    ``leaves``: a row for each preterminal node with the probabilities of its states.

    >>> none = np.zeros(0)
    >>> Expectations(np.array([-2.0, -3.0]), none, none, none).log_likelihood
    -5.0
    """

    log_probabilities: NDArray[np.float64]
    roots: NDArray[np.float64]
    binary: Floats
    leaves: Floats

    @property
    def log_likelihood(self) -> float:
        """The log-probability of all trees.

        >>> none = np.zeros(0)
        >>> Expectations(none, none, none, none).log_likelihood
        0.0
        """
        return float(self.log_probabilities.sum())


class LatentTrees:
    """Trees with the rule or the word of each node looked up in their backbone PCFG.

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
        """Index a treebank, or only the trees whose numbers are ``chosen``."""
        refuse_unary_rules(backbone.unary_rules)
        if treebank.symbols != backbone.symbols:
            raise GrammarError(
                "the grammar to start from has other symbols than the treebank; "
                "train it on the same trees with the same transform"
            )
        self.backbone = backbone
        self.smoothing = smoothing or Smoothing()
        rows = WordRows(treebank, backbone.lexicon, self.smoothing.rare)
        event = _events(treebank, backbone, rows)
        if chosen is not None:
            nodes, _ = gather_trees(treebank.tree_offsets, chosen)
            leaf = treebank.left < 0
            rows = rows.of((np.cumsum(leaf) - 1)[nodes[leaf[nodes]]])
            treebank, event = treebank.subset(chosen), event[nodes]
        self.rows = rows
        inner, size = treebank.left >= 0, len(treebank.symbols)
        leaves = treebank.symbol[~inner]
        self._leaf_symbols = scipy.sparse.csr_array(
            (np.ones(len(leaves)), (leaves, np.arange(len(leaves)))),
            shape=(size, len(leaves)),
        )
        self._rule_counts = np.bincount(event[inner], minlength=len(backbone.binary_rules))
        self._core = _core.LatentTrees(
            symbol=treebank.symbol,
            left=treebank.left,
            right=treebank.right,
            event=event,
            tree_offsets=treebank.tree_offsets,
            rules=np.ascontiguousarray(backbone.binary_rules),
            emission_symbols=rows.own_symbols.astype(np.uint32),
            symbols=size,
            threads=thread_count(n_jobs),
        )

    def one_state(self) -> StateParameters:
        """The backbone itself, as an L-PCFG with one state a symbol.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> LatentTrees(bank, PCFGEstimator().fit(bank).grammar_).one_state().shares
        array([1.])
        """
        return StateParameters(
            states=np.ones(len(self.backbone.symbols), dtype=np.int64),
            roots=self.backbone.roots.astype(np.float32),
            binary=self.backbone.binary_probabilities.astype(np.float32),
            words=np.ones((len(self.rows.own_symbols), 1), dtype=np.float32),
            shares=np.ones(len(self.backbone.symbols)),
        )

    def parameters_of(self, latent: LatentStates) -> StateParameters:
        """The parameters of a probabilistic grammar with the same backbone, to go on from.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.parameters_of(trees.grammar(trees.one_state()).latent).words
        array([[1.]], dtype=float32)
        """
        if latent.kind != "probabilistic":
            raise GrammarError(
                "EM starts from probabilities, and the states of a spectral grammar have none; "
                "start from a grammar by EM, split-merge, clustering or pivot"
            )
        states = latent.states.astype(np.int64)
        words = np.zeros((len(self.rows.own_symbols), states.max()), dtype=np.float32)
        mask = np.arange(states.max()) < states[self.rows.own_symbols][:, None]
        profile = latent.entry_profiles[self.rows.own_entries]
        starts, sizes = latent.profile_offsets[profile], states[self.rows.own_symbols]
        places = np.repeat(starts - offsets(sizes)[:-1], sizes) + np.arange(sizes.sum())
        words[mask] = latent.profiles[places]
        parameters = StateParameters(
            states=states,
            roots=latent.roots,
            binary=latent.dense(self.backbone.binary_rules).binary,
            words=words,
            shares=np.zeros(int(states.sum())),
        )
        # Shares of states are not stored: they are what the trees make them.
        return replace(parameters, shares=self._shares(self.expect(parameters), states)[1])

    def expect(self, parameters: StateParameters) -> Expectations:
        """The E-step.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.expect(trees.one_state()).leaves
        array([[1.]], dtype=float32)
        """
        return Expectations(**self._core.expect(self._arrays(parameters)))

    def posteriors(self, parameters: StateParameters) -> Floats:
        """The probabilities of all nodes' states, one node after the other.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.posteriors(trees.one_state())
        array([1.], dtype=float32)
        """
        return self._core.posteriors(self._arrays(parameters))

    def maximise(self, expectations: Expectations, states: NDArray[np.int64]) -> StateParameters:
        """The M-step: relative frequencies of what was expected; words are smoothed.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.maximise(trees.expect(trees.one_state()), np.array([1])).roots
        array([1.], dtype=float32)
        """
        totals, shares = self._shares(expectations, states)
        row_states, row_lengths = _tensor_rows(states, self.backbone.binary_rules)
        inverse = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
        binary = expectations.binary * np.repeat(inverse[row_states], row_lengths)
        first = self.rows.first_own
        profiles = self._profiles(expectations, states, shares)
        return StateParameters(
            states=states,
            roots=(expectations.roots / expectations.roots.sum()).astype(np.float32),
            binary=np.where(binary < _NEGLIGIBLE, 0, binary).astype(np.float32),
            words=profiles.smoothed(self.smoothing.words, self.smoothing.classes)[first:],
            shares=shares,
        )

    def merge_losses(self, parameters: StateParameters) -> NDArray[np.float64]:
        """About how much log-likelihood merging each state with the next would cost.

        Only states at even places have a partner to be merged with.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.merge_losses(trees.one_state())
        array([0.])
        """
        return self._core.merge_losses(self._arrays(parameters), parameters.shares)

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
        """The grammar that the parameters amount to, smoothed.

        Words lean on their classes, which parameters do not have: they are counted by what is
        expected, under the parameters if it is not given.

        >>> from lpcfg import PCFGEstimator, Tree
        >>> bank = Treebank.from_trees([Tree("NN", "rain")])
        >>> trees = LatentTrees(bank, PCFGEstimator().fit(bank).grammar_)
        >>> trees.grammar(trees.one_state()).latent.kind
        'probabilistic'
        """
        states = parameters.states
        expected = self.expect(parameters) if expectations is None else expectations
        profiles = self._profiles(expected, states, parameters.shares)
        emissions = profiles.emission_vectors(
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
        symbols, entries = self.rows.own_symbols, self.rows.own_entries
        words = parameters.words * self.rows.lexicon.probabilities[entries, None]
        return (
            parameters.states.astype(np.uint32),
            parameters.roots,
            parameters.binary,
            words[parameters.mask[symbols]].astype(np.float32),
        )

    def _shares(
        self, expectations: Expectations, states: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often each symbol's states are expected, and their shares of the symbol."""
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

    def _profiles(
        self,
        expectations: Expectations,
        states: NDArray[np.int64],
        shares: NDArray[np.float64],
    ) -> StateProfiles:
        leaves = expectations.leaves
        mask = np.arange(leaves.shape[1]) < states[:, None]
        inverse = np.zeros(mask.shape, dtype=np.float32)
        inverse[mask] = 1 / np.maximum(shares, np.finfo(np.float32).tiny)
        symbols = self._leaf_symbols.tocsc().indices
        return StateProfiles(self.rows, leaves * inverse[symbols], np.ones(leaves.shape[1]))


def _events(treebank: Treebank, backbone: Grammar, rows: WordRows) -> NDArray[np.uint32]:
    """The rule of each inner node, the own row of each preterminal."""
    base, symbol, inner = len(backbone.symbols), treebank.symbol, treebank.left >= 0
    columns = (symbol[inner], symbol[treebank.left[inner]], symbol[treebank.right[inner]])
    wanted = np.ravel_multi_index(columns, (base,) * 3)
    keys = np.ravel_multi_index(tuple(backbone.binary_rules.T), (base,) * 3)
    order = np.argsort(keys)
    place = np.searchsorted(keys, wanted, sorter=order)
    if not np.isin(wanted, keys).all():
        raise GrammarError(
            "the grammar to start from lacks rules of the treebank; train it on the same trees"
        )
    event = np.empty(len(symbol), dtype=np.uint32)
    event[inner] = order[place]
    event[~inner] = rows.own
    return event


def _tensor_rows(
    states: NDArray[np.int64], rules: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each rule and state of its parent, one after the other: that state, and the values."""
    sizes = states[rules]
    first = offsets(states)[:-1][rules[:, 0]]
    parents = sizes[:, 0]
    row_states = np.repeat(first - offsets(parents)[:-1], parents) + np.arange(parents.sum())
    return row_states, np.repeat(sizes[:, 1] * sizes[:, 2], parents)
