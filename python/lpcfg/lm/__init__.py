"""Language models with latent states: the aggregate bigram model, by EM and by pivots."""

from lpcfg.lm.aggregate_bigram import AggregateBigram
from lpcfg.lm.aggregate_pivot import PivotOptions
from lpcfg.lm.vocabulary import Vocabulary

__all__ = ["AggregateBigram", "PivotOptions", "Vocabulary"]
