"""Large corpora: many files, parsed in parts that are never lost, on one machine or on many."""

from lpcfg.corpus.parse_corpus import parse_corpus
from lpcfg.corpus.report import CorpusReport

__all__ = ["CorpusReport", "parse_corpus"]
