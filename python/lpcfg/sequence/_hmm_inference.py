"""Inference with a fitted hidden Markov model: probabilities, states, features and samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.errors import InputError
from lpcfg.parameters.parameterized import Parameterized
from lpcfg.sequence._hmm_parameters import HMMParameters
from lpcfg.sequence._symbols import FlatSequences, Item, Sequences, SymbolTable, Unknown

__all__ = ["Decoder", "HMMInference"]

Decoder = Literal["viterbi", "posterior"]


class HMMInference(TransformerMixin, Parameterized):  # type: ignore[misc]
    """The methods of a fitted :class:`~lpcfg.sequence.hmm.HMM`, which describes the attributes.

    >>> from lpcfg import HMM
    >>> isinstance(HMM(), HMMInference)
    True
    """

    unknown: Unknown
    decoder: Decoder
    count_transitions: bool
    n_jobs: int
    parameters_: HMMParameters
    symbols_: tuple[Item, ...]
    states_: tuple[Item, ...]

    def _encode(self, sequences: Sequences) -> tuple[FlatSequences, _core.Sequences]:
        check_is_fitted(self, "parameters_")
        flat = FlatSequences.of(sequences)
        symbols = SymbolTable(self.symbols_).encode(flat, self.unknown)
        return flat, _core.Sequences(flat.offsets, symbols, thread_count(self.n_jobs))

    def score_samples(self, sequences: Sequences) -> NDArray[np.float64]:
        """The log-probability of each sequence; minus infinity if it is impossible.

        ``sequences``: lists of symbols.

        >>> from lpcfg import HMM
        >>> hmm = HMM.from_parameters([1], [[1]], [[0.25, 0.75]], symbols=["a", "b"])
        >>> np.exp(hmm.score_samples([["a"], ["b"], ["b", "b"]]))
        array([0.25  , 0.75  , 0.5625])
        """
        _, encoded = self._encode(sequences)
        return encoded.log_probabilities(self.parameters_.core)

    def score(self, sequences: Sequences, labels: object = None) -> float:
        """The mean log-probability of a sequence; ``labels`` are not used.

        ``sequences``: lists of symbols.

        >>> from lpcfg import HMM
        >>> hmm = HMM.from_parameters([1], [[1]], [[0.25, 0.75]], symbols=["a", "b"])
        >>> round(float(np.exp(hmm.score([["a"], ["a"]]))), 6)
        0.25
        """
        return float(self.score_samples(sequences).mean())

    def predict(self, sequences: Sequences) -> list[list[Item]]:
        """The best state of each symbol, by the criterion ``decoder``.

        ``sequences``: lists of symbols.

        >>> from lpcfg import HMM
        >>> parameters = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]
        >>> hmm = HMM.from_parameters(*parameters, states=["low", "high"])
        >>> hmm.predict([[0, 0, 1, 0, 1, 1, 1]])
        [['low', 'low', 'low', 'low', 'high', 'high', 'high']]
        """
        self.validate()
        flat, encoded = self._encode(sequences)
        if self.decoder == "viterbi":
            numbers, _ = encoded.best_states(self.parameters_.core)
        else:
            numbers = encoded.posteriors(self.parameters_.core).argmax(axis=1)
        return [[self.states_[number] for number in part.tolist()] for part in flat.split(numbers)]

    def predict_proba(self, sequences: Sequences) -> list[NDArray[np.float64]]:
        """For each sequence the posteriors of states (columns) at each symbol (row).

        ``sequences``: lists of symbols.

        >>> from lpcfg import HMM
        >>> parameters = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]
        >>> HMM.from_parameters(*parameters).predict_proba([[0, 1]])[0].round(3)
        array([[0.584, 0.416],
               [0.416, 0.584]])
        """
        flat, encoded = self._encode(sequences)
        return flat.split(encoded.posteriors(self.parameters_.core))

    def transform(self, sequences: Sequences) -> NDArray[np.float64]:
        """The expected number of times that each sequence is in each state, as features.

        With ``count_transitions``, the expected numbers of all transitions follow; see
        :meth:`get_feature_names_out`.

        >>> from lpcfg import HMM
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> sequences = [["up", "up", "down"], ["down", "down"], ["up", "up"], ["down"]]
        >>> pipeline = make_pipeline(HMM(n_states=2), LogisticRegression())
        >>> pipeline.fit(sequences, ["rise", "fall", "rise", "fall"]).predict([["up", "up", "up"]])
        array(['rise'], dtype='<U4')
        """
        _, encoded = self._encode(sequences)
        return encoded.expected_visits(self.parameters_.core, self.count_transitions)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the columns of :meth:`transform`.

        ``input_features``: not used; it is there for pipelines of scikit-learn.

        >>> from lpcfg import HMM
        >>> hmm = HMM(n_states=2, count_transitions=True).fit([["a", "b", "a"]])
        >>> list(hmm.get_feature_names_out())
        ['0', '1', '0->0', '0->1', '1->0', '1->1']
        """
        check_is_fitted(self, "parameters_")
        names = [str(state) for state in self.states_]
        if self.count_transitions:
            names += [f"{left}->{right}" for left in self.states_ for right in self.states_]
        return np.array(names, dtype=object)

    def forward(self, sequence: Sequence[Item]) -> NDArray[np.float64]:
        """The logarithm of P(symbols up to a time, state at it): rows are times, columns states.

        ``sequence``: the symbols of one sequence.

        >>> from lpcfg import HMM
        >>> hmm = HMM.from_parameters([0.5, 0.5], np.eye(2), [[0.5, 0.5], [0.1, 0.9]])
        >>> np.exp(hmm.forward([1, 1])).round(4)
        array([[0.25 , 0.45 ],
               [0.125, 0.405]])
        """
        forward, _, logs = self._passes(sequence)
        return forward + np.cumsum(logs)[:, None]

    def backward(self, sequence: Sequence[Item]) -> NDArray[np.float64]:
        """The logarithm of P(later symbols | state at each time): rows are times, columns states.

        ``sequence``: the symbols of one sequence.

        >>> from lpcfg import HMM
        >>> hmm = HMM.from_parameters([0.5, 0.5], np.eye(2), [[0.5, 0.5], [0.1, 0.9]])
        >>> np.exp(hmm.backward([1, 1])).round(4)
        array([[0.5, 0.9],
               [1. , 1. ]])
        """
        _, backward, logs = self._passes(sequence)
        end = self.score([sequence]) - logs.sum()
        later: NDArray[np.float64] = np.append(np.cumsum(logs[:0:-1])[::-1], 0.0) + end
        return backward + later[:, None]

    def _passes(self, sequence: Sequence[Item]) -> tuple[NDArray[np.float64], ...]:
        """The logarithms of the scaled forward and backward rows, and of their scales."""
        _, encoded = self._encode([sequence])
        with np.errstate(divide="ignore"):
            return tuple(map(np.log, encoded.passes(self.parameters_.core, 0)))

    def sample(
        self, n_sequences: int = 1, length: int | None = None, random_state: int = 0
    ) -> tuple[list[list[Item]], list[list[Item]]]:
        """Sample sequences and their states; the same seed gives the same sequences.

        ``length``: the length of all sequences, or the largest length if the end is modelled.

        ``n_sequences``: their number (default 1). ``random_state``: a seed, for the same sequences
        again.

        >>> from lpcfg import HMM
        >>> hmm = HMM.from_parameters([1, 0], [[0, 1], [1, 0]], np.eye(2), symbols=["tick", "tock"])
        >>> hmm.sample(length=3)
        ([['tick', 'tock', 'tick']], [[0, 1, 0]])
        """
        check_is_fitted(self, "parameters_")
        if length is None and self.parameters_.ends is None:
            raise InputError(
                "length must be given: the end of sequences is not modelled", argument="length"
            )
        random = np.random.default_rng(random_state)
        lengths, states, symbols = self.parameters_.sample(n_sequences, length, random)
        ends = np.cumsum(lengths)[:-1]
        sequences, paths = (
            [[names[number] for number in part.tolist()] for part in np.split(column, ends)]
            for names, column in ((self.symbols_, symbols), (self.states_, states))
        )
        return sequences, paths
