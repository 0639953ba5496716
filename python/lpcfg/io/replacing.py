"""Write files completely or not at all, as models are written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

__all__ = ["replacing", "write_text"]


@contextmanager
def replacing(path: str | PathLike[str], *, partial: bool = False) -> Iterator[Path]:
    """The path of a temporary file beside ``path``, which is renamed to ``path`` at the end.

    After an exception, a file at ``path`` is as it was before, and the temporary file is deleted;
    with ``partial`` it is kept as ``<path>.partial`` unless it is empty. A new file has the usual
    permissions, a replaced one keeps its own; a symbolic link stays, and the file that it points
    to is replaced. Pipes and devices are written to directly. An ``OSError`` names ``path``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "trees.mrg")) as temporary:
    ...         _ = temporary.write_text("(NN rain)")
    ...     [file.name for file in Path(folder).iterdir()]
    ['trees.mrg']
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with _naming(path):
            yield target
        return
    # The suffix stays at the end, as it tells libraries the format.
    temporary = target.with_name(f".lpcfg-{secrets.token_hex(8)}.tmp{target.suffix}")
    with _naming(path):
        # An interrupt may come as soon as the file is there, so it is made inside of the block.
        try:
            # Not from tempfile, whose files can be read by their owner only.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            yield temporary
            if target.exists():
                temporary.chmod(target.stat().st_mode)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                if partial and temporary.stat().st_size:
                    temporary.replace(f"{os.fspath(path)}.partial")
            raise
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a file of text in UTF-8, completely or not at all; see :func:`replacing`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "tree.mrg"), "(NN rain)")
    ...     Path(folder, "tree.mrg").read_text(encoding="utf-8")
    '(NN rain)'
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def _naming(path: str | PathLike[str]) -> Iterator[None]:
    """Let an ``OSError`` about no file, or about the temporary one, name ``path``."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(str(error.filename)).name.startswith(".lpcfg-"):
            error.filename, error.filename2 = os.fspath(path), None
        raise
