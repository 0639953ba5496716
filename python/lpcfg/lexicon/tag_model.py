"""A log-linear model of the tags of unknown words, given their spelling and their clusters.

Words of the same class (:mod:`lpcfg.lexicon.word_classes`) differ in more than the class says. With
the features f of a word's spelling, and of its clusters if there are any, and its class c,

    P(tag | word) = P(tag | c) exp(sum of weight[f, tag] over f) / Z(word).

Without weights this is the distribution of the class, and the penalty on weights keeps it near that
distribution unless the words of the treebank say otherwise (a minimum divergence model; Berger and
Printz 1998). Weights maximise the likelihood of the tags of rare words, where each word counts once
or, if it has more tokens, for the square root of their number.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

from lpcfg.errors import GrammarError
from lpcfg.lexicon.clustered_words import ClusteredWords
from lpcfg.lexicon.spelling_features import SpeltWord, spelling_features

__all__ = ["TagModel", "fit_tag_model"]

Floats = NDArray[np.float32]

#: Features that fewer rare words have are left out.
_SUPPORT = 2
#: The penalties among which held-out words choose, from strong to weak.
_PENALTIES = (10.0, 3.0, 1.0, 0.3)
#: One of this many words is held out.
_HELD_OUT = 8
_EPOCHS = 8
_TRIAL_EPOCHS = 3
_BATCH = 1024
_LEARNING_RATE = 0.2
_INITIAL_ACCUMULATOR = 1.0
#: Less probable tags are left out, so that parsing is not slower.
_IMPROBABLE = 1e-4
#: A tag that is as improbable in a class has no entries there.
_SMALLEST_PRIOR = 1e-12
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class TagModel:
    """Weights of features of words, and the tags of word classes.

    ``tags``: the names of the columns.
    ``features``: the names of the rows of ``weights``.
    ``weights``: a weight for each feature and tag.
    ``class_tags``: P(tag | class) of each class of the lexicon.
    ``clustered``: words with clusters, which are features, too; None without them.

    >>> model = TagModel(("NN", "VB"), ("sed",), np.array([[-1, 1]]), np.array([[0.5, 0.5]]))
    >>> model.tag_probabilities([SpeltWord("walked", False, False)], [0]).round(2)
    array([[0.12, 0.88]], dtype=float32)
    """

    tags: tuple[str, ...]
    features: tuple[str, ...]
    weights: Floats
    class_tags: Floats
    clustered: ClusteredWords | None = None
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shapes = (len(self.features), len(self.tags)), (len(self.class_tags), len(self.tags))
        if (self.weights.shape, self.class_tags.shape) != shapes:
            raise GrammarError(
                "a tag model needs a weight for each feature and tag, and a probability for each "
                "class and tag"
            )
        if not np.isfinite(self.weights).all():
            raise GrammarError("the weights of a tag model must be finite numbers")
        # NaN is not in the range either.
        sums = self.class_tags.sum(axis=1)
        if not (self.class_tags >= 0).all() or not np.allclose(sums, 1, atol=_ROUNDING):
            raise GrammarError("the tags of each class must have probabilities that sum to one")
        rows = {feature: row for row, feature in enumerate(self.features)}
        if len(rows) != len(self.features) or len(set(self.tags)) != len(self.tags):
            raise GrammarError("a tag model has a feature or a tag more than once")
        object.__setattr__(self, "_rows", rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TagModel):
            return NotImplemented
        return (
            (self.tags, self.features) == (other.tags, other.features)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.class_tags, other.class_tags)
            and self.clustered == other.clustered
        )

    def __repr__(self) -> str:
        return f"<TagModel: {len(self.features)} features, {len(self.tags)} tags>"

    def tag_probabilities(self, words: Sequence[SpeltWord], classes: Sequence[int]) -> Floats:
        """P(tag | word): a row for each word. ``classes`` has the class of each word.

        >>> model = TagModel(("NN", "VB"), ("s",), np.zeros((1, 2)), np.array([[0.25, 0.75]]))
        >>> model.tag_probabilities([SpeltWord("rain", False, False)], [0])
        array([[0.25, 0.75]], dtype=float32)
        """
        listed = [_features(word, self.clustered) for word in words]
        matrix = feature_matrix(listed, self._rows)
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_tags[np.asarray(classes, dtype=np.int64)])
        return _softmax(matrix @ self.weights.astype(np.float32) + prior.astype(np.float32))

    def factors(self, words: Sequence[SpeltWord], classes: Sequence[int]) -> Floats:
        """P(tag | word) / P(tag | class), a row for each word; zero for improbable tags.

        Emission probabilities of a class times these are those of the word.

        >>> model = TagModel(("NN", "VB"), ("sed",), np.array([[0, 9]]), np.array([[0.5, 0.5]]))
        >>> model.factors([SpeltWord("walked", False, False)], [0]).round(2)
        array([[0., 2.]], dtype=float32)
        """
        found = self.tag_probabilities(words, classes)
        prior = self.class_tags[np.asarray(classes, dtype=np.int64)]
        kept = (found >= _IMPROBABLE) & (prior >= _SMALLEST_PRIOR)
        factors: Floats = np.zeros_like(found)
        np.divide(found, prior, out=factors, where=kept)
        return factors


def fit_tag_model(
    tags: Sequence[str],
    words: Sequence[SpeltWord],
    counts: NDArray[np.floating],
    classes: NDArray[np.integer],
    class_tags: NDArray[np.floating],
    clustered: ClusteredWords | None = None,
) -> TagModel:
    """Learn the weights of features from rare words.

    The penalty is the one that makes held-out words most probable.

    - ``counts``: a row for each word, with the number of its tokens with each tag.
    - ``classes``: the class of each word.
    - ``class_tags``: P(tag | class) of each class.
    - ``clustered``: words with clusters.

    >>> words = [SpeltWord(stem + "ed", False, False) for stem in ("walk", "talk", "jump", "ask")]
    >>> counts, even = np.array([[0, 1]] * 4), np.array([[0.5, 0.5]])
    >>> model = fit_tag_model(["NN", "VB"], words, counts, np.zeros(4, int), even)
    >>> model.tag_probabilities([SpeltWord("blorged", False, False)], [0])[0, 1] > 0.5
    np.True_
    """
    listed = [_features(word, clustered) for word in words]
    support = Counter(feature for features in listed for feature in features)
    names = tuple(feature for feature, count in support.items() if count >= _SUPPORT)
    matrix = feature_matrix(listed, {name: row for row, name in enumerate(names)})
    with np.errstate(divide="ignore"):
        prior = np.maximum(np.log(class_tags), np.log(np.finfo(np.float32).tiny))
    totals = counts.sum(axis=1, keepdims=True)
    data = _Data(matrix, (counts / np.sqrt(totals)).astype(np.float32), prior[classes])
    penalty = _choose_penalty(data, [word.word for word in words])
    weights = _Trainer(data, penalty).run(_EPOCHS)
    # Half precision is enough, and the model file has half the size.
    return TagModel(
        tuple(tags),
        names,
        weights.astype(np.float16).astype(np.float32),
        class_tags.astype(np.float32),
        clustered,
    )


def _features(word: SpeltWord, clustered: ClusteredWords | None) -> list[str]:
    """The features of a word's spelling and clusters."""
    found = spelling_features(word)
    return found if clustered is None else found + clustered.features(word.word)


@dataclass(frozen=True)
class _Data:
    """Rows of features, weighted counts of tags and the logarithms of the prior probabilities."""

    features: scipy.sparse.csr_array
    counts: Floats
    prior: NDArray[np.floating]

    def rows(self, chosen: NDArray[np.intp]) -> _Data:
        return _Data(self.features[chosen], self.counts[chosen], self.prior[chosen])


def feature_matrix(
    rows: Sequence[Sequence[str]], numbers: dict[str, int]
) -> scipy.sparse.csr_array:
    """A row of zeros and ones for each list of features; features without a number are left out.

    >>> feature_matrix([["a", "b"], ["c"]], {"a": 0, "c": 1}).toarray()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    known = [[numbers[name] for name in row if name in numbers] for row in rows]
    offsets = np.cumsum([0, *map(len, known)])
    columns = np.array([number for row in known for number in row], dtype=np.int32)
    ones = np.ones(len(columns), dtype=np.float32)
    return scipy.sparse.csr_array((ones, columns, offsets), shape=(len(rows), len(numbers)))


def _softmax(scores: Floats) -> Floats:
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def _choose_penalty(data: _Data, words: Sequence[str]) -> float:
    """The penalty with the highest likelihood of held-out words, from strong to weak."""
    # Forms of a word at the beginning of a sentence and elsewhere are on the same side.
    fold = np.array([zlib.crc32(word.encode()) % _HELD_OUT for word in words])
    fitted, held_out = np.flatnonzero(fold > 0), np.flatnonzero(fold == 0)
    best, best_score = _PENALTIES[0], -np.inf
    if len(fitted) == 0 or len(held_out) == 0:
        return best
    test = data.rows(held_out)
    trainer = _Trainer(data.rows(fitted), best)
    for penalty in _PENALTIES:
        trainer.penalty = penalty
        weights = trainer.run(_TRIAL_EPOCHS)
        found = _softmax((test.features @ weights + test.prior).astype(np.float32))
        score = float((test.counts * np.log(np.maximum(found, 1e-9))).sum())
        if score < best_score:
            break
        best, best_score = penalty, score
    return best


class _Trainer:
    """Maximises penalised likelihood by AdaGrad; a further run goes on from the last weights."""

    def __init__(self, data: _Data, penalty: float) -> None:
        self.penalty = penalty
        rows, features = data.features.shape
        shape = features, data.counts.shape[1]
        self.weights: Floats = np.zeros(shape, dtype=np.float32)
        self._squares: Floats = np.full(shape, _INITIAL_ACCUMULATOR, dtype=np.float32)
        uses = np.maximum(np.bincount(data.features.indices, minlength=features), 1)
        order = np.random.default_rng(0).permutation(rows)
        self._batches = []
        for part in np.array_split(order, -(-rows // _BATCH)):
            batch = data.rows(part)
            used, local = np.unique(batch.features.indices, return_inverse=True)
            matrix = scipy.sparse.csr_array(
                (batch.features.data, local, batch.features.indptr), shape=(len(part), len(used))
            )
            # Over an epoch, each weight gets the whole penalty.
            share = np.bincount(local) / uses[used]
            self._batches.append(
                (
                    used,
                    matrix,
                    matrix.T.tocsr(),
                    batch.counts,
                    batch.prior.astype(np.float32),
                    share[:, None].astype(np.float32),
                )
            )

    def run(self, epochs: int) -> Floats:
        """The weights after some more epochs."""
        for _ in range(epochs):
            for used, matrix, transposed, counts, prior, share in self._batches:
                weights = self.weights[used]
                errors = _softmax(matrix @ weights + prior)
                errors *= -counts.sum(axis=1, keepdims=True)
                errors += counts
                gradient = transposed @ errors
                gradient -= np.float32(self.penalty) * share * weights
                squares = self._squares[used]
                squares += gradient * gradient
                self._squares[used] = squares
                np.sqrt(squares, out=squares)
                gradient /= squares
                gradient *= np.float32(_LEARNING_RATE)
                weights += gradient
                self.weights[used] = weights
        return self.weights.copy()
