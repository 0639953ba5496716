"""Weights of the members of an ensemble, learnt from trees (ensemble selection)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike

from lpcfg._options import check_positive
from lpcfg.errors import TreebankError
from lpcfg.evaluation.evalb_parameters import NEW, EvalbParameters, find_parameters
from lpcfg.evaluation.scores import evaluate
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.member_columns import MemberColumns
from lpcfg.treebank.tree import Tree

__all__ = ["EnsembleWeights", "learn_weights"]


@dataclass(frozen=True)
class EnsembleWeights:
    """The weights of the members of an ensemble, and F1 on the trees they were learnt from.

    ``weights``: how often each member was chosen; 0 for members that do not help.
    ``f1``: F1 with these weights.
    ``equal_f1``: F1 of all members with equal weights.
    ``member_f1``: F1 of each member alone.

    >>> EnsembleWeights((2, 1, 0), f1=87.4, equal_f1=87.0, member_f1=(85.3, 84.9, 80.1)).weights
    (2, 1, 0)
    """

    weights: tuple[int, ...]
    f1: float
    equal_f1: float
    member_f1: tuple[float, ...]


def learn_weights(
    ensemble: Ensemble,
    trees: Sequence[Tree],
    *,
    rounds: int = 12,
    parameters: EvalbParameters | str | PathLike[str] = NEW,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> EnsembleWeights:
    r"""Learn the weights of an ensemble's members from trees that no member was trained on.

    This is ensemble selection with replacement (Caruana et al. 2004): in each round, the member
    that raises F1 most, together with those that were chosen before, is chosen once more. The
    weights are those after the round with the highest F1, or equal ones if no round is better.
    Sentences are parsed once.

    - ``ensemble``: the members; their present weights do not matter.
    - ``trees``: gold trees, cleaned in the same way as the training trees of the members. A member
      that has learnt from them gets too much weight. Weights from less than a few hundred trees
      may be chance.
    - ``rounds``: the number of rounds (default 12), and the sum of the weights at most.
    - ``parameters``: EVALB parameters: the name of built-in ones, the path of a .prm file, or an
      object; see :func:`~lpcfg.evaluate`. By default those of new.prm.
    - ``progress``: wraps the iterator of rounds, for instance to show a progress bar.

    >>> from lpcfg import Grammar
    >>> right = Grammar.from_string("S -> X T \n T -> X X \n X -> 'go'")
    >>> left = Grammar.from_string("S -> T X \n T -> X X \n X -> 'go'")
    >>> gold = [Tree.from_string("(S (T (X go) (X go)) (X go))")]
    >>> learn_weights(Ensemble([right, left]), gold).weights
    (0, 1)
    """
    check_positive("rounds", rounds)
    if not trees:
        raise TreebankError("there are no trees to learn weights from")
    scorer = _Scorer(ensemble, trees, find_parameters(parameters))
    count = len(ensemble.members)
    single = [tuple(int(own == member) for own in range(count)) for member in range(count)]
    equal = (1,) * count
    chosen, best = (0,) * count, equal
    for _ in progress(range(rounds)):
        candidates = [tuple(map(sum, zip(chosen, one, strict=True))) for one in single]
        # The first of several equal ones, so that the result is always the same.
        chosen = max(candidates, key=scorer.f1)
        best = max(best, chosen, key=scorer.f1)
    return EnsembleWeights(
        best,
        f1=scorer.f1(best),
        equal_f1=scorer.f1(equal),
        member_f1=tuple(map(scorer.f1, single)),
    )


class _Scorer:
    """F1 of an ensemble by its weights, from what its members say of the sentences.

    One weight at least is above 0.
    """

    def __init__(
        self, ensemble: Ensemble, trees: Sequence[Tree], parameters: EvalbParameters
    ) -> None:
        self.ensemble = ensemble
        self.gold = trees
        self.parameters = parameters
        words = [tree.words() for tree in trees]
        self.batches: list[tuple[list[MemberColumns], list[list[str]]]] = []
        remaining = iter(words)
        for members in ensemble.member_columns(words):
            size = len(members[0].outcomes)
            self.batches.append((members, list(islice(remaining, size))))
        self.known: dict[tuple[int, ...], float] = {}

    def f1(self, weights: tuple[int, ...]) -> float:
        """F1 with these weights."""
        if weights not in self.known:
            trees = [
                tree
                for members, words in self.batches
                for tree in self.ensemble.trees(members, words, weights)
            ]
            self.known[weights] = evaluate(self.gold, trees, self.parameters).f1
        return self.known[weights]
