"""Noise in features and projections, for ensembles of models with complementary errors.

The three noise schemes of Narayan & Cohen (2015, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg._columns import Weights, mean_rows
from lpcfg.errors import InputError

__all__ = ["NOISE_KINDS", "Noise", "NoiseKind"]

NoiseKind = Literal["dropout", "add", "mul"]

#: The noise schemes: dropout, additive Gaussian and multiplicative Gaussian noise.
NOISE_KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)


@dataclass(frozen=True)
class Noise:
    """A noise scheme of Narayan & Cohen (2015, section 4) and its amount.

    ``kind``: ``"dropout"`` sets each element of the feature vectors phi and psi to 0 with
    probability ``sigma`` before the SVD; all features are then projected. ``"add"`` adds Gaussian
    noise to each coordinate of the projections; its standard deviation is ``sigma`` times the
    standard deviation of the coordinate (in the paper it is ``sigma``). ``"mul"`` multiplies each
    coordinate by 1 + Gaussian noise of standard deviation ``sigma``.
    ``literal``: noise as the paper describes it, whatever the scale of the features: additive noise
    has the standard deviation ``sigma``, and after dropout the features that are left are
    projected, with the values that they had. Default False.
    ``sigma``: the amount of noise; 0 for none. The paper uses 0.05 to 0.2.
    ``seed``: models with different seeds have different noise of the same kind and amount.

    >>> Noise("dropout", 1.5)
    Traceback (most recent call last):
    lpcfg.errors.InputError: sigma of dropout is a probability below 1, not 1.5
    """

    kind: NoiseKind
    sigma: float
    seed: int = 0
    literal: bool = False

    def __post_init__(self) -> None:
        if self.kind not in NOISE_KINDS:
            raise InputError(
                f"kind must be one of {', '.join(NOISE_KINDS)}, not {self.kind!r}", argument="kind"
            )
        if not self.sigma >= 0:
            raise InputError(f"sigma must not be negative, but is {self.sigma}", argument="sigma")
        if self.kind == "dropout" and not self.sigma < 1:
            raise InputError(
                f"sigma of dropout is a probability below 1, not {self.sigma:g}", argument="sigma"
            )

    def __str__(self) -> str:
        return f"{self.kind}-{self.sigma:g}{'-literal' if self.literal else ''}"

    def drop_features(
        self, features: scipy.sparse.csr_array, generator: np.random.Generator
    ) -> scipy.sparse.csr_array:
        """Dropout noise; other values are divided by 1 - sigma, so that expectations stay the same.

        Literal noise leaves them as they are. Other kinds of noise leave the features as they are.

        ``generator``: the source of random numbers.

        >>> features = scipy.sparse.csr_array(np.ones((1, 4)))
        >>> Noise("dropout", 0.5).drop_features(features, np.random.default_rng(5)).toarray()
        array([[2., 2., 0., 2.]])
        """
        if self.kind != "dropout":
            return features
        kept = generator.random(features.nnz, dtype=np.float32) >= self.sigma
        values = features.data * kept
        if not self.literal:
            values /= 1 - self.sigma
        return scipy.sparse.csr_array((values, features.indices, features.indptr), features.shape)

    def perturb_projections(
        self,
        projected: NDArray[np.floating],
        generator: np.random.Generator,
        weights: Weights = None,
    ) -> NDArray[np.floating]:
        """Gaussian noise in the centred projections of a symbol's nodes, centred again.

        Dropout leaves the projections as they are. ``weights``: of the nodes (default 1).

        ``projected``: the projections of the nodes. ``generator``: the source of random numbers.

        >>> rows = np.array([[1.0], [-1.0]], dtype=np.float32)
        >>> Noise("mul", 0.1).perturb_projections(rows, np.random.default_rng(0)).round(2).ravel()
        array([ 0.99, -0.99], dtype=float32)
        >>> Noise("dropout", 0.1).perturb_projections(rows, np.random.default_rng(0)) is rows
        True
        """
        if self.kind == "dropout":
            return projected
        gaussian = self.sigma * generator.standard_normal(projected.shape, dtype=np.float32)
        additive = self.kind == "add"
        scale: NDArray[np.floating] | float = projected
        if additive:
            squares = mean_rows(np.square(projected), weights)
            scale = 1.0 if self.literal else np.sqrt(squares)
        noisy: NDArray[np.floating] = projected + scale * gaussian
        noisy -= mean_rows(noisy, weights)
        return noisy
