"""The format of aggregate bigram models in model files."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lpcfg.errors import InputError
from lpcfg.io.formats import Arrays, Document, FileFormat
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.lm.aggregate_bigram import AggregateBigram
from lpcfg.lm.aggregate_em import Factors
from lpcfg.lm.vocabulary import Vocabulary

__all__ = ["AGGREGATE_BIGRAM_FORMAT"]

#: How far a sum of probabilities in single precision may exceed one.
_ROUNDING = 1e-3


def _pack(model: AggregateBigram) -> tuple[Arrays, Document]:
    arrays = {**model.factors_._asdict(), **pack_strings("vocabulary", model.vocabulary_.words)}
    return arrays, {"min_count": model.min_count, "iterations": model.iterations_}


def _unpack(file: ModelFile, document: Document) -> AggregateBigram:
    words = unpack_strings(file, "vocabulary")
    states = file.array("states", np.float32, (len(words) + 1, None))
    factors = Factors(states, file.array("words", np.float32, states.shape))
    _check_distributions("states", factors.states, axis=1)
    _check_distributions("words", factors.words, axis=0)
    model = AggregateBigram(states.shape[1], min_count=document["min_count"])
    model.vocabulary_, model.factors_ = Vocabulary(words), factors
    model.iterations_ = document["iterations"]
    model.log_likelihoods_, model.held_out_log_likelihoods_ = [], []
    return model


def _check_distributions(name: str, values: npt.NDArray[np.float32], axis: int) -> None:
    # NaN is not in the range either. Values are checked first, because sums could overflow.
    in_range = values.size > 0 and np.all((values >= 0) & (values <= 1 + _ROUNDING))
    if not in_range or np.any(values.sum(axis=axis, dtype=np.float64) > 1 + _ROUNDING):
        raise InputError("must be probabilities that add up to one", argument=name)


#: The vocabulary of a language model, P(state | word) and P(word | state).
AGGREGATE_BIGRAM_FORMAT = FileFormat(
    kind="aggregate bigram model",
    keys={"min_count": int, "iterations": int},
    pack=_pack,
    unpack=_unpack,
)
