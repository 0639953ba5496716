"""Load a parser, an ensemble or a reranker from a path."""

from __future__ import annotations

from os import PathLike
from typing import Unpack

from lpcfg.errors import InputError
from lpcfg.formats.dependencies import Dependencies, loaded_dependencies
from lpcfg.io.formats import Resources
from lpcfg.io.models import FOLDER, examine
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.joint_parser import joint_parser
from lpcfg.parsing.options import MAX_LENGTH, MEMORY, ParserOptions
from lpcfg.parsing.parser import Parser

__all__ = ["load_parser"]


def load_parser(
    path: str | PathLike[str],
    *,
    memory: int = MEMORY,
    max_length: int | None = MAX_LENGTH,
    timeout: float | None = None,
    n_jobs: int = -1,
    dependencies: Dependencies | str | PathLike[str] | None = None,
    **options: Unpack[ParserOptions],
) -> BaseParser:
    """Load a parser, as :meth:`lpcfg.Parser.load` does.

    >>> load_parser("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    stored = examine(path)
    stored.expect("grammar", FOLDER, "ensemble", "reranker")
    resources: Resources = {
        "memory": memory,
        "max_length": max_length,
        "timeout": timeout,
        "n_jobs": n_jobs,
        # Several parsers share what is read once.
        "dependencies": loaded_dependencies(dependencies),
    }
    if stored.kind == "grammar":
        return Parser(stored.load(), **resources, **options)
    if stored.kind == FOLDER:
        grammars = [part.load() for part in stored.parts("grammar")]
        return joint_parser(grammars, **resources, **options)
    if options:
        raise InputError(
            f"the options of {stored.kind}s are stored with them; leave out {', '.join(options)}",
            path=path,
        )
    parser: BaseParser = stored.load(**resources)
    return parser
