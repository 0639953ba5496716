"""The options of estimators on the command line, derived from their declared parameters."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from lpcfg.cli._common import progress, report, several
from lpcfg.errors import InputError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.registry import (
    DEFAULT_ESTIMATOR,
    ESTIMATORS,
    LATENT_ESTIMATORS,
    estimator_class,
    make_estimator,
)
from lpcfg.formats.dependencies import Dependencies
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load, save
from lpcfg.parameters.constraints import Constraint, Options
from lpcfg.parameters.parameterized import Parameter
from lpcfg.treebank.head_rules import HEAD_RULES, HeadRules

__all__ = [
    "EstimatorCommand",
    "add_estimator_choice",
    "add_estimator_options",
    "build_estimator",
    "chosen_estimator",
    "estimator_options",
    "given_files",
    "parse_estimator",
    "run_parameters",
]

#: The parameter that accepts several values with ``--noise``; models cycle through them.
_SEVERAL = "features"

#: The parameter whose value is an estimator, which has these parameters in common with the other.
_LATENT = "latent"
_SHARED_WITH_LATENT = ("lexicon", "random_state", "n_jobs")

#: The parameters whose values are read from files, and what reads them.
_FILES: dict[str, Callable[[str], object]] = {
    "start": load,
    "word_clusters": load,
    "dependencies": Dependencies.read,
    "head_rules": lambda name: name if name in HEAD_RULES else HeadRules.read(name),
}


def add_estimator_choice(parser: argparse.ArgumentParser) -> None:
    """Declare ``--estimator``.

    >>> parser = argparse.ArgumentParser()
    >>> add_estimator_choice(parser)
    >>> parser.parse_args([]).estimator
    'spectral'
    """
    parser.add_argument(
        "--estimator",
        choices=ESTIMATORS,
        default=DEFAULT_ESTIMATOR,
        metavar="NAME",
        help=f"one of {', '.join(ESTIMATORS)}; see the list below (default: {DEFAULT_ESTIMATOR}, "
        "the best F1 for seconds of training)",
    )


def chosen_estimator(arguments: Iterable[str] | None) -> str | None:
    """The estimator that the arguments name; None if they name none, or an unknown one.

    >>> chosen_estimator(["train.mrg", "--estimator", "em", "--iterations", "5"])
    'em'
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--estimator", nargs="?")
    name = parser.parse_known_args(None if arguments is None else list(arguments))[0].estimator
    return name if name in ESTIMATORS else None


class EstimatorCommand(argparse.ArgumentParser):
    """Finds the estimator among the arguments first, then parses them with its options.

    ``build``: makes the parser of the command from its name, its description and the estimator,
    which is None if the arguments name none.

    >>> def build(prog, description, estimator):
    ...     parser = argparse.ArgumentParser(prog)
    ...     add_estimator_choice(parser)
    ...     add_estimator_options(parser, estimator or "spectral")
    ...     return parser
    >>> EstimatorCommand("train", "", build).parse_args(["--estimator", "em", "--states", "4"])
    Namespace(estimator='em', states=(4, 4))
    """

    def __init__(
        self,
        prog: str,
        description: str,
        build: Callable[[str, str | None, str | None], argparse.ArgumentParser],
    ) -> None:
        super().__init__(prog=prog, description=description)
        self._build = build

    # In the standard library the type of the result depends on the type of the namespace.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse all arguments with the options of the estimator that they name."""
        parser = self._build(self.prog, self.description, chosen_estimator(args))
        return parser.parse_args(args, namespace), []

    def declared(self) -> argparse.ArgumentParser:
        """The parser with the options of the default estimator, for shell completion."""
        return self._build(self.prog, self.description, DEFAULT_ESTIMATOR)


class _Option(NamedTuple):
    """An option, and the parameter, or the part of a parameter, that it sets."""

    flag: str
    parameter: str
    declared: Parameter
    default: object

    @property
    def help(self) -> str:
        default = self.default
        if default is None:
            default = "none"
        elif isinstance(default, tuple):
            default = ",".join(map(str, default))
        # argparse formats help texts with %.
        return f"{self.declared.help} (default: {default})".replace("%", "%%")


def _options(estimator: type[Estimator]) -> Iterator[_Option]:
    for name, declared in estimator.parameters().items():
        if declared.option and not declared.parts:
            yield _Option(_flag(name), name, declared, declared.default)
        for part, declaration in declared.parts.items():
            nested = f"{name}__{part}"
            yield _Option(_flag(nested), nested, declaration, getattr(declared.default, part))


def _flag(parameter: str) -> str:
    return f"--{parameter.replace('__', '-').replace('_', '-')}"


def add_estimator_options(
    parser: argparse.ArgumentParser, name: str, *, hidden: bool = False
) -> None:
    """Declare the options of an estimator; options of other estimators raise an error.

    ``hidden``: leave the options out of the help.

    >>> parser = argparse.ArgumentParser()
    >>> add_estimator_options(parser, "em")
    >>> vars(parser.parse_args(["--states", "4,2", "--smoothing-words", "1"]))
    {'states': (4, 2), 'smoothing__words': 1.0}
    """
    estimator = estimator_class(name)
    group = parser.add_argument_group(f"options of the estimator {name}")
    options = list(_options(estimator))
    for option in options:
        constraint = option.declared.constraint
        if option.parameter == _LATENT:
            constraint = Options(*LATENT_ESTIMATORS)
        read = str if option.parameter in _FILES else _reader(constraint)
        group.add_argument(
            option.flag,
            dest=option.parameter,
            type=several(read) if option.parameter == _SEVERAL else read,
            default=argparse.SUPPRESS,
            metavar=option.declared.metavar,
            help=argparse.SUPPRESS if hidden else option.help,
        )
    if "each_cycle" in estimator.parameters():
        group.add_argument(
            "--keep-cycles",
            action="store_true",
            help="save the grammar of each cycle too, as MODEL with .1, .2, ... added",
        )
    for flag, owners in _other_options({option.flag for option in options}).items():
        parser.add_argument(flag, action=_Refused, estimator=name, owners=owners)


def _other_options(flags: set[str]) -> dict[str, list[str]]:
    """The options of all estimators except ``flags``, with the estimators that have them."""
    owners: dict[str, list[str]] = {}
    for name, kind in ESTIMATORS.items():
        for option in _options(kind):
            if option.flag not in flags:
                owners.setdefault(option.flag, []).append(name)
    return owners


class _Refused(argparse.Action):
    """An option of other estimators."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, *, estimator: str, owners: Sequence[str]
    ) -> None:
        hidden = argparse.SUPPRESS
        super().__init__(option_strings, dest, nargs="?", default=hidden, help=hidden)
        self.problem = (
            f"the estimator {estimator} has no such option; it is one of {', '.join(owners)}"
        )

    def __call__(self, *_: object) -> NoReturn:
        raise argparse.ArgumentError(self, self.problem)


def _reader(constraint: Constraint) -> Callable[[str], object]:
    """A type of arguments: values that a constraint allows."""

    def read(text: str) -> object:
        try:
            return constraint.parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def parse_estimator(text: str) -> tuple[str, dict[str, object]]:
    """The name of an estimator, and the parameters that follow it.

    >>> parse_estimator("spectral:smoothing=0:states=8")
    ('spectral', {'smoothing': 0.0, 'states': (8, 8)})
    """
    name, *settings = text.split(":")
    options = {option.flag[2:]: option for option in _options(estimator_class(name))}
    values: dict[str, object] = {}
    for setting in settings:
        flag, _, value = setting.partition("=")
        if flag not in options:
            raise InputError(
                f"{name} has no parameter {flag!r}; it has {', '.join(options)}",
                argument="--estimators",
            )
        option = options[flag]
        if option.parameter == _LATENT:
            Options(*LATENT_ESTIMATORS).parse(value)
            values[_LATENT] = make_estimator(value)
        else:
            values[option.parameter] = option.declared.constraint.parse(value)
    return name, values


def run_parameters(
    estimator: type[Estimator], *, seed: int, jobs: int, quiet: bool = True
) -> dict[str, object]:
    """The parameters that ``--seed``, ``--jobs`` and ``--quiet`` set, if the estimator has them.

    >>> run_parameters(ESTIMATORS["pcfg"], seed=1, jobs=2)
    {}
    """

    def watched(steps: Iterable[int]) -> Iterable[int]:
        return progress(steps, quiet, unit=f" {estimator.progress_unit}")

    values = {"random_state": seed, "n_jobs": jobs, "progress": watched}
    return {name: value for name, value in values.items() if name in estimator.parameters()}


def estimator_options(name: str) -> list[str]:
    """The names under which the options of an estimator are stored.

    >>> estimator_options("pcfg")
    []
    """
    return [option.parameter for option in _options(estimator_class(name))]


def given_files(options: argparse.Namespace) -> dict[str, str]:
    """The parameters of the estimator that are read from files, as the command line has them.

    >>> given_files(argparse.Namespace(estimator="em", start="first.lpcfg", states=(4, 4)))
    {'start': 'first.lpcfg'}
    """
    names = estimator_options(options.estimator)
    return {name: getattr(options, name) for name in names if name in _FILES and name in options}


def build_estimator(options: argparse.Namespace, **defaults: object) -> Estimator:
    """The chosen estimator, with the parameters from the command line.

    ``defaults``: values of parameters that are not on the command line.

    >>> parser = argparse.ArgumentParser()
    >>> add_estimator_choice(parser)
    >>> add_estimator_options(parser, "pivot")
    >>> common = argparse.Namespace(seed=0, jobs=-1, quiet=True)
    >>> options = parser.parse_args(["--estimator", "pivot", "--states", "4"], common)
    >>> build_estimator(options).states
    (4, 4)
    """
    kind = estimator_class(options.estimator)
    run = run_parameters(kind, seed=options.seed, jobs=options.jobs, quiet=options.quiet)
    names = estimator_options(options.estimator)
    values = {name: getattr(options, name) for name in names if hasattr(options, name)}
    if _SEVERAL in values:
        values[_SEVERAL] = values[_SEVERAL][0]
    for name in values.keys() & _FILES.keys():
        values[name] = _FILES[name](values[name])
    if getattr(options, "keep_cycles", False):
        values["each_cycle"] = partial(_keep_cycle, options)
    values = {**run, **defaults, **values}
    if _LATENT in values:
        values[_LATENT] = _latent_estimator(values[_LATENT], values)
    estimator = make_estimator(options.estimator, **values)
    # Invalid values are reported here, before a treebank is read.
    estimator.validate()
    return estimator


def _latent_estimator(name: str, values: Mapping[str, object]) -> Estimator:
    """The estimator of latent states with this name, and what it has in common with the other."""
    declared = estimator_class(name).parameters()
    roots = {value: value.partition("__")[0] for value in values}
    shared = [v for v, root in roots.items() if root in _SHARED_WITH_LATENT and root in declared]
    return make_estimator(name, **{value: values[value] for value in shared})


def _keep_cycle(options: argparse.Namespace, cycle: int, grammar: Grammar) -> None:
    target = Path(f"{options.output}.{cycle}")
    save(grammar, target)
    report(f"cycle {cycle}: {grammar}\nsaved to {target}", options.quiet)
