"""The formats of hidden Markov models in model files."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lpcfg.errors import InputError
from lpcfg.io.formats import Arrays, Document, FileFormat
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.sequence._symbols import Item, SymbolTable
from lpcfg.sequence.hmm import HMM
from lpcfg.sequence.spectral_hmm import ObservableOperators, SpectralHMM

__all__ = ["HMM_FORMAT", "SPECTRAL_HMM_FORMAT"]

#: The largest absolute value of an operator: more than learning gives, and sums cannot overflow.
_MAX_VALUE = 1e12


def _pack_hmm(hmm: HMM) -> tuple[Arrays, Document]:
    check_is_fitted(hmm, "parameters_")
    parameters = hmm.parameters_
    arrays = {name: getattr(parameters, name) for name in ("initial", "transitions", "emissions")}
    if parameters.ends is not None:
        arrays["ends"] = parameters.ends
    arrays |= _pack_items("symbols", hmm.symbols_) | _pack_items("states", hmm.states_)
    return arrays, {"parameters": hmm.provenance_params()}


def _unpack_hmm(file: ModelFile, document: Document) -> HMM:
    hmm = HMM.from_parameters(
        initial=file.array("initial", np.float64, (None,)),
        transitions=file.array("transitions", np.float64, (None, None)),
        emissions=file.array("emissions", np.float64, (None, None)),
        ends=file.array("ends", np.float64, (None,)) if "ends" in file.names() else None,
        symbols=_unpack_items(file, "symbols"),
        states=_unpack_items(file, "states"),
    )
    stored = document["parameters"]
    HMM.check_record(stored)
    for name in ("n_states", "model_end"):
        if stored.get(name) not in (None, getattr(hmm, name)):
            raise InputError(f"{name} is {stored[name]}, which the arrays are not", argument=name)
    hmm.set_params(**stored).validate()
    return hmm


def _pack_spectral_hmm(hmm: SpectralHMM) -> tuple[Arrays, Document]:
    check_is_fitted(hmm, "operators_")
    arrays = {name: getattr(hmm.operators_, name) for name in ("start", "operators", "end")}
    return arrays | _pack_items("symbols", hmm.symbols_), {"parameters": hmm.provenance_params()}


def _unpack_spectral_hmm(file: ModelFile, document: Document) -> SpectralHMM:
    symbols = SymbolTable(_unpack_items(file, "symbols")).symbols
    start = file.array("start", np.float64, (None,))
    states = len(start)
    operators = file.array("operators", np.float64, (len(symbols), states, states))
    end = file.array("end", np.float64, (states,))
    # NaN is not in the range either.
    if not all(np.all(np.abs(array) <= _MAX_VALUE) for array in (start, operators, end)):
        raise InputError(
            f"operators must be finite numbers of at most {_MAX_VALUE:g}", argument="operators"
        )
    SpectralHMM.check_record(document["parameters"])
    # There are fewer states than were asked for if the matrix of pairs has a lower rank.
    hmm = SpectralHMM(n_states=states).set_params(**document["parameters"])
    hmm.validate()
    hmm.operators_ = ObservableOperators(start, operators, end)
    hmm.symbols_ = symbols
    return hmm


def _pack_items(name: str, items: tuple[Item, ...]) -> Arrays:
    """The names of symbols or states: strings by ``pack_strings``, integers as an array."""
    if any(isinstance(item, str) for item in items):
        return pack_strings(name, [str(item) for item in items])
    return {name: np.array(items, dtype=np.int64)}


def _unpack_items(file: ModelFile, name: str) -> tuple[Item, ...]:
    if name in file.names():
        return tuple(file.array(name, np.int64, (None,)).tolist())
    return unpack_strings(file, name)


#: The probabilities of a hidden Markov model, and the names of its symbols and states.
HMM_FORMAT = FileFormat(
    kind="hidden Markov model", keys={"parameters": dict}, pack=_pack_hmm, unpack=_unpack_hmm
)

#: The operators of a spectral hidden Markov model, and the names of its symbols.
SPECTRAL_HMM_FORMAT = FileFormat(
    kind="spectral hidden Markov model",
    keys={"parameters": dict},
    pack=_pack_spectral_hmm,
    unpack=_unpack_spectral_hmm,
)
