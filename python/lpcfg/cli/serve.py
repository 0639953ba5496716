"""``lpcfg serve``: a page to look at parses, and a JSON API."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

from lpcfg._threads import thread_count
from lpcfg.cli._common import Commands, add_command, add_parsing, count, load_parser, report
from lpcfg.errors import MissingPackageError
from lpcfg.server.limits import Limits
from lpcfg.text.segmentation import split_text

__all__ = ["add"]

#: The limits that have an option, with its help.
_LIMITS = {
    "characters": "characters of a text",
    "sentences": "sentences of a text",
    "words": "words of a sentence",
    "candidates": "best trees of a sentence",
    "seconds": "seconds for the sentences of a text",
    "requests": "requests at the same time",
}


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(
        commands, "serve", _serve, "show parses in the browser, and answer JSON requests"
    )
    parser.add_argument(
        "models",
        nargs="*",
        default=["english"],
        metavar="model",
        help="model files or folders (default: english, the model that comes with lpcfg)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen on (default: 127.0.0.1, which only this machine can reach)",
    )
    parser.add_argument(
        "--port", type=count, default=8000, metavar="N", help="the port (default: 8000; 0: any)"
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name of this machine that requests may use; * for all",
    )
    defaults = {field.name: field.default for field in fields(Limits)}
    for name, about in _LIMITS.items():
        parser.add_argument(
            f"--max-{name}",
            type=count,
            default=defaults[name],
            metavar="N",
            help=f"the largest number of {about} (default: {defaults[name]})",
        )
    add_parsing(parser)


def _serve(options: argparse.Namespace) -> None:
    try:
        from lpcfg.server.model import ServedModel
        from lpcfg.server.run import serve
    except ImportError as error:
        raise MissingPackageError(
            "lpcfg serve", package=error.name or "starlette", extra="serve"
        ) from error
    limits = Limits(**{name: getattr(options, f"max_{name}") for name in _LIMITS})
    if options.timeout is None:
        # No sentence may take longer than a request.
        options.timeout = float(limits.seconds)
    names: dict[str, str] = {}
    for path in options.models:
        stem = Path(path).stem
        name = next(
            name
            for number in range(len(names) + 1)
            if (name := f"{stem}-{number + 1}" if number else stem) not in names
        )
        names[name] = path
    # What finds sentences takes a second to load, for which the first client would wait.
    next(split_text("It rained."))
    models = [ServedModel(name, load_parser(path, options)) for name, path in names.items()]
    serve(
        models,
        host=options.host,
        port=options.port,
        limits=limits,
        allowed_hosts=options.allowed_host,
        workers=thread_count(options.jobs),
        started=lambda address: report(f"lpcfg: {address} (Ctrl-C stops it)", quiet=False),
    )
