"""Weights of trees: weight 2 is a tree that occurs twice, weight 0 one that is absent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lpcfg
from lpcfg import ClusteringEstimator, InputError, PCFGEstimator, Treebank, make_estimator
from lpcfg.estimators.clustering._clusters import NodeClusters
from lpcfg.estimators.clustering._state_frequencies import StateFrequencies
from lpcfg.estimators.features.lexical_rules import LexicalRules
from lpcfg.estimators.registry import ESTIMATORS, estimator_class
from lpcfg.treebank.forest import gather_trees

TREES = lpcfg.embedded_trees(60)

#: Settings with few states, which do not depend on how many random numbers are drawn for the trees:
#: EM starts without noise. The steps of the CRF use all trees at once: with small batches, trees
#: that occur twice would be in different steps.
QUICK = {
    "pcfg": {},
    "spectral": {"states": (2, 2)},
    "clustering": {"states": (2, 2), "min_count": 5, "full_count": 50},
    "pivot": {"states": (2, 2)},
    "em": {"states": (2, 2), "iterations": 2, "symmetry_breaking": 0.0, "n_jobs": 1},
    "split-merge": {"cycles": 1, "n_jobs": 1},
    "crf": {"epochs": 2, "bits": 12, "batch_size": 1000, "n_jobs": 1},
    "neural": {"epochs": 2, "word_states": 8, "n_jobs": 1},
}


def fitted(name, treebank):
    return make_estimator(name, **QUICK[name]).fit(treebank).grammar_


def numbers(grammar):
    """All numbers that were estimated."""
    arrays = [grammar.roots, grammar.binary_probabilities, grammar.lexicon.probabilities]
    if grammar.latent is not None:
        dense = grammar.latent.dense(grammar.binary_rules)
        arrays += [dense.roots, dense.binary, dense.emission_ratios, dense.tag_emissions]
    if grammar.crf_weights is not None:
        arrays.append(grammar.crf_weights.weights)
    if grammar.neural_weights is not None:
        arrays.append(grammar.neural_weights.values)
    return arrays


def assert_close(found, expected):
    for one, other in zip(numbers(found), numbers(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-4)


@pytest.fixture(params=list(ESTIMATORS))
def name(request):
    return request.param


@pytest.fixture
def treebank(name):
    return Treebank.from_trees(TREES, transform=estimator_class(name).default_transform)


def test_weights_of_one_change_no_bit(name, treebank):
    plain, weighted = (
        fitted(name, bank) for bank in (treebank, treebank.weighted(np.ones(len(treebank))))
    )
    for one, other in zip(numbers(plain), numbers(weighted), strict=True):
        np.testing.assert_array_equal(one, other)


def test_weight_two_is_the_tree_twice(name, treebank):
    if name == "clustering":
        pytest.skip("rounding changes the order of points, and so the initial centres of k-means")
    if name == "neural":
        pytest.skip("each tree has its own random numbers for dropout")
    if name == "pivot":
        # With more nodes, rules use fewer feature combinations at each node.
        treebank = treebank.subset(np.arange(8))
    twice = np.sort(np.concatenate([np.arange(len(treebank)), np.arange(0, len(treebank), 3)]))
    weights = np.bincount(twice)
    assert_close(fitted(name, treebank.weighted(weights)), fitted(name, treebank.subset(twice)))


def test_the_states_of_given_clusters_are_counted_with_weights():
    bank = Treebank.from_trees(TREES, transform=ClusteringEstimator.default_transform)
    cluster = np.arange(len(bank.symbol)) % 2
    twice = np.repeat(np.arange(len(bank)), 2)
    nodes, _ = gather_trees(bank.tree_offsets, twice)

    def states(treebank, clusters):
        backbone = PCFGEstimator().fit(treebank).grammar_
        words = LexicalRules(treebank, backbone.lexicon, rare=20)
        chosen = NodeClusters(clusters[None], np.ones((1, len(clusters))))
        latent = StateFrequencies(treebank, backbone, words, chosen, 2.0).latent_states(2.0, 2.0)
        return replace(backbone, latent=latent)

    weighted = states(bank.weighted(np.full(len(bank), 2)), cluster)
    assert_close(weighted, states(bank.subset(twice), cluster[nodes]))


def test_weight_zero_is_absence(name, treebank):
    kept = np.arange(0, len(treebank), 2)
    weights = np.zeros(len(treebank))
    weights[kept] = 1
    absent = fitted(name, treebank.subset(kept))
    for one, other in zip(
        numbers(fitted(name, treebank.weighted(weights))), numbers(absent), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_weights_follow_trees_through_subsets_and_transforms():
    bank = Treebank.from_trees(TREES[:3]).weighted([1, 2, 3])
    assert bank.subset([2, 0]).weights.tolist() == [3, 1]
    assert bank.transformed(lpcfg.Transform(binarize="left")).weights.tolist() == [1, 2, 3]
    assert bank.digest != replace(bank, weights=None).digest
    assert bank.provenance["weighted_trees"] == 6


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [np.inf, 1, 1]])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(InputError, match="weights"):
        Treebank.from_trees(TREES[:3]).weighted(weights)
