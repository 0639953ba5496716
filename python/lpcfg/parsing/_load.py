"""Load a parser, an ensemble or a reranker from a path."""

from __future__ import annotations

from os import PathLike
from typing import Unpack

from lpcfg.errors import InputError
from lpcfg.io.models import FOLDER, examine
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.ensemble import joint_parser
from lpcfg.parsing.options import MEMORY, ParserOptions
from lpcfg.parsing.parser import Parser

__all__ = ["load_parser"]


def load_parser(
    path: str | PathLike[str],
    *,
    memory: int = MEMORY,
    n_jobs: int = -1,
    **options: Unpack[ParserOptions],
) -> BaseParser:
    """Load a parser, as :meth:`lpcfg.Parser.load` does.

    >>> load_parser("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    stored = examine(path)
    stored.expect("grammar", FOLDER, "ensemble", "reranker")
    if stored.kind == "grammar":
        return Parser(stored.load(), memory=memory, n_jobs=n_jobs, **options)
    if stored.kind == FOLDER:
        grammars = [part.load() for part in stored.parts("grammar")]
        return joint_parser(grammars, memory=memory, n_jobs=n_jobs, **options)
    if options:
        raise InputError(
            f"the options of {stored.kind}s are stored with them; leave out {', '.join(options)}",
            argument=path,
        )
    parser: BaseParser = stored.load(memory=memory, n_jobs=n_jobs)
    return parser
