"""Declarations of parameters that models of many kinds have, for the metadata of their fields."""

from __future__ import annotations

from lpcfg.parameters.constraints import Function, Interval
from lpcfg.parameters.parameterized import parameter

__all__ = ["N_JOBS", "PROGRESS", "RANDOM_STATE"]

RANDOM_STATE = parameter(
    Interval(int, 0, 2**32 - 1),
    "the seed of the random numbers; the same seed gives the same model on any number of threads",
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
