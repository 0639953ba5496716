"""Hidden Markov models as model files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpcfg.io.model_file import (
    ModelFile,
    pack_strings,
    read_document,
    unpack_strings,
    write_model_file,
)
from lpcfg.sequence._hmm_parameters import HMMParameters
from lpcfg.sequence._hmm_symbols import Item

__all__ = ["pack_items", "read_hmm", "unpack_items", "write_hmm"]

_OPTIONS = {"unknown": str, "decoder": str, "count_transitions": bool}


def write_hmm(
    path: str | PathLike[str],
    parameters: HMMParameters,
    symbols: tuple[Item, ...],
    states: tuple[Item, ...],
    options: Mapping[str, Any],
) -> None:
    """Write a model: its parameters, the names of symbols and states, and how it is used.

    >>> import tempfile, pathlib
    >>> from lpcfg import HMM
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "clock.lpcfg")
    ...     HMM(n_states=2).fit([["tick", "tock", "tick"]]).save(path)
    ...     parts, options = read_hmm(path)
    >>> parts["symbols"], options
    (('tick', 'tock'), {'unknown': 'error', 'decoder': 'viterbi', 'count_transitions': False})
    """
    arrays = {name: getattr(parameters, name) for name in ("initial", "transitions", "emissions")}
    if parameters.ends is not None:
        arrays["ends"] = parameters.ends
    arrays |= pack_items("symbols", symbols) | pack_items("states", states)
    write_model_file(
        path, arrays, {"kind": "hidden Markov model"} | {name: options[name] for name in _OPTIONS}
    )


def read_hmm(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what :meth:`lpcfg.HMM.from_parameters` takes, which checks it, and the options.

    >>> read_hmm("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    file = ModelFile(path)
    document = read_document(file, _OPTIONS, kind="hidden Markov model")
    parts = {
        "initial": file.array("initial", np.float64, (None,)),
        "transitions": file.array("transitions", np.float64, (None, None)),
        "emissions": file.array("emissions", np.float64, (None, None)),
        "ends": file.array("ends", np.float64, (None,)) if "ends" in file.names() else None,
        "symbols": unpack_items(file, "symbols"),
        "states": unpack_items(file, "states"),
    }
    return parts, {name: document[name] for name in _OPTIONS}


def pack_items(name: str, items: tuple[Item, ...]) -> dict[str, NDArray[Any]]:
    """Names of symbols: strings as they are packed everywhere, numbers as an array.

    >>> pack_items("symbols", (3, 5))
    {'symbols': array([3, 5])}
    """
    if any(isinstance(item, str) for item in items):
        return pack_strings(name, [str(item) for item in items])
    return {name: np.array(items, dtype=np.int64)}


def unpack_items(file: ModelFile, name: str) -> tuple[Item, ...]:
    """What :func:`pack_items` packed.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "names.lpcfg")
    ...     write_model_file(path, pack_items("symbols", ("tick", "tock")), {"kind": "names"})
    ...     unpack_items(ModelFile(path), "symbols")
    ('tick', 'tock')
    """
    if name in file.names():
        return tuple(file.array(name, np.int64, (None,)).tolist())
    return unpack_strings(file, name)
