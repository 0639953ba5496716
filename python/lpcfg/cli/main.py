"""The command line: the list of commands, how one is run, and how errors are reported.

Each command is a module of :mod:`lpcfg.cli`, which declares its options and calls the library.
:data:`TASKS` lists them with their one-line help, so that ``lpcfg --help`` answers at once: the
module of a command, and NumPy with it, is imported when that command is called.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from lpcfg.errors import LpcfgError

__all__ = ["TASKS", "Command", "main"]

#: The exit code that a shell expects from a program that was stopped by Ctrl-C.
INTERRUPTED = 130


class Command(NamedTuple):
    """A command: the module whose function ``add`` declares it, and its line in ``lpcfg --help``.

    >>> Command("lpcfg.cli.evaluate", "parse a treebank's sentences and score the result").module
    'lpcfg.cli.evaluate'
    """

    module: str
    help: str


#: The commands by task, in the order in which ``lpcfg --help`` lists them.
TASKS: Mapping[str, Mapping[str, Command]] = {
    "learn": {
        "train": Command("lpcfg.cli.train", "learn a grammar from a treebank"),
    },
    "parse": {
        "parse": Command(
            "lpcfg.cli.parse", "parse sentences, one per line, words separated by spaces"
        ),
    },
    "score": {
        "eval": Command("lpcfg.cli.evaluate", "parse a treebank's sentences and score the result"),
        "score": Command("lpcfg.cli.score", "score a file of trees against gold ones"),
    },
    "look inside": {
        "show": Command("lpcfg.cli.show", "draw trees, or summarise models"),
        "annotate": Command(
            "lpcfg.cli.annotate",
            "write trees with the most probable latent states of a model in their labels",
        ),
    },
    "sequences": {
        "tag": Command(
            "lpcfg.cli.tag", "learn part-of-speech tags from a treebank, and tag sentences"
        ),
        "lm": Command("lpcfg.cli.lm", "language models: bigrams with latent states"),
    },
    "experiments": {
        "experiment": Command(
            "lpcfg.cli.experiment",
            "train, evaluate, tabulate and plot; stored results are not computed again",
        ),
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 1 after an error message.

    >>> main(["show", "missing.mrg"])
    1
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    options = _parse_arguments(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Other commands read the output as UTF-8, whatever the encoding of the terminal.
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has closed it; the remaining output is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("lpcfg: interrupted", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        print(f"lpcfg: out of memory: {error}", file=sys.stderr)
        return 1
    except (LpcfgError, OSError) as error:
        print(f"lpcfg: {_message(error)}", file=sys.stderr)
        return 1
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the chosen command, whose module is the only one that is imported."""
    commands = {name: command for group in TASKS.values() for name, command in group.items()}
    overview = argparse.ArgumentParser(
        prog="lpcfg",
        usage="lpcfg [-h] [--version] command ...",
        description="Learn PCFGs and latent-variable PCFGs, and parse with them.",
        epilog=_task_list(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    overview.add_argument("--version", action=_ShowVersion, help="show the version and exit")
    overview.add_argument("command", choices=commands, metavar="command", help=argparse.SUPPRESS)
    overview.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help=argparse.SUPPRESS)
    chosen = overview.parse_args(arguments)
    declared = argparse.ArgumentParser(prog="lpcfg").add_subparsers()
    importlib.import_module(commands[chosen.command].module).add(declared)
    parser: argparse.ArgumentParser = declared.choices[chosen.command]
    return parser.parse_args(chosen.rest)


def _task_list() -> str:
    width = max(len(name) for commands in TASKS.values() for name in commands)
    lines = []
    for task, commands in TASKS.items():
        lines += [f"{task}:"]
        lines += [f"  {name:{width}}  {command.help}" for name, command in commands.items()]
    return "\n".join([*lines, "", "lpcfg COMMAND --help shows the options of a command."])


class _ShowVersion(argparse.Action):
    """Like argparse's version action, but the compiled module is loaded only when it is used."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from lpcfg._core import __version__

        print(f"lpcfg {__version__}")
        parser.exit()
