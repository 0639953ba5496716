"""The part of a model file that holds a lexicon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.errors import ModelFileError
from lpcfg.io.compact_arrays import SHORT, pack_numbers, unpack_numbers
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.lexicon.clustered_words import ClusteredWords
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.tag_model import TagModel
from lpcfg.lexicon.word_classes import word_classes_from_dict

__all__ = ["LEXICON_KEYS", "pack_lexicon", "unpack_lexicon"]

#: The keys of the JSON document that belong to the lexicon.
LEXICON_KEYS = {"word_classes": dict, "lowercase_initial": bool}

#: The first part of the names of the arrays of a tag model.
_TAG_MODEL = "tag_model"
_CLUSTERED = f"{_TAG_MODEL}.clustered"
_SYMBOLS = "emission_symbols"
_PROBABILITIES = "emission_probabilities"


def pack_lexicon(lexicon: Lexicon) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of a lexicon, and its part of the document.

    >>> from lpcfg.lexicon.lexicon import lexicon_from_entries
    >>> arrays, document = pack_lexicon(lexicon_from_entries([(0, "the", 1.0)]))
    >>> document
    {'word_classes': {'kind': 'tag'}, 'lowercase_initial': False}
    """
    arrays: dict[str, NDArray[Any]] = {
        "emission_offsets": _smaller_offsets(lexicon.offsets),
        **_pack_symbols(lexicon.symbols),
        **_pack_probabilities(lexicon.probabilities),
        **pack_strings("words", lexicon.words),
        **pack_strings("classes", lexicon.classes),
        **(_pack_tag_model(lexicon.tag_model) if lexicon.tag_model is not None else {}),
    }
    document: dict[str, Any] = {
        "word_classes": lexicon.classifier.to_dict(),
        "lowercase_initial": lexicon.lowercase_initial,
    }
    return arrays, document


def unpack_lexicon(file: ModelFile, document: dict[str, Any]) -> Lexicon:
    """Undo :func:`pack_lexicon`.

    >>> import tempfile, pathlib
    >>> from lpcfg.lexicon.lexicon import lexicon_from_entries
    >>> from lpcfg.io.model_file import write_model_file
    >>> arrays, document = pack_lexicon(lexicon_from_entries([(0, "the", 1.0)]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "words.lpcfg")
    ...     write_model_file(path, arrays, document)
    ...     unpack_lexicon(ModelFile(path), document).words
    ('the',)
    """
    return Lexicon(
        words=unpack_strings(file, "words"),
        classes=unpack_strings(file, "classes"),
        classifier=word_classes_from_dict(document["word_classes"]),
        offsets=_offsets(file),
        symbols=_symbols(file),
        probabilities=_probabilities(file),
        lowercase_initial=document["lowercase_initial"],
        tag_model=_tag_model(file) if f"{_TAG_MODEL}.weights" in file.names() else None,
    )


def _pack_tag_model(model: TagModel) -> dict[str, NDArray[Any]]:
    clustered: dict[str, NDArray[Any]] = {}
    if model.clustered is not None:
        clustered = {
            **pack_strings(f"{_CLUSTERED}.words", model.clustered.words),
            # Two bytes each, low byte first.
            f"{_CLUSTERED}.clusters": model.clustered.clusters.astype("<u2").view(np.uint8),
        }
    return {
        **pack_strings(f"{_TAG_MODEL}.tags", model.tags),
        **pack_strings(f"{_TAG_MODEL}.features", model.features),
        # In half precision, low byte first.
        f"{_TAG_MODEL}.weights": model.weights.astype("<f2").view(np.uint8),
        f"{_TAG_MODEL}.class_tags": model.class_tags,
        **clustered,
    }


def _tag_model(file: ModelFile) -> TagModel:
    """Undo :func:`_pack_tag_model`."""
    tags = unpack_strings(file, f"{_TAG_MODEL}.tags")
    features = unpack_strings(file, f"{_TAG_MODEL}.features")
    weights = file.array(f"{_TAG_MODEL}.weights", np.uint8, (len(features), 2 * len(tags)))
    return TagModel(
        tags=tags,
        features=features,
        weights=weights.view("<f2").astype(np.float32),
        class_tags=file.array(f"{_TAG_MODEL}.class_tags", np.float32, (None, len(tags))),
        clustered=_clustered_words(file) if f"{_CLUSTERED}.clusters" in file.names() else None,
    )


def _clustered_words(file: ModelFile) -> ClusteredWords:
    """Undo the part of :func:`_pack_tag_model` for words with clusters."""
    words = unpack_strings(file, f"{_CLUSTERED}.words")
    pairs = file.array(f"{_CLUSTERED}.clusters", np.uint8, (len(words), None))
    if pairs.shape[1] % 2:
        raise ModelFileError(f"{_CLUSTERED}.clusters has an odd number of bytes", path=file.path)
    return ClusteredWords(words, pairs.view("<u2").astype(np.uint16))


def _smaller_offsets(offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Many offsets in four bytes each, if they are small enough."""
    if len(offsets) < SHORT // 2 or offsets[-1] > np.iinfo(np.uint32).max:
        return offsets
    return offsets.astype(np.uint32)


def _offsets(file: ModelFile) -> NDArray[np.int64]:
    """Undo :func:`_smaller_offsets`."""
    if file.dtype("emission_offsets") == np.uint32:
        return file.array("emission_offsets", np.uint32, (None,)).astype(np.int64)
    return file.array("emission_offsets", np.int64, (None,))


def _pack_symbols(symbols: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """The symbols; many of them in two bytes each, low byte first, if their numbers allow it."""
    if len(symbols) < SHORT or symbols.max() > np.iinfo(np.uint16).max:
        return {_SYMBOLS: symbols}
    return {f"{_SYMBOLS}.bytes": symbols.astype("<u2").view(np.uint8)}


def _symbols(file: ModelFile) -> NDArray[np.int32]:
    """Undo :func:`_pack_symbols`."""
    if f"{_SYMBOLS}.bytes" not in file.names():
        return file.array(_SYMBOLS, np.int32, (None,))
    pairs = file.array(f"{_SYMBOLS}.bytes", np.uint8, (None,))
    if len(pairs) % 2:
        raise ModelFileError(f"{_SYMBOLS} has an odd number of bytes", path=file.path)
    return pairs.view("<u2").astype(np.int32)


def _pack_probabilities(values: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """The probabilities in single precision or less, if none of them changes."""
    single = values.astype(np.float32)
    if np.array_equal(single, values):
        return pack_numbers(_PROBABILITIES, single)
    return {_PROBABILITIES: values}


def _probabilities(file: ModelFile) -> NDArray[np.float64]:
    """Undo :func:`_pack_probabilities`."""
    name = _PROBABILITIES
    if name in file.names() and file.dtype(name) == np.float64:
        return file.array(name, np.float64, (None,))
    return unpack_numbers(file, name).astype(np.float64)
