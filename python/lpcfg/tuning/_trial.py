"""One trial of a search: estimate a grammar, and parse development sentences part by part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lpcfg.evaluation.parser_scores import evaluate_parser
from lpcfg.evaluation.scores import Scores
from lpcfg.experiments.learning import count_parameters
from lpcfg.parsing.charts import ChartCache
from lpcfg.parsing.parser import Parser
from lpcfg.profiling import Profile
from lpcfg.treebank.tree import Tree
from lpcfg.treebank.treebank import Treebank
from lpcfg.tuning.grammars import GrammarCache
from lpcfg.tuning.space import SearchSpace

if TYPE_CHECKING:
    from optuna import Trial

__all__ = ["TrialRunner"]

#: The development sentences are parsed in this number of parts; a trial may end after each.
PARTS = 4


class TrialRunner:
    """Runs the trials of a search in this process; they share decompositions and pruned charts."""

    def __init__(
        self, space: SearchSpace, treebank: Treebank, gold: Sequence[Tree], *, n_jobs: int
    ) -> None:
        self.space = space
        self.grammars = GrammarCache(treebank, space.largest_models())
        self.charts = ChartCache()
        # Each part has sentences from everywhere, as treebanks are in the order of documents.
        parts = min(PARTS, len(gold))
        self.parts = [gold[part::parts] for part in range(parts)]
        self.n_jobs = n_jobs

    def run(self, trial: Trial) -> float:
        """F1 on the development sentences; raises TrialPruned if the first parts are hopeless."""
        from optuna import TrialPruned

        estimator = self.space.suggest(trial)
        with Profile() as training:
            grammar = self.grammars.grammar(estimator)
        parser = Parser(grammar, n_jobs=self.n_jobs, charts=self.charts)
        trial.set_user_attr("parameters", count_parameters(grammar))
        trial.set_user_attr("training CPU s", training.total.cpu)
        scores: list[Scores] = []
        parsing, spent = 0.0, training.total.cpu
        for step, gold in enumerate(self.parts):
            with Profile() as profile:
                scores.append(evaluate_parser(parser, gold).scores)
            cpu = profile.total.cpu
            spent += cpu
            # Charts from the cache count with the time that they took.
            parsing += cpu - profile.phases["scoring"].cpu + profile.reused
            total = sum((each.total for each in scores[1:]), start=scores[0].total)
            trial.set_user_attr("trial CPU s", spent)
            if step + 1 < len(self.parts):
                trial.report(total.f1, step)
                if trial.should_prune():
                    raise TrialPruned
        trial.set_user_attr("exact", total.exact_match)
        trial.set_user_attr("sentences / CPU s", total.sentences / max(parsing, math.ulp(1)))
        return total.f1
