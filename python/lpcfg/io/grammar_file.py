"""Grammars as model files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import ModelFileError
from lpcfg.grammar.crf_weights import CRFWeights
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.io.lexicon_file import LEXICON_DOCUMENT, pack_lexicon, read_lexicon
from lpcfg.io.model_file import ModelFile, read_document, write_model_file
from lpcfg.treebank.symbol import Symbol

__all__ = ["is_model_file", "load", "load_many", "load_provenance", "model_files", "save"]

_DOCUMENT = {"symbols": list, **LEXICON_DOCUMENT, "provenance": dict}

_LATENT = {
    np.float32: ("roots", "binary", "profiles", "tag_emissions"),
    np.uint32: (
        "states",
        "binary_counts",
        "binary_positions",
        "profile_symbols",
        "entry_profiles",
    ),
}


def save(grammar: Grammar, path: str | PathLike[str]) -> None:
    r"""Write a grammar to one file; an existing file is replaced only once all is written.

    >>> import tempfile, pathlib
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "weather.lpcfg")
    ...     save(grammar, path)
    ...     print(*load(path).symbols)
    S NP VP
    """
    lexicon_arrays, lexicon_document = pack_lexicon(grammar.lexicon)
    arrays: dict[str, NDArray[Any]] = {
        "roots": grammar.roots,
        "binary_rules": grammar.binary_rules,
        "binary_probabilities": grammar.binary_probabilities,
        "unary_rules": grammar.unary_rules,
        "unary_probabilities": grammar.unary_probabilities,
        **lexicon_arrays,
    }
    if grammar.coarse is not None and grammar.weights is not None:
        arrays |= {"coarse": grammar.coarse, "weights": grammar.weights}
    if grammar.latent is not None:
        arrays |= {f"latent.{name}": array for name, array in grammar.latent.arrays.items()}
    if grammar.crf_weights is not None:
        arrays |= {
            "crf.vocabulary": grammar.crf_weights.vocabulary,
            "crf.weights": grammar.crf_weights.weights,
        }
    document = {
        "kind": "grammar",
        "symbols": [symbol.to_json() for symbol in grammar.symbols],
        **lexicon_document,
        "provenance": dict(grammar.provenance),
    }
    if grammar.latent is not None:
        document["latent"] = grammar.latent.kind
    if grammar.crf_weights is not None:
        document["crf"] = {
            "loss": grammar.crf_weights.loss,
            "prior_weight": grammar.crf_weights.prior_weight,
        }
    write_model_file(path, arrays, document)


def is_model_file(path: str | PathLike[str]) -> bool:
    """Whether a path leads to something that begins like a model file.

    >>> is_model_file("missing.lpcfg")
    False
    """
    # The length of the header in eight bytes, then the header, which is JSON.
    try:
        with Path(path).open("rb") as file:
            head = file.read(9)
    except OSError:
        return False
    return len(head) == 9 and head[8:] == b"{" and head[5:8] == bytes(3)


def load(path: str | PathLike[str]) -> Grammar:
    """Read a grammar; every length and index is checked before it is used.

    >>> load("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    file = ModelFile(path)
    document = read_document(file, _DOCUMENT, kind="grammar")
    try:
        grammar = _grammar(file, document)
        # The core checks all indices and probabilities as it takes them in.
        _ = grammar.core, grammar.crf_core, grammar.cleaning
    except (KeyError, TypeError, ValueError) as error:
        # What the file's own reader finds wrong begins with the path already.
        if str(error).startswith(f"{file.path}: "):
            raise
        raise ModelFileError(f"{file.path}: {error}") from error
    return grammar


def load_provenance(path: str | PathLike[str]) -> dict[str, Any]:
    """Where a grammar comes from, without reading the rest of it.

    >>> from lpcfg.datasets.embedded import default_model
    >>> load_provenance(default_model())["transform"]["binarize"]
    'right'
    """
    document = read_document(ModelFile(path), _DOCUMENT, kind="grammar")
    provenance: dict[str, Any] = document["provenance"]
    return provenance


def model_files(path: str | PathLike[str]) -> list[Path]:
    """The model file at a path, or those in the folder at a path, in the order of their names.

    What is called ``.lpcfg`` in a folder but is no model file is an error: it was one once, and
    the others would parse without it.

    >>> model_files("missing.lpcfg")
    []
    """
    path = Path(path)
    if not path.is_dir():
        return [path] if is_model_file(path) else []
    shown = [file for file in sorted(path.iterdir()) if not file.name.startswith(".")]
    found = [file for file in shown if is_model_file(file)]
    for file in shown:
        if file.suffix == ".lpcfg" and file not in found:
            raise ModelFileError(f"{file}: this is no model file; remove it or train it again")
    return found


def load_many(path: str | PathLike[str]) -> list[Grammar]:
    r"""Read the grammars of all model files in a folder, or the one of a file.

    >>> import tempfile, pathlib
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grammar, pathlib.Path(folder, "1.lpcfg"))
    ...     save(grammar, pathlib.Path(folder, "2.lpcfg"))
    ...     len(load_many(folder))
    2
    """
    if not Path(path).is_dir():
        return [load(path)]
    if found := model_files(path):
        return [load(file) for file in found]
    raise ModelFileError(f"{path}: there are no model files in this folder")


def _grammar(file: ModelFile, document: dict[str, Any]) -> Grammar:
    symbols = tuple(Symbol.from_json(symbol) for symbol in document["symbols"])
    count = len(symbols)
    has_coarse = "coarse" in file.names()
    return Grammar(
        symbols=symbols,
        roots=file.array("roots", np.float64, (count,)),
        binary_rules=file.array("binary_rules", np.uint32, (None, 3)),
        binary_probabilities=file.array("binary_probabilities", np.float64, (None,)),
        unary_rules=file.array("unary_rules", np.uint32, (None, 2)),
        unary_probabilities=file.array("unary_probabilities", np.float64, (None,)),
        lexicon=read_lexicon(file, document),
        coarse=file.array("coarse", np.uint32, (count,)) if has_coarse else None,
        weights=file.array("weights", np.float64, (count,)) if has_coarse else None,
        latent=_latent(file, document) if "latent.states" in file.names() else None,
        crf_weights=_crf_weights(file, document) if "crf.weights" in file.names() else None,
        provenance=document["provenance"],
    )


def _crf_weights(file: ModelFile, document: dict[str, Any]) -> CRFWeights:
    return CRFWeights(
        **document["crf"],
        vocabulary=file.array("crf.vocabulary", np.uint64, (None,)),
        weights=file.array("crf.weights", np.float32, (None,)),
    )


def _latent(file: ModelFile, document: dict[str, Any]) -> LatentStates:
    if "latent.emissions" in file.names():
        raise ModelFileError(
            f"{file.path}: the latent states are in a form that is no longer read; "
            "train the model again"
        )
    types = {name: kind for kind, names in _LATENT.items() for name in names}
    arrays = {name: file.array(f"latent.{name}", kind, (None,)) for name, kind in types.items()}
    return LatentStates.from_arrays(document["latent"], arrays)
