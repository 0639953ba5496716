"""Arrays that arrive at the core are checked, and errors name the argument."""

import pickle

import numpy as np
import pytest

from lpcfg import _core
from lpcfg.errors import InputError, ModelFileError, TreebankError
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.tree import Tree

FOREST = Forest.from_trees([Tree.from_string("(NP (DT the) (NN rain))")])


def integers(*values, dtype=np.uint32):
    return np.array(values, dtype=dtype)


def offsets(*values):
    return integers(*values, dtype=np.int64)


def numbers(shape, dtype=np.float64):
    return np.full(shape, 0.5, dtype=dtype)


def sequences(values):
    return _core.Sequences(values, integers(0, 0, 0), 1)


def second_order_model(values):
    ones = np.ones(3)
    return _core.SecondOrderModel(
        transitions=np.ones((2, 2, 2)), offsets=values, tags=integers(0, 0, 0), emissions=ones
    )


def pair_counts(values):
    return _core.PairCounts(values, integers(0, 0, 0), np.ones(3, dtype=np.float32), 1, 1)


def latent_trees(values, rules=None):
    none = integers(-1, -1, -1, dtype=np.int32)
    return _core.LatentTrees(
        symbol=integers(0, 0, 0),
        left=none,
        right=none,
        event=integers(0, 0, 0),
        tree_offsets=values,
        weights=None,
        rules=np.zeros((0, 3), dtype=np.uint32) if rules is None else rules,
        emission_symbols=integers(0),
        symbols=1,
        threads=1,
    )


def forest_trees(values):
    columns = (FOREST.labels, FOREST.words, FOREST.sizes, values)
    return _core.candidate_features(
        (*columns, FOREST.label_names, FOREST.word_names),
        offsets(0, 1),
        head_step=np.zeros((3, 3), dtype=np.uint32),
        from_right=np.zeros((3, 1), dtype=bool),
        punctuation=np.zeros(3, dtype=bool),
        conjunction=np.zeros(3, dtype=bool),
        threads=1,
    )


def table_trees(values):
    columns = (integers(0, 0, 0), *[integers(-1, -1, -1, dtype=np.int32)] * 2)
    words = integers(0, 0, 0, dtype=np.int32)
    return _core.invert_table((*columns, words, values), [(["A"], [], None, True)], ["a"])


CUT_BY_OFFSETS = [
    (sequences, "offsets"),
    (second_order_model, "offsets"),
    (pair_counts, "offsets"),
    (latent_trees, "tree_offsets"),
    (forest_trees, "tree_offsets"),
    (table_trees, "tree_offsets"),
]


@pytest.mark.parametrize(("build", "argument"), CUT_BY_OFFSETS)
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ([0, -1, 3], "offset 1 is negative"),
        ([0, 2, 1, 3], "offset 2 is 1, after 2"),
        ([1, 3], "the first one is 1"),
        ([0, 4], "the last one is 4"),
        ([0, 2**62], "the last one is"),
        ([], "there are none"),
    ],
)
def test_offsets_are_checked_in_one_way(build, argument, wrong, reason):
    with pytest.raises(
        InputError, match=f"{argument} must ascend from 0 .*, 3; {reason}"
    ) as caught:
        build(offsets(*wrong))
    assert caught.value.argument == argument


@pytest.mark.parametrize("build", [sequences, second_order_model])
def test_sequences_and_words_must_not_be_empty(build):
    with pytest.raises(InputError, match="nothing lies between offsets 1 and 2"):
        build(offsets(0, 1, 1, 3))


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: latent_trees(offsets(0, 3), np.zeros((2, 4), dtype=np.uint32)), "rules"),
        (lambda: _core.nearest_mixtures(numbers((2, 3)), numbers((1, 2)), 1), "gram"),
        (lambda: _core.nearest_mixtures(numbers((2, 2)), numbers((1, 3)), 1), "products"),
        (
            lambda: pair_counts(offsets(0, 3)).log_likelihood(
                numbers((1, 4), np.float32), numbers((2, 2), np.float32)
            ),
            "seconds",
        ),
        (
            lambda: _core.HiddenMarkovModel(
                initial=numbers(2),
                transitions=numbers((1, 4)),
                ends=numbers(2),
                emissions=numbers((2, 1)),
            ),
            "transitions",
        ),
    ],
    ids=["rules", "gram", "products", "factors", "transitions"],
)
def test_shapes_are_checked(build, argument):
    with pytest.raises(InputError, match=f"{argument} has shape .* expected") as caught:
        build()
    assert caught.value.argument == argument


def test_strided_arrays_are_refused_by_name():
    with pytest.raises(InputError, match="symbols must be contiguous"):
        _core.Sequences(offsets(0, 2), integers(0, 0, 0, 0)[::2], 1)


def test_errors_of_the_core_know_what_they_are_about(tmp_path):
    reader = _core.BracketReader(False, False)
    with pytest.raises(TreebankError) as malformed:
        reader.feed("train.mrg", "(NN é)\n(NN two words)".encode())
    path = tmp_path / "empty.lpcfg"
    path.touch()
    with pytest.raises(ModelFileError) as empty:
        _core.ModelFile(path)
    with pytest.raises(InputError) as unknown:
        sequences(offsets(0, 4))
    for error in (malformed.value, pickle.loads(pickle.dumps(malformed.value))):
        assert (error.file, error.line, error.column) == ("train.mrg", 2, 9)
        assert str(error).startswith("train.mrg:2:9: a second word in one node: 'words'")
    for error in (empty.value, pickle.loads(pickle.dumps(empty.value))):
        assert error.path == str(path)
        assert str(error).startswith(f"{path}: is empty")
    for error in (unknown.value, pickle.loads(pickle.dumps(unknown.value))):
        assert error.argument == "offsets"
