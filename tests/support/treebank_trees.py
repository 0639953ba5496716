"""Random trees with awkward labels, and the shared treebanks, for the tests of tree modules."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from lpcfg.treebank.forest import Forest
from lpcfg.treebank.tree import Tree

SHARED = Path(__file__).parents[3] / "shared" / "treebanks"
shared_treebanks = pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            SHARED / name,
            marks=pytest.mark.skipif(
                not (SHARED / name).exists(), reason="the shared treebanks are not here"
            ),
            id=name,
        )
        for name in ("gum/train.mrg", "gum/dev.mrg", "craft/train.mrg", "craft/dev.mrg")
    ],
)

LABELS = st.one_of(
    st.sampled_from(["A", "B", "A|B", "A+B", "A^B", "@A", "-LRB-", "A-SBJ", "=", "A=1", "ROOT"]),
    st.text(alphabet="AB|+^@-=[],Ωß中", min_size=1, max_size=3),
)
WORDS = st.text(alphabet="ab|+^@-Ωß中\U0001f642\u00a0", min_size=1, max_size=4)


def trees(labels=LABELS, words=WORDS):
    """Trees of up to some dozens of nodes, unary chains and flat nodes among them."""
    preterminals = st.builds(Tree, labels, words)
    return st.recursive(
        preterminals,
        lambda children: st.builds(Tree, labels, st.lists(children, min_size=1, max_size=5)),
        max_leaves=12,
    )


def names(forest: Forest):
    """The columns of a forest with names in the place of ids, which are arbitrary."""
    words = np.array([*forest.word_names, None], dtype=object)[forest.words]
    labels = np.array(forest.label_names, dtype=object)[forest.labels]
    return [labels.tolist(), words.tolist(), forest.sizes.tolist(), forest.tree_offsets.tolist()]
