"""Reranking: a log-linear model over the candidate trees of parsers."""

from lpcfg.reranking.candidates import Candidates, oracle_f1
from lpcfg.reranking.reranker import Reranker

__all__ = [
    "Candidates",
    "Reranker",
    "oracle_f1",
]
