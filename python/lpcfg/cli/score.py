"""``lpcfg score``: compare a file of trees with gold ones."""

from __future__ import annotations

import argparse
import json

from lpcfg.cli._common import Commands, add_command
from lpcfg.cli._evalb import add_evalb_parameters
from lpcfg.evaluation.evalb import evalb
from lpcfg.evaluation.evalb_parameters import find_parameters
from lpcfg.evaluation.scores import evaluate
from lpcfg.treebank.sentence_lines import read_gold_and_predicted

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(commands, "score", _score, "score a file of trees against gold ones")
    parser.add_argument("gold", help="gold trees, one file")
    parser.add_argument(
        "predicted",
        help="predicted trees in the same order; (()), or a blank line, where there is none",
    )
    add_evalb_parameters(parser)
    parser.add_argument("--json", action="store_true", help="all scores as one JSON object")


def _score(options: argparse.Namespace) -> None:
    parameters = find_parameters(options.parameters)
    gold, predicted = read_gold_and_predicted(options.gold, options.predicted)
    scores = evaluate(gold, predicted, parameters)
    if options.json:
        print(json.dumps(scores.to_dict(), ensure_ascii=False))
        return
    print(evalb(gold, predicted, parameters))
    print(scores)
