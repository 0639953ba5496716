"""Scores of trees and tags: EVALB, strict scores over all sentences, tables."""

from lpcfg.evaluation.comparison import Comparison, compare_parsers
from lpcfg.evaluation.evalb import evalb
from lpcfg.evaluation.parser_scores import Evaluation, evaluate_parser
from lpcfg.evaluation.scores import Scores, evaluate

__all__ = [
    "Comparison",
    "Evaluation",
    "Scores",
    "compare_parsers",
    "evalb",
    "evaluate",
    "evaluate_parser",
]
