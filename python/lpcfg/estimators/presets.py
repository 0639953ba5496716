"""Presets: combinations of estimators and tree transforms for one command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from lpcfg.estimators.base import Estimator
from lpcfg.estimators.crf.estimator import CRFEstimator
from lpcfg.estimators.neural import NeuralEstimator
from lpcfg.estimators.registry import estimator_class, make_estimator
from lpcfg.treebank.transform import Direction, Transform

__all__ = ["PRESETS", "Preset", "PresetMember"]


class PresetMember(NamedTuple):
    """One model of a preset.

    >>> PresetMember("crf", "left").file_name(2)
    '2-crf-left.lpcfg'
    """

    estimator: str
    """The name of the estimator in the registry."""
    binarize: Direction | None
    """The side on which trees are binarised; members that differ in it make different errors. None
    is the side that is best for the treebank."""
    seed: int = 0
    """This is added to the seed of random numbers: another seed gives other latent states."""
    latent: str | None = None
    """The estimator of the latent states of a conditional random field, if it has any."""

    def transform(self, best: Direction) -> Transform:
        """The transform of training trees: that of the estimator, binarised on the side.

        ``best``: the side that is best for the treebank.

        >>> PresetMember("crf", "left").transform(best="right").binarize
        'left'
        """
        default = estimator_class(self.estimator).default_transform
        return replace(default, binarize=self.binarize or best)

    def file_name(self, number: int) -> str:
        """The name of the file of the model with this number.

        >>> PresetMember("crf", "left").file_name(3)
        '3-crf-left.lpcfg'
        """
        parts = [str(number), self.estimator, *([self.binarize] if self.binarize else [])]
        return f"{'-'.join(parts)}.lpcfg"

    def make(self, seed: int = 0, **parameters: object) -> Estimator:
        """The estimator, with those of the parameters that it has.

        ``seed``: the seed of random numbers of the first member of a preset (default 0).

        >>> PresetMember("split-merge", "left", seed=1).make(seed=5, n_jobs=2)
        SplitMergeEstimator(random_state=6, n_jobs=2)
        """
        values = {**parameters, "random_state": seed + self.seed}
        if self.latent is not None:
            # The progress bar is that of the random field.
            own = {name: value for name, value in values.items() if name != "progress"}
            values["latent"] = _made(self.latent, own)
        return _made(self.estimator, values)


def _made(name: str, values: Mapping[str, object]) -> Estimator:
    """An estimator with those of the values that are its parameters."""
    declared = estimator_class(name).parameters()
    known = {name: value for name, value in values.items() if name in declared}
    return make_estimator(name, **known)


class Preset(NamedTuple):
    """A model, or an ensemble of models, that one command trains.

    >>> PRESETS["accurate"].seconds(10_224, 177_410) > PRESETS["fast"].seconds(10_224, 177_410)
    True
    """

    description: str
    members: tuple[PresetMember, ...]

    def seconds(self, trees: int, tokens: int) -> float:
        """An estimate of the CPU seconds of training on this many trees with this many words.

        >>> round(PRESETS["fast"].seconds(10_224, 177_410))
        4
        """
        passes = {"neural": NeuralEstimator().epochs_for(trees)}
        folds = CRFEstimator().latent_folds
        return sum(
            _SECONDS[member.estimator] * passes.get(member.estimator, 1) * tokens / 1000
            # A latent grammar of all trees, and one of the other folds for each fold.
            + (_SECONDS[member.latent] * folds * tokens / 1000 if member.latent else 0)
            for member in self.members
        )


#: CPU seconds of training for each 1,000 words, of networks in an epoch; measured on GUM (177,410
#: words).
_SECONDS = {"spectral": 0.02, "split-merge": 0.055, "crf": 0.09, "neural": 0.12}

#: The presets by name. A member that is added or removed changes results in the documentation.
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "fast": Preset(
            "one spectral grammar: seconds of training", (PresetMember("spectral", None),)
        ),
        "accurate": Preset(
            "an ensemble of a neural network, a conditional random field and a spectral grammar",
            (
                PresetMember("neural", "right"),
                PresetMember("crf", "left"),
                PresetMember("spectral", "right"),
            ),
        ),
        "best": Preset(
            "an ensemble of two neural networks, two conditional random fields over latent states, "
            "two split-merge grammars and a spectral one",
            (
                PresetMember("neural", "right"),
                PresetMember("neural", "right", seed=1),
                PresetMember("crf", "left", latent="spectral"),
                PresetMember("crf", "right", latent="spectral"),
                PresetMember("split-merge", "left"),
                PresetMember("split-merge", "right"),
                PresetMember("spectral", "right"),
            ),
        ),
    }
)
