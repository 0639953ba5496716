"""The values that a parameter may have.

Each constraint checks whether a value is allowed, describes the allowed values in words, and reads
a value from the text of a command-line option.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, Protocol

from lpcfg.errors import InputError

__all__ = ["AnyOf", "Constraint", "Function", "Instance", "Interval", "Options", "Pair", "Several"]

#: The upper limit of integers without another limit: larger models do not fit into memory.
MAX_INTEGER = 10**9


class Constraint(Protocol):
    """The interface of constraints; ``str`` gives the allowed values in words."""

    @property
    def metavar(self) -> str:
        """The name of the value in the help of the command line."""

    def allows(self, value: object) -> bool:
        """Whether a parameter may have this value."""

    def parse(self, text: str) -> object:
        """Read a value from text, or raise an InputError that says what was expected."""


@dataclass(frozen=True)
class Interval:
    """Numbers of a kind between two limits; infinity and NaN are never allowed.

    ``closed`` says which limits belong to the interval: ``"both"``, ``"left"`` or ``"neither"``.
    Without ``high``, real numbers have no upper limit, and integers one of :data:`MAX_INTEGER`.

    >>> print(Interval(int, 1), Interval(float, 0, 1, "left"), Interval(float, 0), sep="; ")
    an integer from 1 to 1000000000; a number from 0 to below 1; a number from 0
    >>> Interval(float, 0).allows(-0.5), Interval(int, 1).allows(2.0), Interval(int, 1).allows(2)
    (False, False, True)
    """

    kind: type[int] | type[float]
    low: float
    high: float | None = None
    closed: Literal["both", "left", "neither"] = "both"

    @property
    def metavar(self) -> str:
        """N for integers, X for real numbers.

        >>> Interval(int, 1).metavar
        'N'
        """
        return "N" if self.kind is int else "X"

    @property
    def _limit(self) -> float | None:
        return MAX_INTEGER if self.high is None and self.kind is int else self.high

    def allows(self, value: object) -> bool:
        """Whether the value is a number of this kind and between the limits.

        >>> Interval(float, 0, closed="neither").allows(0)
        False
        """
        if isinstance(value, bool) or not isinstance(value, Integral if self.kind is int else Real):
            return False
        number = float(value)
        if not math.isfinite(number):
            return False
        above = number > self.low if self.closed == "neither" else number >= self.low
        if self._limit is None:
            return above
        return above and (number <= self._limit if self.closed == "both" else number < self._limit)

    def parse(self, text: str) -> float:
        """Read a number.

        >>> Interval(int, 1).parse("8")
        8
        """
        try:
            value = self.kind(text)
        except ValueError:
            value = None
        if value is None or not self.allows(value):
            raise InputError(f"expected {self}, not {text!r}")
        return value

    def __str__(self) -> str:
        kind = "an integer" if self.kind is int else "a number"
        low = f"above {self.low}" if self.closed == "neither" else f"from {self.low}"
        if self._limit is None:
            return f"{kind} {low}"
        high = f"{self._limit:g}" if self.kind is float else f"{self._limit}"
        return f"{kind} {low} to {'' if self.closed == 'both' else 'below '}{high}"


class Options:
    """One of several words.

    >>> constraint = Options("crf", "independent")
    >>> print(constraint), constraint.allows("hinge")
    'crf' or 'independent'
    (None, False)
    """

    def __init__(self, *values: str) -> None:
        self.values = values

    @property
    def metavar(self) -> str:
        """All words in braces.

        >>> Options("left", "right").metavar
        '{left,right}'
        """
        return f"{{{','.join(self.values)}}}"

    def allows(self, value: object) -> bool:
        """Whether the value is one of the words.

        >>> Options("left", "right").allows("left")
        True
        """
        return isinstance(value, str) and value in self.values

    def parse(self, text: str) -> str:
        """The text itself, if it is one of the words.

        >>> Options("left", "right").parse("left")
        'left'
        """
        if text not in self.values:
            raise InputError(f"expected {self}, not {text!r}")
        return text

    def __str__(self) -> str:
        return " or ".join(map(repr, self.values))


@dataclass(frozen=True)
class Pair:
    """Two values of one kind, as a tuple or a list: one for phrases and one for tags.

    >>> print(Pair(Interval(int, 1, 64)))
    a pair, each an integer from 1 to 64
    >>> Pair(Interval(int, 1)).allows((8, 0))
    False
    """

    each: Constraint

    @property
    def metavar(self) -> str:
        """One value, or two with a comma between them.

        >>> Pair(Interval(int, 1)).metavar
        'N[,N]'
        """
        return f"{self.each.metavar}[,{self.each.metavar}]"

    def allows(self, value: object) -> bool:
        """Whether the value is a pair of allowed values.

        >>> Pair(Interval(int, 1)).allows((8, 8))
        True
        """
        return (
            isinstance(value, (tuple, list))
            and len(value) == 2
            and all(map(self.each.allows, value))
        )

    def parse(self, text: str) -> tuple[object, object]:
        """Read two values, or one that stands for both.

        >>> Pair(Interval(int, 1)).parse("8"), Pair(Interval(int, 1)).parse("8,4")
        ((8, 8), (8, 4))
        """
        values = [self.each.parse(part) for part in text.split(",")]
        if len(values) > 2:
            raise InputError(f"expected one or two values, not {text!r}")
        return values[0], values[-1]

    def __str__(self) -> str:
        return f"a pair, each {self.each}"


@dataclass(frozen=True)
class Several:
    """A list or tuple of values, which differ from each other unless ``repeated`` is true.

    >>> print(Several(Interval(float, 0), at_least=1))
    a list of at least 1, all different, each a number from 0
    >>> Several(Interval(float, 0)).allows([0.1, 0.1])
    False
    """

    each: Constraint
    at_least: int = 0
    repeated: bool = False

    @property
    def metavar(self) -> str:
        """Values with commas between them.

        >>> Several(Interval(float, 0)).metavar
        'X[,X...]'
        """
        return f"{self.each.metavar}[,{self.each.metavar}...]"

    def allows(self, value: object) -> bool:
        """Whether all values are allowed and different, and there are enough of them.

        >>> Several(Interval(float, 0)).allows((0.1, 0.2)), Several(Options("a")).allows("a")
        (True, False)
        """
        if not isinstance(value, (tuple, list)) or len(value) < self.at_least:
            return False
        if not self.repeated and any(item in value[:at] for at, item in enumerate(value)):
            return False
        return all(map(self.each.allows, value))

    def parse(self, text: str) -> list[object]:
        """Read values with commas between them.

        >>> Several(Interval(float, 0)).parse("0.1,0.2")
        [0.1, 0.2]
        """
        values = [self.each.parse(part) for part in text.split(",")]
        if not self.allows(values):
            raise InputError(f"expected {self}, not {text!r}")
        return values

    def __str__(self) -> str:
        number = f" of at least {self.at_least}" if self.at_least else ""
        different = "" if self.repeated else ", all different"
        return f"a list{number}{different}, each {self.each}"


class Instance:
    """An instance of one of several classes, or None if None is among them.

    >>> from lpcfg import Noise
    >>> print(Instance(Noise, None))
    a Noise or None
    """

    metavar = "VALUE"

    def __init__(self, *kinds: type | None) -> None:
        self.kinds = kinds

    def allows(self, value: object) -> bool:
        """Whether the value is an instance of one of the classes, or an allowed None.

        >>> Instance(str, None).allows(None), Instance(str).allows(3)
        (True, False)
        """
        return any(value is None if k is None else isinstance(value, k) for k in self.kinds)

    def parse(self, text: str) -> object:
        """Objects cannot be read from text.

        >>> Instance(dict).parse("{}")
        Traceback (most recent call last):
        lpcfg.errors.InputError: expected a dict, not '{}'
        """
        raise InputError(f"expected {self}, not {text!r}")

    def __str__(self) -> str:
        names = [kind.__name__ for kind in self.kinds if kind is not None]
        described = [f"{'an' if name[0] in 'AEIOU' else 'a'} {name}" for name in names]
        return " or ".join([*described, *(["None"] if None in self.kinds else [])])


class Function(Instance):
    """A function; with ``optional=True`` it may be None.

    >>> Function().allows(iter), Function(optional=True).allows(None)
    (True, True)
    """

    def __init__(self, *, optional: bool = False) -> None:
        super().__init__(*((None,) if optional else ()))

    def allows(self, value: object) -> bool:
        """Whether the value can be called.

        >>> Function().allows("iter")
        False
        """
        return callable(value) or super().allows(value)

    def __str__(self) -> str:
        return " or ".join(["a function", *(["None"] if self.kinds else [])])


class AnyOf:
    """A value that one of several constraints allows.

    >>> print(AnyOf(Options("compact", "full"), Instance(dict)))
    'compact' or 'full' or a dict
    """

    def __init__(self, *constraints: Constraint) -> None:
        self.constraints = constraints

    @property
    def metavar(self) -> str:
        """The name of the first constraint.

        >>> AnyOf(Interval(int, 1), Instance(None)).metavar
        'N'
        """
        return self.constraints[0].metavar

    def allows(self, value: object) -> bool:
        """Whether one of the constraints allows the value.

        >>> AnyOf(Interval(int, 1), Instance(None)).allows(None)
        True
        """
        return any(constraint.allows(value) for constraint in self.constraints)

    def parse(self, text: str) -> object:
        """Read a value as the first constraint does.

        >>> AnyOf(Interval(int, 1), Instance(None)).parse("3")
        3
        """
        return self.constraints[0].parse(text)

    def __str__(self) -> str:
        return " or ".join(map(str, self.constraints))
