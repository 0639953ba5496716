"""Declarations of parameters that several estimators have, for the metadata of their fields.

Those that models of other kinds have, too, come from :mod:`lpcfg.parameters.common`.
"""

from __future__ import annotations

from lpcfg.lexicon.options import LEXICON
from lpcfg.parameters.common import N_JOBS, PROGRESS, RANDOM_STATE
from lpcfg.parameters.constraints import Interval, Pair
from lpcfg.parameters.parameterized import parameter

__all__ = [
    "CLASS_SMOOTHING",
    "FULL_COUNT",
    "LEXICON",
    "MIN_COUNT",
    "N_JOBS",
    "PROGRESS",
    "RANDOM_STATE",
    "STATES",
    "WORD_SMOOTHING",
]

#: The largest number of latent states of a symbol that the core takes.
MAX_STATES = 1024

STATES = parameter(
    Pair(Interval(int, 1, MAX_STATES)),
    "the largest number of latent states of a phrase symbol and of a tag symbol; more states fit "
    "frequent symbols more closely, and training and parsing take longer",
)

MIN_COUNT = parameter(
    Interval(int, 0),
    "symbols with up to this number of nodes in the treebank have one state; between min_count and "
    "full_count the number of states grows linearly",
    search=Interval(int, 1, 50),
)

FULL_COUNT = parameter(
    Interval(int, 0),
    "symbols with at least this number of nodes have the full number of states; not less than "
    "min_count",
    search=Interval(int, 50, 1000),
)

WORD_SMOOTHING = parameter(
    Interval(float, 0),
    "the prior count, in tokens, of the word's class in the distribution of states given a word; "
    "the larger, the closer rare words are to their classes",
    search=Interval(float, 0.2, 20),
)

CLASS_SMOOTHING = parameter(
    Interval(float, 0),
    "the prior count, in tokens, of the tag in the distribution of states given a class of rare "
    "and unknown words; the larger, the closer classes are to the average of the tag",
    search=Interval(float, 0.2, 20),
)
