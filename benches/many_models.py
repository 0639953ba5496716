"""Ensembles of all kinds of models on GUM dev, as a table: members, F1, oracle F1, speed.

Run from the top of the repository: .venv/bin/python benches/many_models.py FOLDER

The folder keeps the models, so that a second run trains none of them again. Oracle F1 is that of
choosing the best of the members' trees for each sentence, or of a reranker's candidates.
"""

import argparse
import time
from pathlib import Path

from development import gold, print_row, training

import lpcfg
from lpcfg import (
    ClusteringEstimator,
    CRFEstimator,
    Ensemble,
    SpectralEstimator,
    SplitMergeEstimator,
    Transform,
    Transformed,
)
from lpcfg.parsing.base import BaseParser

TRANSFORMS = {
    "right-h1": Transform(vertical=0),
    "left-h1": Transform(vertical=0, binarize="left"),
    "right-h0": Transform(vertical=0, horizontal=0),
    "left-h0": Transform(vertical=0, horizontal=0, binarize="left"),
    "right-parent": Transform(),
    "left-parent": Transform(binarize="left"),
}

#: For each family of grammars with one backbone and one estimator, how many there are.
FAMILIES = {
    "split-merge-right-h1": 8,
    "split-merge-left-h1": 4,
    "split-merge-right-h0": 2,
    "split-merge-left-h0": 2,
    "split-merge-right-parent": 2,
    "split-merge-left-parent": 2,
    "spectral-right-h1": 1,
    "spectral-left-h1": 1,
    "spectral-right-parent": 2,
    "spectral-left-parent": 2,
    "clustering-right-h1": 2,
    "clustering-left-h1": 2,
    "crf-right-h1": 1,
    "crf-right-parent": 1,
    "crf-left-parent": 1,
}

#: A CRF is worth several of the other models, whose errors are more alike.
CRF_WEIGHT = 4


def estimator(family: str, seed: int):
    """Split-merge grammars of the default transform have four cycles, others the usual three."""
    if family.startswith("spectral"):
        return SpectralEstimator(random_state=seed)
    if family.startswith("clustering"):
        return ClusteringEstimator(states=(32, 32), restarts=1, random_state=seed)
    if family.startswith("crf"):
        return CRFEstimator(random_state=seed, n_jobs=1)
    return SplitMergeEstimator(
        cycles=4 if family.endswith("h1") else 3, random_state=seed, n_jobs=1
    )


def weight(family: str) -> float:
    return FAMILIES[family] * (CRF_WEIGHT if family.startswith("crf") else 1)


def transform(family: str) -> Transform:
    return TRANSFORMS["-".join(family.split("-")[-2:])]


def trained(folder: Path, family: str) -> list[lpcfg.Grammar]:
    grammars = []
    for seed in range(FAMILIES[family]):
        path = folder / f"{family}-{seed}.lpcfg"
        if not path.exists():
            treebank = training(transform(family))
            lpcfg.save(estimator(family, seed).fit(treebank).grammar_, path)
        grammars.append(lpcfg.load(path))
    return grammars


def reranker(folder: Path) -> lpcfg.Reranker:
    """Over an ensemble of four that differ, each learnt once for each of three folds."""
    path = folder / "reranker"
    if not path.exists():
        members = [
            Transformed(SplitMergeEstimator(n_jobs=1), TRANSFORMS["right-h1"]),
            Transformed(SplitMergeEstimator(n_jobs=1), TRANSFORMS["left-h1"]),
            Transformed(CRFEstimator(n_jobs=1), TRANSFORMS["left-parent"]),
            Transformed(SpectralEstimator(), TRANSFORMS["right-parent"]),
        ]
        fitted = lpcfg.Reranker([tuple(members)], candidates=8, folds=3, n_jobs=1)
        fitted.fit(training(Transform())).save(path)
    return lpcfg.Reranker.load(path, n_jobs=1)


class Recorded(BaseParser):
    """What a parser said of the development part, and the CPU time it took."""

    def __init__(self, parser: BaseParser, parts: "list[Recorded] | None" = None) -> None:
        self.parser = parser
        self.parts = parts or []
        started = time.process_time()
        words = [tree.words() for tree in gold()]
        self.parses = list(parser.analyze_many(words=words, marginals=True))
        self.seconds = time.process_time() - started + sum(part.seconds for part in self.parts)

    @property
    def grammar(self) -> lpcfg.Grammar:
        return self.parser.grammar

    @property
    def tags(self) -> frozenset[str]:
        return self.parser.tags

    def analyze_many(self, tags=None, **options):
        return iter(self.parses)

    def show(self, name: str, way: str) -> "Recorded":
        scores = lpcfg.evaluate(gold(), [parse.tree for parse in self.parses])
        oracle = ""
        if len(self.parts) > 1:
            every = zip(*(part.parses for part in self.parts), strict=True)
            lists = [[parse.tree for parse in parses] for parses in every]
            oracle = f"{lpcfg.oracle_f1(lists, gold()):.2f}"
        speed = f"{len(gold()) / self.seconds:.0f}"
        print_row(name, way, f"{scores.f1:.2f}", f"{scores.exact_match:.2f}", oracle, speed)
        return self


def parsed(folder: Path, family: str) -> Recorded:
    """What the grammars of a family say over one chart."""
    return Recorded(lpcfg.Parser(trained(folder, family), n_jobs=1))


def combined(name: str, parts: list[Recorded], weights: list[float], way: str) -> Recorded:
    ensemble = Ensemble(parts, weights=weights, combine=way, n_jobs=1)
    return Recorded(ensemble, parts).show(name, way)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where models are kept")
    parser.add_argument("--rerank", action="store_true", help="train a reranker too, for long")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    columns = ("members", "combined by", "F1", "exact", "oracle F1", "sentences / CPU s")
    print_row(*columns)
    print_row(*["---"] * len(columns))
    families = {}
    for family, count in FAMILIES.items():
        families[family] = parsed(options.folder, family).show(f"{count} {family}", "one chart")
    groups = {
        "split-merge, right": [name for name in FAMILIES if "merge-right" in name],
        "split-merge, left": [name for name in FAMILIES if "merge-left" in name],
        "spectral": [name for name in FAMILIES if "spectral" in name],
        "clustering": [name for name in FAMILIES if "clustering" in name],
        "crf": [name for name in FAMILIES if "crf" in name],
        "split-merge": [name for name in FAMILIES if "split" in name],
        "all but crf": [name for name in FAMILIES if "crf" not in name],
        "all": list(FAMILIES),
    }
    made = {}
    for way in ("posteriors", "trees"):
        for name, members in groups.items():
            parts = [families[member] for member in members]
            weights = [weight(member) for member in members]
            count = sum(FAMILIES[member] for member in members)
            made[name, way] = combined(f"{count} grammars: {name}", parts, weights, way)
    # Hierarchies: groups that are combined in one way, then together in another.
    names = ["split-merge, right", "split-merge, left", "spectral", "clustering", "crf"]
    parts = [made[name, "posteriors"] for name in names]
    for way in ("trees", "posteriors"):
        combined("the first five of these, each by posteriors", parts, [1.0] * 5, way)
    if options.rerank:
        chooser = reranker(options.folder)
        before = Recorded(chooser.parsers_[0]).show("4 grammars that differ", "posteriors")
        words = [tree.words() for tree in gold()]
        lists = [own.trees for own in chooser.propose(words=words)]
        print(f"oracle F1 of their candidates: {lpcfg.oracle_f1(lists, gold()):.2f}")
        chosen = Recorded(chooser).show("4 grammars that differ", "reranking")
        combined("these two", [before, chosen], [1.0, 1.0], "posteriors")
        everything = made["all", "posteriors"]
        for share in (0.25, 0.5, 1.0):
            parts = [everything, chosen]
            combined(f"all, and the reranked: 1 : {share}", parts, [1.0, share], "posteriors")


if __name__ == "__main__":
    main()
