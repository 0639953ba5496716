"""The command line: arguments in, text out; everything else is in the library.

What each command does is in the other modules of :mod:`lpcfg.cli`.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from lpcfg import _core
from lpcfg.cli import annotate, evaluate, experiment, lm, parse, score, show, tag, train
from lpcfg.errors import LpcfgError

__all__ = ["main"]

#: What a shell expects of a program that was stopped by Ctrl-C.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 1 for an error that was explained.

    >>> main(["show", "missing.mrg"])
    1
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What is written here is meant to be read again, whatever the terminal is set to.
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left cannot be written anywhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("lpcfg: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (LpcfgError, OSError) as error:
        print(f"lpcfg: {_message(error)}", file=sys.stderr)
        return 1
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lpcfg", description="Learn PCFGs and latent-variable PCFGs, and parse with them."
    )
    parser.add_argument("--version", action="version", version=f"lpcfg {_core.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in (train, parse, evaluate, score, show, annotate, lm, tag, experiment):
        command.add(commands)
    return parser
