"""The format of ensembles: a folder with a file for the ensemble and a folder for each member."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lpcfg._options import build_options
from lpcfg.errors import InputError, ModelFileError
from lpcfg.formats.dependencies import loaded_dependencies
from lpcfg.io.formats import Arrays, Document, FolderFormat, Resources
from lpcfg.io.model_file import ModelFile
from lpcfg.io.models import save
from lpcfg.parsing._load import load_parser
from lpcfg.parsing.base import BaseParser
from lpcfg.parsing.ensemble import Ensemble
from lpcfg.parsing.options import ParserOptions, Pruning, timeout_share
from lpcfg.parsing.parser import Parser

__all__ = ["ENSEMBLE_FORMAT"]


def _parts(ensemble: Ensemble) -> list[object]:
    return [_saved(member) for member in ensemble.members]


def _saved(member: BaseParser) -> object:
    """The object to save for a member: the list of grammars of a parser, other members whole."""
    parser = _parser_of(member)
    return member if parser is None else parser.grammars


def _parser_of(member: BaseParser) -> Parser | None:
    # An estimator that parses has the parser of its grammar.
    parser = getattr(member, "parser_", member)
    return parser if isinstance(parser, Parser) else None


def _write(ensemble: Ensemble, folder: Path) -> tuple[Arrays, Document]:
    members = []
    for number, member in enumerate(ensemble.members, start=1):
        save(_saved(member), folder / str(number))
        parser, options = _parser_of(member), {}
        if parser is not None:
            options = {
                "decoder": parser.decoder,
                "combine": parser.combine,
                "prune": parser.prune._asdict(),
            }
        members.append({"folder": str(number), "options": options})
    return {}, {"combine": ensemble.combine, "weights": ensemble.weights, "members": members}


def _read(file: ModelFile, document: Document, resources: Resources) -> Ensemble:
    members: list[BaseParser] = []
    timeout = timeout_share(resources.get("timeout"), max(1, len(document["members"])))
    # Members share what is read once.
    known = loaded_dependencies(resources.get("dependencies"))
    own: Resources = {**resources, "timeout": timeout, "dependencies": known}
    for member in document["members"]:
        match member:
            # Only names inside the folder of the ensemble are allowed.
            case {"folder": str(name), "options": dict(options)} if name.isdecimal():
                folder = Path(file.path).parent / name
                members.append(load_parser(folder, **own, **_read_options(options)))
            case _:
                raise ModelFileError(f"not a folder with options: {member!r}", path=file.path)
    return Ensemble(members, combine=document["combine"], weights=document["weights"], **own)


def _read_options(options: dict[str, Any]) -> ParserOptions:
    if unknown := options.keys() - ParserOptions.__annotations__.keys():
        raise InputError(f"unknown options: {', '.join(sorted(unknown))}", argument="options")
    if "prune" in options:
        options["prune"] = build_options(Pruning, options["prune"])
    return build_options(ParserOptions, options)


#: An ensemble with its weights; the members are in numbered folders.
ENSEMBLE_FORMAT = FolderFormat(
    kind="ensemble",
    keys={"combine": str, "weights": list, "members": list},
    parts=_parts,
    write=_write,
    read=_read,
)
