"""``lpcfg completion``: a script that completes commands, options and files in a shell."""

from __future__ import annotations

import argparse
import importlib

from lpcfg.cli._common import Commands, add_command, file_path
from lpcfg.errors import MissingPackageError

__all__ = ["add"]

_SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")

_EPILOG = """\
bash:  lpcfg completion bash > ~/.local/share/bash-completion/completions/lpcfg
zsh:   lpcfg completion zsh > ~/.zfunc/_lpcfg     (with fpath+=~/.zfunc before compinit)
fish:  lpcfg completion fish > ~/.config/fish/completions/lpcfg.fish"""


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "print a script that completes commands, options and files in a shell"
    parser = add_command(commands, "completion", _print_script, about)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("shell", choices=_SHELLS, help="the shell")


def _print_script(options: argparse.Namespace) -> None:
    try:
        import shtab
    except ImportError:
        raise MissingPackageError("completion", package="shtab", extra="completion") from None
    parser = _full_parser()
    _complete_files(parser, shtab.FILE)
    print(shtab.complete(parser, shell=options.shell))


def _full_parser() -> argparse.ArgumentParser:
    """A parser with all commands, each from its module."""
    # That module imports this one by its name.
    from lpcfg.cli.main import TASKS

    parser = argparse.ArgumentParser(prog="lpcfg")
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers()
    for group in TASKS.values():
        for command in group.values():
            importlib.import_module(command.module).add(commands)
    for name, declared in list(commands.choices.items()):
        # The options of lpcfg train depend on its arguments.
        if hasattr(declared, "declared"):
            commands.choices[name] = declared.declared()
    return parser


def _complete_files(parser: argparse.ArgumentParser, files: object) -> None:
    """Complete names of files where an argument is a string that is not one of a few choices."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _complete_files(below, files)
        elif action.nargs != 0 and action.choices is None and action.type in (None, file_path):
            action.complete = files  # type: ignore[attr-defined]
        elif action.choices is not None:
            # shtab takes a dictionary for one of subcommands.
            action.choices = list(action.choices)
