"""What models have in common as files: named arrays, lists of strings, and a JSON document.

The container itself, and all validation of its bytes, is in the core (``rust/src/model_file.rs``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lpcfg._core import ModelFile
from lpcfg._core import write_model_file as write_arrays_and_json
from lpcfg.errors import InputError, ModelFileError

__all__ = [
    "ModelFile",
    "make_folder",
    "pack_strings",
    "read_document",
    "unpack_strings",
    "write_model_file",
]


def make_folder(path: str | PathLike[str]) -> Path:
    """Make a folder for several files of one model, unless it is there and empty.

    What is in a folder already would become part of the model.

    >>> make_folder(".")
    Traceback (most recent call last):
    lpcfg.errors.InputError: .: there is something already; name a folder to make
    """
    folder = Path(path)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{folder}: there is something already; name a folder to make")
    folder.mkdir(exist_ok=True)
    return folder


def write_model_file(
    path: str | PathLike[str],
    arrays: Mapping[str, npt.NDArray[Any]],
    document: Mapping[str, object],
) -> None:
    """Write a model file in one step: after an error, an existing file is as it was before.

    Equal contents give equal bytes, in whatever order the mappings are.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.lpcfg")
    ...     write_model_file(path, {"root": np.array([0.5, 0.5])}, {"estimator": "pcfg"})
    ...     ModelFile(path).array("root", dtype=np.float64, shape=(2,))
    array([0.5, 0.5])
    """
    try:
        text = json.dumps(
            document, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        )
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: the document cannot be written as JSON: {error}") from error
    write_arrays_and_json(path, dict(arrays), text)


def read_document(
    file: ModelFile, required: Mapping[str, type], kind: str | None = None
) -> dict[str, Any]:
    """Return the JSON document of a file, once it is known to have values of the required types.

    The types are those of JSON: ``dict``, ``list``, ``str``, ``int``, ``float`` (any number) and
    ``bool``. If a ``kind`` is given, the file must hold a model of that kind.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.lpcfg")
    ...     write_model_file(path, {}, {"estimator": "pcfg", "states": 1})
    ...     document = read_document(ModelFile(path), {"states": int})
    >>> document["estimator"]
    'pcfg'
    """
    document = json.loads(file.json)
    if not isinstance(document, dict):
        raise ModelFileError(f"{file.path}: the JSON document is not an object")
    if kind is not None:
        required = {"kind": str, **required}
        if document.get("kind", kind) != kind:
            article = "an" if kind[0] in "aeiou" else "a"
            raise ModelFileError(f"{file.path}: holds a {document['kind']}, not {article} {kind}")
    missing = [key for key in required if key not in document]
    if missing:
        keys = ", ".join(map(repr, missing))
        raise ModelFileError(f"{file.path}: the JSON document lacks {keys}; train the model again")
    for key, expected in required.items():
        if not _is_a(document[key], expected):
            found = type(document[key]).__name__
            raise ModelFileError(
                f"{file.path}: {key!r} in the JSON document is of type {found}, "
                f"expected {expected.__name__}"
            )
    return document


def pack_strings(name: str, strings: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return arrays that hold a list of strings: their UTF-8 in a row, and where each ends.

    >>> pack_strings("words", ["a", "dog"])
    {'words.utf8': array([ 97, 100, 111, 103], dtype=uint8),
     'words.ends': array([1, 4], dtype=uint32)}
    """
    if isinstance(strings, str):
        raise InputError(f"{name}: expected a list of strings, not one string")
    try:
        encoded = [string.encode() for string in strings]
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: {error.object!r} cannot be written as UTF-8") from error
    ends = np.cumsum([len(string) for string in encoded], dtype=np.uint64)
    if len(ends) and ends[-1] > np.iinfo(np.uint32).max:
        raise InputError(f"{name}: the strings take {ends[-1]} bytes, more than a model can hold")
    utf8 = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return {f"{name}.utf8": utf8, f"{name}.ends": ends.astype(np.uint32)}


def unpack_strings(file: ModelFile, name: str, count: int | None = None) -> tuple[str, ...]:
    """Return the strings that :func:`pack_strings` has packed, checked against their number.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.lpcfg")
    ...     write_model_file(path, pack_strings("words", ["a", "dog"]), {})
    ...     unpack_strings(ModelFile(path), "words")
    ('a', 'dog')
    """
    ends = file.array(f"{name}.ends", dtype=np.uint32, shape=(count,))
    utf8 = file.array(f"{name}.utf8", dtype=np.uint8, shape=(None,))
    if np.any(ends[1:] < ends[:-1]):
        raise ModelFileError(f"{file.path}: strings {name!r} do not follow each other")
    if (int(ends[-1]) if len(ends) else 0) != len(utf8):
        raise ModelFileError(f"{file.path}: strings {name!r} do not fill their {len(utf8)} bytes")
    data = utf8.tobytes()
    stops: list[int] = ends.tolist()
    try:
        return tuple(
            data[start:stop].decode() for start, stop in zip([0, *stops], stops, strict=False)
        )
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{file.path}: strings {name!r} are not UTF-8 ({error})") from error


def _is_a(value: object, kind: type) -> bool:
    """Tell whether a JSON value is of a JSON type: true is not a number, and 1 is a float."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
