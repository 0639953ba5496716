"""Parameters over latent states, which turn the backbone PCFG of a grammar into an L-PCFG."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg._columns import offsets
from lpcfg.errors import GrammarError, InputError

#: How far a sum of probabilities in single precision may exceed one.
_ROUNDING = 1e-3

__all__ = ["Kind", "LatentStates", "StoredTensors", "refuse_unary_rules", "store_tensors"]

Kind = Literal["linear", "probabilistic"]


@dataclass(frozen=True, eq=False)
class LatentStates:
    """The parameters pi, t and q of an L-PCFG, as flat arrays.

    They are defined as in Cohen & Collins (2014, section 3.1), except that symbols may have
    different numbers of states. The probability of a tree is pi . f(root). The inside vector of a
    preterminal is f(a -> x) = q(a -> x), and the inside vector of an interminal is
    f(a -> b c)[i] = sum over j, k of t(a -> b c)[i, j, k] f(b)[j] f(c)[k] (Peng 2021, section 7.4).
    A unary rule a -> b has a matrix t(a -> b), and f(a -> b)[i] = sum over j of
    t(a -> b)[i, j] f(b)[j].

    ``kind``: the parameters of a ``"probabilistic"`` grammar are probabilities. The parameters of a
    ``"linear"`` grammar, which the spectral estimator returns, are probabilities up to an unknown
    invertible transform of each symbol's states, and may be negative.
    ``states``: the number of states of each symbol.
    ``roots``: the root vectors pi(a) of all symbols; zero for symbols that are never a root.
    ``binary``: the stored values of the tensors t(a -> b c) of all binary rules of the backbone,
    with axes (parent's, left child's, right child's state).
    ``binary_counts``: the number of stored values of each tensor: all values in C order, or only
    the nonzero values.
    ``binary_positions``: for tensors stored sparsely, the ascending positions of the values in C
    order.
    ``emission_ratios``: vectors of emission likelihood ratios q(a -> x | a, h) / q(a -> x | a),
    whose denominator is in the lexicon. Entries of the lexicon may share a vector.
    ``ratio_symbols``: the preterminal symbol of each of these vectors.
    ``entry_ratios``: the vector of each entry of the lexicon.
    ``tag_emissions``: for each preterminal the sum of q(a -> x) over its words, for sentences of
    tags without words; zero for interminals.
    ``unary``: the matrices t(a -> b) of all unary rules of the backbone, with axes (parent's,
    child's state); empty without unary rules.

    >>> from lpcfg import ClusteringEstimator, Treebank, embedded_trees
    >>> bank = Treebank.from_trees(embedded_trees())
    >>> ClusteringEstimator(states=(4, 4), min_count=5, full_count=50).fit(bank).grammar_.latent
    <LatentStates: probabilistic, 1 to 5 states for each of 103 symbols, ... parameters>
    """

    kind: Kind
    states: NDArray[np.uint32]
    roots: NDArray[np.float32]
    binary: NDArray[np.float32]
    binary_counts: NDArray[np.uint32]
    binary_positions: NDArray[np.uint32]
    emission_ratios: NDArray[np.float32]
    ratio_symbols: NDArray[np.uint32]
    entry_ratios: NDArray[np.uint32]
    tag_emissions: NDArray[np.float32]
    unary: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise GrammarError(f"latent states must be linear or probabilistic, not {self.kind!r}")
        for name in ("roots", "binary", "unary", "emission_ratios", "tag_emissions"):
            values = getattr(self, name)
            # The sum is finite only if all values are, and needs no mask of the size of the array.
            with np.errstate(invalid="ignore"):
                total = values.sum(dtype=np.float64)
            if values.ndim != 1 or not np.isfinite(total):
                raise GrammarError(f"{name} must be a flat array of finite numbers")
            if self.kind == "probabilistic" and values.min(initial=0.0) < 0:
                raise GrammarError(f"{name} of probabilistic latent states must not be negative")
            # Likelihood ratios may be larger than one.
            bounded = self.kind == "probabilistic" and name != "emission_ratios"
            if bounded and values.max(initial=0.0) > 1 + _ROUNDING:
                raise GrammarError(f"{name} of probabilistic latent states must not exceed 1")

        # The core checks all lengths and indices against the grammar.

    def __repr__(self) -> str:
        numbers = f"{self.states.min(initial=1)} to {self.states.max(initial=1)}"
        return (
            f"<LatentStates: {self.kind}, {numbers} states for each of {len(self.states)} symbols, "
            f"{self.size} parameters>"
        )

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays, by the names that they have in model files and in the core.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> list(LatentStates("linear", *[none] * 9).arrays)[:3]
        ['states', 'roots', 'binary']
        """
        names = [part.name for part in fields(self)[1:]]
        return {name: getattr(self, name) for name in names}

    @property
    def size(self) -> int:
        """The number of stored parameters."""
        parts = (self.roots, self.binary, self.unary, self.emission_ratios, self.tag_emissions)
        return sum(map(len, parts))

    @property
    def state_offsets(self) -> NDArray[np.int64]:
        """Where the states of each symbol begin in ``roots`` and ``tag_emissions``.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> LatentStates("linear", np.array([2, 3]), *[none] * 8).state_offsets
        array([0, 2, 5])
        """
        return offsets(self.states)

    @property
    def ratio_offsets(self) -> NDArray[np.int64]:
        """Where each vector of ``emission_ratios`` begins.

        >>> none, symbols = np.zeros(0, dtype=np.float32), np.array([1, 0, 1])
        >>> latent = LatentStates("linear", np.array([2, 3]), *[none] * 5, symbols, none, none)
        >>> latent.ratio_offsets
        array([0, 3, 5, 8])
        """
        return offsets(self.states[self.ratio_symbols])

    def tensor_offsets(self, rules: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the tensor of each binary rule (a row of symbols) begins if all are dense.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> latent = LatentStates("linear", np.array([2, 3]), *[none] * 8)
        >>> latent.tensor_offsets(np.array([[0, 1, 1], [0, 0, 1]]))
        array([ 0, 18, 30])
        """
        return offsets(self.states.astype(np.int64)[rules].prod(axis=1))

    def sparse(self, rules: NDArray[np.integer], density: float = 0.25) -> LatentStates:
        """The same with tensors stored sparsely if at most this fraction of values is nonzero.

        >>> none, values = np.zeros(0, dtype=np.float32), np.array([0, 0, 5, 0], dtype=np.float32)
        >>> latent = LatentStates("linear", np.array([2, 1]), none, values, np.array([4]), none,
        ...                       *[none] * 4)
        >>> latent.sparse(np.array([[0, 0, 1]])).arrays["binary_positions"]
        array([2], dtype=uint32)
        """
        dense, begins = self.dense(rules), self.tensor_offsets(rules)
        positions = np.flatnonzero(dense.binary)
        stored = store_tensors(positions, dense.binary[positions], begins, density)
        return replace(dense, **stored._asdict())

    def dense(self, rules: NDArray[np.integer]) -> LatentStates:
        """The same with all values of all tensors stored: the inverse of :meth:`sparse`.

        >>> none, values = np.zeros(0, dtype=np.float32), np.array([5], dtype=np.float32)
        >>> latent = LatentStates("linear", np.array([2, 1]), none, values, np.array([1]),
        ...                       np.array([2]), *[none] * 4)
        >>> latent.dense(np.array([[0, 0, 1]])).binary
        array([0., 0., 5., 0.], dtype=float32)
        """
        begins = self.tensor_offsets(rules)
        sizes, counts = np.diff(begins), self.binary_counts.astype(np.int64)
        if len(counts) != len(sizes) or np.any(counts > sizes):
            raise GrammarError("the tensors of the latent states do not belong to these rules")
        if np.array_equal(counts, sizes):
            return self
        positions = np.arange(len(self.binary)) - np.repeat(offsets(counts)[:-1], counts)
        positions[np.repeat(counts < sizes, counts)] = self.binary_positions
        values = np.zeros(begins[-1], dtype=np.float32)
        values[np.repeat(begins[:-1], counts) + positions] = self.binary
        return replace(
            self,
            binary=values,
            binary_counts=sizes.astype(np.uint32),
            binary_positions=np.zeros(0, dtype=np.uint32),
        )


class StoredTensors(NamedTuple):
    """The fields of :class:`LatentStates` that concern binary rules."""

    binary: NDArray[np.float32]
    binary_counts: NDArray[np.uint32]
    binary_positions: NDArray[np.uint32]


def store_tensors(
    positions: NDArray[np.int64],
    values: NDArray[np.number],
    begins: NDArray[np.int64],
    density: float = 0.25,
) -> StoredTensors:
    """Tensors from their nonzero values.

    ``positions``: the ascending positions of the values in all tensors, flat and concatenated.
    ``begins``: where each tensor begins there, and where the last one ends.
    ``density``: tensors are stored sparsely if at most this fraction of values is nonzero.

    >>> store_tensors(np.array([2, 4, 5]), np.array([5, 6, 7]), np.array([0, 4, 6]))
    StoredTensors(binary=array([5., 6., 7.], dtype=float32),
                  binary_counts=array([1, 2], dtype=uint32),
                  binary_positions=array([2], dtype=uint32))
    """
    sizes, rule = np.diff(begins), np.searchsorted(begins, positions, side="right") - 1
    counts = np.bincount(rule, minlength=len(sizes))
    sparse = (counts < sizes) & (counts <= density * sizes)
    stored = np.where(sparse, counts, sizes)
    within = positions - begins[rule]
    rank = np.arange(len(positions)) - offsets(counts)[rule]
    starts = offsets(stored)
    binary = np.zeros(starts[-1], dtype=np.float32)
    binary[starts[rule] + np.where(sparse[rule], rank, within)] = values
    return StoredTensors(binary, stored.astype(np.uint32), within[sparse[rule]].astype(np.uint32))


def refuse_unary_rules(rules: NDArray[np.integer], what: str = "latent states") -> None:
    """Raise an :class:`InputError` if there are unary rules, which ``what`` does not support.

    >>> refuse_unary_rules(np.array([[0, 1]]))
    Traceback (most recent call last):
    lpcfg.errors.InputError: transform: latent states cannot be combined with unary rules; let ...
    """
    if len(rules):
        raise InputError(
            f"{what} cannot be combined with unary rules; let Transform collapse unary chains",
            argument="transform",
        )
