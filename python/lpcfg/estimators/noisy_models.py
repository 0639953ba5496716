"""A family of models that differ by noise, to be used together (Narayan & Cohen 2015)."""

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
from typing import Any, NamedTuple, Self

from lpcfg._threads import one_thread, thread_count
from lpcfg.errors import InputError, ModelFileError
from lpcfg.estimators.base import Estimator, Transformed
from lpcfg.estimators.features.feature_sets import FeatureSet
from lpcfg.estimators.features.noise import NOISE_KINDS, Noise, NoiseKind
from lpcfg.estimators.features.projected_treebank import ProjectedTreebank, ProjectingEstimator
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import examine, save
from lpcfg.io.model_file import is_model_file
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

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
    """The estimator of a model with its noise, and the form of its trees if that is its own.

    >>> from lpcfg import ClusteringEstimator
    >>> NoisyMember(ClusteringEstimator()).transform
    """

    estimator: ProjectingEstimator
    transform: Transform | None = None

    def alone(self) -> Estimator:
        """What learns this model by itself.

        >>> from lpcfg import ClusteringEstimator
        >>> type(NoisyMember(ClusteringEstimator(), Transform(binarize="left")).alone()).__name__
        'Transformed'
        """
        if self.transform is None:
            return self.estimator
        return Transformed(self.estimator, self.transform)


@dataclass
class NoisyModels:
    """Models of one treebank by one estimator, each with noise of its own.

    ``kinds``, ``sigmas``: models take turns with all kinds, and then with all amounts, of noise.
    ``models``: how many there are.
    ``transforms``, ``features``: what models take turns with too, so that they differ more: the
    form of the trees they learn from, and what nodes are compared by. By default the trees are
    those of the treebank, and the features those of the estimator.
    ``n_jobs``: how many are estimated at the same time, -1 for one on each core; the result does
    not depend on it. Models with the same trees and features share the PCFG and the projections.

    >>> from lpcfg import ClusteringEstimator, Parser, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> estimator = ClusteringEstimator(states=(2, 2), min_count=5, full_count=50, restarts=1)
    >>> family = NoisyModels(estimator, models=3).fit(treebank)
    >>> print(Parser(family.grammars_).parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    estimator: ProjectingEstimator
    kinds: Sequence[NoiseKind] = NOISE_KINDS
    sigmas: Sequence[float] = (0.05, 0.1, 0.15, 0.2)
    models: int = 20
    transforms: Sequence[Transform] = ()
    features: Sequence[str | FeatureSet] = ()
    n_jobs: int = -1
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter

    grammars_: list[Grammar] = field(init=False, repr=False, compare=False)

    def noises(self) -> list[Noise]:
        """The noise of each model.

        >>> from lpcfg import ClusteringEstimator
        >>> family = NoisyModels(ClusteringEstimator(), kinds=("add", "mul"), models=3)
        >>> [str(noise) for noise in family.noises()]
        ['add-0.05', 'mul-0.05', 'add-0.1']
        """
        if not self.kinds or not self.sigmas:
            raise InputError("noise needs at least one kind and one sigma")
        if self.models < 1:
            raise InputError(f"there must be at least 1 model, not {self.models}")
        kinds, sigmas = len(self.kinds), len(self.sigmas)
        # With each turn of trees and features, these meet another noise.
        turns = [seed % self.variants + seed // self.variants for seed in range(self.models)]
        return [
            Noise(self.kinds[turn % kinds], self.sigmas[turn // kinds % sigmas], seed)
            for seed, turn in enumerate(turns)
        ]

    @property
    def variants(self) -> int:
        """How many forms of trees with sets of features there are.

        >>> from lpcfg import ClusteringEstimator
        >>> NoisyModels(ClusteringEstimator(), features=("compact", "full")).variants
        2
        """
        return max(1, len(self.transforms)) * max(1, len(self.features))

    def members(self) -> list[NoisyMember]:
        """The estimator of each model, and the form of its trees if it is not the treebank's.

        >>> from lpcfg import ClusteringEstimator
        >>> sides = [Transform(vertical=0, binarize=side) for side in ("left", "right")]
        >>> family = NoisyModels(ClusteringEstimator(), models=3, transforms=sides)
        >>> [(str(own.estimator.noise), own.transform.binarize) for own in family.members()]
        [('dropout-0.05', 'left'), ('add-0.05', 'right'), ('add-0.05', 'left')]
        """
        quiet = replace(projecting(self.estimator), progress=iter)
        self._check_variants()
        forms: Sequence[Transform | None] = self.transforms or (None,)
        variants = product(self.features or (self.estimator.features,), forms)
        return [
            NoisyMember(replace(quiet, noise=noise, features=features), transform)
            for noise, (features, transform) in zip(self.noises(), cycle(variants), strict=False)
        ]

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammars_` from a treebank.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> len(NoisyModels(ClusteringEstimator(), models=2).fit(treebank).grammars_)
        2
        """
        members = self.members()
        found: dict[int, Grammar] = {}
        self._estimate(_forms(treebank, members), members, found.__setitem__)
        self.grammars_ = [found[number] for number in range(len(members))]
        return self

    def train(
        self,
        treebank: Treebank,
        folder: str | PathLike[str],
        *,
        say: Callable[[str], object] = lambda _: None,
    ) -> list[Path]:
        """Save the models to a folder, and return their files.

        A model that is there already, of the same treebank and with the same options, is not
        trained again, so that training may be interrupted and taken up later. ``say`` is told of
        models that differ from what is asked for.

        >>> import tempfile
        >>> from lpcfg import ClusteringEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = NoisyModels(ClusteringEstimator(), models=2).train(treebank, folder)
        ...     other = NoisyModels(ClusteringEstimator(rank=8), models=2)
        ...     _ = other.train(treebank, folder, say=lambda text: print(text.split(": ")[1]))
        2 models are trained again with other options (rank)
        >>> [file.name for file in files]
        ['00-dropout-0.05.lpcfg', '01-add-0.05.lpcfg']
        """
        members = self.members()
        banks = _forms(treebank, members)
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
            say(f"{folder}: {len(changed)} models are trained again with other options ({names})")
        present = [file.name for file in Path(folder).glob("[!.]*") if is_model_file(file)]
        if others := sorted(set(present) - {file.name for file in files}):
            say(f"{folder}: other models that are here will be used too: {', '.join(others)}")
        missing = [number for number, options in enumerate(differences) if options != set()]
        targets = [files[number] for number in missing]
        # What is estimated is saved by the same thread, so that nothing is kept longer than needed.
        self._estimate(
            banks,
            [members[number] for number in missing],
            lambda number, grammar: save(grammar, targets[number]),
        )
        return files

    def _check_variants(self) -> None:
        for name, kind in (("transforms", Transform), ("features", str | FeatureSet)):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise InputError(f"{name} must be a list, not {given!r}")
            for own in given:
                if not isinstance(own, kind):
                    raise InputError(f"{name} must not have {own!r} among them")
            if len(set(given)) < len(given):
                raise InputError(f"{name} must differ from each other")
        for own in self.features:
            FeatureSet.named(own)

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
                grammar = estimator.estimate(projected)
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


def _forms(treebank: Treebank, members: Iterable[NoisyMember]) -> dict[Transform | None, Treebank]:
    """The trees in each form that members learn from."""
    return {
        form: treebank if form is None else treebank.transformed(form)
        for form in dict.fromkeys(own.transform for own in members)
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
