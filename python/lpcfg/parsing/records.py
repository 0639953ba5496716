"""Parses as JSON values, for files and other programs."""

from __future__ import annotations

from typing import Any

from lpcfg.parsing.parse import Parse

__all__ = ["parse_record"]


def parse_record(parse: Parse) -> dict[str, Any]:
    r"""A parse as a JSON object, as ``lpcfg parse --json`` prints it.

    >>> from lpcfg import Grammar, Parser
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> record = parse_record(Parser(grammar).analyze(words=["it", "rained"]))
    >>> record["tree"], record["status"]
    ('(S (NP it) (VP rained))', 'parsed')
    >>> record["spans"][1]
    {'label': 'NP', 'start': 0, 'end': 1, 'probability': 1.0}
    """
    return {
        "tree": str(parse.tree),
        "status": parse.status,
        "log_probability": parse.log_probability,
        "sentence_log_probability": parse.sentence_log_probability,
        "spans": [span._asdict() for span in parse.spans],
        "candidates": [
            {"tree": str(tree), "log_probability": log_probability}
            for tree, log_probability in parse.candidates
        ],
    }
