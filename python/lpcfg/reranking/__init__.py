"""Reranking: a log-linear (MaxEnt) model over the k-best lists of parsers."""

from lpcfg.reranking.candidates import Candidates, oracle_f1
from lpcfg.reranking.reranker import Reranker

__all__ = [
    "Candidates",
    "Reranker",
    "oracle_f1",
]
