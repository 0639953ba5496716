"""Self-training: a student learns from gold trees and from the trees that a teacher gives to text.

McClosky et al. (2006) self-train a parser with a reranker as the teacher. Here the teacher is any
model, best an ensemble, and the student any estimator: one model learns what the ensemble knows.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from os import PathLike, fsdecode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lpcfg.corpus.parse_corpus import parse_corpus
from lpcfg.corpus.report import CorpusReport
from lpcfg.errors import InputError
from lpcfg.estimators.base import Estimator
from lpcfg.estimators.common_parameters import N_JOBS, PROGRESS
from lpcfg.formats.dependencies import Dependencies
from lpcfg.grammar.grammar import Grammar
from lpcfg.parameters.constraints import Instance, Interval
from lpcfg.parameters.parameterized import parameter
from lpcfg.parsing.options import ParserOptions, Pruning
from lpcfg.treebank.inputs import Trees
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.treebank import Treebank

__all__ = ["SelfTrainingEstimator", "check_mixing", "label_text", "mixed_treebank"]

#: Lines of a part of the text. After an interruption, unfinished parts are parsed again.
_PART_LINES = 2_000

_GOLD_WEIGHT = Interval(float, 0, closed="neither")

_MIN_CONFIDENCE = Interval(float, 0, 1)

#: The statuses of trees that were found in the first try, those of ensembles among them.
_FOUND = ("parsed", "combined", "tightened")

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def label_text(
    teacher: str | PathLike[str],
    text: Paths,
    folder: str | PathLike[str],
    *,
    dependencies: Dependencies | Paths | None = None,
    n_jobs: int = -1,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
    prune: Pruning | float | None = None,
) -> CorpusReport:
    r"""Parse text, one sentence a line, for a student to learn from.

    The trees and the posteriors of their spans go to a folder. A call that was stopped goes on
    where it was. Lines that are not UTF-8 are left out.

    - ``teacher``: a model file, or the folder of several models, an ensemble or a reranker.
    - ``text``: files or patterns, gzipped or not; words are separated by spaces.
    - ``folder``: the folder to write.
    - ``dependencies``: what is known of the tags and dependencies of the sentences, or files of
      them, for a teacher that was trained with dependencies (default: nothing).
    - ``n_jobs``: the number of threads, -1 (default) for one on each core.
    - ``progress``: a function that wraps the iterator of parts, to show a progress bar.
    - ``prune``: the pruning thresholds, as for :class:`lpcfg.Parser` (0 for an exact search); None
      (default) for the usual ones, or for those that an ensemble or a reranker has stored.

    >>> with TemporaryDirectory() as place:
    ...     path = Path(place, "text.txt")
    ...     _ = path.write_text("The dog saw him .\nIt rained .\n")
    ...     label_text("english", path, Path(place, "labelled")).sentences
    2
    """
    if dependencies is not None and not isinstance(dependencies, Dependencies):
        dependencies = Dependencies.read(dependencies)
    options: ParserOptions = {} if prune is None else {"prune": prune}
    return parse_corpus(
        teacher,
        text,
        folder,
        format="json",
        on_error="skip",
        part_lines=_PART_LINES,
        n_jobs=n_jobs,
        progress=progress,
        dependencies=dependencies,
        **options,
    )


def check_mixing(*, gold_weight: float, min_confidence: float) -> None:
    """Raise an InputError for values that :func:`mixed_treebank` would refuse.

    >>> check_mixing(gold_weight=3, min_confidence=-1)
    Traceback (most recent call last):
    lpcfg.errors.InputError: min_confidence: must be a number from 0 to 1, not -1
    """
    for name, value, allowed in (
        ("gold_weight", gold_weight, _GOLD_WEIGHT),
        ("min_confidence", min_confidence, _MIN_CONFIDENCE),
    ):
        if not allowed.allows(value):
            raise InputError(f"must be {allowed}, not {value!r}", argument=name)


def mixed_treebank(
    gold: Treebank,
    labelled: str | PathLike[str],
    *,
    gold_weight: float = 3.0,
    min_confidence: float = 0.0,
    transform: Transform | None = None,
) -> Treebank:
    r"""Gold trees and the trees of a teacher as one treebank.

    - ``gold``: the gold trees; their cleaning is applied to all trees.
    - ``labelled``: a folder that :func:`label_text` has written.
    - ``gold_weight``: how many trees of the teacher count as much as a gold tree (default 3). Gold
      trees keep their weights, and a tree of the teacher has the weight 1 / ``gold_weight``:
      a gold tree that counted three times would be taken for three observations.
    - ``min_confidence``: trees whose :func:`confidence` is lower are left out (default 0: none). It
      is an error if none is left.
    - ``transform``: the transform of the trees, by default that of the gold trees.

    >>> from lpcfg import Tree
    >>> gold = Treebank.from_trees([Tree.from_string("(NP (NN rain))")])
    >>> with TemporaryDirectory() as place:
    ...     path = Path(place, "text.txt")
    ...     _ = path.write_text("It rained .\n")
    ...     _ = label_text("english", path, f"{path}.labelled")
    ...     mixed = mixed_treebank(gold, f"{path}.labelled", gold_weight=2)
    >>> [" ".join(words) for words, _ in mixed.sentences()], mixed.weights
    (['rain', 'It rained .'], array([1. , 0.5]))
    """
    check_mixing(gold_weight=gold_weight, min_confidence=min_confidence)
    with TemporaryDirectory() as place:
        gold_file, labelled_file = Path(place, "gold.mrg"), Path(place, "labelled.mrg")
        with gold_file.open("w", encoding="utf-8") as file:
            file.writelines(f"{tree}\n" for tree in gold.trees())
        kept, best = 0, -1.0
        with labelled_file.open("w", encoding="utf-8") as file:
            for record in _records(Path(labelled)):
                found = confidence(record)
                best = max(best, found)
                if found >= min_confidence:
                    file.write(f"{record['tree']}\n")
                    kept += 1
        if best < 0:
            raise InputError("there are no trees of the teacher", path=labelled)
        if not kept:
            raise InputError(
                f"no tree of the teacher has this confidence, {min_confidence:g}; the highest is "
                f"{best:.3g}",
                argument="min_confidence",
            )
        # Trees are read, cleaned and transformed in the core, without an object for each.
        mixed = Treebank.read(
            [gold_file, labelled_file],
            cleaning=gold.cleaning or False,
            transform=transform or gold.transform,
        ).normalized(gold.normalization)
    weights = np.full(len(mixed), 1 / gold_weight)
    weights[: len(gold)] = 1.0 if gold.weights is None else gold.weights
    return mixed.weighted(weights)


def confidence(record: dict[str, Any]) -> float:
    """The confidence of a teacher in a tree: the mean posterior of its phrases, from 0 to 1.

    Phrases over the whole sentence, and over one word, are nearly always right and do not count.
    A sentence without other phrases has the confidence 1. A tree that was put together from
    fragments, or that was not found in the first try of the parser, has the confidence 0.

    >>> spans = [(0, 3, 1.0), (0, 2, 0.5), (0, 1, 0.9)]
    >>> named = [dict(zip(("start", "end", "probability"), span)) for span in spans]
    >>> confidence({"status": "parsed", "spans": named})
    0.5
    """
    if record["status"] not in _FOUND:
        return 0.0
    length = max((span["end"] for span in record["spans"]), default=0)
    inner = [
        span["probability"] for span in record["spans"] if 1 < span["end"] - span["start"] < length
    ]
    return sum(inner) / len(inner) if inner else 1.0


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    """The parses of a folder, in the order of the text."""
    parts = sorted((folder / "parts").glob("*.jsonl.gz"))
    if not (folder / "manifest.json").exists():
        raise InputError("the text has not been parsed to its end; parse it again", path=folder)
    for part in parts:
        with gzip.open(part, "rt", encoding="utf-8") as lines:
            yield from (record for line in lines if (record := json.loads(line)) is not None)


def _named(paths: Paths) -> list[str]:
    """Paths as a model file records them."""
    several = [paths] if isinstance(paths, (str, PathLike)) else paths
    return [fsdecode(path) for path in several]


def _dependencies_record(dependencies: Dependencies | Paths | None) -> object:
    if isinstance(dependencies, Dependencies):
        return {"sentences": len(dependencies), "sha256": dependencies.digest}
    return None if dependencies is None else _named(dependencies)


@dataclass(repr=False, kw_only=True)
class SelfTrainingEstimator(Estimator):
    r"""An estimator that also learns from text, through the trees of a teacher.

    Trees that are not a :class:`~lpcfg.Treebank` get the transform that ``estimator`` gives them.

    >>> from lpcfg import PCFGEstimator, embedded_trees
    >>> with TemporaryDirectory() as place:
    ...     path = Path(place, "text.txt")
    ...     _ = path.write_text("A wombat slept .\n")
    ...     student = SelfTrainingEstimator(
    ...         estimator=PCFGEstimator(), teacher="english", text=path, folder=f"{path}.labelled"
    ...     )
    ...     "wombat" in student.fit(embedded_trees()).grammar_.lexicon.words
    True
    """

    name = "self-training"
    description = "any estimator, trained on trees and on text that a teacher has parsed"

    estimator: Estimator = field(
        metadata=parameter(
            Instance(Estimator),
            "the student: the estimator of the grammar",
            option=False,
            nested=True,
        )
    )
    teacher: str | PathLike[str] = field(
        metadata=parameter(
            Instance(str, PathLike),
            "the model file or folder that parses the text",
            provenance=fsdecode,
        )
    )
    text: Any = field(
        metadata=parameter(
            Instance(object),
            "files or patterns of text, one sentence a line, words with spaces",
            provenance=_named,
        )
    )
    folder: str | PathLike[str] = field(
        metadata=parameter(
            Instance(str, PathLike),
            "the folder of the teacher's trees; what is there is not parsed again",
            provenance=fsdecode,
        )
    )
    dependencies: Any = field(
        default=None,
        metadata=parameter(
            Instance(object),
            "the tags and dependencies of the text, or files of them, for a teacher that was "
            "trained with dependencies",
            provenance=_dependencies_record,
        ),
    )
    gold_weight: float = field(
        default=3.0,
        metadata=parameter(
            _GOLD_WEIGHT,
            "how many trees of the teacher count as much as a gold tree",
        ),
    )
    min_confidence: float = field(
        default=0.0,
        metadata=parameter(
            _MIN_CONFIDENCE,
            "trees with a lower mean posterior of their phrases are left out; 0 keeps all",
        ),
    )
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    def _treebank(self, trees: Trees) -> Treebank:
        return self.estimator._treebank(trees)

    def estimate(self, treebank: Treebank) -> Grammar:
        """Parse the text, unless that has been done, and train the student.

        >>> SelfTrainingEstimator.parameters()["gold_weight"].default
        3.0
        """
        label_text(
            self.teacher,
            self.text,
            self.folder,
            dependencies=self.dependencies,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        mixed = mixed_treebank(
            treebank,
            self.folder,
            gold_weight=self.gold_weight,
            min_confidence=self.min_confidence,
        )
        grammar = self.estimator.estimate(mixed)
        added = {
            "gold_trees": len(treebank),
            "teacher_trees": len(mixed) - len(treebank),
            "gold_weight": self.gold_weight,
            "min_confidence": self.min_confidence,
        }
        return replace(grammar, provenance={**grammar.provenance, "self_training": added})
