"""Random trees, alone and in pairs, for the tests of scoring."""

from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

from lpcfg.treebank.tree import Tree

SHARED = Path(__file__).parents[3] / "shared" / "evalb"
# No deadline: how long an example takes depends on what else the machine does.
quick = settings(max_examples=60, deadline=None)

TAGS = ["NN", "VB", "DT", ",", ".", "''", "POS", "-NONE-"]
LABELS = ["S", "NP", "VP", "ADVP", "PRT", "NP-SBJ", "TOP"]


def leaves(tags):
    return [Tree(tag, f"w{position}") for position, tag in enumerate(tags)]


@st.composite
def random_tree(draw, leaves, root="TOP"):
    """A tree over the leaves: neighbours are grouped until one node is left."""
    nodes = list(leaves)
    for _ in range(draw(st.integers(0, 2 * len(leaves)))):
        start = draw(st.integers(0, len(nodes) - 1))
        end = draw(st.integers(start + 1, len(nodes)))
        nodes[start:end] = [Tree(draw(st.sampled_from(LABELS)), nodes[start:end])]
    return Tree(root, nodes)


@st.composite
def gold_and_predicted(draw, same_tags=False):
    """Two trees over the same words, with tags that agree always or mostly."""
    tags = draw(st.lists(st.sampled_from(TAGS), min_size=1, max_size=8))
    gold = draw(random_tree(leaves(tags)))
    if not same_tags:
        changed = draw(st.dictionaries(st.integers(0, 7), st.sampled_from(TAGS), max_size=2))
        tags = [changed.get(position, tag) for position, tag in enumerate(tags)]
    return gold, draw(random_tree(leaves(tags)))


@st.composite
def gold_and_attempt(draw):
    """As above, but now and then there is no tree, an empty one, or one over other words."""
    gold, predicted = draw(gold_and_predicted())
    failure = draw(st.sampled_from([predicted] * 4 + [None, Tree("", []), Tree("NN", "other")]))
    return gold, failure
