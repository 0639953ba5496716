"""Models as the bytes of their files, so that they can be sent to other machines."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeVar

from lpcfg.io.model_file import is_model_file
from lpcfg.io.models import FOLDER, examine

__all__ = ["ModelFiles"]

Model = TypeVar("Model")


class ModelFiles(NamedTuple):
    """The files of a model with their paths within its folder; a single file has no path."""

    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def read(cls, path: str | PathLike[str]) -> ModelFiles:
        """Read a model file, a folder of model files, or an embedded model."""
        stored = examine(path)
        found = stored.path
        if not found.is_dir():
            return cls((("", found.read_bytes()),))
        if stored.kind == FOLDER:
            inside = [Path(file.path) for file in stored.files]
        else:
            inside = sorted(file for file in found.rglob("*") if is_model_file(file))
        return cls(
            tuple((file.relative_to(found).as_posix(), file.read_bytes()) for file in inside)
        )

    @property
    def digest(self) -> str:
        """The SHA-256 of a single file; of a folder that of the list that sha256sum prints."""
        if len(self.files) == 1 and not self.files[0][0]:
            return hashlib.sha256(self.files[0][1]).hexdigest()
        lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in self.files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def load(self, load: Callable[[Path], Model]) -> Model:
        """Write the files into a temporary folder, and load the model from there."""
        with tempfile.TemporaryDirectory(prefix="lpcfg-") as folder:
            for name, data in self.files:
                file = Path(folder, "model", name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
            return load(Path(folder, "model"))
