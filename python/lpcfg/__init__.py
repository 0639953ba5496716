"""Learn PCFGs and latent-variable PCFGs from treebanks, and parse with them.

>>> import lpcfg
>>> treebank = lpcfg.Treebank.from_trees(lpcfg.embedded_trees())
>>> grammar = lpcfg.PCFGEstimator().fit(treebank).grammar_
>>> print(lpcfg.Parser(grammar).parse(["DT", "NN", "VBD", "PRP", "."]))
(ROOT (S (NP (DT DT) (NN NN)) (VP (VBD VBD) (NP (PRP PRP))) (. .)))
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lpcfg._core import __version__
from lpcfg.annotation import annotate_states, show_states
from lpcfg.candidates import Candidates, oracle_f1
from lpcfg.clean import Cleaning
from lpcfg.clustering import ClusteringEstimator
from lpcfg.em import EMEstimator
from lpcfg.embedded import embedded_trees
from lpcfg.ensemble import Ensemble
from lpcfg.errors import (
    GrammarError,
    InputError,
    InternalError,
    LpcfgError,
    ModelFileError,
    TreebankError,
)
from lpcfg.estimator import Transformed
from lpcfg.explanation import StateExplanation, explain_states
from lpcfg.grammar import Grammar
from lpcfg.grammar_file import load, load_many, save
from lpcfg.latent_trees import Smoothing
from lpcfg.lexicon_options import LexiconOptions
from lpcfg.noise import Noise
from lpcfg.noisy_models import NoisyModels
from lpcfg.parser import LabelledSpan, Parse, Parser, Pruning
from lpcfg.parser_file import load_parser, save_parser
from lpcfg.parser_scores import Evaluation, evaluate_parser
from lpcfg.pcfg import PCFGEstimator
from lpcfg.pivot import PivotEstimator
from lpcfg.reader import read_trees
from lpcfg.reranker import Reranker
from lpcfg.scores import Scores, evaluate
from lpcfg.span_estimator import SpanEstimator
from lpcfg.span_parser import SpanParser
from lpcfg.span_scores import SpanMarginals, SpanScores, SpanTree, decode_spans, span_marginals
from lpcfg.spectral import SpectralCut, SpectralEstimator
from lpcfg.split_merge import SplitMergeEstimator
from lpcfg.symbol import Symbol
from lpcfg.tagger import Tagger
from lpcfg.transform import Transform
from lpcfg.tree import Tree
from lpcfg.treebank import Treebank

if TYPE_CHECKING:
    from lpcfg.hmm import HMM
    from lpcfg.spectral_hmm import SpectralHMM

__all__ = [
    "HMM",
    "Candidates",
    "Cleaning",
    "ClusteringEstimator",
    "EMEstimator",
    "Ensemble",
    "Evaluation",
    "Grammar",
    "GrammarError",
    "InputError",
    "InternalError",
    "LabelledSpan",
    "LexiconOptions",
    "LpcfgError",
    "ModelFileError",
    "Noise",
    "NoisyModels",
    "PCFGEstimator",
    "Parse",
    "Parser",
    "PivotEstimator",
    "Pruning",
    "Reranker",
    "Scores",
    "Smoothing",
    "SpanEstimator",
    "SpanMarginals",
    "SpanParser",
    "SpanScores",
    "SpanTree",
    "SpectralCut",
    "SpectralEstimator",
    "SpectralHMM",
    "SplitMergeEstimator",
    "StateExplanation",
    "Symbol",
    "Tagger",
    "Transform",
    "Transformed",
    "Tree",
    "Treebank",
    "TreebankError",
    "__version__",
    "annotate_states",
    "decode_spans",
    "embedded_trees",
    "evaluate",
    "evaluate_parser",
    "explain_states",
    "load",
    "load_many",
    "load_parser",
    "oracle_f1",
    "read_trees",
    "save",
    "save_parser",
    "show_states",
    "span_marginals",
]

# Modules that are loaded when they are asked for: scikit-learn takes longer to load than the rest.
_LAZY = {"HMM": "lpcfg.hmm", "SpectralHMM": "lpcfg.spectral_hmm"}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
