"""The formats of models: how a kind of model is stored, in one file or in a folder of files.

Each format is defined in the package of the class that it stores; :mod:`lpcfg.io.models` lists
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypedDict, TypeVar

import numpy.typing as npt

from lpcfg.errors import InputError, ModelFileError
from lpcfg.io.model_file import ModelFile, model_file_bytes, read_document, write_model_file

__all__ = [
    "Arrays",
    "Document",
    "FileFormat",
    "FolderFormat",
    "Resources",
    "check_new_folder",
    "make_folder",
]

Model = TypeVar("Model")
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Document: TypeAlias = dict[str, Any]


class Resources(TypedDict, total=False):
    """What the parsers of a loaded model work with, and do not store; see :class:`lpcfg.Parser`.

    ``memory``: the largest number of bytes for the charts of a sentence.
    ``max_length``: the largest number of words that are parsed as a whole; None for no limit.
    ``timeout``: the number of seconds for a sentence; None for no limit.
    ``n_jobs``: the number of threads, -1 for one on each core.
    ``dependencies``: known tags and dependencies of sentences, or their file; None for none.
    """

    memory: int
    max_length: int | None
    timeout: float | None
    n_jobs: int
    # lpcfg.formats.Dependencies, which this package cannot import.
    dependencies: Any


@dataclass(frozen=True)
class FileFormat(Generic[Model]):
    """The format of models that are stored in one file.

    ``kind``: the value of ``"kind"`` in the JSON document of such a file.
    ``keys``: the other keys that the document must have, with the types of the values.
    ``pack``: returns the arrays and the document of a model.
    ``unpack``: builds a model from an open file and its document; an ``IndexError``, ``KeyError``,
    ``TypeError`` or ``ValueError`` becomes a :class:`~lpcfg.errors.ModelFileError` with the path.

    >>> import numpy as np
    >>> numbers = FileFormat(
    ...     kind="list of numbers",
    ...     keys={},
    ...     pack=lambda numbers: ({"numbers": np.array(numbers)}, {}),
    ...     unpack=lambda file, document: file.array("numbers").tolist(),
    ... )
    >>> numbers.from_bytes(numbers.to_bytes([2, 3, 5]))
    [2, 3, 5]
    """

    kind: str
    keys: Mapping[str, type]
    pack: Callable[[Model], tuple[Arrays, Document]]
    unpack: Callable[[ModelFile, Document], Model]

    def save(self, model: Model, path: str | PathLike[str]) -> None:
        """Write a model to a file; an existing file is replaced once everything is written."""
        arrays, document = self.pack(model)
        write_model_file(path, arrays, {"kind": self.kind, **document})

    def to_bytes(self, model: Model) -> bytes:
        """The bytes that :meth:`save` would write, for pickles."""
        arrays, document = self.pack(model)
        return model_file_bytes(arrays, {"kind": self.kind, **document})

    def load(self, file: ModelFile) -> Model:
        """Read a model; every length and index is checked before it is used."""
        document = read_document(file, self.keys, kind=self.kind)
        try:
            return self.unpack(file, document)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, ModelFileError) and error.path is not None:
                raise
            raise ModelFileError(str(error), path=file.path) from error

    def from_bytes(self, data: bytes) -> Model:
        """Read a model from the bytes that :meth:`to_bytes` returned."""
        return self.load(ModelFile.from_bytes(data))


@dataclass(frozen=True)
class FolderFormat(Generic[Model]):
    """The format of models that are stored in a folder: a main file, and files for their parts.

    ``kind``: the value of ``"kind"`` in the JSON document of the main file, which is called
    ``<kind>.lpcfg``.
    ``keys``: the other keys that the document must have, with the types of the values.
    ``parts``: returns the models that are saved with a model, so that all of them can be checked
    before the first is written.
    ``write``: writes the parts of a model into an empty folder, and returns the arrays and the
    document of the main file.
    ``read``: builds a model from the main file, its document, and the resources of its parsers.
    """

    kind: str
    keys: Mapping[str, type]
    parts: Callable[[Model], Sequence[object]]
    write: Callable[[Model, Path], tuple[Arrays, Document]]
    read: Callable[[ModelFile, Document, Resources], Model]

    @property
    def file_name(self) -> str:
        """The name of the main file."""
        return f"{self.kind}.lpcfg"

    def save(self, model: Model, path: str | PathLike[str]) -> None:
        """Write a model into a new or empty folder."""
        folder = make_folder(path)
        arrays, document = self.write(model, folder)
        # The main file is written last: without it the folder is not a model of this kind.
        write_model_file(folder / self.file_name, arrays, {"kind": self.kind, **document})

    def load(self, file: ModelFile, resources: Resources) -> Model:
        """Read a model, given its main file; the other files are in the same folder."""
        document = read_document(file, self.keys, kind=self.kind)
        try:
            return self.read(file, document, resources)
        except (TypeError, ValueError) as error:
            if isinstance(error, ModelFileError) and error.path is not None:
                raise
            raise ModelFileError(str(error), path=file.path) from error


def make_folder(path: str | PathLike[str]) -> Path:
    """Make a folder for the files of a model, unless it exists and is empty.

    Files that already exist in a folder would become part of the model.

    >>> make_folder(".")
    Traceback (most recent call last):
    lpcfg.errors.InputError: .: there is something already; name a folder to make
    """
    folder = check_new_folder(path)
    folder.mkdir(exist_ok=True)
    return folder


def check_new_folder(path: str | PathLike[str]) -> Path:
    """Raise an :class:`InputError` for a folder that :func:`make_folder` would refuse.

    >>> check_new_folder("missing/models")
    Traceback (most recent call last):
    lpcfg.errors.InputError: missing/models: there is no folder missing; make it first
    """
    folder = Path(path)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("there is something already; name a folder to make", path=folder)
    if not folder.parent.is_dir():
        raise InputError(f"there is no folder {folder.parent}; make it first", path=folder)
    return folder
