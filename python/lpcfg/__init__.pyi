from . import (
    cli as cli,
)
from . import (
    corpus as corpus,
)
from . import (
    datasets as datasets,
)
from . import (
    errors as errors,
)
from . import (
    estimators as estimators,
)
from . import (
    evaluation as evaluation,
)
from . import (
    experiments as experiments,
)
from . import (
    formats as formats,
)
from . import (
    grammar as grammar,
)
from . import (
    inspection as inspection,
)
from . import (
    interop as interop,
)
from . import (
    io as io,
)
from . import (
    jobs as jobs,
)
from . import (
    lexicon as lexicon,
)
from . import (
    lm as lm,
)
from . import (
    parsing as parsing,
)
from . import (
    reranking as reranking,
)
from . import (
    semi_supervised as semi_supervised,
)
from . import (
    sequence as sequence,
)
from . import (
    text as text,
)
from . import (
    treebank as treebank,
)
from . import (
    tuning as tuning,
)
from ._core import __version__ as __version__
from .corpus.parse_corpus import parse_corpus as parse_corpus
from .corpus.report import CorpusReport as CorpusReport
from .datasets.embedded import embedded_trees as embedded_trees
from .errors import (
    GrammarError as GrammarError,
)
from .errors import (
    InputError as InputError,
)
from .errors import (
    InternalError as InternalError,
)
from .errors import (
    LpcfgError as LpcfgError,
)
from .errors import (
    MissingPackageError as MissingPackageError,
)
from .errors import (
    ModelFileError as ModelFileError,
)
from .errors import (
    NotAModelError as NotAModelError,
)
from .errors import (
    TreebankError as TreebankError,
)
from .estimators.base import Estimator as Estimator
from .estimators.clustering.estimator import ClusteringEstimator as ClusteringEstimator
from .estimators.crf.estimator import CRFEstimator as CRFEstimator
from .estimators.crf.parser import CRFParser as CRFParser
from .estimators.em.estimator import EMEstimator as EMEstimator
from .estimators.em.smoothing import Smoothing as Smoothing
from .estimators.em.split_merge import SplitMergeEstimator as SplitMergeEstimator
from .estimators.features.noise import Noise as Noise
from .estimators.neural.estimator import NeuralEstimator as NeuralEstimator
from .estimators.noisy_models import NoisyModels as NoisyModels
from .estimators.pcfg import PCFGEstimator as PCFGEstimator
from .estimators.pivot.estimator import PivotEstimator as PivotEstimator
from .estimators.registry import make_estimator as make_estimator
from .estimators.spectral.decomposition import SpectralDecomposition as SpectralDecomposition
from .estimators.spectral.estimator import SpectralEstimator as SpectralEstimator
from .estimators.transformed import Transformed as Transformed
from .evaluation.comparison import Comparison as Comparison
from .evaluation.comparison import compare_parsers as compare_parsers
from .evaluation.parser_scores import Evaluation as Evaluation
from .evaluation.parser_scores import evaluate_parser as evaluate_parser
from .evaluation.scores import Scores as Scores
from .evaluation.scores import evaluate as evaluate
from .formats.conllu import ConlluSentence as ConlluSentence
from .formats.conllu import read_conllu as read_conllu
from .formats.dependencies import Dependencies as Dependencies
from .formats.dependencies import DependencyTree as DependencyTree
from .formats.tree_formats import format_tree as format_tree
from .formats.tree_formats import read_formatted as read_formatted
from .grammar.berkeley import import_berkeley as import_berkeley
from .grammar.grammar import Grammar as Grammar
from .grammar.nltk_grammars import import_nltk as import_nltk
from .grammar.rainbow import import_rainbow as import_rainbow
from .inspection.annotation import annotate_states as annotate_states
from .inspection.annotation import show_states as show_states
from .inspection.explanation import StateExplanation as StateExplanation
from .inspection.explanation import explain_states as explain_states
from .interop.pandas_frames import to_pandas as to_pandas
from .io.models import load as load
from .io.models import save as save
from .lexicon.options import LexiconOptions as LexiconOptions
from .lexicon.word_clusters import WordClusters as WordClusters
from .parsing.base import BaseParser as BaseParser
from .parsing.charts import ChartCache as ChartCache
from .parsing.ensemble import Ensemble as Ensemble
from .parsing.options import Pruning as Pruning
from .parsing.parse import LabelledSpan as LabelledSpan
from .parsing.parse import Parse as Parse
from .parsing.parse import TextParse as TextParse
from .parsing.parser import Parser as Parser
from .parsing.span_decoder import SpanMarginals as SpanMarginals
from .parsing.span_decoder import SpanScores as SpanScores
from .parsing.span_decoder import SpanTree as SpanTree
from .parsing.span_decoder import decode_spans as decode_spans
from .parsing.span_decoder import span_marginals as span_marginals
from .profiling import PhaseCost as PhaseCost
from .profiling import Profile as Profile
from .reranking.candidates import Candidates as Candidates
from .reranking.candidates import oracle_f1 as oracle_f1
from .reranking.reranker import Reranker as Reranker
from .semi_supervised.self_training import SelfTrainingEstimator as SelfTrainingEstimator
from .semi_supervised.self_training import label_text as label_text
from .semi_supervised.self_training import mixed_treebank as mixed_treebank
from .sequence.hmm import HMM as HMM
from .sequence.spectral_hmm import SpectralHMM as SpectralHMM
from .sequence.tagged_text import with_tagged_text as with_tagged_text
from .sequence.tagger import Tagger as Tagger
from .text.segmentation import TextSentence as TextSentence
from .text.segmentation import Token as Token
from .text.segmentation import split_text as split_text
from .treebank.cleaning import Cleaning as Cleaning
from .treebank.reader import read_trees as read_trees
from .treebank.search import Match as Match
from .treebank.search import search_trees as search_trees
from .treebank.symbol import Symbol as Symbol
from .treebank.transform import Transform as Transform
from .treebank.tree import Tree as Tree
from .treebank.treebank import Treebank as Treebank
from .tuning.ensemble_weights import learn_weights as learn_weights
from .tuning.search import Tuning as Tuning
from .tuning.search import tune as tune
from .tuning.space import Choice as Choice
from .tuning.space import Range as Range
