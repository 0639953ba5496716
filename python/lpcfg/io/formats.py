"""The formats of models: how a kind of model is stored, in one file or in a folder of files.

Each format is defined in the package of the class that it stores; :mod:`lpcfg.io.models` knows
where.
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

__all__ = ["Arrays", "Document", "FileFormat", "FolderFormat", "Resources", "make_folder"]

Model = TypeVar("Model")
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Document: TypeAlias = dict[str, Any]


class Resources(TypedDict, total=False):
    """What the parsers of a loaded model may use; see :class:`lpcfg.Parser`.

    ``memory``: the number of bytes that the charts of a sentence may take.
    ``n_jobs``: the number of threads, -1 for one on each core.
    """

    memory: int
    n_jobs: int


@dataclass(frozen=True)
class FileFormat(Generic[Model]):
    """Models that are stored in one file.

    ``kind``: what the JSON document of such a file has as its ``"kind"``.
    ``keys``: what else the document must have, with the types of the values.
    ``pack``: gives the arrays and the document of a model.
    ``unpack``: makes a model from an open file and its document; whatever ``ValueError`` or the
    like it raises becomes a :class:`~lpcfg.errors.ModelFileError` with the path of the file.

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
        """Read a model from what :meth:`to_bytes` returned."""
        return self.load(ModelFile.from_bytes(data))


@dataclass(frozen=True)
class FolderFormat(Generic[Model]):
    """Models that are stored in a folder: one file for themselves, others for their parts.

    ``kind``: what the JSON document of the model's own file has as its ``"kind"``; that file is
    called ``<kind>.lpcfg``.
    ``keys``: what else the document must have, with the types of the values.
    ``parts``: gives the models that are saved with a model, so that all of them can be checked
    before the first is written.
    ``write``: writes the parts of a model into an empty folder, and gives the arrays and the
    document of the model's own file.
    ``read``: makes a model from its own file, the document, and what its parsers may use.
    """

    kind: str
    keys: Mapping[str, type]
    parts: Callable[[Model], Sequence[object]]
    write: Callable[[Model, Path], tuple[Arrays, Document]]
    read: Callable[[ModelFile, Document, Resources], Model]

    @property
    def file_name(self) -> str:
        """The name of the model's own file."""
        return f"{self.kind}.lpcfg"

    def save(self, model: Model, path: str | PathLike[str]) -> None:
        """Write a model into a folder, a new or an empty one."""
        folder = make_folder(path)
        arrays, document = self.write(model, folder)
        # This file last: without it the folder does not hold a model of this kind.
        write_model_file(folder / self.file_name, arrays, {"kind": self.kind, **document})

    def load(self, file: ModelFile, resources: Resources) -> Model:
        """Read a model, given its own file; the others are beside it."""
        document = read_document(file, self.keys, kind=self.kind)
        try:
            return self.read(file, document, resources)
        except (TypeError, ValueError) as error:
            if isinstance(error, ModelFileError) and error.path is not None:
                raise
            raise ModelFileError(str(error), path=file.path) from error


def make_folder(path: str | PathLike[str]) -> Path:
    """Make a folder for the files of a model, unless it exists and is empty.

    Files that are in a folder already would become part of the model.

    >>> make_folder(".")
    Traceback (most recent call last):
    lpcfg.errors.InputError: .: there is something already; name a folder to make
    """
    folder = Path(path)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("there is something already; name a folder to make", argument=folder)
    folder.mkdir(exist_ok=True)
    return folder
