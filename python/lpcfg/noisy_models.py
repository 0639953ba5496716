"""A family of models that differ by noise, to be used together (Narayan & Cohen 2015)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from threading import Event
from typing import Any, Self, TypeVar

from lpcfg.errors import InputError, ModelFileError
from lpcfg.grammar import Grammar
from lpcfg.grammar_file import is_model_file, load_provenance, save
from lpcfg.noise import NOISES, Noise, NoiseKind
from lpcfg.projected_treebank import ProjectingEstimator
from lpcfg.threads import one_thread, thread_count
from lpcfg.treebank import Treebank

__all__ = ["NoisyModels", "projecting"]

Model = TypeVar("Model")


def projecting(estimator: object) -> ProjectingEstimator:
    """The estimator, if noise goes with it.

    >>> from lpcfg import ClusteringEstimator
    >>> projecting(ClusteringEstimator()).noise
    """
    if not isinstance(estimator, ProjectingEstimator):
        raise InputError("noise goes with the estimators spectral, clustering and pivot")
    return estimator


@dataclass
class NoisyModels:
    """Models of one treebank by one estimator, each with noise of its own.

    ``kinds``, ``sigmas``: models take turns with all kinds, and then with all amounts, of noise.
    ``models``: how many there are.
    ``n_jobs``: how many are estimated at the same time, -1 for one on each core; the result does
    not depend on it. The PCFG, the features and their projections are shared by all.

    >>> from lpcfg import ClusteringEstimator, Parser, embedded_trees
    >>> treebank = Treebank.from_trees(embedded_trees())
    >>> estimator = ClusteringEstimator(states=(2, 2), few=5, many=50, restarts=1)
    >>> family = NoisyModels(estimator, models=3).fit(treebank)
    >>> print(Parser(family.grammars_).parse(words="The dog saw him .".split()))
    (ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP him))) (. .)))
    """

    estimator: ProjectingEstimator
    kinds: Sequence[NoiseKind] = NOISES
    sigmas: Sequence[float] = (0.05, 0.1, 0.15, 0.2)
    models: int = 20
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
        return [
            Noise(self.kinds[seed % kinds], self.sigmas[seed // kinds % sigmas], seed)
            for seed in range(self.models)
        ]

    def fit(self, treebank: Treebank) -> Self:
        """Estimate :attr:`grammars_` from a treebank.

        >>> from lpcfg import ClusteringEstimator, Tree
        >>> treebank = Treebank.from_trees([Tree("NN", "rain")])
        >>> len(NoisyModels(ClusteringEstimator(), models=2).fit(treebank).grammars_)
        2
        """
        self.grammars_ = list(self._estimate(treebank, self._members(), lambda grammar, _: grammar))
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
        members = self._members()
        Path(folder).mkdir(exist_ok=True)
        width = max(2, len(str(len(members) - 1)))
        files = [
            Path(folder, f"{number:0{width}}-{member.noise}.lpcfg")
            for number, member in enumerate(members)
        ]
        differences = [
            _differences(file, member.provenance(treebank))
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
        for _ in self._estimate(
            treebank, [members[number] for number in missing], lambda g, n: save(g, targets[n])
        ):
            pass
        return files

    def _members(self) -> list[ProjectingEstimator]:
        quiet = replace(projecting(self.estimator), progress=iter)
        return [replace(quiet, noise=noise) for noise in self.noises()]

    def _estimate(
        self,
        treebank: Treebank,
        members: Sequence[ProjectingEstimator],
        finish: Callable[[Grammar, int], Model],
    ) -> Iterator[Model]:
        """Estimate in parallel, finish each grammar, given its number, and yield in order."""
        if not members:
            return
        projected = self.estimator.project(treebank)
        stopped = Event()

        def unless_stopped(items: Iterable[int]) -> Iterator[int]:
            for item in items:
                if stopped.is_set():
                    raise CancelledError
                yield item

        def estimate(number: int) -> Model:
            member = replace(members[number], progress=unless_stopped)
            return finish(member.estimate(projected), number)

        # Threads set and reset the number of BLAS threads; this is what they reset it to.
        with one_thread(), ThreadPoolExecutor(thread_count(self.n_jobs)) as pool:
            try:
                results = pool.map(estimate, range(len(members)))
                for _ in self.progress(range(len(members))):
                    yield next(results)
            finally:
                # After Ctrl-C or an error, the pool would wait for all other models.
                stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)


def _differences(file: Path, provenance: dict[str, Any]) -> set[str] | None:
    """The options by which the model in a file differs; None if there is no such file."""
    try:
        found = load_provenance(file)
    except (FileNotFoundError, ModelFileError):
        return None
    # In JSON, lists and tuples are the same.
    wanted = json.loads(json.dumps(provenance))
    return {name for name in found | wanted if found.get(name) != wanted.get(name)}
