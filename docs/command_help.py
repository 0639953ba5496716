"""The help texts of all commands on their page: a hook of MkDocs, so that they are never stale."""

import os
import subprocess
import sys

from lpcfg.cli.main import TASKS

MARK = "<!-- the help text of each command -->"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called for each page; put the help texts where the page has the mark."""
    return markdown.replace(MARK, _help_texts()) if MARK in markdown else markdown


def _help_texts() -> str:
    return "\n\n".join(
        f"## lpcfg {name}\n\n```text\n{_help(name)}```"
        for commands in TASKS.values()
        for name in commands
    )


def _help(name: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "lpcfg", name, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    return done.stdout
