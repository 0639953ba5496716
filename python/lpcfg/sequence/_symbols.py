"""Sequences of symbols (strings or integers) as arrays of numbers for the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import InputError
from lpcfg.parameters.constraints import Options
from lpcfg.parameters.parameterized import parameter

__all__ = ["UNKNOWN", "FlatSequences", "Item", "Sequences", "SymbolTable", "Unknown"]

Item: TypeAlias = str | int
Sequences: TypeAlias = Iterable[Sequence[Item] | NDArray[np.integer]]
Number = TypeVar("Number", bound=np.generic)
Unknown = Literal["error", "ignore"]

#: The declaration of a parameter ``unknown``.
UNKNOWN = parameter(
    Options(*get_args(Unknown)),
    "symbols that are not in the vocabulary: 'error' raises an exception, 'ignore' leaves them out "
    "of the emission probabilities",
)


@dataclass(frozen=True)
class FlatSequences:
    """The items of all sequences in one list, and the offset of each sequence in it.

    >>> FlatSequences.of([["a", "b"], ["a"]]).offsets
    array([0, 2, 3])
    """

    items: list[Item]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, sequences: Sequences, name: str = "sequence") -> FlatSequences:
        """Join sequences, none of which may be empty.

        >>> FlatSequences.of([np.array([3, 1])]).items
        [3, 1]
        >>> FlatSequences.of(["it rained"])
        Traceback (most recent call last):
        lpcfg.errors.InputError: sequence 1 must be a list of strings or numbers, not 'it rained'
        """
        items: list[Item] = []
        offsets = [0]
        for number, sequence in enumerate(sequences, start=1):
            if isinstance(sequence, str) or not isinstance(sequence, Sequence | np.ndarray):
                raise InputError(
                    f"{name} {number} must be a list of strings or numbers, not {sequence!r:.60}",
                    argument=name,
                )
            if len(sequence) == 0:
                raise InputError(f"{name} {number} is empty; leave it out", argument=name)
            items += sequence.tolist() if isinstance(sequence, np.ndarray) else sequence
            offsets.append(len(items))
        return cls(items, np.array(offsets, dtype=np.int64))

    def split(self, column: NDArray[Number]) -> list[NDArray[Number]]:
        """Split an array with a row for each item into one array for each sequence.

        >>> FlatSequences.of([["a", "b"], ["a"]]).split(np.array([0, 1, 0]))
        [array([0, 1]), array([0])]
        """
        return np.split(column, self.offsets[1:-1])

    def check_lengths(self, states: FlatSequences) -> None:
        """Raise an error unless there is a state for each item.

        >>> FlatSequences.of([["a", "b"]]).check_lengths(FlatSequences.of([["A"]], "states"))
        Traceback (most recent call last):
        lpcfg.errors.InputError: states: sequence 1 has 2 symbols but 1 states
        """
        lengths, numbers = np.diff(self.offsets), np.diff(states.offsets)
        if len(lengths) != len(numbers):
            raise InputError(
                f"{len(lengths)} sequences, but the states of {len(numbers)}", argument="states"
            )
        for row in np.flatnonzero(lengths != numbers).tolist():
            raise InputError(
                f"sequence {row + 1} has {lengths[row]} symbols but {numbers[row]} states",
                argument="states",
            )

    def position(self, item: int) -> str:
        """The sequence and the position of an item, for messages.

        >>> FlatSequences.of([["a", "b"], ["a"]]).position(2)
        'sequence 2, position 1'
        """
        sequence = int(np.searchsorted(self.offsets, item, side="right"))
        return f"sequence {sequence}, position {item - self.offsets[sequence - 1] + 1}"


@dataclass(frozen=True)
class SymbolTable:
    """A vocabulary with numbered symbols: all strings, or all integers.

    >>> SymbolTable.learn(FlatSequences.of([["b", "a", "b"]])).symbols
    ('a', 'b')
    """

    symbols: tuple[Item, ...]

    def __post_init__(self) -> None:
        kinds = {type(symbol) for symbol in self.symbols}
        if not (kinds <= {str} or kinds <= {int}):
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InputError(
                f"symbols must be all strings or all integers, not {names}", argument="symbols"
            )
        if len(self.ids) < len(self.symbols):
            raise InputError("a symbol is in the vocabulary more than once", argument="symbols")

    @classmethod
    def learn(cls, sequences: FlatSequences) -> SymbolTable:
        """All symbols that occur, sorted.

        >>> SymbolTable.learn(FlatSequences.of([[3, 1], [2]])).symbols
        (1, 2, 3)
        """
        table = cls(tuple(set(sequences.items)))
        return cls(tuple(sorted(table.symbols)))

    @classmethod
    def chosen(cls, vocabulary: Sequence[Item] | None, sequences: FlatSequences) -> SymbolTable:
        """The vocabulary or, if it is None, all symbols of the sequences.

        >>> SymbolTable.chosen(["z", "a"], FlatSequences.of([["a"]])).symbols
        ('z', 'a')
        """
        if not sequences.items:
            raise InputError("there are no sequences to learn from", argument="sequences")
        return cls.learn(sequences) if vocabulary is None else cls(tuple(vocabulary))

    @cached_property
    def ids(self) -> dict[Item, int]:
        """The number of each symbol.

        >>> SymbolTable(("b", "a")).ids
        {'b': 0, 'a': 1}
        """
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    def encode(self, sequences: FlatSequences, unknown: Unknown = "error") -> NDArray[np.uint32]:
        """The numbers of all items; unknown items are an error, or have the next free number.

        >>> table = SymbolTable(("a", "b"))
        >>> table.encode(FlatSequences.of([["b", "c"]]), unknown="ignore")
        array([1, 2], dtype=uint32)
        >>> table.encode(FlatSequences.of([["b", "c"]]))
        Traceback (most recent call last):
        lpcfg.errors.InputError: sequences: sequence 1, position 2: 'c' was never seen in ...
        """
        encoded = np.array([self.ids.get(item, -1) for item in sequences.items], dtype=np.int64)
        if unknown == "error" and (encoded < 0).any():
            index = int(np.argmin(encoded))
            raise InputError(
                f"{sequences.position(index)}: {sequences.items[index]!r} was never seen in "
                "training; "
                'with unknown="ignore" such symbols are left out of the emission probabilities',
                argument="sequences",
            )
        return np.where(encoded < 0, len(self.symbols), encoded).astype(np.uint32)
