"""Parameters over latent states, beside the backbone PCFG of a grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import GrammarError

__all__ = ["Kind", "LatentStates"]

Kind = Literal["linear", "probabilistic"]


@dataclass(frozen=True, eq=False)
class LatentStates:
    """Parameters over latent states, each buffer holding those of all rules one after the other.

    ``kind``: ``"probabilistic"`` parameters are non-negative; ``"linear"`` ones are right only up
    to an invertible transform of each symbol's states and may be negative.
    ``states``: how many states each symbol has.
    ``roots``: the root vectors of all symbols; zero for symbols that are never a root.
    ``binary``: a tensor (parent, left, right state) for each binary rule, in C order.
    ``unary``: a matrix (parent, child state) for each unary rule.
    ``emissions``: a vector for each entry of the lexicon.
    ``tag_emissions``: for each preterminal the vector of its tag alone, the sum over its words;
    zero for other symbols.

    The probability of a tree is root . f(tree), where f of a preterminal is its emission vector
    and f(a -> b c)[i] = sum over j, k of T[i, j, k] f(b)[j] f(c)[k].

    >>> one = np.ones(1, dtype=np.float32)
    >>> LatentStates("linear", np.array([1], dtype=np.uint32), one, one, one[:0], one, one).size
    4
    """

    kind: Kind
    states: NDArray[np.uint32]
    roots: NDArray[np.float32]
    binary: NDArray[np.float32]
    unary: NDArray[np.float32]
    emissions: NDArray[np.float32]
    tag_emissions: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise GrammarError(f"latent states must be linear or probabilistic, not {self.kind!r}")
        if self.states.ndim != 1 or np.any(self.states < 1):
            raise GrammarError("every symbol needs at least one latent state")
        total = int(self.states.sum())
        for name in ("roots", "tag_emissions"):
            if getattr(self, name).shape != (total,):
                raise GrammarError(
                    f"{name} must have a value for each of the {total} states of all symbols,"
                    f" not shape {getattr(self, name).shape}"
                )
        for name in ("roots", "binary", "unary", "emissions", "tag_emissions"):
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
        >>> sorted(LatentStates("linear", none.astype(np.uint32), *[none] * 5).arrays)
        ['binary', 'emissions', 'roots', 'states', 'tag_emissions', 'unary']
        """
        names = ("states", "roots", "binary", "unary", "emissions", "tag_emissions")
        return {name: getattr(self, name) for name in names}

    @property
    def size(self) -> int:
        """How many parameters there are.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> LatentStates("linear", none.astype(np.uint32), none, none, none, none, none).size
        0
        """
        buffers = (self.roots, self.binary, self.unary, self.emissions, self.tag_emissions)
        return sum(len(buffer) for buffer in buffers)

    @property
    def state_offsets(self) -> NDArray[np.int64]:
        """Where the states of each symbol begin in ``roots`` and ``tag_emissions``.

        >>> zeros = np.zeros(5, dtype=np.float32)
        >>> states = np.array([2, 3], dtype=np.uint32)
        >>> none = zeros[:0]
        >>> LatentStates("linear", states, zeros, none, none, none, zeros).state_offsets
        array([0, 2, 5])
        """
        return _offsets(self.states.astype(np.int64))

    def tensor_offsets(self, rules: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the parameters of each binary or unary rule, a row of symbols, begin.

        >>> zeros = np.zeros(5, dtype=np.float32)
        >>> states = np.array([2, 3], dtype=np.uint32)
        >>> latent = LatentStates("linear", states, zeros, zeros, zeros, zeros, zeros)
        >>> latent.tensor_offsets(np.array([[0, 1, 1], [0, 0, 1]]))
        array([ 0, 18, 30])
        """
        return _offsets(self.states.astype(np.int64)[rules].prod(axis=1))

    def emission_offsets(self, symbols: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the vector of each entry of a lexicon begins, given the entries' symbols.

        >>> zeros = np.zeros(5, dtype=np.float32)
        >>> states = np.array([2, 3], dtype=np.uint32)
        >>> latent = LatentStates("linear", states, zeros, zeros, zeros, zeros, zeros)
        >>> latent.emission_offsets(np.array([1, 0, 1]))
        array([0, 3, 5, 8])
        """
        return _offsets(self.states.astype(np.int64)[symbols])

    def check(
        self,
        binary_rules: NDArray[np.integer],
        unary_rules: NDArray[np.integer],
        emission_symbols: NDArray[np.integer],
        symbols: int,
    ) -> None:
        """Raise a :class:`GrammarError` unless the buffers fit the rules of a grammar.

        >>> none = np.zeros(0, dtype=np.float32)
        >>> latent = LatentStates("linear", none.astype(np.uint32), none, none, none, none, none)
        >>> rules = np.zeros((0, 3), dtype=int)
        >>> latent.check(rules, rules[:, :2], rules[:, 0], symbols=1)
        Traceback (most recent call last):
        lpcfg.errors.GrammarError: 1 symbols need as many numbers of latent states, not 0
        """
        if len(self.states) != symbols:
            raise GrammarError(
                f"{symbols} symbols need as many numbers of latent states, not {len(self.states)}"
            )
        expected = {
            "binary": self.tensor_offsets(binary_rules)[-1],
            "unary": self.tensor_offsets(unary_rules)[-1],
            "emissions": self.emission_offsets(emission_symbols)[-1],
        }
        for name, size in expected.items():
            if len(getattr(self, name)) != size:
                raise GrammarError(
                    f"the {name} parameters of the latent states are {len(getattr(self, name))},"
                    f" but the rules need {size}"
                )


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
