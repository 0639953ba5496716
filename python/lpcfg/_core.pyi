"""The compiled core of lpcfg. Use the package `lpcfg`; this module may change without notice."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "ModelFile",
    "__version__",
    "write_model_file",
]

__version__: str

# Model files

@final
class ModelFile:
    """A model file, mapped into memory and validated."""

    def __new__(cls, path: str | PathLike[str]) -> ModelFile: ...
    @property
    def path(self) -> str:
        """The path the file was opened with."""

    @property
    def json(self) -> str:
        """The JSON document."""

    def names(self) -> list[str]:
        """The names of the arrays, in alphabetical order."""

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""

    def dtype(self, name: str) -> np.dtype[Any]:
        """The type of an array's elements."""

    def array(
        self,
        name: str,
        dtype: npt.DTypeLike | None = None,
        shape: Sequence[int | None] | None = None,
    ) -> npt.NDArray[Any]:
        """A read-only array that borrows from the memory map.

        It is checked against a type and a shape (in which None stands for any length) if they
        are given.
        """

def write_model_file(
    path: str | PathLike[str], arrays: dict[str, npt.NDArray[Any]], json: str
) -> None:
    """Write arrays and a JSON document to a file: all of it, or nothing.

    Equal contents give equal bytes.
    """
