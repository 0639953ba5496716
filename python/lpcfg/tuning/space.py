"""The values that a search tries: derived from the declared parameters of an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from lpcfg.errors import InputError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.transformed import Transformed
from lpcfg.parameters.constraints import AnyOf, Constraint, Interval, Options, Pair
from lpcfg.parameters.parameterized import Parameter
from lpcfg.treebank.transform import Transform

if TYPE_CHECKING:
    from optuna import Trial

__all__ = ["Choice", "Range", "SearchSpace"]

#: A range whose ends differ by this factor or more is searched on a logarithmic scale.
_LOGARITHMIC = 8

#: The names of the two values of a pair.
_PAIR = ("phrases", "tags")

#: What can be searched of the tree transform; not by default, for each transform has its own
#: decomposition and charts.
_TRANSFORM: dict[str, Constraint] = {
    "binarize": Options("left", "right"),
    "vertical": Interval(int, 0),
    "horizontal": Interval(int, 0),
}


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; integers if both are.

    A search tries integers or real numbers as its parameter has them, whatever the ends are.

    >>> Range(2, 16)
    Range(low=2, high=16)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"must be at most high, {self.high}, not {self.low}", argument="low")

    def suggest(self, trial: Trial, name: str) -> float:
        """The value that a trial of optuna takes for the parameter with this ``name``.

        It is drawn on a logarithmic scale if the range is wide.
        """
        log = self.low > 0 and self.high >= _LOGARITHMIC * self.low
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(name, self.low, self.high, log=log)
        return trial.suggest_float(name, self.low, self.high, log=log)

    @property
    def ends(self) -> tuple[float, ...]:
        """The smallest and the largest value.

        >>> Range(2, 16).ends
        (2, 16)
        """
        return self.low, self.high

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """One of several values.

    >>> "full" in Choice(("compact", "full"))
    True
    """

    values: tuple[str | float, ...]

    def suggest(self, trial: Trial, name: str) -> str | float:
        """The value that a trial of optuna takes for the parameter with this ``name``."""
        value = trial.suggest_categorical(name, self.values)
        assert value is not None  # it is one of the values
        return value

    @property
    def ends(self) -> tuple[str | float, ...]:
        """All values.

        >>> Choice((1, 2, 5)).ends
        (1, 2, 5)
        """
        return self.values

    def __contains__(self, value: object) -> bool:
        return value in self.values


def _values(constraint: Constraint) -> Range | Choice:
    """The values of the constraint of a single value."""
    if isinstance(constraint, Interval) and constraint.high is not None:
        return Range(constraint.kind(constraint.low), constraint.kind(constraint.high))
    if isinstance(constraint, Options):
        return Choice(constraint.values)
    raise TypeError(f"declare a range or words to search, not {constraint}")


@dataclass(frozen=True)
class SearchSpace:
    """The values to try for some parameters of an estimator; the others stay as they are.

    ``values``: ranges or choices by parameter, for instance ``"ridge"`` or ``"smoothing__rules"``.
    A pair such as ``"states"`` has the same values for phrases and for tags, chosen separately.
    ``transform``: the tree transform, whose ``binarize``, ``vertical`` and ``horizontal`` may be
    searched too.

    >>> from lpcfg import PivotEstimator
    >>> space = SearchSpace.of(PivotEstimator(min_count=5), {"dimensions": Range(1, 4)})
    >>> space.values["dimensions"], "min_count" in space.values
    (Range(low=1, high=4), True)
    """

    estimator: Estimator
    values: Mapping[str, Range | Choice]
    transform: Transform

    @classmethod
    def of(
        cls,
        estimator: Estimator,
        search: Mapping[str, Range | Choice] | None = None,
        *,
        fixed: tuple[str, ...] = (),
        transform: Transform | None = None,
    ) -> Self:
        """The declared search space of an estimator.

        ``search``: other values, or values of other parameters and of the tree transform.
        ``fixed``: parameters that keep the value that they have.
        ``transform``: the transform of the training trees, by default that of the estimator.
        """
        declared = dict(_declared(estimator))
        unused = estimator.without_effect()
        found = {
            name: _values(each.search.each if isinstance(each.search, Pair) else each.search)
            for name, each in declared.items()
            if each.search is not None and name not in fixed and name not in unused
        }
        for name, values in (search or {}).items():
            found[name] = _allowed(estimator, name, values)
        if not found:
            raise InputError(
                f"the estimator {estimator.name} has nothing to search for; name parameters and "
                "their values",
                argument="search",
            )
        return cls(estimator, found, transform or estimator.default_transform)

    def suggest(self, trial: Trial) -> Estimator:
        """The estimator with the values that a trial of optuna takes."""
        taken = {
            each: values.suggest(trial, each)
            for name, values in self.values.items()
            for each in self._names(name)
        }
        return self.chosen(taken)

    def used(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a trial as its estimator has them.

        An estimator cannot have a ``min_count`` above its ``full_count``. Where a trial would,
        ``full_count`` is raised, or ``min_count`` lowered if ``full_count`` is fixed.

        >>> from lpcfg import SpectralEstimator
        >>> SearchSpace.of(SpectralEstimator()).used({"min_count": 40, "full_count": 30})
        {'min_count': 40, 'full_count': 40}
        """
        found = dict(values)
        own = self.estimator.get_params(deep=False)
        if {"min_count", "full_count"} <= own.keys():
            least, full = (found.get(name, own[name]) for name in ("min_count", "full_count"))
            if least > full and "full_count" in found:
                found["full_count"] = least
            elif least > full and "min_count" in found:
                found["min_count"] = full
        return found

    def chosen(self, values: Mapping[str, Any]) -> Estimator:
        """The estimator with the values of a trial, by the names that :meth:`defaults` has.

        >>> from lpcfg import SpectralEstimator
        >>> space = SearchSpace.of(SpectralEstimator())
        >>> space.chosen(space.defaults() | {"states_tags": 4, "ridge": 0.2})
        SpectralEstimator(states=(12, 4), ridge=0.2)
        """
        values = self.used(values)
        found: dict[str, Any] = {}
        for name in self.values:
            names = self._names(name)
            taken = tuple(values[each] for each in names)
            found[name] = taken if len(names) > 1 else taken[0]
        changed = {name: found.pop(name) for name in _TRANSFORM if name in found}
        estimator = self.estimator.with_params(**found)
        if not changed:
            return estimator
        return Transformed(estimator, replace(self.transform, **changed))

    def defaults(self) -> dict[str, Any]:
        """The values that the estimator has, by the names of trials, as far as they are tried.

        >>> from lpcfg import SpectralEstimator
        >>> defaults = SearchSpace.of(SpectralEstimator()).defaults()
        >>> defaults["states_phrases"], defaults["states_tags"], defaults["ridge"]
        (12, 12, 0.7)
        """
        transform = {name: getattr(self.transform, name) for name in _TRANSFORM}
        own = self.estimator.get_params() | transform
        found: dict[str, Any] = {}
        for name, values in self.values.items():
            names = self._names(name)
            each = own[name] if len(names) > 1 else (own[name],)
            found |= {n: v for n, v in zip(names, each, strict=True) if v in values}
        return found

    def largest_models(self) -> dict[str, Any]:
        """The values with the most states for every symbol, of the parameters that decide this.

        >>> from lpcfg import SpectralEstimator
        >>> SearchSpace.of(SpectralEstimator()).largest_models()
        {'states': (16, 16), 'min_count': 1, 'full_count': 50}
        """
        found: dict[str, Any] = {}
        for name, choose in (("states", max), ("min_count", min), ("full_count", min)):
            if name in self.values:
                end = choose(self.values[name].ends)
                found[name] = (end, end) if len(self._names(name)) > 1 else end
        return self.used(found)

    def _names(self, parameter: str) -> tuple[str, ...]:
        """The names of a parameter in trials: two for a pair."""
        if isinstance(_constraints(self.estimator)[parameter], Pair):
            return tuple(f"{parameter}_{part}" for part in _PAIR)
        return (parameter,)


def _declared(estimator: Estimator) -> Iterator[tuple[str, Parameter]]:
    """Parameters and parts of parameters that have options, with their declarations."""
    for name, each in estimator.parameters().items():
        if each.option and not each.parts:
            yield name, each
        yield from ((f"{name}__{part}", declared) for part, declared in each.parts.items())


def _constraints(estimator: Estimator) -> dict[str, Constraint]:
    """The constraints of all that can be searched: parameters, and parts of the transform."""
    return {name: each.constraint for name, each in _declared(estimator)} | _TRANSFORM


def _allowed(estimator: Estimator, name: str, values: Range | Choice) -> Range | Choice:
    """The values as numbers of the parameter's kind.

    Raises an InputError if the parameter does not exist or does not allow them.
    """
    constraints = _constraints(estimator)
    if name not in constraints:
        raise InputError(
            f"the estimator {estimator.name} has no parameter {name!r} to search; it has "
            f"{', '.join(constraints)}",
            argument="search",
        )
    constraint = constraints[name]
    one = constraint.each if isinstance(constraint, Pair) else constraint
    for value in values.ends:
        if not one.allows(value):
            raise InputError(f"{name} must be {one}, not {value!r}", argument="search")
    # An optional number is a number or None.
    parts = one.constraints if isinstance(one, AnyOf) else (one,)
    interval = next((part for part in parts if isinstance(part, Interval)), None)
    # A range from 0 to 2 of a real parameter has more numbers than 0, 1 and 2.
    if isinstance(values, Range) and interval is not None:
        return Range(interval.kind(values.low), interval.kind(values.high))
    return values
