"""Latent states of given trees, shown in their labels and explained."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import lpcfg
import support.latent_trees as known
from lpcfg import ClusteringEstimator, GrammarError, Tree, Treebank, annotate_states, show_states
from lpcfg.inspection._expected_counts import ExpectedCounts
from lpcfg.inspection.explanation import explain_states, find_symbol

BANK = Treebank.from_trees(lpcfg.embedded_trees())
GRAMMAR = ClusteringEstimator(states=(3, 3), min_count=5, full_count=50).fit(BANK).grammar_


def brute_force_states(grammar, treebank):
    """The likeliest state of each node of one tree, by trying all states of all nodes."""
    lexicon, latent = grammar.lexicon, grammar.latent.dense(grammar.binary_rules)
    begins, ratios = latent.tensor_offsets(grammar.binary_rules), latent.ratio_offsets
    rules = grammar.binary_rules.tolist()
    sizes = latent.states[treebank.symbol].tolist()
    factors = []
    for node, symbol in enumerate(treebank.symbol.tolist()):
        left, right = int(treebank.left[node]), int(treebank.right[node])
        if left < 0:
            emission = lexicon.emission(treebank.words[treebank.word[node]])
            entries = slice(*lexicon.offsets[emission : emission + 2])
            entry = entries.start + lexicon.symbols[entries].tolist().index(symbol)
            row = latent.entry_ratios[entry]
            factors.append(((node,), latent.emission_ratios[ratios[row] : ratios[row + 1]]))
        else:
            row = rules.index([symbol, *treebank.symbol[[left, right]].tolist()])
            tensor = latent.binary[begins[row] : begins[row + 1]]
            factors.append(((node, left, right), tensor.reshape(latent.states[rules[row]])))
    top = int(treebank.symbol[-1])
    starts = latent.state_offsets
    factors.append(((len(sizes) - 1,), latent.roots[starts[top] : starts[top + 1]]))
    totals = [np.zeros(size) for size in sizes]
    for states in itertools.product(*map(range, sizes)):
        weight = np.prod([factor[tuple(states[n] for n in nodes)] for nodes, factor in factors])
        for node, state in enumerate(states):
            totals[node][state] += weight
    return [int(total.argmax()) for total in totals]


def test_states_are_the_likeliest_of_their_nodes():
    bank = known.sample(400, seed=0)
    exact = known.estimator()
    options = {"features": exact.features, "lexicon": exact.lexicon, "states": (2, 2)}
    grammar = ClusteringEstimator(**options, min_count=5, full_count=50).fit(bank).grammar_
    states = annotate_states(grammar, bank, n_jobs=1)
    for tree in range(5):
        nodes = slice(*bank.tree_offsets[tree : tree + 2])
        assert states[nodes].tolist() == brute_force_states(grammar, bank.subset([tree]))


def test_trees_with_parts_that_the_grammar_does_not_know_have_no_states():
    first = BANK.trees()[0]
    others = [
        Tree.from_string("(ROOT (XX (NN dog) (NN dog)))"),
        Tree.from_string("(ROOT (S (VP (VBD saw)) (NP (DT the) (NN dog)) (. .)))"),
    ]
    bank = Treebank.from_trees([others[0], first, others[1]])
    states = annotate_states(GRAMMAR, bank)
    known_nodes = slice(*bank.tree_offsets[1:3])
    alone = annotate_states(GRAMMAR, Treebank.from_trees([first]))
    assert states[known_nodes].tolist() == alone.tolist()
    assert alone.min() >= 0
    assert (np.delete(states, np.arange(*bank.tree_offsets[1:3])) == -1).all()


@pytest.mark.parametrize("binary", [False, True])
def test_labels_without_their_states_are_the_old_ones(binary):
    states = annotate_states(GRAMMAR, BANK)
    shown = show_states(BANK, states, binary=binary)
    hidden = show_states(BANK, np.full_like(states, -1), binary=binary)

    def strip(tree):
        label, _, state = tree.label.rpartition("[")
        assert state.rstrip("]").isdecimal()
        return Tree(label, tree.word or [strip(child) for child in tree.children])

    assert [strip(tree) for tree in shown.trees()] == hidden.trees()
    if not binary:
        assert hidden.trees() == BANK.trees()


def test_states_without_probabilities_are_refused():
    spectral = lpcfg.SpectralEstimator().fit(BANK).grammar_
    with pytest.raises(GrammarError, match="spectral"):
        annotate_states(spectral, BANK)
    with pytest.raises(GrammarError, match="no latent states"):
        explain_states(lpcfg.PCFGEstimator().fit(BANK).grammar_, "NP")


@pytest.mark.parametrize("states", [1, 3])
def test_expected_counts_of_a_grammar_by_counting_are_those_of_the_treebank(states):
    options = {"states": (states, states), "min_count": 5, "full_count": 50, "smoothing": 0}
    grammar = ClusteringEstimator(**options).fit(BANK).grammar_
    expected = ExpectedCounts(grammar)
    starts = grammar.latent.state_offsets
    counts = np.bincount(BANK.symbol) / len(BANK)
    np.testing.assert_allclose(np.add.reduceat(expected.states, starts[:-1]), counts, rtol=1e-3)
    words = expected.emissions(expected.states)
    assert words.sum() == pytest.approx((BANK.word >= 0).sum() / len(BANK), rel=1e-3)


def test_expected_counts_of_a_single_tree():
    bank = Treebank.from_trees([Tree.from_string("(S (A a) (B b))")])
    expected = ExpectedCounts(ClusteringEstimator().fit(bank).grammar_)
    (rule,), states, probabilities = expected.rules
    assert (rule, states.tolist(), probabilities.tolist()) == (0, [[2, 0, 1]], [1.0])
    assert expected.subtree_states(np.array([0.0, 0.0, 3.0])).tolist() == [3, 3, 3]
    assert expected.states.tolist() == [1, 1, 1]
    emissions = expected.emissions(np.array([1.0, 0.0, 0.0]))
    assert expected.grammar.lexicon.words == ("a", "b")
    assert emissions.sum() == pytest.approx(1)
    np.testing.assert_allclose(emissions[:2], [0.43, 0.07], atol=0.005)


def test_explanations_tell_rules_words_and_contexts():
    states = explain_states(GRAMMAR, "NP", limit=3)
    symbol, others = find_symbol(GRAMMAR, "NP")
    name = str(GRAMMAR.symbols[symbol])
    assert {state.name for state in states} == {f"{name}[{n}]" for n in range(len(states))}
    assert others
    assert name not in others
    assert sum(state.prior for state in states) == pytest.approx(1)
    whole = next(state for state in states if state.name.endswith("[0]"))
    rules = GRAMMAR.binary_rules
    likeliest = GRAMMAR.binary_probabilities[rules[:, 0] == symbol].max()
    assert whole.rules[0][1] == pytest.approx(likeliest, rel=1e-4)
    for state in states:
        assert len(state.rules) <= 3
        assert 0 < sum(probability for _, probability in state.contexts) <= 1 + 1e-6
        assert all(word in GRAMMAR.lexicon.words for word in state.words)
        assert str(state).startswith(state.name)
    assert any(state.words for state in states)
