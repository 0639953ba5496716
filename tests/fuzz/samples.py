"""Small models of all kinds, and sentences, that the targets start from."""

import tempfile
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

import lpcfg
from lpcfg.estimators.registry import ESTIMATORS
from lpcfg.grammar.span_filter import SpanFilter
from lpcfg.io.formats import FileFormat
from lpcfg.io.models import _format_of, save
from lpcfg.lm.aggregate_bigram import AggregateBigram
from lpcfg.parsing.options import Pruning

#: Memory for the charts of a sentence: enough for all that targets parse, little enough that a
#: bound that does not hold is noticed.
MEMORY = 1 << 26

#: Options with which estimators are quick on a few trees.
_QUICK = {
    "spectral": {"states": (3, 2), "min_count": 1, "full_count": 5},
    "clustering": {"states": (3, 2), "min_count": 1, "full_count": 5, "restarts": 1},
    "pivot": {"states": (2, 2), "min_count": 1, "full_count": 5, "iterations": 2},
    "em": {"states": (2, 2), "min_count": 1, "full_count": 5, "iterations": 3},
    "split-merge": {"cycles": 1, "split_iterations": 2, "merge_iterations": 1},
    "crf": {"epochs": 1, "bits": 10},
    "neural": {"epochs": 1, "word_states": 8},
}
#: Pruning for which a span filter closes many spans.
_CLOSING = Pruning(spans=0.9)
WEATHER = "S -> NP VP [0.9] | VP [0.1] \n NP -> 'it' | 'the' 'rain' \n VP -> 'rained' | VP NP"


class Samples:
    """Models that are made when they are first used; the same for every run."""

    @cached_property
    def trees(self):
        return [tree for tree in lpcfg.embedded_trees(200, seed=5) if len(tree) <= 14]

    @cached_property
    def sentences(self):
        return [tree.words() for tree in self.trees]

    @cached_property
    def words(self):
        return sorted({word for words in self.sentences for word in words})

    @cached_property
    def few_trees(self):
        """So few that a model of them is loaded in a fraction of a millisecond."""
        return sorted(self.trees, key=len)[:12]

    @cached_property
    def treebank(self):
        return lpcfg.Treebank.from_trees(self.trees)

    @cached_property
    def tiny_treebank(self):
        return lpcfg.Treebank.from_trees(self.few_trees)

    @cache  # noqa: B019 - there is one object
    def grammar(self, estimator, tiny=False):
        options = {"n_jobs": 1} if "n_jobs" in ESTIMATORS[estimator].__dataclass_fields__ else {}
        fitted = lpcfg.make_estimator(estimator, **_QUICK.get(estimator, {}), **options)
        return fitted.fit(self.tiny_treebank if tiny else self.treebank).grammar_

    @cached_property
    def grammars(self):
        return {name: self.grammar(name) for name in ESTIMATORS}

    def filtered(self, name, tiny=False):
        """A grammar with a span filter of random weights, which closes half of the spans."""
        grammar = self.grammar(name, tiny)
        draw = np.random.default_rng(0)
        words = len(grammar.lexicon.offsets) - 1
        weights = draw.normal(size=(2, 64)).astype(np.float32)
        span_filter = SpanFilter(
            word_tags=draw.integers(len(grammar.tags), size=words, dtype=np.uint32),
            word_tag_sets=draw.integers(3, size=words, dtype=np.uint32),
            border_weights=weights[0],
            pair_weights=weights[1],
            thresholds=np.linspace(0.01, 0.9, 25, dtype=np.float32),
        )
        return replace(grammar, span_filter=span_filter)

    @cached_property
    def word_clusters(self):
        return lpcfg.WordClusters((2, 3, 4), dimensions=3, min_count=1).fit(self.sentences[:12])

    @cached_property
    def parsers(self):
        """Parsers of every kind: estimators, decoders, ensembles, a reranker."""
        options = {"memory": MEMORY, "n_jobs": 1}
        parsers = {
            name: lpcfg.Parser(grammar, **options) for name, grammar in self.grammars.items()
        }
        for decoder in ("max-recall", "max-rule", "viterbi"):
            parsers[decoder] = lpcfg.Parser(self.grammars["pcfg"], decoder=decoder, **options)
        for decoder in ("max-recall", "max-rule"):
            parsers[f"{decoder} spectral"] = lpcfg.Parser(
                self.grammars["spectral"], decoder=decoder, **options
            )
        several = [self.grammars["em"], self.grammars["spectral"], self.grammars["clustering"]]
        for combine in ("posteriors", "trees"):
            parsers[f"several {combine}"] = lpcfg.Parser(several, combine=combine, **options)
        parsers["exact"] = lpcfg.Parser(self.grammars["pcfg"], prune=None, **options)
        parsers["short"] = lpcfg.Parser(self.grammars["pcfg"], max_length=4, **options)
        parsers["hurried"] = lpcfg.Parser(self.grammars["crf"], timeout=1e-4, **options)
        parsers["cramped"] = lpcfg.Parser(self.grammars["spectral"], memory=1 << 14, n_jobs=1)
        for name in ("pcfg", "em"):
            grammar = self.filtered(name)
            parsers[f"filtered {name}"] = lpcfg.Parser(grammar, prune=_CLOSING, **options)
        parsers["ensemble"] = self.ensemble
        parsers["reranker"] = self.reranker
        return parsers

    @cached_property
    def ensemble(self):
        left = self.treebank.transformed(lpcfg.Transform(binarize="left"))
        members = [self.grammars["pcfg"], lpcfg.PCFGEstimator().fit(left).grammar_]
        return lpcfg.Ensemble(members, memory=MEMORY, n_jobs=1)

    @cached_property
    def reranker(self):
        reranker = lpcfg.Reranker([lpcfg.PCFGEstimator()], folds=2, candidates=3, n_jobs=1)
        return reranker.fit(self.treebank)

    @cached_property
    def tiny_models(self):
        """A small model of each kind that is stored in one file, by name."""
        tagged = self.tiny_treebank.sentences()
        words = [sentence for sentence, _ in tagged]
        tags = [sentence for _, sentence in tagged]
        return {
            **{name: self.grammar(name, tiny=True) for name in ESTIMATORS},
            "filtered": self.filtered("pcfg", tiny=True),
            "word clusters": self.word_clusters,
            "crf with clusters": lpcfg.CRFEstimator(
                **_QUICK["crf"], word_clusters=self.word_clusters, n_jobs=1
            )
            .fit(self.tiny_treebank)
            .grammar_,
            "hand-written": lpcfg.Grammar.from_string(WEATHER),
            "tagger": lpcfg.Tagger(n_jobs=1).fit(self.tiny_treebank),
            "hmm": lpcfg.HMM(n_states=2, max_iter=2, n_jobs=1).fit(words),
            "supervised hmm": lpcfg.HMM(n_jobs=1).fit(words, tags),
            "spectral hmm": lpcfg.SpectralHMM(n_states=2).fit(tags),
            "aggregate bigram": AggregateBigram(n_states=2, n_jobs=1).fit(words),
        }

    @cached_property
    def model_bytes(self):
        """The content of the files of :attr:`tiny_models`."""
        return {name: file_content(model) for name, model in self.tiny_models.items()}

    @cached_property
    def folder_models(self):
        """Models that are stored in folders."""
        grammar, other = self.grammar("pcfg", tiny=True), self.grammar("em", tiny=True)
        return {"ensemble": lpcfg.Ensemble([grammar, other], n_jobs=1), "reranker": self.reranker}


def file_content(model):
    """The bytes of the file of a model."""
    model_format = _format_of(model)
    if isinstance(model_format, FileFormat):
        return model_format.to_bytes(model)
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder))
        return Path(folder, model_format.file_name).read_bytes()


@cache
def samples():
    return Samples()
