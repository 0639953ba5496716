"""The estimators of ``lpcfg train``, by name, with their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar, get_args

from lpcfg.cli._common import count, number, one_of, progress, say, several
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.clustering.estimator import ClusteringEstimator
from lpcfg.estimators.crf.estimator import CRFEstimator
from lpcfg.estimators.em.estimator import EMEstimator
from lpcfg.estimators.em.smoothing import Smoothing
from lpcfg.estimators.em.split_merge import SplitMergeEstimator
from lpcfg.estimators.pcfg import PCFGEstimator
from lpcfg.estimators.pivot.estimator import PivotEstimator
from lpcfg.estimators.spectral.estimator import SpectralCut, SpectralEstimator
from lpcfg.grammar.crf_weights import Loss
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load, save
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.treebank.transform import Transform

__all__ = [
    "ESTIMATORS",
    "add_estimators",
    "build_estimator",
    "default_vertical",
    "lexicon_options",
]

Number = TypeVar("Number", int, float)


class _Choice(NamedTuple):
    explanation: str
    build: Callable[[argparse.Namespace, LexiconOptions], Estimator]
    vertical: int = Transform().vertical
    takes_states: bool = True


def add_estimators(parser: argparse.ArgumentParser) -> None:
    """Declare ``--estimator`` and the options of all estimators.

    >>> parser = argparse.ArgumentParser()
    >>> add_estimators(parser)
    >>> parser.parse_args(["--estimator", "em"]).iterations
    """
    names = list(ESTIMATORS)
    parser.add_argument(
        "--estimator",
        choices=names,
        default=names[0],
        help="how to learn: "
        + "; ".join(f"{name}: {choice.explanation}" for name, choice in ESTIMATORS.items())
        + f" (default: {names[0]})",
    )
    _add_latent(parser.add_argument_group("latent states"))
    _add_projecting(parser.add_argument_group("latent states (spectral, clustering, pivot)"))
    _add_climbing(parser.add_argument_group("latent states (em, split-merge)"))
    _add_span(parser.add_argument_group("features of words at the borders of spans (span)"))


def lexicon_options(options: argparse.Namespace) -> LexiconOptions:
    """How the command line wants words to be dealt with.

    >>> lexicon_options(argparse.Namespace(word_classes="english", rare=3)).classes
    'english'
    """
    return LexiconOptions(classes=options.word_classes, rare=options.rare)


def build_estimator(options: argparse.Namespace) -> Estimator:
    """The estimator that was chosen.

    >>> parser = argparse.ArgumentParser()
    >>> add_estimators(parser)
    >>> options = parser.parse_args([])
    >>> options.word_classes, options.rare = "learnt", 5
    >>> build_estimator(options).lexicon.rare
    5
    """
    lexicon = lexicon_options(options)
    return ESTIMATORS[options.estimator].build(options, lexicon)


def default_vertical(options: argparse.Namespace) -> int:
    """How many ancestors trees should remember for the estimator that was chosen.

    >>> default_vertical(argparse.Namespace(estimator="split-merge"))
    0
    """
    return ESTIMATORS[options.estimator].vertical


def _add_latent(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--states",
        type=_pair(count),
        metavar="M[,M]",
        help="most states of a phrase and of a tag (default: "
        f"{','.join(map(str, SpectralCut().states))}; clustering: "
        f"{','.join(map(str, ClusteringEstimator().states))}; split-merge finds them itself)",
    )
    group.add_argument(
        "--smoothing",
        type=float,
        metavar="C",
        help=f"the constant of rule interpolation (default: {SpectralCut().smoothing}; "
        f"clustering: {ClusteringEstimator().smoothing})",
    )


def _add_projecting(group: argparse._ArgumentGroup) -> None:
    cut, clustering = SpectralCut(), ClusteringEstimator()
    group.add_argument(
        "--features",
        type=several(one_of("compact", "full")),
        default=[clustering.features],
        metavar="NAME[,NAME]",
        help="what nodes are compared by: compact, five features (Peng 2021), or full, fourteen "
        "(Cohen et al. 2013); with --noise both, in turns, if both are named "
        f"(default: {clustering.features})",
    )
    group.add_argument(
        "--ramp",
        type=_pair(count),
        metavar="FEW,MANY",
        help="symbols with up to FEW nodes have one state, from MANY on all of them "
        f"(default: {cut.min_count},{cut.full_count}; clustering: "
        f"{clustering.min_count},{clustering.full_count})",
    )
    group.add_argument(
        "--state-smoothing",
        type=_pair(number),
        default=(cut.word_smoothing, cut.class_smoothing),
        metavar="W[,C]",
        help="how many tokens a word, or a class of words, must be seen to count as much as what "
        "stands in for it where it tells of states "
        f"(default: {cut.word_smoothing:g},{cut.class_smoothing:g})",
    )
    group.add_argument(
        "--ridge",
        type=float,
        default=cut.ridge,
        metavar="R",
        help="spectral: how far weak directions of the states are shrunk, relative to the "
        f"strongest (default: {cut.ridge})",
    )
    group.add_argument(
        "--tolerance",
        type=float,
        default=cut.tolerance,
        metavar="T",
        help="spectral: directions weaker than this part of the strongest are dropped "
        f"(default: {cut.tolerance})",
    )
    group.add_argument(
        "--rank",
        type=count,
        default=clustering.rank,
        metavar="K",
        help="clustering: directions in which the inside, and the outside, of nodes is compared "
        f"(default: {clustering.rank})",
    )
    group.add_argument(
        "--restarts",
        type=count,
        metavar="N",
        help="clustering: the best of N runs of k-means is taken "
        f"(default: {clustering.restarts}; 1 with noise, where more do no better)",
    )
    group.add_argument(
        "--variance_scale",
        type=number,
        default=clustering.variance_scale,
        metavar="S",
        help="clustering: how wide clusters are, so that a node may be in several, relative to how "
        f"far nodes are spread; 0 for one each (default: {clustering.variance_scale:g})",
    )


def _add_climbing(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--iterations",
        type=count,
        metavar="N",
        help=f"iterations of em (default: {EMEstimator().iterations})",
    )
    group.add_argument(
        "--start",
        metavar="MODEL",
        help="a grammar with probabilities for em to go on from, trained on the same trees",
    )
    group.add_argument(
        "--held-out",
        type=float,
        default=EMEstimator().held_out,
        metavar="PART",
        help="the part of the trees that em does not learn from, but stops by (default: none)",
    )
    group.add_argument(
        "--cycles",
        type=count,
        default=SplitMergeEstimator().cycles,
        metavar="N",
        help=f"cycles of split-merge (default: {SplitMergeEstimator().cycles})",
    )
    group.add_argument(
        "--keep-cycles",
        action="store_true",
        help="save the grammar of each cycle of split-merge too, as MODEL with .1, .2, ... added",
    )


def _add_span(group: argparse._ArgumentGroup) -> None:
    default = CRFEstimator()
    group.add_argument(
        "--loss",
        choices=get_args(Loss),
        default=default.loss,
        help="what is made likely: trees, or labels of spans each by itself "
        f"(default: {default.loss})",
    )
    group.add_argument(
        "--epochs",
        type=count,
        default=default.epochs,
        metavar="N",
        help=f"how often all trees are seen (default: {default.epochs})",
    )


def _pair(parse: Callable[[str], Number]) -> Callable[[str], tuple[Number, Number]]:
    """A type of arguments: two numbers, or one for both."""

    def parse_pair(text: str) -> tuple[Number, Number]:
        numbers = [parse(part) for part in text.split(",")]
        if len(numbers) > 2:
            raise argparse.ArgumentTypeError(f"one or two numbers, not {text!r}")
        return numbers[0], numbers[-1]

    return parse_pair


def _given(value: Number | None, default: Number) -> Number:
    return default if value is None else value


def _smoothing(options: argparse.Namespace) -> Smoothing:
    return Smoothing(rules=_given(options.smoothing, Smoothing().rules), rare=options.rare)


def _pcfg(_: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    return PCFGEstimator(lexicon=lexicon)


def _spectral(options: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    default = SpectralCut()
    min_count, full_count = options.ramp or (default.min_count, default.full_count)
    return SpectralEstimator(
        features=options.features[0],
        cut=SpectralCut(
            states=options.states or default.states,
            smoothing=_given(options.smoothing, default.smoothing),
            ridge=options.ridge,
            tolerance=options.tolerance,
            min_count=min_count,
            full_count=full_count,
            word_smoothing=options.state_smoothing[0],
            class_smoothing=options.state_smoothing[1],
        ),
        lexicon=lexicon,
        random_state=options.seed,
        progress=lambda symbols: progress(symbols, options.quiet, unit=" symbols"),
    )


def _clustering(options: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    default = ClusteringEstimator()
    min_count, full_count = options.ramp or (default.min_count, default.full_count)
    return ClusteringEstimator(
        features=options.features[0],
        states=options.states or default.states,
        rank=options.rank,
        smoothing=_given(options.smoothing, default.smoothing),
        min_count=min_count,
        full_count=full_count,
        restarts=options.restarts or (1 if options.noise else default.restarts),
        variance_scale=options.variance_scale,
        word_smoothing=options.state_smoothing[0],
        class_smoothing=options.state_smoothing[1],
        lexicon=lexicon,
        random_state=options.seed,
        progress=lambda symbols: progress(symbols, options.quiet, unit=" symbols"),
    )


def _pivot(options: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    default = PivotEstimator()
    min_count, full_count = options.ramp or (default.min_count, default.full_count)
    words, classes = options.state_smoothing
    return PivotEstimator(
        features=options.features[0],
        states=options.states or default.states,
        smoothing=replace(_smoothing(options), words=words, classes=classes),
        min_count=min_count,
        full_count=full_count,
        lexicon=lexicon,
        random_state=options.seed,
        progress=lambda steps: progress(steps, options.quiet, unit=" steps"),
    )


def _em(options: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    default = EMEstimator()
    return EMEstimator(
        states=options.states or default.states,
        start=None if options.start is None else load(options.start),
        iterations=_given(options.iterations, default.iterations),
        smoothing=_smoothing(options),
        held_out=options.held_out,
        lexicon=lexicon,
        random_state=options.seed,
        n_jobs=options.jobs,
        progress=lambda steps: progress(steps, options.quiet, unit=" iterations"),
    )


def _split_merge(options: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    def keep(cycle: int, grammar: Grammar) -> None:
        target = Path(f"{options.output}.{cycle}")
        save(grammar, target)
        say(f"cycle {cycle}: {grammar}\nsaved to {target}", options.quiet)

    return SplitMergeEstimator(
        cycles=options.cycles,
        smoothing=_smoothing(options),
        each_cycle=keep if options.keep_cycles else None,
        lexicon=lexicon,
        random_state=options.seed,
        n_jobs=options.jobs,
        progress=lambda cycles: progress(cycles, options.quiet, unit=" cycles"),
    )


def _span(options: argparse.Namespace, lexicon: LexiconOptions) -> Estimator:
    return CRFEstimator(
        loss=options.loss,
        epochs=options.epochs,
        lexicon=lexicon,
        random_state=options.seed,
        n_jobs=options.jobs,
        progress=lambda epochs: progress(epochs, options.quiet, unit=" epochs"),
    )


#: What ``--estimator`` can be, the default first.
ESTIMATORS: dict[str, _Choice] = {
    "pcfg": _Choice("count rules", _pcfg, takes_states=False),
    "spectral": _Choice("find latent states by the spectral method", _spectral),
    "clustering": _Choice(
        "find them by clustering", _clustering, ClusteringEstimator.transform.vertical
    ),
    "pivot": _Choice(
        "find them by features that tell them apart, as a start of em",
        _pivot,
        PivotEstimator.transform.vertical,
    ),
    "em": _Choice("find them by expectation-maximisation", _em, vertical=0),
    "split-merge": _Choice(
        "split states in two as long as it pays",
        _split_merge,
        SplitMergeEstimator.transform.vertical,
        takes_states=False,
    ),
    "span": _Choice(
        "weigh trees by features of the words at the borders of spans", _span, takes_states=False
    ),
}
