"""The compiled core of lpcfg. Use the package `lpcfg`; this module may change without notice.

What its functions do is in their docstrings: ``help(lpcfg._core)``.
"""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.transform import Transform

__all__ = [
    "BracketReader",
    "CRFModel",
    "CRFTrainer",
    "ChartCache",
    "Grammar",
    "HiddenMarkovModel",
    "LatentTrees",
    "ModelFile",
    "NeuralModel",
    "NeuralNetwork",
    "NeuralParser",
    "NeuralTrainer",
    "PairCounts",
    "Parser",
    "SecondOrderModel",
    "Sequences",
    "SpanFilter",
    "WordClasses",
    "WordEncoder",
    "__version__",
    "bracket_cost",
    "candidate_features",
    "character_kinds",
    "class_tree",
    "clean_forest",
    "cover_spans",
    "crf_cluster_keys",
    "crf_cluster_levels",
    "crf_oldest_template_version",
    "crf_template_version",
    "crf_vocabulary",
    "decode_spans",
    "hash_rows",
    "invert_table",
    "known_in_lowercase",
    "model_file_bytes",
    "nearest_mixtures",
    "number_pairs",
    "reranker_template_version",
    "sentence_openers",
    "span_filter_version",
    "span_marginals",
    "sums_of_subtrees",
    "train_span_filter",
    "transform_forest",
    "transform_table",
    "write_model_file",
]

__version__: str

# Model files

@final
class ModelFile:
    """A model file, read into memory and validated."""

    def __new__(cls, path: str | PathLike[str]) -> ModelFile: ...
    @staticmethod
    def from_bytes(data: bytes) -> ModelFile: ...
    @property
    def path(self) -> str: ...
    @property
    def json(self) -> str: ...
    def names(self) -> list[str]: ...
    def shape(self, name: str) -> tuple[int, ...]: ...
    def dtype(self, name: str) -> np.dtype[Any]: ...
    def array(
        self,
        name: str,
        dtype: npt.DTypeLike | None = None,
        shape: Sequence[int | None] | None = None,
    ) -> npt.NDArray[Any]: ...

def write_model_file(
    path: str | PathLike[str], arrays: dict[str, npt.NDArray[Any]], json: str
) -> None: ...
def model_file_bytes(arrays: dict[str, npt.NDArray[Any]], json: str) -> bytes: ...

# The version of the feature templates of conditional random fields.
crf_template_version: int
span_filter_version: int

# The oldest version of the feature templates whose models can be used.
crf_oldest_template_version: int

# The number of word clusters of a word.
crf_cluster_levels: int

# Words

@final
class WordClasses:
    """A classifier of rare and unknown words."""

    @staticmethod
    def english() -> WordClasses: ...
    @staticmethod
    def learnt(names: Sequence[str], longest_suffix: int, scripts: bool) -> WordClasses: ...
    @staticmethod
    def tags() -> WordClasses: ...
    def class_of(self, word: str, initial: bool, known_lowercase: bool, tag: str | None) -> str: ...
    def fallbacks(self, name: str) -> list[str]: ...
    def classes_of(
        self,
        words: Sequence[str],
        initial: npt.NDArray[np.bool_],
        known_lowercase: npt.NDArray[np.bool_],
        tags: Sequence[str | None] | None,
    ) -> tuple[list[str], npt.NDArray[np.int32]]: ...

@final
class WordEncoder:
    """The numbers of known words, and of the classes of unknown ones."""

    def __new__(
        cls,
        words: Sequence[str],
        classes: Sequence[str],
        classifier: WordClasses,
        *,
        lowercase_initial: bool,
    ) -> WordEncoder: ...
    def knows(self, word: str) -> bool: ...
    def emission(self, word: str, initial: bool, tag: str | None) -> int: ...
    def class_emission(self, word: str, initial: bool, tag: str | None) -> int: ...
    def emissions(
        self,
        words: Sequence[str],
        initial: npt.NDArray[np.bool_],
        tags: Sequence[str | None] | None,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
    def encode(
        self,
        words: Sequence[str],
        offsets: npt.NDArray[np.int64],
        tags: Sequence[str | None] | None,
    ) -> npt.NDArray[np.int32]: ...

def character_kinds(word: str) -> str: ...
def sentence_openers(words: Sequence[str]) -> npt.NDArray[np.bool_]: ...
def known_in_lowercase(
    words: Sequence[str], known: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]: ...
def class_tree(
    words: Sequence[str],
    initial: npt.NDArray[np.bool_],
    known_lowercase: npt.NDArray[np.bool_],
    longest_suffix: int,
) -> tuple[list[str], npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
def sums_of_subtrees(
    parents: npt.NDArray[np.int32], rows: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]: ...

# Parsing

@final
class Grammar:
    """A grammar indexed for parsing."""

    def __new__(
        cls,
        *,
        roots: npt.NDArray[np.float64],
        binary_rules: npt.NDArray[np.uint32],
        binary_probabilities: npt.NDArray[np.float64],
        unary_rules: npt.NDArray[np.uint32],
        unary_probabilities: npt.NDArray[np.float64],
        emission_offsets: npt.NDArray[np.int64],
        emission_symbols: npt.NDArray[np.uint32],
        emission_probabilities: npt.NDArray[np.float64],
        tag_of_symbol: npt.NDArray[np.int32],
        output_offsets: npt.NDArray[np.uint32],
        output_labels: npt.NDArray[np.uint32],
        coarse: npt.NDArray[np.uint32] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
        latent: dict[str, npt.NDArray[Any]] | None = None,
    ) -> Grammar: ...

@final
class ChartCache:
    """Pruned charts that parsers with the same backbone share."""

    def __new__(cls, *, memory: int, replace: bool) -> ChartCache: ...
    def __len__(self) -> int: ...
    @property
    def bytes(self) -> int: ...

@final
class Parser:
    """Grammars with threads to work on."""

    def __new__(
        cls,
        grammar: Grammar,
        others: Sequence[Grammar],
        *,
        threads: int,
        crf: CRFModel | None = None,
        span_filter: SpanFilter | None = None,
        charts: ChartCache | None = None,
    ) -> Parser: ...
    def analyze(
        self,
        offsets: npt.NDArray[np.int64],
        words: npt.NDArray[np.uint32] | None,
        tags: npt.NDArray[np.uint32] | None,
        *,
        breaks: npt.NDArray[np.uint8],
        decoder: str,
        combine: str,
        coarse_threshold: float,
        threshold: float,
        member_threshold: float,
        span_recall: float,
        memory: int,
        max_length: int,
        timeout: float | None,
        candidates: int,
        marginals: bool,
        times: bool,
        spellings: Sequence[str] | None = None,
        heads: npt.NDArray[np.int32] | None = None,
        relations: Sequence[str] | None = None,
        guide: tuple[
            npt.NDArray[np.int64],
            npt.NDArray[np.uint32],
            npt.NDArray[np.uint32],
            npt.NDArray[np.uint32],
        ]
        | None = None,
        tag_factors: tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]] | None = None,
    ) -> dict[str, npt.NDArray[Any]]: ...

# Span filters

@final
class SpanFilter:
    """A span filter, checked."""

    def __new__(
        cls,
        *,
        word_tags: npt.NDArray[np.uint32],
        word_tag_sets: npt.NDArray[np.uint32],
        border_weights: npt.NDArray[np.float32],
        pair_weights: npt.NDArray[np.float32],
        thresholds: npt.NDArray[np.float32],
    ) -> SpanFilter: ...
    def threshold(self, recall: float) -> float: ...

def train_span_filter(
    *,
    words: npt.NDArray[np.uint32],
    word_offsets: npt.NDArray[np.int64],
    starts: npt.NDArray[np.uint32],
    ends: npt.NDArray[np.uint32],
    tree_offsets: npt.NDArray[np.int64],
    word_tags: npt.NDArray[np.uint32],
    word_tag_sets: npt.NDArray[np.uint32],
    fitted: npt.NDArray[np.uint32],
    held_out: npt.NDArray[np.uint32],
    epochs: int,
    learning_rate: float,
    initial_accumulator: float,
    border_bits: int,
    pair_bits: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...

# Conditional random fields

@final
class CRFModel:
    """The weights of a conditional random field, and what is needed to find features."""

    def __new__(
        cls,
        *,
        loss: str,
        prior_weight: float,
        template_version: int,
        vocabulary: npt.NDArray[np.uint64],
        cluster_words: npt.NDArray[np.uint64],
        clusters: npt.NDArray[np.uint16],
        kinds: npt.NDArray[np.uint32],
        label_offsets: npt.NDArray[np.uint32],
        labels: npt.NDArray[np.uint32],
        weights: npt.NDArray[np.float32],
    ) -> CRFModel: ...

def crf_cluster_keys(words: Sequence[str]) -> npt.NDArray[np.uint64]: ...
def crf_vocabulary(
    words: Sequence[str], counts: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint64]: ...

@final
class CRFTrainer:
    """Learns the weights of a conditional random field; several threads may share it."""

    def __new__(cls, model: CRFModel, threads: int) -> CRFTrainer: ...
    def add(
        self,
        grammar: Grammar,
        *,
        spellings: Sequence[str],
        word_column: npt.NDArray[np.uint32],
        emissions: npt.NDArray[np.uint32],
        word_offsets: npt.NDArray[np.int64],
        symbols: npt.NDArray[np.uint32],
        starts: npt.NDArray[np.int32],
        ends: npt.NDArray[np.int32],
        tree_offsets: npt.NDArray[np.int64],
        tree_weights: npt.NDArray[np.float64] | None,
        coarse_threshold: float,
        threshold: float,
        span_recall: float,
        memory: int,
        span_filter: SpanFilter | None = None,
        tag_factors: tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]] | None = None,
        tags: npt.NDArray[np.uint32] | None = None,
        heads: npt.NDArray[np.int32] | None = None,
        relations: npt.NDArray[np.uint32] | None = None,
        relation_names: Sequence[str] | None = None,
    ) -> int: ...
    def __len__(self) -> int: ...
    def run(
        self,
        order: npt.NDArray[np.int64],
        *,
        learning_rate: float,
        initial_accumulator: float,
        penalty: float,
        batch: int,
    ) -> float: ...
    def weights(self) -> npt.NDArray[np.float32]: ...

# Neural parsers

@final
class NeuralNetwork:
    """The sizes, words and labels of a network."""

    def __new__(
        cls,
        *,
        words: Sequence[str],
        characters: str,
        vector_words: Sequence[str],
        vectors: npt.NDArray[np.int8],
        word_size: int,
        character_size: int,
        character_hidden: int,
        hidden: int,
        layers: int,
        tag_size: int,
        span_hidden: int,
        tags: int,
        whole: Sequence[bool],
        part: Sequence[bool],
    ) -> NeuralNetwork: ...
    def __len__(self) -> int: ...

@final
class NeuralTrainer:
    """Trains a network; several threads may share it."""

    def __new__(
        cls,
        network: NeuralNetwork,
        *,
        spellings: Sequence[str],
        word_column: npt.NDArray[np.uint32],
        tags: npt.NDArray[np.uint32],
        word_offsets: npt.NDArray[np.int64],
        starts: npt.NDArray[np.uint32],
        ends: npt.NDArray[np.uint32],
        labels: npt.NDArray[np.uint32],
        span_offsets: npt.NDArray[np.int64],
        tree_weights: npt.NDArray[np.float32],
        none_ratio: float | None,
        tag_weight: float,
        dropout: Sequence[float],
        word_dropout: float,
        given_tags: float,
        seed: int,
        threads: int,
    ) -> NeuralTrainer: ...
    def run(
        self,
        epoch: int,
        *,
        batch: int,
        learning_rates: Sequence[float],
        largest_norm: float,
        average_decay: float,
    ) -> float: ...
    def values(self) -> npt.NDArray[np.float32]: ...

@final
class NeuralModel:
    """A network with its parameters, for parsing."""

    def __new__(
        cls,
        network: NeuralNetwork,
        *,
        values: npt.NDArray[np.float32],
        independent: bool,
        chains: Sequence[Sequence[int]],
        root: Sequence[int],
        tag_labels: Sequence[int],
    ) -> NeuralModel: ...

@final
class NeuralParser:
    """A model with threads to work on."""

    def __new__(cls, model: NeuralModel, *, threads: int) -> NeuralParser: ...
    def analyze(
        self,
        offsets: npt.NDArray[np.int64],
        spellings: Sequence[str],
        tags: npt.NDArray[np.uint32] | None,
        *,
        breaks: npt.NDArray[np.uint8],
        decoder: str,
        max_length: int,
        memory: int,
        candidates: int,
        marginals: bool,
        timeout: float | None = None,
    ) -> dict[str, npt.NDArray[Any]]: ...

# Hidden Markov models

@final
class HiddenMarkovModel:
    """The parameters of a hidden Markov model, checked and laid out for the passes."""

    def __new__(
        cls,
        *,
        initial: npt.NDArray[np.float64],
        transitions: npt.NDArray[np.float64],
        ends: npt.NDArray[np.float64],
        emissions: npt.NDArray[np.float64],
    ) -> HiddenMarkovModel: ...

@final
class SecondOrderModel:
    """A second-order model of words and their tags."""

    def __new__(
        cls,
        *,
        transitions: npt.NDArray[np.float64],
        offsets: npt.NDArray[np.int64],
        tags: npt.NDArray[np.uint32],
        emissions: npt.NDArray[np.float64],
    ) -> SecondOrderModel: ...

@final
class Sequences:
    """Sequences of symbols with a pool of threads to work on them."""

    def __new__(
        cls, offsets: npt.NDArray[np.int64], symbols: npt.NDArray[np.uint32], threads: int
    ) -> Sequences: ...
    def log_probabilities(self, model: HiddenMarkovModel) -> npt.NDArray[np.float64]: ...
    def posteriors(self, model: HiddenMarkovModel) -> npt.NDArray[np.float64]: ...
    def expected_visits(
        self, model: HiddenMarkovModel, transitions: bool
    ) -> npt.NDArray[np.float64]: ...
    def expected_counts(self, model: HiddenMarkovModel) -> dict[str, Any]: ...
    def best_states(
        self, model: HiddenMarkovModel
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
    def best_tags(
        self, model: SecondOrderModel
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
    def tag_posteriors(self, model: SecondOrderModel) -> npt.NDArray[np.float64]: ...
    def passes(
        self, model: HiddenMarkovModel, sequence: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...

# Span scores

_SpanScoreColumns: TypeAlias = (
    npt.NDArray[np.float64]
    | tuple[
        int,
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.float64],
    ]
)

bracket_cost: float

def cover_spans(
    words: npt.NDArray[np.int64],
    members: Sequence[
        tuple[
            npt.NDArray[np.float64],
            tuple[npt.NDArray[Any], ...],
            tuple[npt.NDArray[Any], ...],
        ]
    ],
    *,
    is_tag: Sequence[bool],
    threads: int,
) -> dict[str, npt.NDArray[Any]]: ...
def decode_spans(
    sentences: Sequence[_SpanScoreColumns], none: int | None, greedy: bool, threads: int
) -> tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.float64],
]: ...
def span_marginals(
    sentences: Sequence[_SpanScoreColumns], none: int | None, threads: int
) -> list[tuple[float, npt.NDArray[np.float64]]]: ...

# Trees

_ForestColumns: TypeAlias = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.int32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.int64],
    list[str],
    list[str],
]
_TableColumns: TypeAlias = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int64],
]
_InvertibleColumns: TypeAlias = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int64],
]
_SymbolParts: TypeAlias = tuple[Sequence[str], Sequence[str], Sequence[str] | None, bool]

_Table: TypeAlias = tuple[
    _TableColumns, list[tuple[list[str], list[str], list[str] | None, bool]], list[str]
]

@final
class BracketReader:
    """A streaming reader of bracketed trees, which several threads may share."""

    def __new__(
        cls, keep_empty: bool, skip_malformed: bool, ignore_lemmas: bool = False
    ) -> BracketReader: ...
    def feed(self, source: str, chunk: bytes) -> None: ...
    def read(self, source: str, chunk: bytes) -> _ForestColumns: ...
    def finish(self, source: str) -> tuple[list[str], int]: ...
    def take(self) -> _ForestColumns: ...
    def read_table(
        self,
        sources: Iterator[tuple[str, Iterator[bytes]]],
        cleaning: Cleaning | None,
        transform: Transform,
    ) -> tuple[_Table, int, list[str], int]: ...

def clean_forest(forest: _ForestColumns, cleaning: Cleaning) -> _ForestColumns: ...
def transform_forest(
    forest: _ForestColumns, cleaning: Cleaning | None, transform: Transform
) -> _Table: ...
def transform_table(
    table: _InvertibleColumns,
    symbols: Sequence[_SymbolParts],
    words: Sequence[str],
    transform: Transform,
) -> _Table: ...
def invert_table(
    table: _InvertibleColumns, symbols: Sequence[_SymbolParts], words: Sequence[str]
) -> _ForestColumns: ...

# Features of candidate trees

# The version of the feature templates of rerankers, which their files store.
reranker_template_version: int

def candidate_features(
    forest: _ForestColumns,
    sentence_offsets: npt.NDArray[np.int64],
    *,
    head_step: npt.NDArray[np.uint32],
    from_right: npt.NDArray[np.bool_],
    punctuation: npt.NDArray[np.bool_],
    conjunction: npt.NDArray[np.bool_],
    threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...

# Expectations over latent states, given trees.

_StateParameters: TypeAlias = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.float32],
    npt.NDArray[np.float32],
    npt.NDArray[np.float32],
]

@final
class LatentTrees:
    def __new__(
        cls,
        *,
        symbol: npt.NDArray[np.uint32],
        left: npt.NDArray[np.int32],
        right: npt.NDArray[np.int32],
        event: npt.NDArray[np.uint32],
        tree_offsets: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64] | None,
        rules: npt.NDArray[np.uint32],
        emission_symbols: npt.NDArray[np.uint32],
        symbols: int,
        threads: int,
    ) -> LatentTrees: ...
    def expect(self, parameters: _StateParameters) -> dict[str, npt.NDArray[Any]]: ...
    def posteriors(self, parameters: _StateParameters) -> npt.NDArray[np.float32]: ...
    def merge_losses(
        self, parameters: _StateParameters, counts: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]: ...

# Estimation

def hash_rows(columns: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]: ...
def nearest_mixtures(
    gram: npt.NDArray[np.float64], products: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float64]: ...
def number_pairs(
    groups: npt.NDArray[np.int64], keys: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], int]: ...

# Language models

@final
class PairCounts:
    """Counts of word pairs, with a pool of threads."""

    def __new__(
        cls,
        offsets: npt.NDArray[np.int64],
        seconds: npt.NDArray[np.uint32],
        counts: npt.NDArray[np.float32],
        words: int,
        threads: int,
    ) -> PairCounts: ...
    def log_likelihood(
        self, firsts: npt.NDArray[np.float32], seconds: npt.NDArray[np.float32]
    ) -> float: ...
    def step(
        self,
        firsts: npt.NDArray[np.float32],
        seconds: npt.NDArray[np.float32],
        update_seconds: bool,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None, float]: ...
