"""Scores of trees and tags: EVALB, strict scores over all sentences, tables."""

from lpcfg.evaluation.evalb import evalb
from lpcfg.evaluation.parser_scores import Evaluation, evaluate_parser
from lpcfg.evaluation.scores import Scores, evaluate

__all__ = [
    "Evaluation",
    "Scores",
    "evalb",
    "evaluate",
    "evaluate_parser",
]
