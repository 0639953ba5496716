"""Language models: aggregate bigrams with latent states, and Kneser-Ney n-grams beside them."""

from lpcfg.lm.aggregate_bigram import AggregateBigram
from lpcfg.lm.aggregate_pivot import PivotOptions
from lpcfg.lm.kneser_ney import KneserNey
from lpcfg.lm.vocabulary import Vocabulary

__all__ = ["AggregateBigram", "KneserNey", "PivotOptions", "Vocabulary"]
