"""A small L-PCFG whose trees can all be listed, and probabilities of trees under a grammar."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np

from lpcfg import LexiconOptions, Parser, SpectralEstimator, Transform, Tree, Treebank
from lpcfg.estimators.features._tree_nodes import hash_rows
from lpcfg.estimators.features.feature_sets import FeatureSet

TRANSFORM = Transform(vertical=0, horizontal=0)
WORDS = ("x", "y", "z")

# Each phrase has two states, and its children's states depend on its own: enough for the
# cross-covariance of every symbol but the root to have rank two.
_PAIR = np.array([[0.45, 0.05], [0.1, 0.4]])
_ORDER = {"A": np.array([0.8, 0.3]), "B": np.array([0.25, 0.7])}  # P(P Q | phrase, state)
_CHILD = {"A": np.array([[0.9, 0.1], [0.2, 0.8]]), "B": np.array([[0.7, 0.3], [0.1, 0.9]])}
_WORD = {
    "P": np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]),
    "Q": np.array([[0.1, 0.8, 0.1], [0.5, 0.1, 0.4]]),
}

# An ambiguous sentence may also be S -> P C, C -> Q B: the same words in other phrases.
_HIGH = 0.4
_HIGH_PAIR = np.array([[0.15, 0.35], [0.4, 0.1]])  # the states of P and C
_HIGH_CHILD = {"Q": np.array([[0.2, 0.8], [0.9, 0.1]]), "B": np.array([[0.3, 0.7], [0.75, 0.25]])}


def _phrase(label: str, tags: tuple[str, str], words: tuple[str, ...]) -> Tree:
    return Tree(label, [Tree(tag, word) for tag, word in zip(tags, words, strict=True)])


def _phrases(label: str) -> list[tuple[Tree, np.ndarray]]:
    """All trees of a phrase, each with its probability given the state."""
    result = []
    for tags, words in itertools.product([("P", "Q"), ("Q", "P")], itertools.product(WORDS, WORDS)):
        order = _ORDER[label] if tags == ("P", "Q") else 1 - _ORDER[label]
        leaves = [
            _CHILD[label] @ _WORD[tag][:, WORDS.index(word)]
            for tag, word in zip(tags, words, strict=True)
        ]
        result.append((_phrase(label, tags, words), order * leaves[0] * leaves[1]))
    return result


def _high_trees() -> list[tuple[Tree, float]]:
    """All trees with an S -> P C, each with its probability."""
    result = []
    below = itertools.product(WORDS, WORDS, _phrases("B"))
    for first, second, (phrase, given) in below:
        left, middle = (
            _WORD[tag][:, WORDS.index(word)]
            for tag, word in zip("PQ", (first, second), strict=True)
        )
        right = (_HIGH_CHILD["Q"] @ middle) * (_HIGH_CHILD["B"] @ given)
        tree = Tree("S", [Tree("P", first), Tree("C", [Tree("Q", second), phrase])])
        result.append((tree, left @ _HIGH_PAIR @ right))
    return result


def all_trees(ambiguous: bool = False) -> tuple[list[Tree], np.ndarray]:
    """Every tree of the grammar and its probability."""
    listed = [
        (Tree("S", [left, right]), left_given @ _PAIR @ right_given)
        for (left, left_given), (right, right_given) in itertools.product(
            _phrases("A"), _phrases("B")
        )
    ]
    if ambiguous:
        listed = [(tree, (1 - _HIGH) * probability) for tree, probability in listed]
        listed += [(tree, _HIGH * probability) for tree, probability in _high_trees()]
    trees, probabilities = zip(*listed, strict=True)
    return list(trees), np.array(probabilities)


def sample(size: int, seed: int, ambiguous: bool = False) -> Treebank:
    """A treebank drawn from the grammar."""
    trees, probabilities = all_trees(ambiguous)
    chosen = np.random.default_rng(seed).choice(len(trees), size, p=probabilities)
    return Treebank.from_trees(trees, cleaning=False, transform=TRANSFORM).subset(chosen)


def plain(tree: Tree) -> Tree:
    """A tree without the states that its labels have after a slash."""
    label = tree.label.partition("/")[0]
    return Tree(label, tree.word or [plain(child) for child in tree.children])


def aligned(trees: list[Tree], treebank: Treebank) -> Treebank:
    """The trees as a table with the symbols numbered as in the treebank."""
    bank = Treebank.from_trees(trees, cleaning=False, transform=treebank.transform)
    numbers = [treebank.symbols.index(symbol) for symbol in bank.symbols]
    return replace(bank, symbol=np.array(numbers)[bank.symbol], symbols=treebank.symbols)


def tree_distance(grammar, treebank: Treebank, ambiguous: bool = False) -> float:
    """Total variation distance between the true distribution of trees and that of a grammar."""
    trees, truth = all_trees(ambiguous)
    return np.abs(latent_probabilities(grammar, aligned(trees, treebank)) - truth).sum() / 2


def span_distance(grammar) -> float:
    """How far a grammar's probabilities of labelled spans are from the true ones, given the words.

    This is the mean over sentences of the largest difference in an ambiguous sentence.
    """
    trees, truth = all_trees(ambiguous=True)
    spans = defaultdict(lambda: defaultdict(float))
    for tree, probability in zip(trees, truth, strict=True):
        for span in tree.spans(preterminals=True):
            spans[tuple(tree.words())][span] += probability
    parser = Parser(grammar, prune=None, n_jobs=1)
    distance = 0.0
    for words, own in spans.items():
        total = own["S", 0, len(words)]
        found = {
            (label, start, end): probability
            for start, end, label, probability, _ in parser.marginals(words=words).tolist()
        }
        differences = [abs(own[s] / total - found.get(s, 0.0)) for s in {*own, *found}]
        distance += total * max(differences)
    return distance


def inside_tree(nodes):
    """A feature group: the whole inside tree."""
    bank = nodes.treebank
    key = nodes.rule.copy()
    for level in nodes.upwards():
        inner = level[bank.left[level] >= 0]
        key[inner] = hash_rows(key[inner], key[bank.left[inner]], key[bank.right[inner]])
    return key


def outside_tree(nodes):
    """A feature group: the whole outside tree."""
    bank, inside = nodes.treebank, inside_tree(nodes)
    key = np.zeros(len(inside), dtype=np.int64)
    for level in nodes.downwards():
        below = level[bank.parent[level] >= 0]
        above = bank.parent[below]
        sibling = np.where(nodes.side[below] == 0, bank.right[above], bank.left[above])
        key[below] = hash_rows(key[above], nodes.side[below], nodes.symbol[above], inside[sibling])
    return key


UNSMOOTHED = {
    "states": (2, 2),
    "smoothing": 0,
    "ridge": 0,
    "word_smoothing": 0,
    "class_smoothing": 0,
}


def estimator(**options) -> SpectralEstimator:
    """A spectral estimator that is consistent for the grammar: all of a tree, nothing smoothed."""
    defaults = {
        "features": FeatureSet(inside=(inside_tree,), outside=(outside_tree,)),
        **UNSMOOTHED,
        "lexicon": LexiconOptions.plain(rare=0),
    }
    return SpectralEstimator(**(defaults | options))


def latent_probabilities(grammar, treebank) -> np.ndarray:
    """The probability of each tree under a grammar with latent states, node by node."""
    lexicon, latent = grammar.lexicon, grammar.latent.dense(grammar.binary_rules)
    starts, ratio_starts = latent.state_offsets, latent.ratio_offsets
    tensor_starts = latent.tensor_offsets(grammar.binary_rules)
    binary = {tuple(rule): row for row, rule in enumerate(grammar.binary_rules.tolist())}
    vectors, result = {}, []
    for node, symbol in enumerate(treebank.symbol.tolist()):
        left, right = int(treebank.left[node]), int(treebank.right[node])
        size = int(latent.states[symbol])
        if left < 0:
            word = treebank.words[treebank.word[node]]
            emission = lexicon.emission(word, bool(treebank.start[node] == 0))
            entries = slice(*lexicon.offsets[emission : emission + 2])
            entry = entries.start + lexicon.symbols[entries].tolist().index(symbol)
            row = latent.entry_ratios[entry]
            ratio = latent.emission_ratios[ratio_starts[row] : ratio_starts[row + 1]]
            vectors[node] = lexicon.probabilities[entry] * ratio
        else:
            row = binary[symbol, int(treebank.symbol[left]), int(treebank.symbol[right])]
            tensor = latent.binary[tensor_starts[row] : tensor_starts[row + 1]]
            tensor = tensor.reshape(size, len(vectors[left]), len(vectors[right]))
            vectors[node] = np.einsum("ijk,j,k->i", tensor, vectors[left], vectors[right])
        if treebank.parent[node] < 0:
            result.append(latent.roots[starts[symbol] : starts[symbol + 1]] @ vectors[node])
    return np.array(result)
