"""Parsers of all kinds as files and folders."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from lpcfg._options import build_options
from lpcfg.errors import InputError, ModelFileError
from lpcfg.estimators.crf.parser import CRFParser
from lpcfg.io.grammar_file import load_many, save
from lpcfg.io.model_file import ModelFile, make_folder, read_document, write_model_file
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.ensemble import Ensemble, joint_parser
from lpcfg.parsing.options import MEMORY, Pruning
from lpcfg.parsing.parser import Parser
from lpcfg.reranking._file import is_reranker
from lpcfg.reranking.reranker import Reranker

__all__ = ["holds_parser", "load_parser", "save_parser"]

_ENSEMBLE = "ensemble.lpcfg"


class ParserOptions(TypedDict, total=False):
    """Options of a parser that are not stored with its grammars."""

    decoder: str
    combine: str
    prune: Pruning | float | None


def holds_parser(path: str | PathLike[str]) -> bool:
    """Whether a folder holds a parser with options of its own: a reranker or an ensemble.

    >>> holds_parser("missing")
    False
    """
    return is_reranker(path) or Path(path, _ENSEMBLE).is_file()


def save_parser(parser: BaseParser, folder: str | PathLike[str]) -> None:
    r"""Write a parser of any kind into a folder, a new or an empty one.

    A :class:`Parser` becomes a folder of grammars: its options are for who reads it to choose. So
    does a :class:`CRFParser`, which is a :class:`Parser` when it is read.

    >>> import lpcfg, tempfile
    >>> grammar = lpcfg.Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_parser(Ensemble([grammar, grammar], combine="trees"), folder)
    ...     load_parser(folder).combine
    'trees'
    """
    # All before the first is written, so that no half of an ensemble is left behind.
    _check_savable(parser)
    _save(_plain(parser), Path(folder))


def _check_savable(parser: BaseParser) -> None:
    if isinstance(parser, Ensemble):
        for member in parser.members:
            _check_savable(member)
    elif not isinstance(parser, (Parser, Reranker, CRFParser)):
        raise InputError(f"a {type(parser).__name__} cannot be saved")


def _plain(parser: BaseParser) -> BaseParser:
    return parser.parser_ if isinstance(parser, CRFParser) else parser


def _save(parser: BaseParser, folder: Path) -> None:
    if isinstance(parser, Reranker):
        parser.save(folder)
    elif isinstance(parser, Ensemble):
        _save_ensemble(parser, make_folder(folder))
    elif isinstance(parser, Parser):
        make_folder(folder)
        for number, grammar in enumerate(parser.grammars, start=1):
            save(grammar, folder / f"{number}.lpcfg")


def _save_ensemble(ensemble: Ensemble, folder: Path) -> None:
    members = []
    for number, member in enumerate(map(_plain, ensemble.members), start=1):
        _save(member, folder / str(number))
        options: dict[str, object] = {}
        if isinstance(member, Parser):
            options = {"decoder": member.decoder, "combine": member.combine}
            options["prune"] = member.prune._asdict()
        members.append({"folder": str(number), "options": options})
    # This file last: a folder without it is no ensemble.
    document = {
        "kind": "ensemble",
        "combine": ensemble.combine,
        "weights": ensemble.weights,
        "members": members,
    }
    write_model_file(folder / _ENSEMBLE, {}, document)


def load_parser(
    path: str | PathLike[str],
    *,
    memory: int = MEMORY,
    n_jobs: int = -1,
    **options: Unpack[ParserOptions],
) -> BaseParser:
    """Read what parses from a model file, or a folder of them, or of a reranker or an ensemble.

    Grammars in a folder parse as one, with the other ``options`` of :class:`lpcfg.Parser`; those
    of different backbones as an ensemble. Rerankers and ensembles have options of their own.

    >>> load_parser("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    if not holds_parser(path):
        return joint_parser(load_many(path), memory=memory, n_jobs=n_jobs, **options)
    if options:
        raise InputError(
            f"{path}: a reranker or an ensemble parses as it was made; "
            f"leave out {', '.join(options)}"
        )
    if is_reranker(path):
        return Reranker.load(path, memory=memory, n_jobs=n_jobs)
    return _load_ensemble(Path(path), memory, n_jobs)


def _load_ensemble(folder: Path, memory: int, n_jobs: int) -> Ensemble:
    file = ModelFile(folder / _ENSEMBLE)
    required = {"combine": str, "weights": list, "members": list}
    document = read_document(file, required, kind="ensemble")
    members: list[BaseParser] = []
    for member in document["members"]:
        match member:
            # Names lead into the folder and nowhere else.
            case {"folder": str(name), "options": dict(options)} if name.isdecimal():
                try:
                    own = _read_options(options)
                    members.append(load_parser(folder / name, memory=memory, n_jobs=n_jobs, **own))
                except InputError as error:
                    raise ModelFileError(f"{file.path}: {error}") from error
            case _:
                raise ModelFileError(f"{file.path}: not a folder with options: {member!r}")
    try:
        return Ensemble(
            members, combine=document["combine"], weights=document["weights"], n_jobs=n_jobs
        )
    except (InputError, TypeError, ValueError) as error:
        raise ModelFileError(f"{file.path}: {error}") from error


def _read_options(options: dict[str, Any]) -> ParserOptions:
    if unknown := options.keys() - ParserOptions.__annotations__.keys():
        raise InputError(f"unknown options: {', '.join(sorted(unknown))}")
    if "prune" in options:
        options["prune"] = build_options(Pruning, options["prune"])
    return build_options(ParserOptions, options)
