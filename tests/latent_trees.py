"""A small L-PCFG whose trees can all be listed, and probabilities of trees under a grammar."""

from __future__ import annotations

import itertools

import numpy as np

from lpcfg import Transform, Tree, Treebank
from lpcfg.tree_nodes import combine

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


def all_trees() -> tuple[list[Tree], np.ndarray]:
    """Every tree of the grammar and its probability."""
    trees, probabilities = [], []
    for (left, left_given), (right, right_given) in itertools.product(_phrases("A"), _phrases("B")):
        trees.append(Tree("S", [left, right]))
        probabilities.append(left_given @ _PAIR @ right_given)
    return trees, np.array(probabilities)


def sample(size: int, seed: int) -> Treebank:
    """A treebank drawn from the grammar."""
    trees, probabilities = all_trees()
    chosen = np.random.default_rng(seed).choice(len(trees), size, p=probabilities)
    return Treebank.from_trees(trees, transform=TRANSFORM).subset(chosen)


def inside_tree(nodes):
    """A feature group: the whole inside tree."""
    bank = nodes.treebank
    key = nodes.rule.copy()
    for level in nodes.upwards():
        inner = level[bank.left[level] >= 0]
        key[inner] = combine(key[inner], key[bank.left[inner]], key[bank.right[inner]])
    return key


def outside_tree(nodes):
    """A feature group: the whole outside tree."""
    bank, inside = nodes.treebank, inside_tree(nodes)
    key = np.zeros(len(inside), dtype=np.int64)
    for level in nodes.downwards():
        below = level[bank.parent[level] >= 0]
        above = bank.parent[below]
        sibling = np.where(nodes.side[below] == 0, bank.right[above], bank.left[above])
        key[below] = combine(key[above], nodes.side[below], nodes.symbol[above], inside[sibling])
    return key


def latent_probabilities(grammar, treebank) -> np.ndarray:
    """The probability of each tree under a grammar with latent states, node by node."""
    latent, lexicon = grammar.latent, grammar.lexicon
    starts = latent.state_offsets
    tensor_starts = latent.tensor_offsets(grammar.binary_rules)
    matrix_starts = latent.tensor_offsets(grammar.unary_rules)
    emission_starts = latent.emission_offsets(lexicon.symbols)
    binary = {tuple(rule): row for row, rule in enumerate(grammar.binary_rules.tolist())}
    unary = {tuple(rule): row for row, rule in enumerate(grammar.unary_rules.tolist())}
    vectors, result = {}, []
    for node, symbol in enumerate(treebank.symbol.tolist()):
        left, right = int(treebank.left[node]), int(treebank.right[node])
        size = int(latent.states[symbol])
        if left < 0:
            word = treebank.words[treebank.word[node]]
            emission = lexicon.emission(word, bool(treebank.start[node] == 0))
            entries = slice(*lexicon.offsets[emission : emission + 2])
            entry = entries.start + lexicon.symbols[entries].tolist().index(symbol)
            vectors[node] = latent.emissions[emission_starts[entry] : emission_starts[entry + 1]]
        elif right < 0:
            row = unary[symbol, int(treebank.symbol[left])]
            matrix = latent.unary[matrix_starts[row] : matrix_starts[row + 1]]
            vectors[node] = matrix.reshape(size, -1) @ vectors[left]
        else:
            row = binary[symbol, int(treebank.symbol[left]), int(treebank.symbol[right])]
            tensor = latent.binary[tensor_starts[row] : tensor_starts[row + 1]]
            tensor = tensor.reshape(size, len(vectors[left]), len(vectors[right]))
            vectors[node] = np.einsum("ijk,j,k->i", tensor, vectors[left], vectors[right])
        if treebank.parent[node] < 0:
            result.append(latent.roots[starts[symbol] : starts[symbol + 1]] @ vectors[node])
    return np.array(result)
