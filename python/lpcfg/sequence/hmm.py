"""Hidden Markov models over sequences of strings or integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.errors import InputError
from lpcfg.grammar.grammar import Grammar
from lpcfg.io import load, save
from lpcfg.parameters.common import N_JOBS, PROGRESS, RANDOM_STATE
from lpcfg.parameters.constraints import AnyOf, Instance, Interval, Options
from lpcfg.parameters.parameterized import parameter, recorded
from lpcfg.sequence._baum_welch import BaumWelch
from lpcfg.sequence._hmm_grammar import right_branching
from lpcfg.sequence._hmm_inference import Decoder, HMMInference
from lpcfg.sequence._hmm_parameters import HMMParameters, count_states
from lpcfg.sequence._symbols import (
    UNKNOWN,
    FlatSequences,
    Item,
    Sequences,
    SymbolTable,
    Unknown,
)

__all__ = ["HMM"]

#: The largest pseudocount: sums of counts are exact.
_MAX_COUNT = 1e15


@dataclass(eq=False, repr=False)
class HMM(HMMInference):
    """A hidden Markov model, trained on sequences alone (Baum-Welch) or with their states.

    After :meth:`fit`, ``parameters_`` has the probabilities, ``symbols_`` and ``states_`` the
    names of their columns and rows, ``log_likelihoods_`` the log-likelihood before each iteration,
    and ``converged_`` whether the iterations stopped before ``max_iter``.

    >>> weather = [["sun", "sun", "rain"], ["rain", "rain", "sun", "sun"]]
    >>> hmm = HMM(n_states=2).fit(weather)
    >>> hmm.log_likelihoods_[-1] > hmm.log_likelihoods_[0]
    True
    """

    n_states: int | None = field(
        default=None,
        metadata=parameter(
            AnyOf(Interval(int, 1), Instance(None)),
            "the number of states; may be None if the states are given to fit",
        ),
    )
    model_end: bool = field(
        default=False,
        metadata=parameter(
            Instance(bool),
            "whether to model the end of sequences; if not, probabilities are conditional on the "
            "length of the sequence",
        ),
    )
    vocabulary: Sequence[Item] | None = field(
        default=None,
        metadata=parameter(
            Instance(Iterable, None),
            "the symbols; by default all that occur in training, sorted",
            provenance=lambda symbols: None if symbols is None else recorded(list(symbols)),
        ),
    )
    unknown: Unknown = field(default="error", metadata=UNKNOWN)
    pseudocount: float = field(
        default=0.0,
        metadata=parameter(
            Interval(float, 0, _MAX_COUNT),
            "added to all counts of states, transitions and symbols; with 0, unseen events have "
            "the probability 0",
        ),
    )
    n_init: int = field(
        default=1,
        metadata=parameter(
            Interval(int, 1),
            "the number of random starts, of which the one with the best likelihood is kept",
        ),
    )
    max_iter: int = field(
        default=100,
        metadata=parameter(Interval(int, 1), "the largest number of iterations of each start"),
    )
    tol: float = field(
        default=1e-5,
        metadata=parameter(
            Interval(float, 0),
            "iterations stop when the log-likelihood per symbol improves by less than this",
        ),
    )
    warm_start: bool = field(
        default=False,
        metadata=parameter(
            Instance(bool),
            "whether fit continues from the parameters and the vocabulary of the last fit",
        ),
    )
    decoder: Decoder = field(
        default="viterbi",
        metadata=parameter(
            Options(*get_args(Decoder)),
            "the result of predict: the most probable sequence of states, or the most probable "
            "state of each symbol",
        ),
    )
    count_transitions: bool = field(
        default=False,
        metadata=parameter(Instance(bool), "whether transform counts transitions, too"),
    )
    random_state: int = field(default=0, metadata=RANDOM_STATE)
    n_jobs: int = field(default=-1, metadata=N_JOBS)
    progress: Callable[[Iterable[int]], Iterable[int]] = field(default=iter, metadata=PROGRESS)

    parameters_: HMMParameters = field(init=False)
    symbols_: tuple[Item, ...] = field(init=False)
    states_: tuple[Item, ...] = field(init=False)
    log_likelihoods_: tuple[float, ...] = field(init=False)
    converged_: bool = field(init=False)

    @classmethod
    def from_parameters(
        cls,
        initial: ArrayLike,
        transitions: ArrayLike,
        emissions: ArrayLike,
        ends: ArrayLike | None = None,
        *,
        symbols: Sequence[Item] | None = None,
        states: Sequence[Item] | None = None,
    ) -> HMM:
        """A model with given probabilities; see :class:`.HMMParameters`.

        ``initial``: the probability of each state at the beginning. ``transitions``: those of the
        next state, a row for each state. ``emissions``: those of symbols, a row for each state.
        ``ends``: the probability that a sequence ends after each state; None (the default) for
        sequences that do not end. ``symbols``, ``states``: their names; None (the default) for
        numbers from 0.

        >>> hmm = HMM.from_parameters([1, 0], [[0, 1], [1, 0]], np.eye(2), symbols=["tick", "tock"])
        >>> hmm.score([["tick", "tock", "tick"]])
        0.0
        """
        parameters = HMMParameters.checked(initial, transitions, emissions, ends)
        hmm = cls(n_states=parameters.n_states, model_end=ends is not None)
        for name, names, number in (
            ("symbols", symbols, parameters.n_symbols),
            ("states", states, parameters.n_states),
        ):
            table = SymbolTable(tuple(range(number) if names is None else names))
            if len(table.symbols) != number:
                raise InputError(
                    f"{name} must be {number} names, not {len(table.symbols)}", argument=name
                )
            setattr(hmm, f"{name}_", table.symbols)
        hmm.parameters_ = parameters
        return hmm

    @classmethod
    def from_bigrams(
        cls,
        initial: ArrayLike,
        conditional: ArrayLike,
        ends: ArrayLike | None = None,
        *,
        symbols: Sequence[Item] | None = None,
    ) -> HMM:
        """A bigram model as an HMM with a state for each symbol (del Canto 2021, part 1d).

        ``initial`` has the probabilities of first symbols, ``conditional`` the probabilities of the
        next symbol (column) given the symbol (row).

        ``ends``: the probability that a sequence ends after each symbol; None for sequences that
        do not end.

        >>> hmm = HMM.from_bigrams([0.5, 0.5], [[0.9, 0.1], [0.4, 0.6]], symbols=["a", "b"])
        >>> float(np.exp(hmm.score([["a", "b", "b"]])).round(6))
        0.03
        """
        return cls.from_parameters(
            initial,
            conditional,
            np.eye(np.size(initial)),
            ends,
            symbols=symbols,
            states=symbols,
        )

    def fit(self, sequences: Sequences, states: Sequences | None = None) -> Self:
        """Fit the model to sequences by Baum-Welch; with the states of all symbols, by counting.

        >>> hmm = HMM().fit([["it", "rained"], ["she", "sang"]], [["N", "V"], ["N", "V"]])
        >>> hmm.predict([["she", "rained"]])
        [['N', 'V']]
        """
        self.validate()
        flat = FlatSequences.of(sequences)
        continued = self.warm_start and hasattr(self, "parameters_")
        table = SymbolTable.chosen(self.symbols_ if continued else self.vocabulary, flat)
        symbols = table.encode(flat, self.unknown)
        if states is None:
            self._fit_unsupervised(flat.offsets, symbols, len(table.symbols))
        else:
            labels = FlatSequences.of(states, "states")
            self._fit_supervised(flat, symbols, labels, len(table.symbols))
        self.symbols_ = table.symbols
        return self

    def _fit_unsupervised(
        self, offsets: NDArray[np.int64], symbols: NDArray[np.uint32], n_symbols: int
    ) -> None:
        if self.n_states is None:
            raise InputError(
                "n_states must be given if the states of the sequences are not", argument="n_states"
            )
        algorithm = BaumWelch(self.max_iter, self.tol, self.pseudocount, self.progress)
        sequences = _core.Sequences(offsets, symbols, thread_count(self.n_jobs))
        frequencies = np.bincount(symbols, minlength=n_symbols)[:n_symbols] / len(symbols)
        mean_length = len(symbols) / (len(offsets) - 1) if self.model_end else None
        if self.warm_start and hasattr(self, "parameters_"):
            starts = [self.parameters_]
        else:
            starts = [
                HMMParameters.random(self.n_states, frequencies, mean_length, random)
                for random in np.random.default_rng(self.random_state).spawn(self.n_init)
            ]
            self.states_ = tuple(range(self.n_states))
        runs = [algorithm.run(start, sequences, len(symbols)) for start in starts]
        best = max(runs, key=lambda run: run.log_likelihood)
        self.parameters_ = best.parameters
        self.log_likelihoods_ = best.log_likelihoods
        self.converged_ = best.converged

    def _fit_supervised(
        self,
        flat: FlatSequences,
        symbols: NDArray[np.uint32],
        states: FlatSequences,
        n_symbols: int,
    ) -> None:
        flat.check_lengths(states)
        table = SymbolTable.learn(states)
        if self.n_states not in (None, len(table.symbols)):
            raise InputError(
                f"n_states is {self.n_states}, but there are {len(table.symbols)} states",
                argument="n_states",
            )
        self.states_ = table.symbols
        self.parameters_ = HMMParameters.from_counts(
            count_states(flat.offsets, symbols, table.encode(states), n_symbols),
            model_end=self.model_end,
            pseudocount=self.pseudocount,
        )
        self.log_likelihoods_ = ()
        self.converged_ = True

    def fit_transform(self, sequences: Sequences, labels: object = None) -> NDArray[np.float64]:
        """Fit the model to sequences without states, then :meth:`transform` them.

        A pipeline passes the labels of its classifier to all steps; they are not states, and are
        not used.

        >>> HMM(n_states=1).fit_transform([["a", "b"], ["a"]], labels=[0, 1])
        array([[2.],
               [1.]])
        """
        listed = list(sequences)
        return self.fit(listed).transform(listed)

    def to_grammar(self) -> Grammar:
        """The same model as a right-branching L-PCFG, whose latent states are the HMM's states.

        :meth:`score_samples` is the log-probability of a sentence, and of its only tree. Symbols
        become words, and so do numbers.

        >>> from lpcfg import Parser
        >>> hmm = HMM.from_bigrams([0.5, 0.5], [[0.9, 0.1], [0.4, 0.6]], symbols=["a", "b"])
        >>> parse = Parser(hmm.to_grammar()).analyze(words=["a", "b", "b"])
        >>> print(parse.tree, round(float(np.exp(parse.log_probability)), 6))
        (S (X a) (S (X b) (X b))) 0.03
        """
        check_is_fitted(self, "parameters_")
        words = [str(symbol) for symbol in self.symbols_]
        return right_branching(self.parameters_, words, unknown=self.unknown == "ignore")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file; :meth:`load` reads it.

        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "clock.lpcfg")
        ...     HMM(n_states=2).fit([["tick", "tock", "tick"]]).save(path)
        ...     HMM.load(path).symbols_
        ('tick', 'tock')
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> HMM:
        """Load a model that :meth:`save` has written to ``path``.

        >>> HMM.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        return load(path, HMM)
