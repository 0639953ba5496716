"""The container of all models: named arrays, lists of strings, and a JSON document in one file.

The container itself, and all validation of its bytes, is in the core (``rust/src/model_file``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lpcfg import _core
from lpcfg._core import ModelFile
from lpcfg.errors import InputError, ModelFileError, NotAModelError

__all__ = [
    "ModelFile",
    "begins_model_file",
    "is_model_file",
    "model_file_bytes",
    "open_model_file",
    "pack_strings",
    "read_document",
    "unpack_strings",
    "with_article",
    "write_model_file",
]


def open_model_file(path: str | PathLike[str]) -> ModelFile:
    """Open a model file; a file without its header raises a :class:`NotAModelError`.

    >>> open_model_file("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    try:
        return ModelFile(path)
    except ModelFileError as error:
        if is_model_file(path):
            raise
        raise NotAModelError(error.message, path=path) from None


def is_model_file(path: str | PathLike[str]) -> bool:
    """Whether a path is a file with the header of a model file, damaged or not.

    >>> is_model_file("missing.lpcfg")
    False
    """
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return begins_model_file(file.read(9))


def begins_model_file(data: bytes) -> bool:
    """Whether some bytes are the beginning of a model file.

    >>> begins_model_file(b"It rained .")
    False
    """
    # The length of the header in eight bytes, then the header, which is JSON.
    return data[5:9] == b"\0\0\0{"


def write_model_file(
    path: str | PathLike[str],
    arrays: Mapping[str, npt.NDArray[Any]],
    document: Mapping[str, object],
) -> None:
    """Write a model file atomically: after an error, an existing file is unchanged.

    Equal contents give equal bytes, whatever the order of the mappings.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.lpcfg")
    ...     write_model_file(path, {"root": np.array([0.5, 0.5])}, {"estimator": "pcfg"})
    ...     ModelFile(path).array("root", dtype=np.float64, shape=(2,))
    array([0.5, 0.5])
    """
    _core.write_model_file(path, dict(arrays), _as_json(document))


def model_file_bytes(
    arrays: Mapping[str, npt.NDArray[Any]], document: Mapping[str, object]
) -> bytes:
    """The bytes that :func:`write_model_file` would write; ``ModelFile.from_bytes`` reads them.

    >>> data = model_file_bytes({"root": np.array([0.5, 0.5])}, {"estimator": "pcfg"})
    >>> ModelFile.from_bytes(data).array("root")
    array([0.5, 0.5])
    """
    return _core.model_file_bytes(dict(arrays), _as_json(document))


def _as_json(document: Mapping[str, object]) -> str:
    try:
        text = json.dumps(
            document, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        )
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the document cannot be written as JSON: {error}", argument="document"
        ) from error
    return text


def read_document(
    file: ModelFile, required: Mapping[str, type], kind: str | None = None
) -> dict[str, Any]:
    """Return the JSON document of a file, after checking the types of the required values.

    The types are JSON types: ``dict``, ``list``, ``str``, ``int``, ``float`` (any number) and
    ``bool``. With a ``kind``, the file must hold a model of that kind.

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
        raise ModelFileError("the JSON document is not an object", path=file.path)
    if kind is not None:
        required = {"kind": str, **required}
        if document.get("kind", kind) != kind:
            raise ModelFileError(
                f"holds {with_article(document['kind'])}, not {with_article(kind)}", path=file.path
            )
    missing = [key for key in required if key not in document]
    if missing:
        keys = ", ".join(map(repr, missing))
        raise ModelFileError(
            f"the JSON document lacks {keys}; train the model again", path=file.path
        )
    for key, expected in required.items():
        if not _is_a(document[key], expected):
            actual = type(document[key]).__name__
            raise ModelFileError(
                f"{key!r} in the JSON document is of type {actual}, expected {expected.__name__}",
                path=file.path,
            )
    return document


def with_article(kind: object) -> str:
    """A kind of model with its article, for messages.

    >>> with_article("ensemble"), with_article("tagger")
    ('an ensemble', 'a tagger')
    """
    return f"{'an' if str(kind)[:1] in tuple('aeiou') else 'a'} {kind}"


def pack_strings(name: str, strings: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return arrays that hold a list of strings: their concatenated UTF-8, and where each ends.

    >>> pack_strings("words", ["a", "dog"])
    {'words.utf8': array([ 97, 100, 111, 103], dtype=uint8),
     'words.ends': array([1, 4], dtype=uint32)}
    """
    if isinstance(strings, str):
        raise InputError("expected a list of strings, not one string", argument=name)
    try:
        encoded = [string.encode() for string in strings]
    except UnicodeEncodeError as error:
        raise InputError(f"{error.object!r} cannot be written as UTF-8", argument=name) from error
    ends = np.cumsum([len(string) for string in encoded], dtype=np.uint64)
    if len(ends) and ends[-1] > np.iinfo(np.uint32).max:
        raise InputError(
            f"the strings take {ends[-1]} bytes, more than a model can hold", argument=name
        )
    utf8 = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return {f"{name}.utf8": utf8, f"{name}.ends": ends.astype(np.uint32)}


def unpack_strings(file: ModelFile, name: str, count: int | None = None) -> tuple[str, ...]:
    """Return the strings that :func:`pack_strings` has packed; ``count`` is their number.

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
        raise ModelFileError(f"strings {name!r} do not follow each other", path=file.path)
    if (int(ends[-1]) if len(ends) else 0) != len(utf8):
        raise ModelFileError(
            f"strings {name!r} do not fill their {len(utf8)} bytes", path=file.path
        )
    try:
        text = utf8.tobytes().decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"strings {name!r} are not UTF-8 ({error})", path=file.path) from error
    # Slices of one string take half the time of decoding one by one.
    begins_character = (utf8 & 0xC0) != 0x80
    if not begins_character[ends[ends < len(utf8)]].all():
        raise ModelFileError(
            f"strings {name!r} are not UTF-8 (one ends inside a character)", path=file.path
        )
    characters = np.concatenate([[0], np.cumsum(begins_character)])
    stops: list[int] = characters[ends].tolist()
    return tuple([text[start:stop] for start, stop in pairwise([0, *stops])])


def _is_a(value: object, kind: type) -> bool:
    """Whether a JSON value is of a JSON type: true is not a number, and 1 is a float."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
