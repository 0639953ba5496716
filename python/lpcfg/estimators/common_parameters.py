"""Declarations of parameters that several estimators have, for the metadata of their fields."""

from __future__ import annotations

from lpcfg.lexicon.options import LexiconOptions
from lpcfg.parameters.constraints import Function, Instance, Interval, Pair
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
)

FULL_COUNT = parameter(
    Interval(int, 0),
    "symbols with at least this number of nodes have the full number of states; not less than "
    "min_count",
)

WORD_SMOOTHING = parameter(
    Interval(float, 0),
    "the prior count, in tokens, of the word's class in the distribution of states given a word; "
    "the larger, the closer rare words are to their classes",
)

CLASS_SMOOTHING = parameter(
    Interval(float, 0),
    "the prior count, in tokens, of the tag in the distribution of states given a class of rare "
    "and unknown words; the larger, the closer classes are to the average of the tag",
)

LEXICON = parameter(
    Instance(LexiconOptions),
    "the classes of rare and unknown words, and the smoothing of the lexicon",
    option=False,
    nested=True,
)

RANDOM_STATE = parameter(
    Interval(int, 0, 2**32 - 1),
    "the seed of the random numbers; the same seed gives the same grammar on any number of threads",
    option=False,
)

N_JOBS = parameter(
    Interval(int, -1),
    "the number of threads, -1 for one on each core; the result does not depend on it",
    option=False,
    provenance=False,
)

PROGRESS = parameter(
    Function(),
    "a function that gets the steps of training as an iterable and returns them, for instance "
    "tqdm.tqdm",
    option=False,
    provenance=False,
)
