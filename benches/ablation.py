"""What each ingredient of a spectral L-PCFG is worth on GUM dev, as a table.

Each row differs from the defaults in what it names. F1 is the mean over some seeds of the random
projections, with the least and the largest. Run from the top of the repository:
.venv/bin/python benches/ablation.py
"""

from collections.abc import Iterator
from dataclasses import replace
from statistics import mean
from typing import NamedTuple

from development import no_options, print_row, score, training
from tqdm import tqdm

from lpcfg import Grammar, LexiconOptions, SpectralDecomposition, SpectralEstimator, Transform
from lpcfg.estimators.features.feature_sets import COMPACT, FeatureSet
from lpcfg.estimators.spectral.decomposition import HYPERPARAMETERS

SEEDS = range(3)
LEXICON = LexiconOptions()

# So large that the counts of features do not matter.
UNSCALED = 1e6

# The inside features of Peng (2021, section 5.2) do not tell the words of preterminals apart.
WORDLESS = FeatureSet(inside=("left-fragment", "right-fragment"), outside=COMPACT.outside)


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

    yield cut("the defaults")
    for value in (0.0, 2.0, 12.2, 30.0):
        yield cut(f"rules interpolated with C = {value}", smoothing=value)
    for value in (0.0, 0.2, 0.8):
        yield cut(f"ridge {value}", ridge=value)
    for value in (0.0, 0.1):
        yield cut(f"singular values dropped below {value}", tolerance=value)
    yield cut("no smoothing of words", word_smoothing=0.0)
    yield cut("no smoothing of words and classes", word_smoothing=0.0, class_smoothing=0.0)
    yield cut("strong smoothing of both: 10", word_smoothing=10.0, class_smoothing=10.0)
    for decoder in ("max-recall", "max-rule"):
        yield cut(f"decoder {decoder}")._replace(decoder=decoder)

    for states in ((2, 2), (4, 4), (8, 16), (16, 8), (16, 16), (32, 32)):
        yield cut(f"{states[0]} and {states[1]} states", states=states)
    yield cut("all symbols have all states", min_count=0, full_count=0)
    yield cut("ramp of states from 50 to 500 nodes", min_count=50, full_count=500)

    yield Variant("full features", SpectralEstimator(features="full"))
    yield Variant("features without words", SpectralEstimator(features=WORDLESS))
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


class Decompositions:
    """Keeps the last decomposition, for the next variant to use again."""

    estimator: SpectralEstimator | None = None
    transform: Transform | None = None
    last: SpectralDecomposition

    def of(self, variant: Variant, seed: int) -> SpectralDecomposition:
        own = variant.estimator.get_params(deep=False)
        used_later = set(HYPERPARAMETERS) - {"states", "min_count", "full_count"}
        before = {name: value for name, value in own.items() if name not in used_later}
        estimator = SpectralEstimator(**before).set_params(random_state=seed)
        if (estimator, variant.transform) != (self.estimator, self.transform):
            self.last = estimator.decompose(training(variant.transform))
            self.estimator, self.transform = estimator, variant.transform
        return self.last

    def grammar(self, variant: Variant, seed: int) -> Grammar:
        own = variant.estimator
        return self.of(variant, seed).grammar(
            **{name: getattr(own, name) for name in HYPERPARAMETERS}
        )


def main() -> None:
    no_options(__doc__)
    found: dict[str, list[float]] = {}
    backbones: dict[tuple[object, ...], float] = {}
    decompositions = Decompositions()
    rows = [(seed, variant) for seed in SEEDS for variant in variants()]
    for seed, variant in tqdm(rows):
        scores, _ = score(decompositions.grammar(variant, seed), variant.decoder)
        found.setdefault(variant.name, []).append(scores.f1)
        backbone = (variant.estimator.lexicon, variant.transform, variant.decoder)
        if backbone not in backbones:
            backbones[backbone] = score(decompositions.last.projected.backbone, variant.decoder)[
                0
            ].f1

    default = mean(found["the defaults"])
    print_row("", "F1", "from", "to", "difference", "PCFG F1")
    print_row(*["---"] * 6)
    for name, estimator, transform, decoder in variants():
        values = found[name]
        middle = mean(values)
        figures = (middle, min(values), max(values))
        print_row(
            name,
            *(f"{figure:.2f}" for figure in figures),
            f"{middle - default:+.2f}",
            f"{backbones[estimator.lexicon, transform, decoder]:.2f}",
        )


if __name__ == "__main__":
    main()
