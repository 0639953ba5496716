"""What each ingredient of a spectral L-PCFG is worth on a development part, as a table.

Each row differs from the defaults in what it names; all rows are printed, or those that are named.
F1 is the mean over some seeds of the random start of the SVD, with the least and the largest.
Decompositions and pruned charts are shared by rows. Run from the top of the repository:
.venv/bin/python benches/ablation.py
.venv/bin/python benches/ablation.py --treebank craft "ridge 0.0" "compact features"
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean
from typing import NamedTuple

from development import print_row, score, training

from lpcfg import ChartCache, Grammar, LexiconOptions, SpectralEstimator, Transform
from lpcfg.estimators.features.feature_sets import COMPACT, FeatureSet
from lpcfg.tuning.grammars import GrammarCache

LEXICON = LexiconOptions()

# So large that the counts of features do not matter.
UNSCALED = 1e6

# The inside features of Peng (2021, section 5.2) do not tell the words of preterminals apart.
WORDLESS = FeatureSet(inside=("left-fragment", "right-fragment"), outside=COMPACT.outside)


#: The first row, which the others are compared with.
DEFAULTS = "the defaults"


class Variant(NamedTuple):
    name: str
    estimator: SpectralEstimator
    transform: Transform = Transform()
    decoder: str = "max-f1"


def variants() -> Iterator[Variant]:
    """Neighbours that differ in hyper-parameters alone share a decomposition."""

    def cut(name: str, **parameters: object) -> Variant:
        return Variant(name, SpectralEstimator(**parameters))

    def lexicon(name: str, **options: object) -> Variant:
        return Variant(name, SpectralEstimator(lexicon=replace(LEXICON, **options)))

    yield cut(DEFAULTS)
    for value in (0.0, 2.0, 12.2, 30.0):
        yield cut(f"rules interpolated with C = {value}", smoothing=value)
    for value in (0.0, 0.35, 1.4):
        yield cut(f"ridge {value}", ridge=value)
    for value in (0.0, 0.1):
        yield cut(f"singular values dropped below {value}", tolerance=value)
    yield cut("no smoothing of words", word_smoothing=0.0)
    yield cut("no smoothing of words and classes", word_smoothing=0.0, class_smoothing=0.0)
    yield cut("strong smoothing of both: 10", word_smoothing=10.0, class_smoothing=10.0)
    for decoder in ("max-recall", "max-rule"):
        yield cut(f"decoder {decoder}")._replace(decoder=decoder)

    for states in ((2, 2), (4, 4), (8, 8), (8, 16), (16, 8), (16, 16), (24, 24)):
        yield cut(f"{states[0]} and {states[1]} states", states=states)
    yield cut("all symbols have all states", min_count=0, full_count=0)
    yield cut("ramp of states from 50 to 500 nodes", min_count=50, full_count=500)

    yield Variant("compact features", SpectralEstimator(features="compact"))
    yield Variant("compact features without words", SpectralEstimator(features=WORDLESS))
    yield Variant("features not scaled", SpectralEstimator(kappa=UNSCALED))
    for kappa in (0.0, 50.0):
        yield Variant(f"features scaled with kappa = {kappa}", SpectralEstimator(kappa=kappa))
    for cutoff in (2, 5):
        yield Variant(f"features of {cutoff} nodes at least", SpectralEstimator(cutoff=cutoff))

    yield lexicon("English classes", classes="english")
    yield lexicon("tags as classes", classes="tag")
    yield lexicon("no back-off from chains to tags", chain_smoothing=0.0)
    yield lexicon("no lower-casing of first words", lowercase_initial=False)
    replaced = LexiconOptions.plain()
    yield Variant("English classes, rare words replaced", SpectralEstimator(lexicon=replaced))
    yield Variant("tags not annotated", SpectralEstimator(), Transform(annotate_preterminals=False))
    yield Variant("left binarisation", SpectralEstimator(), Transform(binarize="left"))

    plain = SpectralEstimator.plain()
    yield Variant("Peng: states, smoothing, no ridge", plain)
    everything = replace(plain, features=WORDLESS, lexicon=replaced)
    yield Variant("Peng: these, features, words, decoder", everything, decoder="max-recall")


#: The most states of all rows: grammars of fewer states are cut from the same decomposition.
LARGEST = {"states": (24, 24)}


def main() -> None:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    names = [variant.name for variant in variants()]
    parser.add_argument("rows", nargs="*", choices=[[], *names], metavar="ROW")
    parser.add_argument("--treebank", default="gum", help="a folder of treebanks (default: gum)")
    parser.add_argument("--seeds", type=int, default=1, help="the number of seeds (default: 1)")
    options = parser.parse_args()
    wanted = {DEFAULTS, *(options.rows or names)}
    backbones: dict[tuple[object, ...], float] = {}
    caches: dict[Transform, GrammarCache] = {}
    charts = ChartCache()
    default = None

    def f1(grammar: Grammar, decoder: str) -> float:
        return score(grammar, decoder, charts, options.treebank)[0].f1

    print_row("", "F1", "from", "to", "difference", "PCFG F1")
    print_row(*["---"] * 6)
    for name, estimator, transform, decoder in variants():
        if name not in wanted:
            continue
        if transform not in caches:
            caches[transform] = GrammarCache(training(transform, options.treebank), LARGEST)
        values = []
        for seed in range(options.seeds):
            grammar = caches[transform].grammar(estimator.with_params(random_state=seed))
            values.append(f1(grammar, decoder))
        backbone = (estimator.lexicon, transform, decoder)
        if backbone not in backbones:
            backbones[backbone] = f1(replace(grammar, latent=None), decoder)
        default = mean(values) if default is None else default
        print_row(
            name,
            *(f"{value:.2f}" for value in (mean(values), min(values), max(values))),
            f"{mean(values) - default:+.2f}",
            f"{backbones[backbone]:.2f}",
        )


if __name__ == "__main__":
    main()
