"""The command line: the list of commands, how one is run, and how errors are reported.

Each command is a module of :mod:`lpcfg.cli`, which declares its options and calls the library.
:data:`TASKS` lists them with their one-line help, so that ``lpcfg --help`` answers at once: the
module of a command, and NumPy with it, is imported when that command is called.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from lpcfg.cli._messages import error_message, option_names
from lpcfg.cli._streams import discard_output, prepare_streams
from lpcfg.errors import LpcfgError

__all__ = ["TASKS", "Command", "main"]

#: The exit code that a shell expects from a program that was stopped by Ctrl-C.
INTERRUPTED = 130

#: The number of new objects after which Python looks for cycles of objects.
_OBJECTS_UNTIL_COLLECTION = 100_000


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
        "tune": Command(
            "lpcfg.cli.tune",
            "search for the parameters of an estimator with the highest F1 on development trees",
        ),
        "ensemble": Command(
            "lpcfg.cli.ensemble",
            "make a weighted ensemble of models, with weights that are given or learnt from trees",
        ),
        "import": Command(
            "lpcfg.cli.import_grammar", "make a model from the grammar files of another parser"
        ),
    },
    "parse": {
        "parse": Command(
            "lpcfg.cli.parse", "parse sentences, one per line, words separated by spaces"
        ),
    },
    "score": {
        "eval": Command("lpcfg.cli.evaluate", "parse a treebank's sentences and score the result"),
        "score": Command("lpcfg.cli.score", "score a file of trees against gold ones"),
        "compare": Command(
            "lpcfg.cli.compare", "compare the trees of parsers: significance and classes of errors"
        ),
    },
    "look inside": {
        "show": Command("lpcfg.cli.show", "draw trees, or summarise models"),
        "convert": Command("lpcfg.cli.convert", "write trees in another format"),
        "annotate": Command(
            "lpcfg.cli.annotate",
            "write trees with the most probable latent states of a model in their labels",
        ),
        "serve": Command("lpcfg.cli.serve", "show parses in the browser, and answer JSON requests"),
    },
    "sequences": {
        "tag": Command(
            "lpcfg.cli.tag", "learn part-of-speech tags from a treebank, and tag sentences"
        ),
        "words": Command(
            "lpcfg.cli.words", "learn vectors and clusters of words from text, and show them"
        ),
        "lm": Command("lpcfg.cli.lm", "language models: bigrams with latent states"),
    },
    "experiments": {
        "experiment": Command(
            "lpcfg.cli.experiment",
            "train, evaluate, tabulate and plot; stored results are not computed again",
        ),
    },
    "set up": {
        "completion": Command(
            "lpcfg.cli.completion",
            "print a script that completes commands, options and files in a shell",
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
    prepare_streams()
    parser: argparse.ArgumentParser | None = None
    try:
        try:
            with _rare_garbage_collection():
                options, parser = _parse_arguments(arguments)
                options.run(options)
        finally:
            # Also after --help and --version, which exit.
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has closed it; the remaining output is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED)
    except MemoryError as error:
        return _failed(f"out of memory: {error}")
    except (LpcfgError, OSError) as error:
        return _failed(error_message(error, {} if parser is None else option_names(parser)))
    return 0


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Look for cycles of objects less often: trees are many small objects without cycles."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTION, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _failed(message: str, code: int = 1) -> int:
    """Print the message of an error after the output so far, and return the exit code."""
    discard_output()
    print(f"lpcfg: {message}", file=sys.stderr)
    return code


def _parse_arguments(
    arguments: Sequence[str] | None,
) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """The options of the chosen command, whose module is the only one that is imported.

    The second result is the parser that declares these options.
    """
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
    options = parser.parse_args(chosen.rest)
    return options, getattr(options, "parser", parser)


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
