"""A family of models that differ by noise, for an ensemble (Narayan & Cohen 2015)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle, product
from os import PathLike
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from lpcfg._threads import one_thread, thread_count
from lpcfg.errors import InputError, ModelFileError
from lpcfg.estimators.base import BaseEstimator, Estimator, Trees, as_treebank
from lpcfg.estimators.common_parameters import N_JOBS, PROGRESS
from lpcfg.estimators.constraints import AnyOf, Instance, Interval, Options, Several
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.features.noise import NOISE_KINDS, Noise, NoiseKind
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.parameters import parameter
from lpcfg.estimators.transformed import Transformed
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import examine, save
from lpcfg.io.model_file import is_model_file
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.parsing.base import BaseParser

__all__ = ["NoisyMember", "NoisyModels", "projecting"]


def projecting(estimator: object) -> ProjectingEstimator:
    """The estimator, if noise goes with it.

    >>> from lpcfg import ClusteringEstimator
    >>> projecting(ClusteringEstimator()).noise
    """
    if not isinstance(estimator, ProjectingEstimator):
        raise InputError("noise goes with the estimators spectral, clustering and pivot")
    return estimator


class NoisyMember(NamedTuple):
    """The estimator of a model with its noise, and its tree transform if it has one of its own.

    >>> from lpcfg import ClusteringEstimator
    >>> NoisyMember(ClusteringEstimator()).transform
    """

    estimator: ProjectingEstimator
    transform: Transform | None = None

    def alone(self) -> Estimator:
        """What learns this model alone.

        >>> from lpcfg import ClusteringEstimator
        >>> type(NoisyMember(ClusteringEstimator(), Transform(binarize="left")).alone()).__name__
        'Transformed'
        """
        if self.transform is None:
            return self.estimator
        return Transformed(self.estimator, self.transform)


@dataclass(repr=False)
class NoisyModels(BaseEstimator):
    """Models of one treebank by one estimator, each with noise of its own, for an ensemble.

    Models take turns with the feature sets and transforms, and with the kinds and the amounts of
    noise. Those with the same trees and features share the PCFG and the projections.

    After ``fit``, ``grammars_`` are the grammars.

    >>> from lpcfg import ClusteringEstimator, embedded_trees
    >>> estimator = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50, restarts=1)
    >>> family = NoisyModels(estimator, models=3).fit(embedded_trees())
    >>> print(family.parser().parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    estimator: ProjectingEstimator = field(
        metadata=parameter(
            Instance(ProjectingEstimator), "what learns each model", option=False, nested=True
        )
    )
    kinds: Sequence[NoiseKind] = field(
        default=NOISE_KINDS,
        metadata=parameter(
            Several(Options(*NOISE_KINDS), at_least=1), "the kinds of noise", option=False
        ),
    )
    sigmas: Sequence[float] = field(
        default=(0.05, 0.1, 0.15, 0.2),
        metadata=parameter(
            Several(Interval(float, 0), at_least=1),
            "the amounts of noise; the larger, the more models differ, and the worse each is",
            option=False,
        ),
    )
    models: int = field(
        default=20, metadata=parameter(Interval(int, 1), "the number of models", option=False)
    )
    transforms: Sequence[Transform] = field(
        default=(),
        metadata=parameter(
            Several(Instance(Transform)),
            "transforms of the trees, so that models differ more; by default that of the treebank",
            option=False,
        ),
    )
    features: Sequence[str | FeatureSet] = field(
        default=(),
        metadata=parameter(
            Several(AnyOf(Options("compact", "full"), Instance(FeatureSet))),
            "feature sets, so that models differ more; by default that of the estimator",
            option=False,
            provenance=lambda several: [FeatureSet.named(own).provenance for own in several],
        ),
    )
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[Any]], Iterable[Any]] = field(default=iter, metadata=PROGRESS)

    grammars_: list[Grammar] = field(init=False, repr=False, compare=False)

    def validate(self) -> None:
        """Raise an InputError if a parameter has a value that it may not have.

        >>> from lpcfg import PCFGEstimator
        >>> NoisyModels(PCFGEstimator()).validate()
        Traceback (most recent call last):
        lpcfg.errors.InputError: noise goes with the estimators spectral, clustering and pivot
        """
        projecting(self.estimator)
        super().validate()

    def noises(self) -> list[Noise]:
        """The noise of each model.

        >>> from lpcfg import ClusteringEstimator
        >>> family = NoisyModels(ClusteringEstimator(), kinds=("add", "mul"), models=3)
        >>> [str(noise) for noise in family.noises()]
        ['add-0.05', 'mul-0.05', 'add-0.1']
        """
        kinds, sigmas = len(self.kinds), len(self.sigmas)
        # With each turn of trees and features, these meet another noise.
        turns = [seed % self.variants + seed // self.variants for seed in range(self.models)]
        return [
            Noise(self.kinds[turn % kinds], self.sigmas[turn // kinds % sigmas], seed)
            for seed, turn in enumerate(turns)
        ]

    @property
    def variants(self) -> int:
        """The number of pairs of a transform and a feature set.

        >>> from lpcfg import ClusteringEstimator
        >>> NoisyModels(ClusteringEstimator(), features=("compact", "full")).variants
        2
        """
        return max(1, len(self.transforms)) * max(1, len(self.features))

    def members(self) -> list[NoisyMember]:
        """The estimator of each model, and its transform if that is not the treebank's.

        >>> from lpcfg import ClusteringEstimator
        >>> sides = [Transform(vertical=0, binarize=side) for side in ("left", "right")]
        >>> family = NoisyModels(ClusteringEstimator(), models=3, transforms=sides)
        >>> [(str(own.estimator.noise), own.transform.binarize) for own in family.members()]
        [('dropout-0.05', 'left'), ('add-0.05', 'right'), ('add-0.05', 'left')]
        """
        self.validate()
        quiet = replace(self.estimator, progress=iter)
        transforms: Sequence[Transform | None] = self.transforms or (None,)
        variants = product(self.features or (self.estimator.features,), transforms)
        return [
            NoisyMember(replace(quiet, noise=noise, features=features), transform)
            for noise, (features, transform) in zip(self.noises(), cycle(variants), strict=False)
        ]

    def _treebank(self, trees: Trees) -> Treebank:
        return as_treebank(trees, self.estimator.default_transform)

    def _fit(self, treebank: Treebank) -> None:
        members = self.members()
        found: dict[int, Grammar] = {}
        self._estimate(_treebanks(treebank, members), members, found.__setitem__)
        self.grammars_ = [found[number] for number in range(len(members))]

    def parser(self) -> BaseParser:
        """A parser with all grammars, combined by the means of their posteriors.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> family = NoisyModels(ClusteringEstimator(), models=2).fit([Tree("NN", "rain")])
        >>> print(family.parser().parse(words=["rain"]))
        (ROOT (NN rain))
        """
        from lpcfg.parsing.ensemble import joint_parser

        self._check_fitted("grammars_")
        return joint_parser(self.grammars_, n_jobs=self.n_jobs)

    def train(
        self,
        treebank: Treebank,
        folder: str | PathLike[str],
        *,
        report: Callable[[str], object] = lambda _: None,
    ) -> list[Path]:
        """Save the models to a folder, and return their files.

        A model that is there already, of the same treebank and with the same options, is not
        trained again, so that training may be interrupted and taken up later. ``report`` gets
        messages about models that differ from what is asked for.

        >>> import tempfile
        >>> from lpcfg import ClusteringEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = NoisyModels(ClusteringEstimator(), models=2).train(treebank, folder)
        ...     other = NoisyModels(ClusteringEstimator(rank=8), models=2)
        ...     _ = other.train(treebank, folder, report=lambda text: print(text.split(": ")[1]))
        2 models are trained again with other options (rank)
        >>> [file.name for file in files]
        ['00-dropout-0.05.lpcfg', '01-add-0.05.lpcfg']
        """
        members = self.members()
        banks = _treebanks(treebank, members)
        Path(folder).mkdir(exist_ok=True)
        width = max(2, len(str(len(members) - 1)))
        files = [
            Path(folder, f"{number:0{width}}-{member.estimator.noise}.lpcfg")
            for number, member in enumerate(members)
        ]
        differences = [
            _differences(file, member.estimator.provenance(banks[member.transform]))
            for member, file in zip(members, files, strict=True)
        ]
        if changed := [options for options in differences if options]:
            names = ", ".join(sorted(set().union(*changed)))
            report(
                f"{folder}: {len(changed)} models are trained again with other options ({names})"
            )
        present = [file.name for file in Path(folder).glob("[!.]*") if is_model_file(file)]
        if others := sorted(set(present) - {file.name for file in files}):
            report(f"{folder}: other models that are here will be used too: {', '.join(others)}")
        missing = [number for number, options in enumerate(differences) if options != set()]
        targets = [files[number] for number in missing]
        # What is estimated is saved by the same thread, so that nothing is kept longer than needed.
        self._estimate(
            banks,
            [members[number] for number in missing],
            lambda number, grammar: save(grammar, targets[number]),
        )
        return files

    def _estimate(
        self,
        banks: Mapping[Transform | None, Treebank],
        members: Sequence[NoisyMember],
        finish: Callable[[int, Grammar], object],
    ) -> None:
        """Estimate in parallel, and finish each grammar, given its number."""
        stopped = Event()

        def unless_stopped_now() -> None:
            if stopped.is_set():
                raise CancelledError

        def unless_stopped(items: Iterable[int]) -> Iterator[int]:
            for item in items:
                unless_stopped_now()
                yield item

        def estimate(number: int) -> None:
            estimator = replace(members[number].estimator, progress=unless_stopped)
            bank = banks[members[number].transform]

            def project() -> ProjectedTreebank:
                # A thread that has waited for another one, which was stopped, must not go on.
                unless_stopped_now()
                return estimator.project(bank)

            with shared[variants[number]].used(project) as projected:
                grammar = estimator.estimate_projected(projected)
            finish(number, grammar)

        numbers: dict[tuple[Transform | None, str | FeatureSet], int] = {}
        variants = [
            numbers.setdefault((own.transform, own.estimator.features), len(numbers))
            for own in members
        ]
        shared = [_Shared(variants.count(variant)) for variant in range(len(numbers))]
        jobs = thread_count(self.n_jobs)
        # Threads seldom wait for each other's projections, and these are not there all at once.
        order = sorted(range(len(members)), key=lambda number: (variants[number] // jobs, number))
        # Threads set and reset the number of BLAS threads; this is what they reset it to.
        with one_thread(), ThreadPoolExecutor(jobs) as pool:
            try:
                results = pool.map(estimate, order)
                for _ in self.progress(range(len(order))):
                    next(results)
            finally:
                # After Ctrl-C or an error, the pool would wait for all other models.
                stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)


def _treebanks(
    treebank: Treebank, members: Iterable[NoisyMember]
) -> dict[Transform | None, Treebank]:
    """The treebank in each transform that members learn from."""
    return {
        own: treebank if own is None else treebank.transformed(own)
        for own in dict.fromkeys(member.transform for member in members)
    }


class _Shared:
    """What several threads use: the first of them makes it, and after the last it is gone."""

    def __init__(self, uses: int) -> None:
        self._lock = Lock()
        self._left = uses
        self._made: ProjectedTreebank | None = None

    @contextmanager
    def used(self, make: Callable[[], ProjectedTreebank]) -> Iterator[ProjectedTreebank]:
        with self._lock:
            made = self._made = self._made or make()
        yield made
        with self._lock:
            self._left -= 1
            if not self._left:
                self._made = None


def _differences(file: Path, provenance: dict[str, Any]) -> set[str] | None:
    """The options by which the model in a file differs; None if there is no such file."""
    try:
        found = examine(file).provenance
    except (FileNotFoundError, ModelFileError):
        return None
    # In JSON, lists and tuples are the same.
    wanted = json.loads(json.dumps(provenance))
    return {name for name in found | wanted if found.get(name) != wanted.get(name)}
