"""Declarations of parameters, and everything that is derived from a declaration.

A parameter is a field of a dataclass, declared by :func:`parameter` with its default, its allowed
values and a help text. :class:`Parameterized` derives from that: validation, ``get_params`` and
``set_params`` as scikit-learn has them, a short ``repr``, the list of parameters in the docstring,
the record in model files, and (in :mod:`lpcfg.cli`) the options of the command line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

from lpcfg.errors import InputError
from lpcfg.parameters.constraints import Constraint

__all__ = ["Parameter", "Parameterized", "parameter", "recorded", "searched"]

#: The key of a declaration in the metadata of a field.
_KEY = "parameter"


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter, made by :func:`parameter`, and its default."""

    constraint: Constraint
    help: str
    option: bool
    provenance: bool | Callable[[Any], object]
    metavar: str
    nested: bool
    parts: Mapping[str, Parameter]
    search: Constraint | None
    default: object


def parameter(
    constraint: Constraint,
    help: str,
    *,
    option: bool = True,
    provenance: bool | Callable[[Any], object] = True,
    metavar: str | None = None,
    nested: bool = False,
    parts: Mapping[str, Mapping[str, Parameter]] | None = None,
    search: Constraint | None = None,
) -> Mapping[str, Parameter]:
    """Declare a parameter: the metadata of a dataclass field. The field has the default.

    ``constraint``: the allowed values.
    ``help``: its meaning and effect, for the docstring and the command line.
    ``option``: whether the command line has an option for it.
    ``provenance``: whether model files record it; or a function from the value to its record.
    ``metavar``: the name of the value in the help of the command line, by default the metavar of
    the constraint.
    ``nested``: whether ``get_params`` and ``set_params`` reach the parts of its value, as in
    ``lexicon__rare``.
    ``parts``: declarations of the parts that have command-line options.
    ``search``: the values that tuning tries unless it is told others; None to leave the parameter
    as it is.

    >>> from lpcfg.parameters.constraints import Interval
    >>> from dataclasses import dataclass, field
    >>> declared = parameter(Interval(float, 0), "strength of the prior in tokens")
    >>> @dataclass(repr=False)
    ... class Smoother(Parameterized):
    ...     strength: float = field(default=1.0, metadata=declared)
    >>> Smoother.parameters()["strength"].default
    1.0
    """
    declared = Parameter(
        constraint,
        help,
        option,
        provenance,
        metavar or constraint.metavar,
        nested,
        {name: part[_KEY] for name, part in (parts or {}).items()},
        search,
        default=MISSING,
    )
    return {_KEY: declared}


def searched(declared: Mapping[str, Parameter], search: Constraint) -> Mapping[str, Parameter]:
    """A declaration that several estimators share, with the values that tuning tries.

    >>> from lpcfg.parameters.constraints import Interval
    >>> shared = parameter(Interval(int, 1), "the number of states")
    >>> print(searched(shared, Interval(int, 2, 16))["parameter"].search)
    an integer from 2 to 16
    """
    return {_KEY: replace(declared[_KEY], search=search)}


class Parameterized:
    """The base class of dataclasses whose parameters are declared by :func:`parameter`.

    Decorate subclasses with ``@dataclass(repr=False)``, to keep the short ``repr``.

    >>> from lpcfg import SpectralEstimator
    >>> estimator = SpectralEstimator(ridge=0.2)
    >>> estimator.set_params(states=(4, 4), lexicon__rare=3)
    SpectralEstimator(states=(4, 4), ridge=0.2, lexicon=LexiconOptions(rare=3))
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__doc__ = _documented(cls)

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The declarations of all parameters, by name; inherited parameters come last.

        >>> from lpcfg import PCFGEstimator
        >>> list(PCFGEstimator.parameters())
        ['lexicon']
        """
        if not is_dataclass(cls):
            return {}
        declared = {each.name: _declared(each) for each in fields(cls) if _KEY in each.metadata}
        base = cls.__bases__[0]
        inherited = base.parameters() if issubclass(base, Parameterized) else {}
        return {name: declared[name] for name in sorted(declared, key=inherited.__contains__)}

    def without_effect(self) -> frozenset[str]:
        """The parameters that have no effect with the values of the others; tuning leaves them.

        >>> from lpcfg import PCFGEstimator
        >>> PCFGEstimator().without_effect()
        frozenset()
        """
        return frozenset()

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> from lpcfg import SpectralEstimator
        >>> SpectralEstimator(ridge=-1).validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: SpectralEstimator: ridge must be a number from 0, not -1
        """
        for name, declared in self.parameters().items():
            value = getattr(self, name)
            if not declared.constraint.allows(value):
                raise self.invalid(name, f"must be {declared.constraint}, not {value!r}")
            if isinstance(value, Parameterized):
                value.validate()

    def invalid(self, name: str, problem: str) -> InputError:
        """The error for a parameter whose value cannot be used.

        ``name``: the parameter. ``problem``: what is wrong with its value, without the name.

        >>> from lpcfg import PCFGEstimator
        >>> print(PCFGEstimator().invalid("lexicon", "is missing"))
        PCFGEstimator: lexicon is missing
        """
        return InputError(f"{type(self).__name__}: {name} {problem}", argument=name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The values of all parameters, by name; with ``deep``, also the values of their parts.

        >>> from lpcfg import EMEstimator
        >>> parameters = EMEstimator().get_params()
        >>> parameters["states"], parameters["smoothing__words"]
        ((8, 8), 2.0)
        """
        values: dict[str, Any] = {}
        for name, declared in self.parameters().items():
            values[name] = getattr(self, name)
            if deep and declared.nested:
                parts = _parts(values[name])
                values |= {f"{name}__{part}": value for part, value in parts.items()}
        return values

    def set_params(self, **parameters: object) -> Self:
        """Change some parameters, or parts of them as in ``lexicon__rare=3``; returns self.

        Values are checked by ``fit``, like the arguments of the constructor.

        >>> from lpcfg import EMEstimator
        >>> EMEstimator().set_params(iterations=5, smoothing__words=1.0).smoothing.words
        1.0
        """
        declared = self.parameters()
        parts: dict[str, dict[str, object]] = {}
        for name, value in parameters.items():
            whole, _, part = name.partition("__")
            if whole not in declared or (part and not declared[whole].nested):
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}; it has "
                    f"{', '.join(declared)}",
                    argument=name,
                )
            if part:
                parts.setdefault(whole, {})[part] = value
            else:
                setattr(self, whole, value)
        for whole, changes in parts.items():
            self._change_parts(whole, changes)
        return self

    def with_params(self, **parameters: object) -> Self:
        """A copy, not fitted, with some parameters changed as by :meth:`set_params`.

        >>> from lpcfg import EMEstimator
        >>> EMEstimator(states=(4, 4)).with_params(iterations=5)
        EMEstimator(states=(4, 4), iterations=5)
        """
        return type(self)(**self.get_params(deep=False)).set_params(**parameters)

    def _change_parts(self, name: str, changes: Mapping[str, object]) -> None:
        """Replace the value of a parameter by a changed copy, as other objects may share it."""
        value = getattr(self, name)
        if isinstance(value, Parameterized):
            setattr(self, name, value.with_params(**changes))
            return
        if unknown := [part for part in changes if part not in _parts(value)]:
            raise self.invalid(name, f"is {value!r}, which has no {unknown[0]!r}")
        setattr(self, name, replace(value, **changes))

    def provenance_params(self) -> dict[str, Any]:
        """The parameters as model files record them, ready for JSON.

        Parameters that cannot change the result, such as ``n_jobs``, are not recorded.

        >>> from lpcfg import SpectralEstimator
        >>> SpectralEstimator().provenance_params()["states"]
        [12, 12]
        """
        record = {}
        for name, declared in self.parameters().items():
            value = getattr(self, name)
            if callable(declared.provenance):
                record[name] = declared.provenance(value)
            elif declared.provenance:
                record[name] = recorded(value)
        return record

    @classmethod
    def check_record(cls, record: Mapping[str, object]) -> None:
        """Raise an InputError if a record of a model file has names that are not recorded.

        ``record``: what :meth:`provenance_params` returned.

        >>> from lpcfg import SpectralHMM
        >>> SpectralHMM.check_record({"n_states": 2, "steps": 3})
        Traceback (most recent call last):
        lpcfg.errors.InputError: parameters: SpectralHMM has no parameters steps
        """
        recorded = {name for name, declared in cls.parameters().items() if declared.provenance}
        if unknown := sorted(record.keys() - recorded):
            raise InputError(
                f"{cls.__name__} has no parameters {', '.join(unknown)}", argument="parameters"
            )

    def __sklearn_tags__(self) -> object:
        """The tags that scikit-learn asks for: the input is trees, and there are no targets."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False),
        )

    def __repr__(self) -> str:
        return _short_repr(self)


def recorded(value: object) -> object:
    """A value of a parameter as JSON can hold it.

    >>> from lpcfg import Noise
    >>> recorded(Noise("add", 0.1)), recorded((8, 8))
    ({'kind': 'add', 'sigma': 0.1, 'seed': 0, 'literal': False}, [8, 8])
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Parameterized):
        return value.provenance_params()
    if callable(getattr(value, "provenance", None)):
        return value.provenance()  # type: ignore[attr-defined]
    if is_dataclass(value):
        return {each.name: recorded(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: recorded(item) for name, item in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [recorded(item) for item in value]
    raise TypeError(f"declare how the provenance should record {value!r}")


def _declared(declaring: Field[Any]) -> Parameter:
    """The declaration of a field with the field's default."""
    declared: Parameter = declaring.metadata[_KEY]
    return replace(declared, default=_default(declaring))


def _default(declaring: Field[Any]) -> object:
    factory = declaring.default_factory
    return declaring.default if factory is MISSING else factory()


def _parts(value: object) -> dict[str, Any]:
    """The parts of a nested value, for :meth:`Parameterized.get_params`."""
    if isinstance(value, Parameterized):
        return value.get_params()
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    return {}


def _short_repr(value: object) -> str:
    """The value, without the fields that have their defaults."""
    # A class with a repr of its own, such as Grammar, knows better what is short.
    if not is_dataclass(value) or isinstance(value, type) or not _has_default_repr(value):
        return repr(value)
    init_fields = {each.name: each for each in fields(value) if each.init}
    names = value.parameters() if isinstance(value, Parameterized) else init_fields
    shown = [
        f"{name}={_short_repr(getattr(value, name))}"
        for name in names
        if not _is_default(init_fields[name], getattr(value, name))
    ]
    return f"{type(value).__name__}({', '.join(shown)})"


def _has_default_repr(value: object) -> bool:
    """Whether the repr of a dataclass is the generated one, or that of :class:`Parameterized`."""
    method = type(value).__repr__
    return method is Parameterized.__repr__ or hasattr(method, "__wrapped__")


def _is_default(declaring: Field[Any], value: object) -> bool:
    default = _default(declaring)
    return value is default or bool(value == default)


def _documented(cls: type[Parameterized]) -> str:
    """The docstring of a class and the list of its parameters; inherited ones come last."""
    new = {
        name: _declared(value)
        for name, value in vars(cls).items()
        if isinstance(value, Field) and _KEY in value.metadata
    }
    # This runs before the dataclass decorator, which does not know the new fields yet.
    declared = new | {name: each for name, each in cls.parameters().items() if name not in new}
    lines = [
        textwrap.fill(
            f"``{name}``: {each.help}; {each.constraint}{_default_text(each)}.",
            width=96,
            initial_indent="    ",
            subsequent_indent="        ",
            break_on_hyphens=False,
        )
        for name, each in declared.items()
    ]
    text = (cls.__doc__ or "").rstrip()
    return "\n".join([text, *(["", "    Parameters:", "", *lines] if lines else []), "    "])


def _default_text(declared: Parameter) -> str:
    if declared.default is MISSING:
        return ""
    shown = getattr(declared.default, "__name__", None) or _short_repr(declared.default)
    return f" (default: {shown})"
