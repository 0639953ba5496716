"""The format of grammars in model files."""

from __future__ import annotations

from typing import Any

import numpy as np

from lpcfg import _core
from lpcfg.errors import ModelFileError
from lpcfg.grammar._neural_file import pack_neural, unpack_neural
from lpcfg.grammar.crf_weights import CRFWeights
from lpcfg.grammar.grammar import Grammar
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.grammar.span_filter import SpanFilter
from lpcfg.io.compact_arrays import pack_numbers, unpack_numbers
from lpcfg.io.formats import Arrays, Document, FileFormat
from lpcfg.io.model_file import ModelFile
from lpcfg.lexicon.lexicon_file import LEXICON_KEYS, pack_lexicon, unpack_lexicon
from lpcfg.treebank.symbol import Symbol

__all__ = ["GRAMMAR_FORMAT"]

_LATENT_TYPES = {
    "states": np.uint32,
    "roots": np.float32,
    "binary": np.float32,
    "binary_counts": np.uint32,
    "binary_positions": np.uint32,
    "emission_ratios": np.float32,
    "ratio_symbols": np.uint32,
    "entry_ratios": np.uint32,
    "tag_emissions": np.float32,
}

_FILTER_TYPES = {
    "word_tags": np.uint32,
    "word_tag_sets": np.uint32,
    "border_weights": np.float32,
    "pair_weights": np.float32,
    "thresholds": np.float32,
}

#: The arrays of a grammar, by the part of their names before the first dot.
_ARRAYS = {
    "roots",
    *("binary_rules", "binary_probabilities", "unary_rules", "unary_probabilities"),
    *(
        "emission_offsets",
        "emission_symbols",
        "emission_probabilities",
        "words",
        "classes",
        "tag_model",
    ),
    *("coarse", "weights", "latent", "crf", "neural", "span_filter"),
}


def _pack(grammar: Grammar) -> tuple[Arrays, Document]:
    lexicon_arrays, lexicon_document = pack_lexicon(grammar.lexicon)
    arrays: Arrays = {
        "roots": grammar.roots,
        "binary_rules": grammar.binary_rules,
        "binary_probabilities": grammar.binary_probabilities,
        "unary_rules": grammar.unary_rules,
        "unary_probabilities": grammar.unary_probabilities,
        **lexicon_arrays,
    }
    document: Document = {
        "symbols": [symbol.to_json() for symbol in grammar.symbols],
        "provenance": dict(grammar.provenance),
        **lexicon_document,
    }
    if grammar.coarse is not None and grammar.weights is not None:
        arrays |= {"coarse": grammar.coarse, "weights": grammar.weights}
    if grammar.latent is not None:
        latent = grammar.latent.arrays
        if not len(grammar.unary_rules):
            del latent["unary"]
        arrays |= {f"latent.{name}": array for name, array in latent.items()}
        document["latent"] = grammar.latent.kind
    if grammar.crf_weights is not None:
        arrays |= {
            "crf.vocabulary": grammar.crf_weights.vocabulary,
            **pack_numbers("crf.weights", grammar.crf_weights.weights),
        }
        if len(grammar.crf_weights.cluster_words):
            arrays |= {
                "crf.cluster_words": grammar.crf_weights.cluster_words,
                "crf.clusters": grammar.crf_weights.clusters.astype(np.uint32),
            }
        document["crf"] = {
            "loss": grammar.crf_weights.loss,
            "prior_weight": grammar.crf_weights.prior_weight,
            "template_version": grammar.crf_weights.template_version,
        }
        if grammar.crf_weights.dependencies:
            document["crf"]["dependencies"] = True
    if grammar.neural_weights is not None:
        neural_arrays, document["neural"] = pack_neural(grammar.neural_weights)
        arrays |= neural_arrays
    if grammar.span_filter is not None:
        for name, dtype in _FILTER_TYPES.items():
            array = getattr(grammar.span_filter, name)
            full = f"span_filter.{name}"
            arrays |= pack_numbers(full, array) if dtype is np.float32 else {full: array}
        document["span_filter"] = {"template_version": _core.span_filter_version}
    return arrays, document


def _unpack(file: ModelFile, document: Document) -> Grammar:
    # Unknown arrays must not be ignored: without its weights, a CRF would parse as its PCFG.
    if unknown := [name for name in file.names() if name.partition(".")[0] not in _ARRAYS]:
        raise ModelFileError(
            f"has arrays that this version does not know: {', '.join(unknown)}; train it again",
            path=file.path,
        )
    symbols = tuple(Symbol.from_json(symbol) for symbol in document["symbols"])
    count = len(symbols)
    has_coarse = "coarse" in file.names()
    grammar = Grammar(
        symbols=symbols,
        roots=file.array("roots", np.float64, (count,)),
        binary_rules=file.array("binary_rules", np.uint32, (None, 3)),
        binary_probabilities=file.array("binary_probabilities", np.float64, (None,)),
        unary_rules=file.array("unary_rules", np.uint32, (None, 2)),
        unary_probabilities=file.array("unary_probabilities", np.float64, (None,)),
        lexicon=unpack_lexicon(file, document),
        coarse=file.array("coarse", np.uint32, (count,)) if has_coarse else None,
        weights=file.array("weights", np.float64, (count,)) if has_coarse else None,
        latent=_latent_states(file, document) if "latent.states" in file.names() else None,
        crf_weights=_crf_weights(file, document) if "crf.vocabulary" in file.names() else None,
        neural_weights=unpack_neural(file, document) if "neural" in document else None,
        span_filter=_span_filter(file, document),
        provenance=document["provenance"],
    )
    # The core checks all indices and probabilities as it takes them in.
    _ = grammar.core, grammar.crf_core, grammar.neural_core, grammar.cleaning
    _ = grammar.normalization, grammar.tag_model_columns
    if grammar.span_filter is not None:
        _ = grammar.span_filter.core
    return grammar


def _latent_states(file: ModelFile, document: Document) -> LatentStates:
    arrays = {
        name: file.array(f"latent.{name}", dtype, (None,)) for name, dtype in _LATENT_TYPES.items()
    }
    if "latent.unary" in file.names():
        arrays["unary"] = file.array("latent.unary", np.float32, (None,))
    return LatentStates(document["latent"], **arrays)


def _crf_weights(file: ModelFile, document: Document) -> CRFWeights:
    crf = dict(document["crf"])
    version = crf["template_version"]
    known = range(_core.crf_oldest_template_version, _core.crf_template_version + 1)
    if version not in known:
        raise ModelFileError(
            f"the weights belong to version {version!r} of the feature templates, and this lpcfg "
            f"has version {_core.crf_template_version}; train the model again",
            path=file.path,
        )
    clusters: dict[str, Any] = {}
    if "crf.cluster_words" in file.names():
        levels = (None, _core.crf_cluster_levels)
        clusters["cluster_words"] = file.array("crf.cluster_words", np.uint64, (None,))
        numbers = file.array("crf.clusters", np.uint32, levels)
        if np.any(numbers > np.iinfo(np.uint16).max):
            raise ModelFileError("a word cluster has too large a number", path=file.path)
        clusters["clusters"] = numbers.astype(np.uint16)
    return CRFWeights(
        **crf,
        **clusters,
        vocabulary=file.array("crf.vocabulary", np.uint64, (None,)),
        weights=unpack_numbers(file, "crf.weights"),
    )


def _span_filter(file: ModelFile, document: Document) -> SpanFilter | None:
    if "span_filter.thresholds" not in file.names():
        return None
    # Without its filter a grammar is only slower, so weights of other templates are left out.
    if document["span_filter"]["template_version"] != _core.span_filter_version:
        return None
    arrays: dict[str, Any] = {
        name: unpack_numbers(file, f"span_filter.{name}")
        if dtype is np.float32
        else file.array(f"span_filter.{name}", dtype, (None,))
        for name, dtype in _FILTER_TYPES.items()
    }
    return SpanFilter(**arrays)


#: A grammar with its lexicon, its latent states, its CRF weights or its neural network.
GRAMMAR_FORMAT = FileFormat(
    kind="grammar",
    keys={"symbols": list, "provenance": dict, **LEXICON_KEYS},
    pack=_pack,
    unpack=_unpack,
)
