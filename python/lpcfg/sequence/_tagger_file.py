"""The format of taggers in model files."""

from __future__ import annotations

import numpy as np

from lpcfg.io.formats import Arrays, Document, FileFormat
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.lexicon.lexicon_file import LEXICON_KEYS, pack_lexicon, unpack_lexicon
from lpcfg.sequence.tagger import SMOOTHING, Tagger
from lpcfg.treebank.cleaning import Cleaning

__all__ = ["TAGGER_FORMAT"]


def _pack_tagger(tagger: Tagger) -> tuple[Arrays, Document]:
    arrays, document = pack_lexicon(tagger.lexicon_)
    arrays |= {"trigrams": tagger.trigrams_, "counts": tagger.counts_}
    arrays |= pack_strings("tags", tagger.tags_)
    smoothing = {name: float(getattr(tagger, name)) for name in SMOOTHING}
    return arrays, {**document, **smoothing, "cleaning": tagger.cleaning_.to_dict()}


def _unpack_tagger(file: ModelFile, document: Document) -> Tagger:
    tagger = Tagger(**{name: document[name] for name in SMOOTHING})
    tagger.cleaning_ = Cleaning.from_dict(document["cleaning"])
    tagger.tags_ = unpack_strings(file, "tags")
    tagger.trigrams_ = file.array("trigrams", np.uint32, (None, 3))
    tagger.counts_ = file.array("counts", np.float64, (len(tagger.trigrams_),))
    tagger.lexicon_ = unpack_lexicon(file, document)
    tagger.build_tables()
    return tagger


#: The lexicon of a tagger, and the counts of its tag trigrams.
TAGGER_FORMAT = FileFormat(
    kind="tagger",
    keys={**LEXICON_KEYS, **dict.fromkeys(SMOOTHING, float), "cleaning": dict},
    pack=_pack_tagger,
    unpack=_unpack_tagger,
)
