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
from lpcfg.estimators._member_jobs import run_members
from lpcfg.estimators.base import BaseEstimator, Estimator
from lpcfg.estimators.common_parameters import N_JOBS, PROGRESS
from lpcfg.estimators.features.feature_sets import FEATURE_SETS, FeatureSet
from lpcfg.estimators.features.noise import NOISE_KINDS, Noise, NoiseKind
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.estimators.transformed import Transformed
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import examine, save
from lpcfg.io.model_file import is_model_file
from lpcfg.jobs import backend_is_chosen
from lpcfg.parameters.constraints import AnyOf, Instance, Interval, Options, Several
from lpcfg.parameters.parameterized import parameter
from lpcfg.treebank.inputs import Trees, as_treebank
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.parsing.base import BaseParser

__all__ = ["NoisyMember", "NoisyModels", "projecting"]


def projecting(estimator: object) -> ProjectingEstimator:
    """The estimator, if it supports noise; otherwise raise an InputError.

    >>> from lpcfg import ClusteringEstimator
    >>> projecting(ClusteringEstimator()).noise
    """
    if not isinstance(estimator, ProjectingEstimator):
        raise InputError("only spectral, clustering and pivot support noise", argument="estimator")
    return estimator


class NoisyMember(NamedTuple):
    """The estimator of one model with its noise, and its tree transform (None: the treebank's).

    >>> from lpcfg import ClusteringEstimator
    >>> NoisyMember(ClusteringEstimator()).transform
    """

    estimator: ProjectingEstimator
    transform: Transform | None = None

    def alone(self) -> Estimator:
        """An estimator of this model alone.

        >>> from lpcfg import ClusteringEstimator
        >>> type(NoisyMember(ClusteringEstimator(), Transform(binarize="left")).alone()).__name__
        'Transformed'
        """
        if self.transform is None:
            return self.estimator
        return Transformed(self.estimator, self.transform)


@dataclass(repr=False)
class NoisyModels(BaseEstimator):
    """An ensemble of models of one treebank by one estimator, each with different noise.

    Models cycle through the feature sets and transforms, and through the kinds and the amounts of
    noise. Models with the same transform and features share the PCFG and the projections.

    Models are estimated by threads of this process or, inside ``joblib.parallel_config``, by the
    processes or the cluster of its backend; the grammars are the same.

    After ``fit``, ``grammars_`` are the grammars.

    >>> from lpcfg import ClusteringEstimator, embedded_trees
    >>> estimator = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50, restarts=1)
    >>> family = NoisyModels(estimator, models=3).fit(embedded_trees())
    >>> print(family.parser().parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    estimator: ProjectingEstimator = field(
        metadata=parameter(
            Instance(ProjectingEstimator), "the estimator of each model", option=False, nested=True
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
            "the amounts of noise; with larger amounts, models differ more, and each is worse",
            option=False,
        ),
    )
    literal: bool = field(
        default=False,
        metadata=parameter(
            Instance(bool),
            "noise as literally in the paper, whatever the scale of the features",
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
            "tree transforms, so that models differ more; by default the transform of the treebank",
            option=False,
        ),
    )
    features: Sequence[str | FeatureSet] = field(
        default=(),
        metadata=parameter(
            Several(AnyOf(Options(*FEATURE_SETS), Instance(FeatureSet))),
            "feature sets, so that models differ more; by default the features of the estimator",
            option=False,
            provenance=lambda several: [FeatureSet.named(each).provenance for each in several],
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
        lpcfg.errors.InputError: estimator: only spectral, clustering and pivot support noise
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
        # In each cycle through transforms and features, these are paired with another noise.
        turns = [seed % self.variants + seed // self.variants for seed in range(self.models)]
        return [
            Noise(self.kinds[turn % kinds], self.sigmas[turn // kinds % sigmas], seed, self.literal)
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
        """The estimator of each model, and its transform if it differs from the treebank's.

        >>> from lpcfg import ClusteringEstimator
        >>> sides = [Transform(vertical=0, binarize=side) for side in ("left", "right")]
        >>> family = NoisyModels(ClusteringEstimator(), models=3, transforms=sides)
        >>> [(str(model.estimator.noise), model.transform.binarize) for model in family.members()]
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
        grammars: dict[int, Grammar] = {}
        self._estimate(_treebanks(treebank, members), members, grammars.__setitem__)
        self.grammars_ = [grammars[number] for number in range(len(members))]

    def parser(self) -> BaseParser:
        """An ensemble parser of all grammars, which averages their posteriors.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> family = NoisyModels(ClusteringEstimator(), models=2).fit([Tree("NN", "rain")])
        >>> print(family.parser().parse(words=["rain"]))
        (ROOT (NN rain))
        """
        from lpcfg.parsing.joint_parser import joint_parser

        self._check_fitted("grammars_")
        return joint_parser(self.grammars_, n_jobs=self.n_jobs)

    def train(
        self,
        treebank: Treebank,
        folder: str | PathLike[str],
        *,
        report: Callable[[str], object] = lambda _: None,
    ) -> list[Path]:
        """Train the models, save them to a folder, and return their files.

        A model that the folder already has, of the same treebank and with the same options, is not
        trained again, so that training may be interrupted and resumed. ``report`` gets messages
        about models in the folder that have other options.

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
        # The thread that estimates a grammar also saves it, so that no grammar is kept in memory.
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
        """Estimate in parallel, and call ``finish`` with the number and the grammar of each."""
        if backend_is_chosen():
            estimated = run_members(banks, members)
            for (number, grammar), _ in zip(
                estimated, self.progress(range(len(members))), strict=False
            ):
                finish(number, grammar)
            return
        stopped = Event()

        def raise_if_stopped() -> None:
            if stopped.is_set():
                raise CancelledError

        def unless_stopped(items: Iterable[int]) -> Iterator[int]:
            for item in items:
                raise_if_stopped()
                yield item

        def estimate(number: int) -> None:
            estimator = replace(members[number].estimator, progress=unless_stopped)
            bank = banks[members[number].transform]

            def project() -> ProjectedTreebank:
                # A thread that waited for another one, which was stopped, must stop too.
                raise_if_stopped()
                return estimator.project(bank)

            with shared[variants[number]].used(project) as projected:
                grammar = estimator.estimate_projected(projected)
            finish(number, grammar)

        numbers: dict[tuple[Transform | None, str | FeatureSet], int] = {}
        variants = [
            numbers.setdefault((member.transform, member.estimator.features), len(numbers))
            for member in members
        ]
        shared = [_Shared(variants.count(variant)) for variant in range(len(numbers))]
        jobs = thread_count(self.n_jobs)
        # In this order, threads seldom wait for each other's projections, and few projections are
        # in memory at once.
        order = sorted(range(len(members)), key=lambda number: (variants[number] // jobs, number))
        # One thread for each model: BLAS threads would compete with those of the pool.
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
    """The treebank in the transform of each member."""
    return {
        transform: treebank if transform is None else treebank.transformed(transform)
        for transform in dict.fromkeys(member.transform for member in members)
    }


class _Shared:
    """Projections that several threads share: computed at the first use, dropped after the last."""

    def __init__(self, uses: int) -> None:
        self._lock = Lock()
        self._remaining_uses = uses
        self._projected: ProjectedTreebank | None = None

    @contextmanager
    def used(self, make: Callable[[], ProjectedTreebank]) -> Iterator[ProjectedTreebank]:
        with self._lock:
            projected = self._projected = self._projected or make()
        yield projected
        with self._lock:
            self._remaining_uses -= 1
            if not self._remaining_uses:
                self._projected = None


def _differences(file: Path, provenance: dict[str, Any]) -> set[str] | None:
    """The options by which the model in a file differs; None if there is no such file."""
    try:
        stored = examine(file).provenance
    except (FileNotFoundError, ModelFileError):
        return None
    # In JSON, lists and tuples are the same.
    wanted = json.loads(json.dumps(provenance))
    return {name for name in stored | wanted if stored.get(name) != wanted.get(name)}
