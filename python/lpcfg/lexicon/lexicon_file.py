"""The part of a model file that holds a lexicon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_classes import word_classes_from_dict

__all__ = ["LEXICON_KEYS", "pack_lexicon", "unpack_lexicon"]

#: The keys of the JSON document that belong to the lexicon.
LEXICON_KEYS = {"word_classes": dict, "lowercase_initial": bool}


def pack_lexicon(lexicon: Lexicon) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of a lexicon, and its part of the document.

    >>> from lpcfg.lexicon.lexicon import lexicon_from_entries
    >>> arrays, document = pack_lexicon(lexicon_from_entries([(0, "the", 1.0)]))
    >>> document
    {'word_classes': {'kind': 'tag'}, 'lowercase_initial': False}
    """
    arrays: dict[str, NDArray[Any]] = {
        "emission_offsets": lexicon.offsets,
        "emission_symbols": lexicon.symbols,
        "emission_probabilities": _smallest(lexicon.probabilities),
        **pack_strings("words", lexicon.words),
        **pack_strings("classes", lexicon.classes),
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
        offsets=file.array("emission_offsets", np.int64, (None,)),
        symbols=file.array("emission_symbols", np.int32, (None,)),
        probabilities=_probabilities(file, "emission_probabilities"),
        lowercase_initial=document["lowercase_initial"],
    )


def _smallest(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in single precision, if none of them changes."""
    single = values.astype(np.float32)
    return single if np.array_equal(single, values) else values


def _probabilities(file: ModelFile, name: str) -> NDArray[np.float64]:
    """Undo :func:`_smallest`."""
    if file.dtype(name) == np.float32:
        return file.array(name, np.float32, (None,)).astype(np.float64)
    return file.array(name, np.float64, (None,))
