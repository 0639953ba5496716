"""The span decoder: CKY over scores of labelled spans, without a grammar.

Scores may come from a span classifier (Stern et al. 2017; del Canto 2021) or from an ensemble.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpcfg import _core
from lpcfg._threads import thread_count
from lpcfg.errors import InputError
from lpcfg.parsing.options import check_choice
from lpcfg.parsing.parse import tree_from_spans
from lpcfg.treebank.tree import Tree

__all__ = ["SpanMarginals", "SpanScores", "SpanTree", "decode_spans", "span_marginals"]

Method = Literal["exact", "greedy"]

#: One more than the largest position or label.
_LIMIT = 2**32


@dataclass(frozen=True, eq=False)
class SpanScores:
    """Scores of labelled spans of a sentence of ``length`` words, as columns.

    A label that is not listed for a span is impossible there. The label for no bracket is an
    exception: if it is not listed, its score is zero.

    Parameters
    ----------
    length : int
        The number of words, from 1.
    start, end : array-like of int
        The first word of each span, and one past its last word.
    label : array-like of int
        The index of its label, from 0.
    score : array-like of float
        The score of that label over that span; minus infinity is impossible.

    Examples
    --------
    >>> scores = SpanScores(3, start=[0, 1], end=[3, 3], label=[1, 2], score=[0.5, 2.0])
    >>> decode_spans(scores).spans
    ((0, 3, 1), (1, 3, 2))

    """

    length: int
    start: ArrayLike
    end: ArrayLike
    label: ArrayLike
    score: ArrayLike


Scores: TypeAlias = NDArray[np.floating] | SpanScores
_Columns: TypeAlias = tuple[
    int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]
]


@dataclass(frozen=True)
class SpanTree:
    """A tree as labelled spans.

    ``score``: the sum of the scores of its spans.
    ``spans``: ``(start, end, label)`` of each node in pre-order; labels are numbers.

    >>> SpanTree(1.5, ((0, 2, 1),)).spans
    ((0, 2, 1),)
    """

    score: float
    spans: tuple[tuple[int, int, int], ...]

    def tree(
        self,
        labels: Sequence[str | Sequence[str]],
        words: Sequence[str],
        tags: Sequence[str],
    ) -> Tree:
        """The tree over words and their tags; a label may be a unary chain, from top to bottom.

        >>> spans = SpanTree(0.0, ((0, 3, 2), (0, 2, 1)))
        >>> labels = ["", "NP", ("ROOT", "S")]
        >>> print(spans.tree(labels, ["the", "dog", "barked"], ["DT", "NN", "VBD"]))
        (ROOT (S (NP (DT the) (NN dog)) (VBD barked)))
        """
        chains = [(label,) if isinstance(label, str) else tuple(label) for label in labels]
        rows = [(label, start, end) for start, end, chain in self.spans for label in chains[chain]]
        rows += [(tag, position, position + 1) for position, tag in enumerate(tags)]
        # Pre-order: by start, then by decreasing width; a tag is below all phrases over its word.
        return tree_from_spans(sorted(rows, key=lambda row: (row[1], -row[2])), words)


@dataclass(frozen=True)
class SpanMarginals:
    """Marginal probabilities of labelled spans, where a tree has the probability exp(score) / Z.

    ``log_partition`` is the logarithm of Z, the sum over all binary trees; ``probabilities`` has
    the shape of the scores, or of their column.

    >>> span_marginals(np.zeros((1, 2, 3))).log_partition == np.log(2)
    np.True_
    """

    log_partition: float
    probabilities: NDArray[np.float64]


@overload
def decode_spans(
    scores: Scores, *, none: int | None = 0, method: Method = "exact", n_jobs: int = -1
) -> SpanTree: ...
@overload
def decode_spans(
    scores: Sequence[Scores], *, none: int | None = 0, method: Method = "exact", n_jobs: int = -1
) -> list[SpanTree]: ...
def decode_spans(
    scores: Scores | Sequence[Scores],
    *,
    none: int | None = 0,
    method: Method = "exact",
    n_jobs: int = -1,
) -> SpanTree | list[SpanTree]:
    """The best tree of a sentence, or the best trees of several, given the scores of their spans.

    The score of a tree is the sum of the scores of its labelled spans.

    Parameters
    ----------
    scores : array, SpanScores, or sequence of these
        Arrays have the shape (n, n + 1, labels): ``scores[start, end, label]`` belongs to the words
        from ``start`` up to but not including ``end``. Minus infinity is impossible.
    none : int or None
        The label for no bracket (default 0), so that nodes may have any number of children; the
        whole sentence never has it. With None all trees are binary. Each chain of nodes over the
        same words is a separate label.
    method : str
        ``exact`` (default) is CKY. ``greedy``, for comparison, works top-down: it splits each span
        where the best labels of its two parts have the best sum, without looking further down.
    n_jobs : int
        The number of threads, or -1 (default) for one on each core. The result does not depend on
        it.

    Examples
    --------
    >>> scores = np.full((3, 4, 3), -1.0)
    >>> scores[:, :, 0] = 0
    >>> scores[0, 3, 1], scores[1, 3, 2] = 2, 1
    >>> decode_spans(scores)
    SpanTree(score=3.0, spans=((0, 3, 1), (1, 3, 2)))

    """
    check_choice("method", method, get_args(Method))
    sentences, single = _listed(scores)
    offsets, starts, ends, labels, sums = _core.decode_spans(
        [_for_core(sentence, row) for row, sentence in enumerate(sentences)],
        _checked_label(none),
        method == "greedy",
        thread_count(n_jobs),
    )
    spans = list(zip(starts.tolist(), ends.tolist(), labels.tolist(), strict=True))
    trees = [
        SpanTree(score, tuple(spans[offsets[row] : offsets[row + 1]]))
        for row, score in enumerate(sums.tolist())
    ]
    return trees[0] if single else trees


@overload
def span_marginals(scores: Scores, *, none: int | None = 0, n_jobs: int = -1) -> SpanMarginals: ...
@overload
def span_marginals(
    scores: Sequence[Scores], *, none: int | None = 0, n_jobs: int = -1
) -> list[SpanMarginals]: ...
def span_marginals(
    scores: Scores | Sequence[Scores], *, none: int | None = 0, n_jobs: int = -1
) -> SpanMarginals | list[SpanMarginals]:
    """The probabilities of labelled spans in a sentence, or in several, given their scores.

    ``scores``, ``none``, ``n_jobs``: as for :func:`decode_spans`. With a label for no bracket,
    binary trees that have the same brackets are counted separately.

    >>> scores = np.zeros((3, 4, 1))
    >>> scores[0, 2] = np.log(3)
    >>> marginals = span_marginals(scores, none=None)
    >>> marginals.probabilities[0, 2], marginals.probabilities[1, 3]
    (array([0.75]), array([0.25]))
    """
    sentences, single = _listed(scores)
    results = _core.span_marginals(
        [_for_core(sentence, row) for row, sentence in enumerate(sentences)],
        _checked_label(none),
        thread_count(n_jobs),
    )
    marginals = [
        SpanMarginals(
            log_partition,
            probabilities
            if isinstance(sentence, SpanScores)
            else probabilities.reshape(sentence.shape),
        )
        for sentence, (log_partition, probabilities) in zip(sentences, results, strict=True)
    ]
    return marginals[0] if single else marginals


def _listed(scores: Scores | Sequence[Scores]) -> tuple[list[Scores], bool]:
    """The sentences as a list, and whether the argument was a single one."""
    if isinstance(scores, (np.ndarray, SpanScores)):
        return [scores], True
    return list(scores), False


def _checked_label(none: int | None) -> int | None:
    if none is not None and not 0 <= none < _LIMIT:
        raise InputError(
            f"must be the index of a label, from 0, or None, not {none!r}", argument="none"
        )
    return none


def _for_core(scores: Scores, row: int) -> NDArray[np.float64] | _Columns:
    """Scores as the core takes them."""
    if isinstance(scores, SpanScores):
        if scores.length < 1:
            raise InputError(
                f"sentence {row + 1} has {scores.length} words; leave it out", argument="scores"
            )
        start, end, label = (
            _column(getattr(scores, name), name, row) for name in ("start", "end", "label")
        )
        score = np.ascontiguousarray(scores.score, dtype=np.float64)
        if not start.shape == end.shape == label.shape == score.shape or score.ndim != 1:
            shapes = ", ".join(str(column.shape) for column in (start, end, label, score))
            raise InputError(
                f"sentence {row + 1}: start, end, label and score must be columns of one length, "
                f"but have shapes {shapes}",
                argument="scores",
            )
        return scores.length, start, end, label, score
    if scores.ndim != 3 or scores.shape[1] != scores.shape[0] + 1 or not scores.shape[0]:
        raise InputError(
            f"sentence {row + 1}: scores of n words must have shape (n, n + 1, labels), "
            f"not {scores.shape}",
            argument="scores",
        )
    return np.ascontiguousarray(scores, dtype=np.float64)


def _column(values: ArrayLike, name: str, row: int) -> NDArray[np.uint32]:
    column = np.asarray(values)
    if column.size and (
        column.dtype.kind not in "iu" or column.min() < 0 or column.max() >= _LIMIT
    ):
        raise InputError(
            f"sentence {row + 1}: {name} must be integers from 0, not {column}", argument="scores"
        )
    return np.ascontiguousarray(column, dtype=np.uint32)
