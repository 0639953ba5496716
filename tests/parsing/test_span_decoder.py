"""Trees from span scores, as Python sees them; the search itself is tested in Rust."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import lpcfg
from lpcfg import InputError, SpanScores, decode_spans, span_marginals

finite = st.floats(-10, 10, allow_subnormal=False)


@st.composite
def dense(draw, longest=6, labels=3):
    words = draw(st.integers(1, longest))
    return draw(arrays(np.float64, (words, words + 1, labels), elements=finite))


def sparse(scores):
    """The same scores as columns."""
    start, end, label = np.indices(scores.shape).reshape(3, -1)
    kept = start < end
    start, end, label = start[kept], end[kept], label[kept]
    return SpanScores(len(scores), start, end, label, scores[start, end, label])


def binary_trees(start, end):
    """The sets of spans of all binary trees."""
    if end - start == 1:
        yield ((start, end),)
    for split in range(start + 1, end):
        for left, right in itertools.product(binary_trees(start, split), binary_trees(split, end)):
            yield ((start, end), *left, *right)


@given(dense())
def test_the_best_tree_has_the_best_labels_of_the_best_binary_tree(scores):
    words = len(scores)

    def value(start, end):
        return scores[start, end, 1 if end - start == words else 0 :].max()

    best = max(sum(value(*span) for span in tree) for tree in binary_trees(0, words))
    assert decode_spans(scores, n_jobs=1).score == pytest.approx(best)


@given(st.lists(dense(), max_size=4), st.sampled_from(["exact", "greedy"]))
def test_batches_columns_and_threads_give_the_same_trees(batch, method):
    one_by_one = [decode_spans(scores, method=method, n_jobs=1) for scores in batch]
    assert decode_spans(batch, method=method, n_jobs=3) == one_by_one
    assert decode_spans([*map(sparse, batch)], method=method, n_jobs=2) == one_by_one


@given(dense())
def test_probabilities_add_up(scores):
    words = len(scores)
    found = span_marginals(scores, n_jobs=1)
    assert found.probabilities.shape == scores.shape
    # Every binary tree has as many spans, and each word is one of them.
    assert found.probabilities.sum() == pytest.approx(2 * words - 1)
    for place in range(words):
        assert found.probabilities[place, place + 1].sum() == pytest.approx(1)
    columns = span_marginals([sparse(scores)], n_jobs=1)[0]
    assert columns.log_partition == pytest.approx(found.log_partition)
    own = sparse(scores)
    np.testing.assert_allclose(
        columns.probabilities, found.probabilities[own.start, own.end, own.label]
    )


@given(dense(longest=4))
def test_probabilities_are_the_slope_of_the_log_partition(scores):
    step = 1e-5
    found = span_marginals(scores, n_jobs=1)
    place = np.unravel_index(found.probabilities.argmax(), scores.shape)
    raised = scores.copy()
    raised[place] += step
    slope = (span_marginals(raised, n_jobs=1).log_partition - found.log_partition) / step
    assert slope == pytest.approx(found.probabilities[place], abs=1e-4)


def test_trees_of_a_treebank_come_back():
    """A tree whose own spans alone have a positive score is the best one."""
    tree = lpcfg.Tree.from_string(
        "(ROOT (S (NP (PRP we)) (VP (VBP like) (NP (DT the) (JJ long) (NN rain))) (. .)))"
    )
    labels = ["", "NP", "VP", ("ROOT", "S")]
    gold = {(0, 6): 3, (0, 1): 1, (1, 5): 2, (2, 5): 1}
    scores = np.full((6, 7, 4), -1.0)
    scores[:, :, 0] = 0.0
    for (start, end), label in gold.items():
        scores[start, end, label] = 1.0
    found = decode_spans(scores)
    assert found.score == 4.0
    assert found.tree(labels, tree.words(), tree.tags()) == tree


def test_single_precision_and_strides_are_taken():
    scores = np.zeros((3, 4, 6), dtype=np.float32)[:, :, ::2]
    assert decode_spans(scores).score == 0.0


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((2, 2, 1)), r"sentence 1: scores of n words must have shape \(n, n \+ 1, labels"),
        (np.zeros((0, 1, 1)), "sentence 1: scores of n words"),
        (np.full((1, 2, 2), np.nan), r"sentence 1: span \(0, 1\), label 0: the score is NaN"),
        (np.zeros((1, 2, 1)), "sentence 1: no tree is possible"),
        (SpanScores(0, [], [], [], []), "sentence 1 has 0 words"),
        (SpanScores(2, [0], [3], [1], [0.0]), r"\(0, 3\) is not a span of a sentence of 2 words"),
        (SpanScores(2, [-1], [2], [1], [0.0]), "sentence 1: start must be integers from 0"),
        (SpanScores(2, [0], [2], [0.5], [0.0]), "sentence 1: label must be integers from 0"),
        (SpanScores(2, [0, 1], [2], [1], [0.0]), "must be columns of one length"),
    ],
)
def test_errors_say_which_sentence_and_why(scores, message):
    with pytest.raises(InputError, match=message):
        decode_spans(scores)
    with pytest.raises(InputError, match=message.replace("sentence 1", "sentence 2")):
        span_marginals([np.zeros((1, 2, 2)), scores])


def test_options_are_checked():
    with pytest.raises(InputError, match="method: must be one of exact, greedy"):
        decode_spans(np.zeros((1, 2, 2)), method="best")
    with pytest.raises(InputError, match="none: must be the index of a label"):
        decode_spans(np.zeros((1, 2, 2)), none=-1)
