"""Maximum-likelihood estimation of hidden Markov models from sequences without states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lpcfg import _core
from lpcfg.sequence._hmm_parameters import HMMParameters

__all__ = ["BaumWelch", "Fit"]


@dataclass(frozen=True)
class Fit:
    """The result of Baum-Welch: parameters, log-likelihoods before each iteration, convergence.

    >>> Fit(HMMParameters.checked([1.0], [[1.0]], [[1.0]]), (-3.0, -2.0), True).log_likelihood
    -2.0
    """

    parameters: HMMParameters
    log_likelihoods: tuple[float, ...]
    converged: bool

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood before the last iteration; of the parameters if the run converged.

        >>> Fit(HMMParameters.checked([1.0], [[1.0]], [[1.0]]), (-3.0,), False).log_likelihood
        -3.0
        """
        return self.log_likelihoods[-1]


@dataclass(frozen=True)
class BaumWelch:
    """The Baum-Welch algorithm: EM for hidden Markov models.

    ``max_iter``: the largest number of iterations. Default 100.
    ``tol``: iterations stop when one improves the log-likelihood per symbol by less. Default 1e-5.
    ``pseudocount``: added to all expected counts. Default 0.
    ``progress``: a function that wraps the iterations, for instance to show a progress bar.

    >>> import numpy as np
    >>> transitions, emissions = [[0.6, 0.4], [0.5, 0.5]], [[0.7, 0.3], [0.2, 0.8]]
    >>> start = HMMParameters.checked([0.5, 0.5], transitions, emissions)
    >>> symbols = np.array([0, 0, 1, 1, 0, 0, 1, 1], dtype=np.uint32)
    >>> sequences = _core.Sequences(np.array([0, 8]), symbols, threads=1)
    >>> run = BaumWelch(max_iter=500).run(start, sequences, n_items=8)
    >>> run.log_likelihoods[0] < run.log_likelihood, run.converged
    (True, True)
    """

    max_iter: int = 100
    tol: float = 1e-5
    pseudocount: float = 0.0
    progress: Callable[[Iterable[int]], Iterable[int]] = iter

    def run(self, start: HMMParameters, sequences: _core.Sequences, n_items: int) -> Fit:
        """Iterate from initial parameters; ``n_items`` is the number of symbols of all sequences.

        >>> import numpy as np
        >>> start = HMMParameters.checked([1.0], [[1.0]], [[0.5, 0.5]])
        >>> symbols = np.array([0, 1, 1, 1], dtype=np.uint32)
        >>> sequences = _core.Sequences(np.array([0, 4]), symbols, threads=1)
        >>> BaumWelch().run(start, sequences, n_items=4).parameters.emissions
        array([[0.25, 0.75]])
        """
        parameters, history = start, []
        for _ in self.progress(range(self.max_iter)):
            counts = sequences.expected_counts(parameters.core)
            history.append(counts["log_probability"])
            if len(history) > 1 and history[-1] - history[-2] < self.tol * n_items:
                return Fit(parameters, tuple(history), converged=True)
            # The last column is for symbols that are not in the vocabulary.
            counts["emissions"] = counts["emissions"][:, :-1]
            parameters = HMMParameters.from_counts(
                counts, model_end=start.ends is not None, pseudocount=self.pseudocount
            )
        return Fit(parameters, tuple(history), converged=False)
