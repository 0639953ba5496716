"""The search for hyper-parameters: trials of optuna in a folder that several processes share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lpcfg._options import check_positive
from lpcfg._threads import thread_count
from lpcfg.errors import InputError, MissingPackageError
from lpcfg.estimators.base import Estimator
from lpcfg.experiments.trials import Row, digest
from lpcfg.jobs import backend_is_chosen, run_jobs
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank
from lpcfg.tuning._trial import STEPS, Trial, TrialInput, TrialResult, TrialRunner, run_trial
from lpcfg.tuning.space import Choice, Range, SearchSpace

if TYPE_CHECKING:
    import optuna
    from optuna import Study

__all__ = ["JOURNAL", "Tuning", "open_study", "tune"]

#: The file of a folder that keeps all trials.
JOURNAL = "trials.log"

#: The number of random trials before the search learns from what it has found.
_RANDOM_TRIALS = 10

#: A trial is stopped if this percentage of the others, at most, were worse after as many sentences.
_WORSE = 33

#: The user attribute of a study with the digest of everything that scores depend on.
_INPUTS = "inputs"


@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    ``estimator``: the estimator with the best parameters, not fitted; a ``Transformed`` one if the
    tree transform was searched.
    ``f1``: its F1 on the development sentences, in percent.
    ``rows``: all trials that were completed, the best first: their parameters and what was
    measured.
    ``stopped``: the number of trials that were stopped early.
    """

    estimator: Estimator
    f1: float
    rows: list[Row] = field(repr=False)
    stopped: int


def open_study(folder: str | PathLike[str]) -> Study:
    """The study of optuna in a folder; it is made if there is none."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # A process that was killed while it wrote leaves its lock, which others remove after half a
    # minute. The default lock is a link to the path as it is given: a relative one leads nowhere,
    # and the search would wait forever.
    path = str(Path(folder, JOURNAL).absolute())
    journal = JournalFileBackend(path, lock_obj=JournalFileOpenLock(path))
    return optuna.create_study(
        study_name="lpcfg",
        storage=JournalStorage(journal),
        direction="maximize",
        load_if_exists=True,
    )


def tune(
    estimator: Estimator,
    treebank: Treebank,
    gold: Sequence[Tree],
    folder: str | PathLike[str],
    *,
    search: Mapping[str, Range | Choice] | None = None,
    fixed: Iterable[str] = (),
    trials: int = 50,
    timeout: float | None = None,
    seed: int = 0,
    workers: int = 1,
    n_jobs: int = -1,
    progress: Callable[[Iterable[Row]], Iterable[Row]] = iter,
) -> Tuning:
    """Search for the parameters of an estimator with the highest F1 on development sentences.

    The first trial has the parameters of ``estimator``, the next are random, and then a
    tree-structured Parzen estimator proposes parameters from the trials so far. A trial is stopped
    if two thirds of the others had a higher F1 on the first sentences. Decompositions and pruned
    charts are computed once and shared by all trials, so that a trial of the spectral estimator
    takes a fraction of the time of training and parsing. This needs optuna.

    - ``treebank``: the training trees.
    - ``gold``: the development trees, cleaned in the same way.
    - ``folder``: where trials are stored. A search that was interrupted goes on from there, and
      several searches in different processes can share the folder.
    - ``search``: the values to try, by parameter, in place of the declared ones. ``binarize``,
      ``vertical`` and ``horizontal`` of the tree transform are searched only if they are named.
    - ``fixed``: parameters that keep the values that they have in ``estimator``.
    - ``trials``: the number of trials, together with those that the folder already has.
    - ``timeout``: the number of seconds after which no more trials are begun.
    - ``seed``: of the proposals. With one worker, the same seed gives the same trials.
    - ``workers``: the number of processes. Inside ``joblib.parallel_config`` trials are run by its
      backend instead, for instance by the workers of a dask cluster.
    - ``n_jobs``: the number of threads of all workers together, -1 for one on each core.
    - ``progress``: gets an iterable of the trials as they end, and returns it.

    >>> import tempfile
    >>> from lpcfg import SpectralEstimator, embedded_trees
    >>> trees = embedded_trees()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = tune(
    ...         SpectralEstimator(), Treebank.from_trees(trees[:150]), trees[150:], folder, trials=3
    ...     )
    >>> len(result.rows) + result.stopped
    3
    """
    check_positive("trials", trials)
    check_positive("workers", workers)
    if not gold:
        raise InputError("there are no development trees", argument="gold")
    space = SearchSpace.of(estimator, search, fixed=tuple(fixed), transform=treebank.transform)
    _check_optuna()
    Path(folder).mkdir(exist_ok=True)
    study = open_study(folder)
    inputs = digest(estimator, space.values, treebank.digest, list(map(str, gold)))
    if study.user_attrs.setdefault(_INPUTS, inputs) != inputs:
        raise InputError(
            "its trials are of another treebank, estimator or search space; name another folder",
            path=folder,
        )
    study.set_user_attr(_INPUTS, inputs)
    if not study.trials:
        study.enqueue_trial(space.defaults())
    elsewhere = backend_is_chosen()
    threads = None if elsewhere else max(1, thread_count(n_jobs) // workers)
    common = TrialInput(treebank, list(gold), space.largest_models(), threads)
    search_trials = _Search(study, space, _Limits(trials, timeout, seed))
    for _ in progress(search_trials.run(common, 1 if elsewhere else workers)):
        pass
    return collect(study, space)


@dataclass(frozen=True)
class _Limits:
    """When a worker stops, and the seed of its proposals."""

    trials: int
    timeout: float | None
    seed: int
    started: float = field(default_factory=time.time)

    def reached(self, study: Study) -> bool:
        """Whether no other trial should begin."""
        if self.timeout is not None and time.time() - self.started > self.timeout:
            return True
        started = datetime.fromtimestamp(self.started)
        begun = sum(
            trial.state.name in {"COMPLETE", "PRUNED"}
            # A trial that has been running for longer is left over from a worker that was killed.
            or (trial.state.name == "RUNNING" and (trial.datetime_start or started) >= started)
            for trial in study.get_trials(deepcopy=False)
        )
        return begun >= self.trials


class _Search:
    """Asks for trials, has them run, and stores their results.

    Only this process knows the folder. A trial may run on another machine, so it gets the bounds
    below which it stops when it begins.
    """

    def __init__(self, study: Study, space: SearchSpace, limits: _Limits) -> None:
        self._study = study
        self._space = space
        self._limits = limits
        self._running: dict[int, optuna.Trial] = {}

    def run(self, common: TrialInput, workers: int) -> Iterator[Row]:
        """Run trials until a limit is reached, and yield each when it ends."""
        from optuna.trial import TrialState

        try:
            for number, result in self._results(common, workers):
                trial = self._running.pop(number)
                yield self._store(trial, result)
        finally:
            for trial in self._running.values():
                self._study.tell(trial, state=TrialState.FAIL)

    def _results(self, common: TrialInput, workers: int) -> Iterator[tuple[int, TrialResult]]:
        """The results of trials with their numbers, as they come."""
        if backend_is_chosen():
            yield from run_jobs(run_trial, self._trials(), common.shared(), ahead=1)
        elif workers > 1:
            import joblib

            with joblib.parallel_config("loky", n_jobs=workers):
                yield from run_jobs(run_trial, self._trials(), common.shared(), ahead=1)
        else:
            yield from enumerate(map(TrialRunner(common).run, self._trials()))

    def _trials(self) -> Iterator[Trial]:
        """Trials to run, until a limit is reached."""
        from optuna.samplers import TPESampler

        for number in count():
            if self._limits.reached(self._study):
                return
            trial = self._study.ask()
            # A generator for each trial: proposals depend neither on interruptions nor on workers.
            seeds = np.random.SeedSequence([self._limits.seed, trial.number]).generate_state(1)
            self._study.sampler = TPESampler(
                n_startup_trials=_RANDOM_TRIALS,
                seed=int(seeds[0]),
                multivariate=False,
                constant_liar=True,
            )
            self._running[number] = trial
            yield Trial(self._space.suggest(trial), _bounds(self._study))

    def _store(self, trial: optuna.Trial, result: TrialResult) -> Row:
        from optuna.trial import TrialState

        for name, value in result.measured.items():
            trial.set_user_attr(name, value)
        for step, f1 in enumerate(result.f1):
            trial.report(f1, step)
        if not result.complete:
            self._study.tell(trial, state=TrialState.PRUNED)
            return {"trial": trial.number}
        self._study.tell(trial, result.f1[-1])
        return {"trial": trial.number, "F1": result.f1[-1]}


def _bounds(study: Study) -> tuple[float, ...]:
    """The F1 that two thirds of the completed trials had at least, after each step."""
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len(complete) < _RANDOM_TRIALS:
        return (-math.inf,) * STEPS
    reached = [
        [trial.intermediate_values[step] for trial in complete if step in trial.intermediate_values]
        for step in range(STEPS)
    ]
    return tuple(float(np.percentile(f1, _WORSE)) if f1 else -math.inf for f1 in reached)


def collect(study: Study, space: SearchSpace) -> Tuning:
    """The result of the trials so far."""
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if not complete:
        raise InputError("no trial was completed in the time; allow more", argument="timeout")
    # Of equally good trials the first, which may have the defaults.
    ranked = sorted(complete, key=lambda trial: (-(trial.value or 0.0), trial.number))
    rows = [
        {"trial": trial.number, "F1": trial.value, **space.used(trial.params), **trial.user_attrs}
        for trial in ranked
    ]
    stopped = study.get_trials(deepcopy=False, states=[TrialState.PRUNED])
    return Tuning(space.chosen(ranked[0].params), rows[0]["F1"], rows, len(stopped))


def _check_optuna() -> None:
    from importlib.util import find_spec

    if find_spec("optuna") is None:
        raise MissingPackageError("tuning", package="optuna", extra="tune")
