"""How ``lpcfg parse`` writes its parses."""

from __future__ import annotations

import argparse
import json
from typing import Any

from lpcfg.formats.conllu import ConlluSentence
from lpcfg.formats.tree_formats import TREE_FORMATS
from lpcfg.parsing.parse import Parse
from lpcfg.parsing.records import parse_record
from lpcfg.text.segmentation import TextSentence

__all__ = ["Answers", "add_output_format"]


def add_output_format(parser: argparse._ActionsContainer) -> None:
    """Declare ``--to``.

    >>> parser = argparse.ArgumentParser()
    >>> add_output_format(parser)
    >>> parser.parse_args(["--to", "export"]).to
    'export'
    """
    parser.add_argument(
        "--to",
        choices=tuple(TREE_FORMATS),
        metavar="FORMAT",
        help=f"the format of the trees: {', '.join(TREE_FORMATS)} (default: brackets, one tree a "
        "line)",
    )


class Answers:
    r"""Writes parses in the format that the options name; it counts them.

    >>> options = argparse.Namespace(json=False, pretty=False, to="discbracket")
    >>> Answers(options)(None)
    '(())\n'
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._form = TREE_FORMATS[options.to or "brackets"]
        self._number = 0

    @property
    def in_brackets(self) -> bool:
        """Whether the answer for each sentence is its tree in brackets on one line."""
        return not (self._options.json or self._options.pretty or self._options.to)

    @property
    def header(self) -> str:
        """What a file starts with."""
        return "" if self._options.json or self._options.pretty else self._form.header

    def __call__(
        self, parse: Parse | None, origin: ConlluSentence | TextSentence | None = None
    ) -> str:
        """The text for a sentence with its line ends; a sentence without a parse is empty.

        ``origin``: the sentence of a CoNLL-U file, or of running text.
        """
        self._number += 1
        if self._options.json:
            document = None if parse is None else {**_place(origin), **parse_record(parse)}
            return json.dumps(document, ensure_ascii=False) + "\n"
        if self._options.pretty:
            return "\n" if parse is None else f"{parse.tree.pretty()}\n\n"
        if parse is None:
            return self._form.empty(self._number)
        if self._options.to == "conllu" and isinstance(origin, ConlluSentence):
            return f"{origin.with_tree(parse.tree)}\n"
        if self._options.to == "conllu" and isinstance(origin, TextSentence):
            sentence = ConlluSentence.from_tree(parse.tree, number=self._number, sentence=origin)
            return f"{sentence}\n"
        return self._form.write(parse.tree, self._number)


def _place(origin: ConlluSentence | TextSentence | None) -> dict[str, Any]:
    """Where a sentence comes from, for JSON."""
    if isinstance(origin, TextSentence):
        return origin.as_json()
    if origin is not None and origin.identity is not None:
        return {"sent_id": origin.identity}
    return {}
