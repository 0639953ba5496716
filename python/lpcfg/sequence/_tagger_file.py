"""The format of taggers in model files."""

from __future__ import annotations

import numpy as np

from lpcfg._options import build_options
from lpcfg.io.formats import Arrays, Document, FileFormat
from lpcfg.io.model_file import ModelFile, pack_strings, unpack_strings
from lpcfg.lexicon.lexicon_file import LEXICON_KEYS, pack_lexicon, unpack_lexicon
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.sequence.tagger import Tagger
from lpcfg.treebank.cleaning import Cleaning

__all__ = ["TAGGER_FORMAT"]


def _pack_tagger(tagger: Tagger) -> tuple[Arrays, Document]:
    arrays, document = pack_lexicon(tagger.lexicon_)
    arrays |= {"trigrams": tagger.trigrams_, "counts": tagger.counts_}
    arrays |= pack_strings("tags", tagger.tags_)
    stored = {"cleaning": tagger.cleaning_.to_dict(), "provenance": tagger.provenance_}
    return arrays, {**document, **stored}


def _unpack_tagger(file: ModelFile, document: Document) -> Tagger:
    provenance = document["provenance"]
    tagger = Tagger(
        trigram_smoothing=provenance["trigram_smoothing"],
        bigram_smoothing=provenance["bigram_smoothing"],
        lexicon=build_options(LexiconOptions, provenance["lexicon"]),
    )
    tagger.provenance_ = provenance
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
    keys={**LEXICON_KEYS, "cleaning": dict, "provenance": dict},
    pack=_pack_tagger,
    unpack=_unpack_tagger,
)
