"""The arrays and the document of a neural network in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg._options import build_options
from lpcfg.errors import ModelFileError
from lpcfg.grammar.neural_weights import NeuralSizes, NeuralWeights, SpanLabels
from lpcfg.io.compact_arrays import pack_numbers, unpack_numbers
from lpcfg.io.formats import Arrays, Document
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings

__all__ = ["pack_neural", "unpack_neural"]

#: The version of the network: what its parameters mean.
_VERSION = 1


def pack_neural(weights: NeuralWeights) -> tuple[Arrays, Document]:
    """The arrays and the document of a network."""
    arrays: Arrays = {
        **_pack_values(weights.values),
        **pack_strings("neural.words", weights.words),
    }
    if len(weights.vector_words):
        arrays |= {
            "neural.vectors": np.ascontiguousarray(weights.vectors).view(np.uint8),
            **pack_strings("neural.vector_words", weights.vector_words),
        }
    return arrays, {
        "version": _VERSION,
        "loss": weights.loss,
        "sizes": weights.sizes._asdict(),
        "characters": weights.characters,
        "tags": list(weights.tags),
        "labels": {
            "chains": [list(chain) for chain in weights.labels.chains],
            "whole": list(weights.labels.whole),
            "part": list(weights.labels.part),
            "root": list(weights.labels.root),
        },
    }


def unpack_neural(file: ModelFile, document: Document) -> NeuralWeights:
    """The network of a model file."""
    neural = document["neural"]
    if neural["version"] != _VERSION:
        raise ModelFileError(
            f"the neural network has version {neural['version']!r}, and this lpcfg has version "
            f"{_VERSION}; train the model again",
            path=file.path,
        )
    labels = neural["labels"]
    vectors: dict[str, Any] = {}
    if "neural.vectors" in file.names():
        words = unpack_strings(file, "neural.vector_words")
        rows = file.array("neural.vectors", np.uint8, (len(words), None))
        vectors = {"vector_words": words, "vectors": rows.view(np.int8)}
    return NeuralWeights(
        loss=neural["loss"],
        sizes=build_options(NeuralSizes, neural["sizes"]),
        words=unpack_strings(file, "neural.words"),
        characters=neural["characters"],
        tags=tuple(neural["tags"]),
        labels=SpanLabels(
            tuple(map(tuple, labels["chains"])),
            tuple(labels["whole"]),
            tuple(labels["part"]),
            tuple(labels["root"]),
        ),
        values=_unpack_values(file),
        **vectors,
    )


def _pack_values(values: NDArray[np.float32]) -> Arrays:
    """Parameters in a byte each, or in half precision, if nothing is lost by it."""
    packed = pack_numbers("neural.values", values)
    if len(packed) > 1:
        return packed
    with np.errstate(over="ignore"):
        half = values.astype(np.float16)
    if np.array_equal(half.astype(np.float32), values):
        # As bytes, which model files have.
        return {"neural.half_values": half.view(np.uint8)}
    return {"neural.values": values}


def _unpack_values(file: ModelFile) -> NDArray[np.float32]:
    if "neural.half_values" not in file.names():
        return unpack_numbers(file, "neural.values")
    stored = file.array("neural.half_values", np.uint8, (None,))
    if len(stored) % 2:
        raise ModelFileError("an element of 'neural.half_values' is incomplete", path=file.path)
    return stored.view(np.float16).astype(np.float32)
