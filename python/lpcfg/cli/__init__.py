"""The command line: one module a command, each of which parses arguments and prints."""

from lpcfg.cli.main import main

__all__ = [
    "main",
]
