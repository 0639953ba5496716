"""Noise on features and projections, for models that differ (Narayan & Cohen 2015, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import InputError

__all__ = ["NOISES", "Noise", "NoiseKind"]

NoiseKind = Literal["dropout", "add", "mul"]

#: The kinds of noise.
NOISES: tuple[NoiseKind, ...] = get_args(NoiseKind)


@dataclass(frozen=True)
class Noise:
    """A kind of noise and how much of it.

    ``"dropout"``: each feature of each node is left out with probability ``sigma`` where
    directions are looked for. ``"add"``: a Gaussian number is added to each coordinate of each
    projection; its deviation is ``sigma`` of that of the coordinate. ``"mul"``: each coordinate is
    multiplied by a Gaussian number around 1 of deviation ``sigma``. With another ``seed``, it is
    noise of the same kind, but another.

    >>> Noise("dropout", 1.5)
    Traceback (most recent call last):
    lpcfg.errors.InputError: sigma of dropout is a probability below 1, not 1.5
    """

    kind: NoiseKind
    sigma: float
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in NOISES:
            raise InputError(f"there is noise of the kinds {', '.join(NOISES)}, not {self.kind!r}")
        if not self.sigma >= 0:
            raise InputError(f"sigma must not be negative, but is {self.sigma}")
        if self.kind == "dropout" and not self.sigma < 1:
            raise InputError(f"sigma of dropout is a probability below 1, not {self.sigma:g}")

    def __str__(self) -> str:
        return f"{self.kind}-{self.sigma:g}"

    def drop(
        self, features: scipy.sparse.csr_array, generator: np.random.Generator
    ) -> scipy.sparse.csr_array:
        """The features without those that dropout leaves out; the others make up for it.

        >>> features = scipy.sparse.csr_array(np.ones((1, 4)))
        >>> Noise("dropout", 0.5).drop(features, np.random.default_rng(5)).toarray()
        array([[2., 2., 0., 2.]])
        """
        if self.kind != "dropout":
            return features
        kept = generator.random(features.nnz, dtype=np.float32) >= self.sigma
        values = features.data * kept / (1 - self.sigma)
        return scipy.sparse.csr_array((values, features.indices, features.indptr), features.shape)

    def disturb(
        self, projected: NDArray[np.floating], generator: np.random.Generator
    ) -> NDArray[np.floating]:
        """Rows of projections of a symbol with Gaussian noise; their mean stays zero.

        >>> rows = np.array([[1.0], [-1.0]], dtype=np.float32)
        >>> Noise("dropout", 0.1).disturb(rows, np.random.default_rng(0)) is rows
        True
        >>> Noise("mul", 0.1).disturb(rows, np.random.default_rng(0)).round(2).ravel()
        array([ 0.99, -0.99], dtype=float32)
        """
        if self.kind == "dropout":
            return projected
        gaussian = self.sigma * generator.standard_normal(projected.shape, dtype=np.float32)
        size = np.sqrt(np.square(projected).mean(axis=0)) if self.kind == "add" else projected
        noisy: NDArray[np.floating] = projected + size * gaussian
        noisy -= noisy.mean(axis=0)
        return noisy
