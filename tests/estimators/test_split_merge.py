"""Splitting and merging of states."""

from __future__ import annotations

import numpy as np
import pytest

import lpcfg
import support.latent_trees as known
from lpcfg import LexiconOptions, Smoothing, SplitMergeEstimator

BANK = lpcfg.Treebank.from_trees(
    lpcfg.embedded_trees(), transform=SplitMergeEstimator.default_transform
)
PLAIN = {
    "smoothing": Smoothing(rules=0.0, words=0.0, classes=0.0, rare=0),
    "lexicon": LexiconOptions.plain(rare=0),
    "mixing": 0.0,
}


@pytest.mark.slow
def test_splits_find_the_true_probabilities_of_trees():
    bank = known.sample(10_000, seed=3)
    options = {"cycles": 1, "split_iterations": 100, "merge_fraction": 0.0, **PLAIN}
    fits = [SplitMergeEstimator(random_state=seed, **options).fit(bank) for seed in range(3)]
    best = max(fits, key=lambda estimator: estimator.log_likelihoods_[-1][-1])
    pcfg = lpcfg.PCFGEstimator(lexicon=PLAIN["lexicon"]).fit(bank).grammar_
    assert known.tree_distance(best.grammar_, bank) < 0.04
    one_state = SplitMergeEstimator(cycles=0, **PLAIN).fit(bank).grammar_
    assert known.tree_distance(one_state, bank) > 0.1
    np.testing.assert_allclose(one_state.binary_probabilities, pcfg.binary_probabilities)


def test_useless_splits_are_merged_first():
    # A and B agree in their words, C and D do not: splitting the former gains, the latter nothing.
    words = np.random.default_rng(0).integers(0, 2, (4000, 3))
    trees = [
        lpcfg.Tree(
            "S",
            [
                lpcfg.Tree("P", [lpcfg.Tree("A", "xy"[a]), lpcfg.Tree("B", "xy"[a])]),
                lpcfg.Tree("Q", [lpcfg.Tree("C", "xy"[c]), lpcfg.Tree("D", "xy"[d])]),
            ],
        )
        for a, c, d in words.tolist()
    ]
    bank = lpcfg.Treebank.from_trees(trees, transform=SplitMergeEstimator.default_transform)
    estimator = SplitMergeEstimator(cycles=1, split_iterations=60, **PLAIN).fit(bank)
    states = {
        str(symbol): int(count)
        for symbol, count in zip(bank.symbols, estimator.grammar_.latent.states, strict=True)
    }
    assert states["A"] == states["B"] == 2
    assert states["C"] == states["D"] == 1


def test_grammars_of_all_cycles_are_handed_out():
    found = {}
    estimator = SplitMergeEstimator(cycles=3, min_count=5, each_cycle=found.__setitem__).fit(BANK)
    assert list(found) == [1, 2, 3]
    assert found[3] is estimator.grammar_
    assert [len(cycle) for cycle in estimator.log_likelihoods_] == [33, 33, 33]
    sizes = [grammar.latent.states.max() for grammar in found.values()]
    assert sizes == sorted(sizes)
    assert sizes[0] == 2
    assert found[2].provenance["cycles"] == 2


def test_the_same_seed_gives_the_same_grammar_for_any_number_of_threads():
    first, again = (
        SplitMergeEstimator(cycles=2, min_count=5, n_jobs=jobs).fit(BANK).grammar_.latent.arrays
        for jobs in (1, 2)
    )
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name])


def test_rare_symbols_and_roots_are_not_split():
    grammar = SplitMergeEstimator(cycles=2, min_count=30, merge_fraction=0.0).fit(BANK).grammar_
    counts = np.bincount(BANK.symbol, minlength=len(BANK.symbols))
    whole = (counts < 30) | (grammar.roots > 0)
    assert np.all(grammar.latent.states[whole] == 1)
    assert np.all(grammar.latent.states[~whole] == 4)


@pytest.mark.parametrize(
    "options", [{"cycles": -1}, {"merge_fraction": 1.5}, {"symmetry_breaking": -0.1}]
)
def test_impossible_options_are_refused(options):
    with pytest.raises(lpcfg.InputError, match=next(iter(options))):
        SplitMergeEstimator(**options).fit(BANK)
