"""One trial of a search: estimate a grammar, and parse development sentences part by part."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lpcfg.estimators.base import Estimator
from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.evaluation.scores import Scores
from lpcfg.experiments.learning import count_parameters
from lpcfg.jobs import Shared, worker_threads
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.parser import Parser
from lpcfg.profiling import Profile
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank
from lpcfg.tuning.grammars import GrammarCache

__all__ = ["STEPS", "Trial", "TrialInput", "TrialResult", "TrialRunner", "run_trial"]

#: The development sentences are parsed in this number of parts; a trial may end after each.
STEPS = 4


class Trial(NamedTuple):
    """What is tried: an estimator, and the F1 below which the trial stops after each step."""

    estimator: Estimator
    least: tuple[float, ...]


class TrialResult(NamedTuple):
    """What a trial has measured.

    ``f1``: after each step, on the sentences so far; fewer if the trial was stopped.
    ``measured``: the other figures, by name.
    ``complete``: whether all sentences were parsed.
    """

    f1: tuple[float, ...]
    measured: Mapping[str, float]
    complete: bool


class TrialInput(NamedTuple):
    """What all trials of a search have in common.

    ``largest``: see :class:`lpcfg.tuning.grammars.GrammarCache`.
    ``threads``: the number of threads of a process; None for those of a worker.
    """

    treebank: Treebank
    gold: Sequence[Tree]
    largest: Mapping[str, Any]
    threads: int | None

    def shared(self) -> Shared[TrialRunner]:
        """A runner in each worker."""
        return Shared(_load_runner, pickle.dumps(self))


class TrialRunner:
    """Runs trials of a search in this process; they share decompositions and pruned charts."""

    def __init__(self, common: TrialInput) -> None:
        self.grammars = GrammarCache(common.treebank, common.largest)
        self.charts = ChartCache()
        # Each part has sentences from everywhere, as treebanks are in the order of documents.
        steps = min(STEPS, len(common.gold))
        self.parts = [common.gold[part::steps] for part in range(steps)]
        self.threads = worker_threads() if common.threads is None else common.threads

    def run(self, trial: Trial) -> TrialResult:
        """Measure F1 on the development sentences, unless it is hopeless on the first parts."""
        with Profile() as training:
            grammar = self.grammars.grammar(trial.estimator)
        parser = Parser(grammar, n_jobs=self.threads, charts=self.charts)
        measured: dict[str, float] = {
            "parameters": count_parameters(grammar),
            "training CPU s": training.total.cpu,
        }
        scores: list[Scores] = []
        reached: list[float] = []
        parsing, spent = 0.0, training.total.cpu
        for gold in self.parts:
            with Profile() as profile:
                scores.append(evaluate_parser(parser, gold).scores)
            cpu = profile.total.cpu
            spent += cpu
            # Charts from the cache count with the time that they took.
            parsing += cpu - profile.phases["scoring"].cpu + profile.reused
            total = sum((each.total for each in scores[1:]), start=scores[0].total)
            measured["trial CPU s"] = spent
            reached.append(total.f1)
            step = len(reached)
            if step < len(self.parts) and max(reached) < trial.least[step - 1]:
                return TrialResult(tuple(reached), measured, complete=False)
        measured["exact"] = total.exact_match
        measured["sentences / CPU s"] = total.sentences / max(parsing, math.ulp(1))
        return TrialResult(tuple(reached), measured, complete=True)


def run_trial(runner: TrialRunner, trial: Trial) -> TrialResult:
    """Run a trial, in a worker."""
    return runner.run(trial)


def _load_runner(payload: bytes) -> TrialRunner:
    common: TrialInput = pickle.loads(payload)
    return TrialRunner(common)
