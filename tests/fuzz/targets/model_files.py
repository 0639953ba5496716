"""Damaged model files of every kind that is stored in one file."""

import math
from pathlib import Path

import numpy as np

import lpcfg
from fuzz.cases import about
from fuzz.damage import ModelBytes, damaged
from fuzz.samples import MEMORY, file_content, samples
from fuzz.soundness import (
    check_log_probability,
    check_message,
    check_parse,
    check_printed,
    check_probability,
)
from lpcfg.errors import ModelFileError
from lpcfg.io.model_file import ModelFile
from lpcfg.io.models import _stored_file
from lpcfg.lm.aggregate_bigram import AggregateBigram

#: The number of files of a case.
BATCH = 10
#: The number of states that models of a few sentences may claim to have before they are not used.
SENTENCES = [["it", "rained", "."], ["the", "Xerxes"], ["DT", "NN"]]


class ModelFiles:
    """A damaged file is a ModelFileError, or a model whose results are sound."""

    unit = "model files"

    def __init__(self):
        self.files = samples().model_bytes
        self.parts = {name: ModelBytes(data) for name, data in self.files.items()}
        self.names = list(self.files)

    def run(self, draw):
        for _ in range(BATCH):
            name = draw.choice(self.names)
            if draw.random() < 0.5:
                data = self.parts[name].edited(draw)
            else:
                data = damaged(draw, self.files[name], [self.files[draw.choice(self.names)]])
            with about(name):
                load_and_use(draw, data)
        return BATCH


def load_and_use(draw, data):
    """Load a model from bytes; if that works, use it."""
    try:
        model = _stored_file(Path("fuzzed"), ModelFile.from_bytes(data)).load()
    except ModelFileError as error:
        check_message(error)
        return
    use(draw, model)


def use(draw, model):
    """Check the results of a model of any kind on a few sentences."""
    sentence = draw.choice([*SENTENCES, draw.choice(samples().few_trees).words()])
    with about(type(model).__name__, sentence):
        _USES[type(model)](draw, model, sentence)


def _use_grammar(draw, grammar, sentence):
    parser = lpcfg.Parser(grammar, memory=MEMORY, n_jobs=1)
    parses = parser.analyze_many(words=[sentence], candidates=2, marginals=True)
    check_printed([check_parse(*parses, sentence, candidates=2)])
    if grammar.tags and not grammar.is_conditional:
        tag = draw.choice(grammar.tags)
        check_parse(parser.analyze([tag, tag]), [tag, tag])
    if draw.random() < 0.05:
        grammar.summary()
        repr(grammar)
        # What was loaded can be saved, and is then valid.
        again = file_content(grammar)
        assert file_content(type(grammar).__reduce__(grammar)[0](again)) == again


def _use_tagger(draw, tagger, sentence):
    tags = tagger.tag(sentence)
    assert len(tags) == len(sentence)
    for probability in tagger.posteriors(sentence).ravel().tolist():
        check_probability(probability)


def _use_hmm(draw, model, sentence):
    sequences = [[draw.choice(model.symbols_) for _ in sentence]]
    (score,) = model.score_samples(sequences).tolist()
    check_log_probability(score)
    if score == -math.inf:
        return
    assert [len(states) for states in model.predict(sequences)] == [len(sentence)]
    for table in model.predict_proba(sequences):
        for probability in table.ravel().tolist():
            check_probability(probability)


def _use_spectral_hmm(draw, model, sentence):
    sequences = [[draw.choice(model.symbols_) for _ in sentence]]
    for score in model.score_samples(sequences).tolist():
        check_log_probability(score)
    assert np.isfinite(model.predict_next(sequences)).all()


def _use_bigrams(draw, model, sentence):
    words = [draw.choice(model.vocabulary_.words) for _ in sentence]
    for probability in model.probabilities(words, words).ravel().tolist():
        check_probability(probability, 1 + 1e-3)
    perplexity = model.perplexity([words])
    assert perplexity > 0, f"a perplexity of {perplexity}"
    assert not math.isnan(perplexity)


def _use_word_clusters(draw, model, sentence):
    for word in [*sentence, *model.words_[:1]]:
        clusters = model.clusters(word)
        assert clusters is None or {word, word.lower()} & set(model.members(clusters[-1]))
        for neighbour in model.neighbours(word, k=3):
            assert abs(neighbour.cosine) < 1 + 1e-5, neighbour
    model.summary()


_USES = {
    lpcfg.Grammar: _use_grammar,
    lpcfg.Tagger: _use_tagger,
    lpcfg.HMM: _use_hmm,
    lpcfg.SpectralHMM: _use_spectral_hmm,
    AggregateBigram: _use_bigrams,
    lpcfg.WordClusters: _use_word_clusters,
}
