"""Messages of errors on the command line: they name files and options, not Python parameters."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

from lpcfg.errors import InputError, LpcfgError

__all__ = ["error_message", "option_names", "with_options"]

#: Parameters whose options have other names.
_RENAMED = {
    "classes": "word_classes",
    "n_jobs": "jobs",
    "n_states": "states",
    "random_state": "seed",
    "style": "treebank_style",
}

#: The hint of the library where a parser does not know most of the tags.
_WORDS_HINT = "did you mean words=?"


def option_names(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The option of the command line for each parameter, including those of subcommands.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("-j", "--jobs")
    >>> option_names(parser)["n_jobs"]
    '-j'
    """
    names: dict[str, str] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                names |= option_names(subparser)
        elif action.option_strings:
            names[action.dest] = action.option_strings[0]
    return names | {own: names[other] for own, other in _RENAMED.items() if other in names}


def error_message(error: Exception, options: Mapping[str, str]) -> str:
    """The message of an error, given the options of :func:`option_names`.

    >>> error = InputError("must be at least 1, not 0", argument="n_jobs")
    >>> error_message(error, {"n_jobs": "-j"})
    '-j: must be at least 1, not 0'
    >>> error_message(FileNotFoundError(2, "No such file or directory", "a.mrg"), {})
    'a.mrg: No such file or directory'
    """
    if isinstance(error, OSError) and error.strerror:
        # Files that are read and written are always named, so this is about standard output.
        place = "standard output" if error.filename is None else error.filename
        return f"{place}: {error.strerror}"
    text = str(error)
    name = error.argument if isinstance(error, InputError) else None
    if name is not None and name in options:
        # The name of a class before it, as in "EMEstimator: states must be ...", says no more.
        text = re.sub(rf"^(\w+: )?{name}\b", options[name], text)
    return with_options(text, options) if isinstance(error, LpcfgError) else text


def with_options(text: str, options: Mapping[str, str]) -> str:
    """A message of the library with options in the place of parameters.

    ``options``: see :func:`option_names`.

    >>> with_options("no tag 'a'; did you mean words=?", {"tags": "--tags"})
    "no tag 'a'; a model knows the tags of its treebank alone; if these are words, leave out --tags"
    >>> with_options("max_length must be at least 1", {"max_length": "--max-length"})
    '--max-length must be at least 1'
    """
    if "tags" in options:
        advice = f"if these are words, leave out {options['tags']}"
    else:
        # Only lpcfg eval gives tags to parsers, too.
        advice = "give it words, with --input words"
    hint = f"a model knows the tags of its treebank alone; {advice}"
    text = text.replace(_WORDS_HINT, hint)

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name not in options:
            return match[0]
        return options[name] if value is None else f"{options[name]} {value}"

    # Only names with an underscore: others may be words of the sentence.
    return re.sub(r'\b([a-z]+(?:_+[a-z]+)+)\b(?:="(\w+)")?', option, text)
