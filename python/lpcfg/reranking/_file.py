"""The format of rerankers: a folder with a file for the reranker, and one for each grammar."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from lpcfg import _core
from lpcfg._options import build_options
from lpcfg.errors import ModelFileError
from lpcfg.grammar.backbone import backbone_classes
from lpcfg.grammar.grammar import Grammar
from lpcfg.io.formats import Arrays, Document, FolderFormat, Resources
from lpcfg.io.model_file import ModelFile
from lpcfg.io.models import load, save
from lpcfg.parsing.options import Pruning
from lpcfg.reranking._model import RerankerModel
from lpcfg.reranking.candidates import SCORES
from lpcfg.reranking.reranker import Reranker
from lpcfg.treebank.head_rules import HeadRules

__all__ = ["RERANKER_FORMAT"]

#: The largest absolute value of a weight: more than training gives, and sums cannot overflow.
_MAX_WEIGHT = 1e12

#: The names of the files of grammars: the number of the parser, and that of the grammar in it.
_NAME = re.compile(r"[1-9][0-9]*-[1-9][0-9]*\.lpcfg")


def _parts(reranker: Reranker) -> list[Grammar]:
    return [grammar for group in reranker.grammars_ for grammar in group]


def _write(reranker: Reranker, folder: Path) -> tuple[Arrays, Document]:
    names = []
    for number, group in enumerate(reranker.grammars_, start=1):
        names.append([f"{number}-{member}.lpcfg" for member in range(1, len(group) + 1)])
        for name, grammar in zip(names[-1], group, strict=True):
            save(grammar, folder / name)
    model = reranker.model_
    arrays: Arrays = {
        "score_weights": model.score_weights,
        "keys": model.keys,
        "weights": model.weights,
    }
    return arrays, {
        "parsers": names,
        "options": reranker.provenance_params(),
        "template_version": _core.reranker_template_version,
        "heads": model.heads.to_json(),
    }


def _read(file: ModelFile, document: Document, resources: Resources) -> Reranker:
    version = document["template_version"]
    if version != _core.reranker_template_version:
        raise ModelFileError(
            f"its features have version {version}, and those of this lpcfg version "
            f"{_core.reranker_template_version}; train the reranker again",
            path=file.path,
        )
    stored = document["options"]
    Reranker.check_record(stored)
    # Estimators are only recorded: a loaded reranker has been fitted.
    stored.pop("estimators", None)
    stored["prune"] = build_options(Pruning, stored.get("prune", {}))
    reranker = build_options(Reranker, stored).set_params(**resources)
    reranker.validate()
    # Rerankers of earlier versions have the rules for English.
    heads = HeadRules.from_json(document["heads"]) if "heads" in document else HeadRules()
    model = replace(_read_model(file), heads=heads)
    grammars = _read_grammars(file, document["parsers"])
    reranker._use(grammars, [backbone_classes(group) for group in grammars])
    reranker.model_ = model
    parsers = reranker._n_parsers()
    if len(model.score_weights) != parsers * len(SCORES):
        raise ModelFileError(
            f"there are {len(model.score_weights)} score_weights, but {parsers} parsers with "
            f"{len(SCORES)} scores each; train the reranker again",
            path=file.path,
        )
    return reranker


def _read_model(file: ModelFile) -> RerankerModel:
    keys = file.array("keys", np.uint32, (None,))
    if np.any(keys[1:] <= keys[:-1]):
        raise ModelFileError("the keys do not ascend", path=file.path)
    weights = file.array("weights", np.float32, (len(keys),))
    score_weights = file.array("score_weights", np.float64, (None,))
    # Comparisons with NaN are false.
    if not all(np.all(np.abs(array) <= _MAX_WEIGHT) for array in (weights, score_weights)):
        raise ModelFileError(
            f"the weights must be finite and at most {_MAX_WEIGHT:g}", path=file.path
        )
    return RerankerModel(score_weights, keys, weights)


def _read_grammars(file: ModelFile, parsers: list[object]) -> list[list[Grammar]]:
    # Only names that are written here: they are inside the folder of the reranker.
    groups = [
        [Path(file.path).parent / name for name in names]
        for names in parsers
        if isinstance(names, list)
        and names
        and all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)
    ]
    if not groups or len(groups) != len(parsers):
        raise ModelFileError("'parsers' must be lists of names of files", path=file.path)
    return [[load(path, Grammar) for path in group] for group in groups]


#: A reranker with its weights; the grammars of its parsers are in files beside it.
RERANKER_FORMAT = FolderFormat(
    kind="reranker",
    keys={"parsers": list, "options": dict, "template_version": int},
    parts=_parts,
    write=_write,
    read=_read,
)
