"""Parameters over latent states, beside the backbone PCFG of a grammar."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import GrammarError, InputError

__all__ = ["Kind", "LatentStates", "StoredTensors", "refuse_unary_rules", "store_tensors"]

Kind = Literal["linear", "probabilistic"]


@dataclass(frozen=True, eq=False)
class LatentStates:
    """Parameters over latent states, each buffer holding those of all rules one after the other.

    ``kind``: ``"probabilistic"`` parameters are non-negative; ``"linear"`` ones are right only up
    to an invertible transform of each symbol's states and may be negative.
    ``states``: how many states each symbol has.
    ``roots``: the root vectors of all symbols; zero for symbols that are never a root.
    ``binary``: the stored values of the tensor (parent, left, right state) of each binary rule.
    ``binary_counts``: how many values are stored of each rule: all, in C order, or fewer.
    ``binary_positions``: of the rules with fewer, the ascending places of these in C order.
    ``profiles``: what words tell about the state of their preterminals, vectors that share words
    and classes of words.
    ``profile_symbols``: the symbol that each profile belongs to.
    ``entry_profiles``: the profile of each entry of the lexicon.
    ``tag_emissions``: for each preterminal the vector of its tag alone, the sum over its words;
    zero for other symbols.

    The probability of a tree is root . f(tree), where f of a preterminal is the probability of its
    word in the lexicon times the profile, and f(a -> b c)[i] = sum over j, k of
    T[i, j, k] f(b)[j] f(c)[k]. There are no unary rules.

    >>> one, zero = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.uint32)
    >>> latent = LatentStates(
    ...     "linear", zero + 1, one, one, zero + 1, zero[:0], one, zero, zero, one
    ... )
    >>> latent.size
    4
    """

    kind: Kind
    states: NDArray[np.uint32]
    roots: NDArray[np.float32]
    binary: NDArray[np.float32]
    binary_counts: NDArray[np.uint32]
    binary_positions: NDArray[np.uint32]
    profiles: NDArray[np.float32]
    profile_symbols: NDArray[np.uint32]
    entry_profiles: NDArray[np.uint32]
    tag_emissions: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Check the numbers; the core checks all lengths and indices against the grammar."""
        if self.kind not in get_args(Kind):
            raise GrammarError(f"latent states must be linear or probabilistic, not {self.kind!r}")
        for name in ("roots", "binary", "profiles", "tag_emissions"):
            values = getattr(self, name)
            # A sum shows a value that is not finite without a mask of the size of the buffer.
            if values.ndim != 1 or not np.isfinite(values.sum(dtype=np.float64)):
                raise GrammarError(f"{name} must be a flat array of finite numbers")
            if self.kind == "probabilistic" and values.min(initial=0.0) < 0:
                raise GrammarError(f"{name} of probabilistic latent states must not be negative")

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> len(LatentStates("linear", *[none] * 9).arrays)
        9
        """
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}

    @property
    def size(self) -> int:
        """How many parameters there are.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> LatentStates("linear", *[none] * 9).size
        0
        """
        return sum(map(len, (self.roots, self.binary, self.profiles, self.tag_emissions)))

    @property
    def state_offsets(self) -> NDArray[np.int64]:
        """Where the states of each symbol begin in ``roots`` and ``tag_emissions``.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> LatentStates("linear", np.array([2, 3]), *[none] * 8).state_offsets
        array([0, 2, 5])
        """
        return _offsets(self.states)

    @property
    def profile_offsets(self) -> NDArray[np.int64]:
        """Where each profile begins.

        >>> none, symbols = np.zeros(0, dtype=np.float32), np.array([1, 0, 1])
        >>> latent = LatentStates("linear", np.array([2, 3]), *[none] * 5, symbols, none, none)
        >>> latent.profile_offsets
        array([0, 3, 5, 8])
        """
        return _offsets(self.states[self.profile_symbols])

    def tensor_offsets(self, rules: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the tensors of binary rules, rows of symbols, begin if all are dense.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> latent = LatentStates("linear", np.array([2, 3]), *[none] * 8)
        >>> latent.tensor_offsets(np.array([[0, 1, 1], [0, 0, 1]]))
        array([ 0, 18, 30])
        """
        return _offsets(self.states.astype(np.int64)[rules].prod(axis=1))

    def sparse(self, rules: NDArray[np.integer], density: float = 0.25) -> LatentStates:
        """The same with only the non-zero values of tensors that have at most this share of them.

        >>> none, values = np.zeros(0, dtype=np.float32), np.array([0, 0, 5, 0], dtype=np.float32)
        >>> latent = LatentStates("linear", np.array([2, 1]), none, values, np.array([4]), none,
        ...                       *[none] * 4)
        >>> latent.sparse(np.array([[0, 0, 1]])).arrays["binary_positions"]
        array([2], dtype=uint32)
        """
        dense, offsets = self.dense(rules), self.tensor_offsets(rules)
        places = np.flatnonzero(dense.binary)
        stored = store_tensors(places, dense.binary[places], offsets, density)
        return replace(dense, **stored._asdict())

    def dense(self, rules: NDArray[np.integer]) -> LatentStates:
        """The same with all values of all tensors: the inverse of :meth:`sparse`.

        >>> none, values = np.zeros(0, dtype=np.float32), np.array([5], dtype=np.float32)
        >>> latent = LatentStates("linear", np.array([2, 1]), none, values, np.array([1]),
        ...                       np.array([2]), *[none] * 4)
        >>> latent.dense(np.array([[0, 0, 1]])).binary
        array([0., 0., 5., 0.], dtype=float32)
        """
        offsets = self.tensor_offsets(rules)
        sizes, counts = np.diff(offsets), self.binary_counts.astype(np.int64)
        if len(counts) != len(sizes) or np.any(counts > sizes):
            raise GrammarError("the tensors of the latent states are not those of these rules")
        if np.array_equal(counts, sizes):
            return self
        places = np.arange(len(self.binary)) - np.repeat(_offsets(counts)[:-1], counts)
        places[np.repeat(counts < sizes, counts)] = self.binary_positions
        values = np.zeros(offsets[-1], dtype=np.float32)
        values[np.repeat(offsets[:-1], counts) + places] = self.binary
        return replace(
            self,
            binary=values,
            binary_counts=sizes.astype(np.uint32),
            binary_positions=np.zeros(0, dtype=np.uint32),
        )


class StoredTensors(NamedTuple):
    """The fields of :class:`LatentStates` that are about binary rules.

    >>> none = np.zeros(0, dtype=np.float32)
    >>> list(StoredTensors(none, none, none)._asdict())
    ['binary', 'binary_counts', 'binary_positions']
    """

    binary: NDArray[np.float32]
    binary_counts: NDArray[np.uint32]
    binary_positions: NDArray[np.uint32]


def store_tensors(
    places: NDArray[np.int64],
    values: NDArray[np.number],
    offsets: NDArray[np.int64],
    density: float = 0.25,
) -> StoredTensors:
    """Tensors from the ascending places of their non-zero values, if all lay one after the other.

    ``offsets``: where the tensors begin, and where the last one ends.
    ``density``: tensors with at most this share of non-zero values are kept sparse.

    >>> store_tensors(np.array([2, 4, 5]), np.array([5, 6, 7]), np.array([0, 4, 6]))
    StoredTensors(binary=array([5., 6., 7.], dtype=float32),
                  binary_counts=array([1, 2], dtype=uint32),
                  binary_positions=array([2], dtype=uint32))
    """
    sizes, rule = np.diff(offsets), np.searchsorted(offsets, places, side="right") - 1
    counts = np.bincount(rule, minlength=len(sizes))
    thin = (counts < sizes) & (counts <= density * sizes)
    stored = np.where(thin, counts, sizes)
    within = places - offsets[rule]
    rank = np.arange(len(places)) - _offsets(counts)[rule]
    starts = _offsets(stored)
    binary = np.zeros(starts[-1], dtype=np.float32)
    binary[starts[rule] + np.where(thin[rule], rank, within)] = values
    return StoredTensors(binary, stored.astype(np.uint32), within[thin[rule]].astype(np.uint32))


def refuse_unary_rules(rules: NDArray[np.integer], what: str = "latent states") -> None:
    """Raise an :class:`InputError` if a backbone for latent states, or others, has unary rules.

    >>> refuse_unary_rules(np.array([[0, 1]]))
    Traceback (most recent call last):
    lpcfg.errors.InputError: latent states do not go with unary rules; let Transform collapse \
unary chains
    """
    if len(rules):
        raise InputError(f"{what} do not go with unary rules; let Transform collapse unary chains")


def _offsets(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
