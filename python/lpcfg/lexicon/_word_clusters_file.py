"""The format of word clusters in model files."""

from __future__ import annotations

import numpy as np

from lpcfg.errors import ModelFileError
from lpcfg.io.formats import Arrays, Document, FileFormat
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.lexicon.word_clusters import LEVELS, WordClusters

__all__ = ["WORD_CLUSTERS_FORMAT"]

_PARAMETERS = {
    "n_clusters": list,
    "dimensions": int,
    "contexts": int,
    "min_count": int,
    "max_words": int,
    "random_state": int,
}


def _pack(model: WordClusters) -> tuple[Arrays, Document]:
    arrays: Arrays = {
        **pack_strings("words", model.words_),
        "counts": model.counts_,
        "vectors": model.vectors_.view(np.uint8),
        "clusters": model.clusters_.astype(np.uint32),
    }
    document = {name: getattr(model, name) for name in _PARAMETERS}
    return arrays, {**document, "n_clusters": [int(number) for number in model.n_clusters]}


def _unpack(file: ModelFile, document: Document) -> WordClusters:
    model = WordClusters(**{name: document[name] for name in _PARAMETERS})
    model.n_clusters = tuple(model.n_clusters)
    model._validate()
    model.words_ = unpack_strings(file, "words")
    size = len(model.words_)
    if size == 0 or len(set(model.words_)) != size:
        raise ModelFileError("has no words, or a word more than once", path=file.path)
    model.counts_ = file.array("counts", np.int64, (size,))
    model.vectors_ = file.array("vectors", np.uint8, (size, None)).view(np.int8)
    clusters = file.array("clusters", np.uint32, (size, LEVELS))
    if np.any(model.counts_ < 1):
        raise ModelFileError("a word has no count", path=file.path)
    if np.any(clusters.max(axis=0) >= np.array(model.n_clusters)):
        raise ModelFileError(
            f"a cluster is not below the number of clusters {model.n_clusters}", path=file.path
        )
    model.clusters_ = clusters.astype(np.uint16)
    return model


#: Words with their counts, vectors and clusters.
WORD_CLUSTERS_FORMAT = FileFormat(
    kind="word clusters",
    keys=_PARAMETERS,
    pack=_pack,
    unpack=_unpack,
)
