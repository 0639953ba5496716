"""Words and tags: emission probabilities, and classes of rare and unknown words."""

from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.options import LexiconOptions

__all__ = [
    "Lexicon",
    "LexiconOptions",
]
