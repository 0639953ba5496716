"""Head rules and features against their definitions, node by node."""

import hashlib

import numpy as np
import pytest

from lpcfg import (
    InputError,
    Parser,
    SpectralEstimator,
    Transform,
    Treebank,
    WordClusters,
    embedded_trees,
    load,
    save,
)
from lpcfg.estimators.features._tree_nodes import TreeNodes, hash_rows
from lpcfg.estimators.features.feature_sets import (
    COMPACT,
    FEATURE_SETS,
    FULL,
    INSIDE_GROUPS,
    OUTSIDE_GROUPS,
    FeatureSet,
)
from lpcfg.estimators.features.node_features import NodeFeatures
from lpcfg.treebank.head_rules import HeadRules

RULES = HeadRules()
TREES = embedded_trees()


def word_clusters(trees):
    """Clusters of all words but some, which do not depend on how clusters are learnt."""
    words = sorted({word for tree in trees for word in tree.words()})
    clusters = WordClusters()
    clusters.words_ = tuple(word for number, word in enumerate(words) if number % 7)
    numbers = np.arange(len(clusters.words_))
    clusters.counts_ = np.ones(len(numbers), dtype=np.int64)
    clusters.vectors_ = np.zeros((len(numbers), 1), dtype=np.int8)
    clusters.clusters_ = np.stack([numbers % size for size in (2, 5, 9)], axis=1).astype(np.uint16)
    return clusters


CLUSTERS = word_clusters(TREES)


@pytest.fixture(scope="module")
def nodes():
    return TreeNodes(Treebank.from_trees(TREES), word_clusters=CLUSTERS)


def head_position(tree, start=0):
    """The token that is the head of a tree, by searching its children step after step."""
    if tree.word is not None:
        return start
    starts = np.cumsum([start, *(len(child.words()) for child in tree.children)]).tolist()
    found = list(zip(tree.children, starts, strict=False))
    generic = ((RULES.default, (tree.label,)), (RULES.default, ()))
    steps = RULES.table.get(tree.label, generic)
    for side, labels in steps:
        for child, first in found if side == "left" else reversed(found):
            anything = not labels and child.label not in RULES.punctuation
            if anything or child.label in labels:
                return head_position(child, first)
    child, first = found[0 if steps[-1][0] == "left" else -1]
    return head_position(child, first)


@pytest.mark.parametrize("binarize", ["left", "right"])
@pytest.mark.parametrize("collapse", [True, False])
def test_heads_of_binarised_trees_are_those_of_the_trees(binarize, collapse):
    transform = Transform(binarize=binarize, collapse_inside=collapse, collapse_root=collapse)
    bank = Treebank.from_trees(TREES, transform=transform)
    roots = np.flatnonzero(bank.parent < 0)
    heads = bank.start[TreeNodes(bank).head[roots]]
    assert heads.tolist() == [head_position(tree) for tree in TREES]


def test_a_head_is_below_its_node(nodes):
    bank = nodes.treebank
    head = nodes.head
    assert np.all(bank.word[head] >= 0)
    assert np.all((bank.start <= bank.start[head]) & (bank.end[head] <= bank.end))


def rule(bank, node):
    children = (bank.left[node], bank.right[node])
    below = tuple(int(bank.symbol[child]) if child >= 0 else None for child in children)
    word = bank.words[bank.word[node]].lower() if bank.word[node] >= 0 else None
    return int(bank.symbol[node]), below, word


def above(bank, node, levels):
    """The rules above a node, with the side on which the way goes down; None if there are fewer."""
    path = []
    for _ in range(levels):
        parent = int(bank.parent[node])
        if parent < 0:
            return None
        path.append((rule(bank, parent), bool(bank.right[parent] == node)))
        node = parent
    return tuple(path)


def below(bank, node, child):
    if bank.left[node] < 0 or child[node] < 0:
        return None
    return rule(bank, node), rule(bank, int(child[node]))


def outside_head_tag(nodes, node):
    bank, head = nodes.treebank, nodes.head[node]
    while node >= 0 and nodes.head[node] == head:
        node = int(bank.parent[node])
    return None if node < 0 else bank.symbols[bank.symbol[nodes.head[node]]].labels[-1]


def cluster(nodes, word):
    found = CLUSTERS.clusters(nodes.treebank.words[word])
    return None if found is None else found[1]


def cluster_beside(nodes, node, step):
    """The cluster of the word before (-1) or after (1) a node, by its position in the sentence."""
    bank = nodes.treebank
    tree = np.searchsorted(bank.tree_offsets, node, "right") - 1
    own = bank.word[bank.tree_offsets[tree] : bank.tree_offsets[tree + 1]]
    words = own[own >= 0].tolist()
    position = bank.start[node] - 1 if step < 0 else bank.end[node]
    return cluster(nodes, words[position]) if 0 <= position < len(words) else None


DEFINITIONS = {
    "head-cluster": lambda nodes, v: cluster(nodes, nodes.treebank.word[nodes.head[v]]),
    "preceding-cluster": lambda nodes, v: cluster_beside(nodes, v, -1),
    "following-cluster": lambda nodes, v: cluster_beside(nodes, v, 1),
    "left-fragment": lambda nodes, v: below(nodes.treebank, v, nodes.treebank.left),
    "right-fragment": lambda nodes, v: below(nodes.treebank, v, nodes.treebank.right),
    "parent-rule": lambda nodes, v: above(nodes.treebank, v, 1),
    "grandparent-rules": lambda nodes, v: above(nodes.treebank, v, 2),
    "great-grandparent-rules": lambda nodes, v: above(nodes.treebank, v, 3),
    "outside-head-tag": outside_head_tag,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_keys_are_equal_where_the_features_are(nodes, name):
    keys = (INSIDE_GROUPS | OUTSIDE_GROUPS)[name](nodes).tolist()
    values = [DEFINITIONS[name](nodes, node) for node in range(len(keys))]
    assert [key == -1 for key in keys] == [value is None for value in values]
    pairs = set(zip(keys, values, strict=True))
    assert len(pairs) == len(set(keys)) == len(set(values))


@pytest.mark.parametrize("features", [COMPACT, FULL])
def test_every_group_has_a_key_for_every_node(nodes, features):
    columns = [*features.inside_keys(nodes), *features.outside_keys(nodes)]
    assert len(columns) == len(features.inside) + len(features.outside)
    for column in columns:
        assert column.shape == nodes.symbol.shape
        assert column.min() >= -1


def test_hashes_depend_on_the_order():
    one, two = np.array([1]), np.array([2])
    assert hash_rows(one, two) != hash_rows(two, one)


# The names of feature sets and groups are stored in models. What a name means never changes: a
# failure here means that a new group or set needs a name of its own, not that these need an update
# (unless the embedded trees, on which groups are pinned, have changed).
PINNED_SETS = {
    "compact": {
        "inside": ["word", "left-fragment", "right-fragment"],
        "outside": ["parent-rule", "grandparent-rules", "great-grandparent-rules"],
    },
    "full": {
        "inside": [
            "word",
            "left-child",
            "right-child",
            "rule",
            "left-fragment",
            "right-fragment",
            "head-tag",
            "length",
        ],
        "outside": [
            "parent-rule",
            "grandparent-rules",
            "great-grandparent-rules",
            "parent",
            "grandparent",
            "outside-head-tag",
            "widths",
        ],
    },
    "four": {
        "inside": ["word", "rule", "left-child", "right-child", "length"],
        "outside": ["parent", "grandparent", "parent-rule", "grandparent-rule"],
        "scaled": False,
    },
}
PINNED_GROUPS = {
    "word": "7316fb093a6a",
    "left-child": "8a4c4462136b",
    "right-child": "5063aa7c4699",
    "rule": "788ab5a78251",
    "left-fragment": "32978b7f292a",
    "right-fragment": "3a89d89d15f9",
    "head-tag": "cb5a347e8977",
    "length": "08a121003461",
    "parent-rule": "452d2cb0fac2",
    "grandparent-rule": "a86fa024b8db",
    "grandparent-rules": "68dd28e0a820",
    "great-grandparent-rules": "a80b5ddbe408",
    "parent": "36894095d60b",
    "grandparent": "90ea29763989",
    "outside-head-tag": "bf24883b84a6",
    "widths": "49e68b9d2af4",
    "head-cluster": "e0b8c07708ed",
    "preceding-cluster": "1ce4caffb9bd",
    "following-cluster": "530563da96c5",
}


@pytest.mark.parametrize("name", PINNED_SETS)
def test_named_sets_keep_their_groups(name):
    assert FeatureSet.named(name).provenance == {"set": name, **PINNED_SETS[name]}


def test_features_that_are_not_scaled_are_one_or_zero():
    bank = Treebank.from_trees(TREES[:20])
    features = NodeFeatures.build(bank, "four", kappa=3.0)
    assert all(np.all(matrix.values == 1) for matrix in features)
    assert [matrix.columns.shape[1] for matrix in features] == [5, 4]


def test_word_clusters_add_features():
    bank = Treebank.from_trees(TREES[:20])
    plain, more = (
        NodeFeatures.build(bank, "compact", word_clusters=clusters) for clusters in (None, CLUSTERS)
    )
    for matrix, other, added in zip(plain, more, (1, 2), strict=True):
        assert other.columns.shape[1] == matrix.columns.shape[1] + added
    with pytest.raises(InputError, match="need word_clusters"):
        NodeFeatures.build(bank, FeatureSet(("head-cluster",), ("parent",)))


def test_grammars_with_word_clusters_parse_without_them(tmp_path):
    bank = Treebank.from_trees(TREES[:20])
    CLUSTERS.save(tmp_path / "words.lpcfg")
    estimators = [
        SpectralEstimator(word_clusters=clusters)
        for clusters in (CLUSTERS, tmp_path / "words.lpcfg", None)
    ]
    grammars = [estimator.fit(bank).grammar_ for estimator in estimators]
    values = [grammar.latent.binary.tobytes() for grammar in grammars]
    assert values[0] == values[1] != values[2]
    assert grammars[0].provenance["word_clusters"] == CLUSTERS.provenance()
    save(grammars[0], tmp_path / "model.lpcfg")
    (tmp_path / "words.lpcfg").unlink()
    words = TREES[0].words()
    loaded = Parser.load(tmp_path / "model.lpcfg")
    assert loaded.parse(words=words) == Parser(grammars[0]).parse(words=words)


def test_every_named_set_is_pinned():
    assert set(PINNED_SETS) == set(FEATURE_SETS)


@pytest.mark.parametrize("name", PINNED_GROUPS)
def test_named_groups_keep_their_meaning(nodes, name):
    """The nodes that share a feature, as a digest: features are numbered as they are met."""
    keys = (INSIDE_GROUPS | OUTSIDE_GROUPS)[name](nodes)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[place].astype("<u4")
    assert hashlib.sha256(numbers.tobytes()).hexdigest()[:12] == PINNED_GROUPS[name]


def test_every_named_group_is_pinned():
    assert set(PINNED_GROUPS) == set(INSIDE_GROUPS) | set(OUTSIDE_GROUPS)


def test_a_saved_model_says_which_features_it_was_trained_with(tmp_path):
    bank = Treebank.from_trees(TREES[:20])

    def parity(nodes):
        return nodes.left_width % 2

    own = FeatureSet(inside=("rule", parity), outside=("parent",))
    for features, stored in (
        ("full", FULL.provenance),
        (COMPACT, COMPACT.provenance),
        (own, {"set": "custom", "inside": ["rule", "parity"], "outside": ["parent"]}),
    ):
        save(SpectralEstimator(features=features).fit(bank).grammar_, tmp_path / "model.lpcfg")
        assert load(tmp_path / "model.lpcfg").provenance["features"] == stored
