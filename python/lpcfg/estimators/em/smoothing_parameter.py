"""The declaration of the parameter ``smoothing`` of estimators of probabilities."""

from __future__ import annotations

from lpcfg.estimators.common_parameters import CLASS_SMOOTHING, WORD_SMOOTHING
from lpcfg.estimators.constraints import Instance, Interval
from lpcfg.estimators.em.latent_trees import Smoothing
from lpcfg.estimators.parameters import parameter

__all__ = ["SMOOTHING"]

SMOOTHING = parameter(
    Instance(Smoothing),
    "how far estimates for what is rare back off to those for what is common",
    nested=True,
    parts={
        "rules": parameter(
            Interval(float, 0),
            "how far the rules of a state back off to those of its symbol, at the end of training",
        ),
        "words": WORD_SMOOTHING,
        "classes": CLASS_SMOOTHING,
        "rare": parameter(
            Interval(int, 0),
            "words seen up to this number of times count for the classes of unknown words",
        ),
    },
)
