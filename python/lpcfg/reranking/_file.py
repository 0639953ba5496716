"""Rerankers as folders of model files: that of the reranker, and those of its grammars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import ModelFileError
from lpcfg.grammar.grammar import Grammar
from lpcfg.io.grammar_file import load, save
from lpcfg.io.model_file import ModelFile, make_folder, read_document, write_model_file
from lpcfg.reranking._model import RerankerModel

__all__ = ["is_reranker", "read_reranker", "write_reranker"]

_NAME = "reranker.lpcfg"
_DOCUMENT = {"parsers": list, "options": dict}


def is_reranker(folder: str | PathLike[str]) -> bool:
    """Whether a folder holds a reranker.

    >>> is_reranker("missing")
    False
    """
    return Path(folder, _NAME).is_file()


def write_reranker(
    folder: str | PathLike[str],
    model: RerankerModel,
    grammars: Sequence[Sequence[Grammar]],
    options: Mapping[str, Any],
) -> None:
    """Write a reranker and its grammars, those of one parser after the other, into a folder."""
    folder = make_folder(folder)
    names = []
    for number, group in enumerate(grammars, start=1):
        names.append([f"{number}-{member}.lpcfg" for member in range(1, len(group) + 1)])
        for name, grammar in zip(names[-1], group, strict=True):
            save(grammar, folder / name)
    arrays: dict[str, NDArray[Any]] = {
        "score_weights": model.score_weights,
        "keys": model.keys,
        "weights": model.weights,
    }
    document = {"kind": "reranker", "parsers": names, "options": dict(options)}
    write_model_file(folder / _NAME, arrays, document)


def read_reranker(
    folder: str | PathLike[str],
) -> tuple[RerankerModel, list[list[Grammar]], dict[str, Any]]:
    """Read what :func:`write_reranker` wrote.

    >>> read_reranker("missing")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing/reranker.lpcfg'
    """
    file = ModelFile(Path(folder, _NAME))
    document = read_document(file, _DOCUMENT, kind="reranker")
    keys = file.array("keys", np.uint32, (None,))
    if np.any(keys[1:] <= keys[:-1]):
        raise ModelFileError(f"{file.path}: the keys do not ascend")
    parsers = document["parsers"]
    # Names lead into the folder and nowhere else.
    if not parsers or not all(
        isinstance(names, list)
        and names
        and all(isinstance(name, str) and Path(name).name == name for name in names)
        for names in parsers
    ):
        raise ModelFileError(f"{file.path}: 'parsers' must be lists of names of files")
    grammars = [[load(Path(folder, name)) for name in names] for names in parsers]
    weights = file.array("weights", np.float32, (len(keys),))
    score_weights = file.array("score_weights", np.float64, (None,))
    if not (np.isfinite(weights).all() and np.isfinite(score_weights).all()):
        raise ModelFileError(f"{file.path}: the weights must be finite")
    return RerankerModel(score_weights, keys, weights), grammars, document["options"]
