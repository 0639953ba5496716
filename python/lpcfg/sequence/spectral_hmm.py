"""Spectral learning of hidden Markov models (Hsu, Kakade & Zhang 2012)."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lpcfg._threads import one_thread
from lpcfg.errors import InputError, ModelFileError
from lpcfg.io.model_file import ModelFile, read_document, write_model_file
from lpcfg.sequence._hmm_file import pack_items, unpack_items
from lpcfg.sequence._hmm_symbols import FlatSequences, Item, Sequences, SymbolTable, Unknown
from lpcfg.sequence._observable_operators import ObservableOperators, Triples

__all__ = ["SpectralHMM"]

_KIND = "spectral hidden Markov model"


@dataclass(eq=False, repr=False)
class SpectralHMM(BaseEstimator):  # type: ignore[misc]
    """The probabilities of an HMM, learnt in one step and without local optima.

    What is learnt are operators for each symbol, not states: sequences and next symbols have
    probabilities, which converge to the true ones if the states of the HMM can be told apart by
    what they emit and where they lead. With few sequences they may be negative.

    ``n_states``: how many states, at most as many as symbols.
    ``unknown``: what becomes of symbols that are new; see :class:`lpcfg.HMM`.
    ``random_state``: the seed of the singular value decomposition.

    >>> from lpcfg import HMM
    >>> truth = HMM.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]])
    >>> learnt = SpectralHMM(n_states=2).fit(truth.sample(1000, length=50)[0])
    >>> np.exp(truth.score([[0, 0, 1]])).round(2), np.exp(learnt.score([[0, 0, 1]])).round(2)
    (np.float64(0.09), np.float64(0.09))
    """

    n_states: int = 2
    unknown: Unknown = "error"
    random_state: int = 0

    operators_: ObservableOperators = field(init=False)
    symbols_: tuple[Item, ...] = field(init=False)

    def fit(self, sequences: Sequences, labels: object = None) -> Self:
        """Learn from sequences, of which some must have three symbols; ``labels`` are not used.

        >>> SpectralHMM(n_states=1).fit([["a", "b", "a"]]).symbols_
        ('a', 'b')
        """
        if self.n_states < 1:
            raise InputError(f"n_states must be at least 1, not {self.n_states}")
        flat = FlatSequences.of(sequences)
        table = SymbolTable.chosen(None, flat)
        symbols = table.encode(flat)
        first = np.bincount(symbols[flat.offsets[:-1]], minlength=len(table.symbols))
        triples = Triples.count(flat.offsets, symbols)
        with one_thread():
            self.operators_ = ObservableOperators.learn(
                first / first.sum(), triples, self.n_states, self.random_state
            )
        self.symbols_ = table.symbols
        return self

    def score_samples(self, sequences: Sequences) -> NDArray[np.float64]:
        """The log-probability of each sequence; minus infinity if the estimate is not positive.

        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> np.exp(hmm.score_samples([["a"], ["a", "b"], ["a", "a"]])).round(3)
        array([0.5, 0.5, 0. ])
        """
        offsets, symbols = self._encode(sequences)
        return self.operators_.log_probabilities(offsets, symbols)

    def score(self, sequences: Sequences, labels: object = None) -> float:
        """The mean log-probability of a sequence; ``labels`` are not used.

        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> round(float(np.exp(hmm.score([["a"], ["b"]]))), 3)
        0.5
        """
        return float(self.score_samples(sequences).mean())

    def predict_next(self, sequences: Sequences) -> NDArray[np.float64]:
        """The probabilities of the next symbol (columns, as in ``symbols_``) after each sequence.

        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> hmm.predict_next([["a", "b", "a"]]).round(3)
        array([[0., 1.]])
        """
        offsets, symbols = self._encode(sequences)
        return self.operators_.next_probabilities(offsets, symbols)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file; :meth:`load` reads it.

        >>> import tempfile, pathlib
        >>> hmm = SpectralHMM(n_states=2).fit([["a", "b"] * 5, ["b", "a"] * 5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "model.lpcfg")
        ...     hmm.save(path)
        ...     SpectralHMM.load(path).predict_next([["a"]]).round(3)
        array([[0., 1.]])
        """
        check_is_fitted(self, "operators_")
        arrays = {name: getattr(self.operators_, name) for name in ("start", "operators", "end")}
        document = {"kind": _KIND, "unknown": self.unknown}
        write_model_file(path, arrays | pack_items("symbols", self.symbols_), document)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SpectralHMM:
        """Read a model that :meth:`save` has written, after checking it.

        >>> SpectralHMM.load("missing.lpcfg")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
        """
        file = ModelFile(path)
        document = read_document(file, {"unknown": str}, kind=_KIND)
        symbols = unpack_items(file, "symbols")
        start = file.array("start", np.float64, (None,))
        states = len(start)
        operators = file.array("operators", np.float64, (len(symbols), states, states))
        end = file.array("end", np.float64, (states,))
        if not all(np.isfinite(array).all() for array in (start, operators, end)):
            raise ModelFileError(f"{file.path}: operators must be finite numbers")
        if document["unknown"] not in get_args(Unknown):
            raise ModelFileError(
                f"{file.path}: unknown must be one of {', '.join(get_args(Unknown))}"
            )
        hmm = cls(n_states=states, unknown=document["unknown"])
        hmm.operators_ = ObservableOperators(start, operators, end)
        hmm.symbols_ = symbols
        return hmm

    def _encode(self, sequences: Sequences) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        check_is_fitted(self, "operators_")
        flat = FlatSequences.of(sequences)
        return flat.offsets, SymbolTable(self.symbols_).encode(flat, self.unknown)
