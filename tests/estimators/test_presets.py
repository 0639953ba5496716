"""Presets: every member can be trained, and members differ."""

import pytest

from lpcfg import LexiconOptions, Treebank, embedded_trees
from lpcfg.estimators.presets import PRESETS, PresetMember


@pytest.mark.parametrize("name", PRESETS)
def test_members_differ(name):
    members = PRESETS[name].members
    assert len(set(members)) == len(members)


def test_members_can_be_trained_with_their_transform():
    trees = embedded_trees(30)
    members = [member for preset in PRESETS.values() for member in preset.members]
    for member in {each[:2]: each for each in members}.values():
        treebank = Treebank.from_trees(trees, transform=member.transform(best="left"))
        estimator = member.make(n_jobs=1, epochs=1, cycles=1)
        grammar = estimator.fit(treebank).grammar_
        assert grammar.provenance["estimator"] == member.estimator
        assert grammar.transform.binarize == (member.binarize or "left")


def test_a_random_field_over_latent_states_has_the_settings_of_both():
    member = PresetMember("crf", "left", seed=1, latent="spectral")
    estimator = member.make(seed=2, n_jobs=1, states=(4, 4), lexicon=LexiconOptions(rare=3))
    assert (estimator.random_state, estimator.lexicon.rare) == (3, 3)
    assert (estimator.latent.states, estimator.latent.lexicon.rare) == ((4, 4), 3)
    assert PresetMember("crf", "left").make(n_jobs=1).latent is None


def test_larger_presets_take_longer():
    seconds = [PRESETS[name].seconds(5_000, 100_000) for name in ("fast", "accurate", "best")]
    assert seconds == sorted(seconds)
    assert PRESETS["fast"].seconds(10_000, 200_000) == 2 * seconds[0]
    # Small treebanks get more passes of the networks.
    assert 1 < seconds[1] / PRESETS["accurate"].seconds(2_500, 50_000) < 1.5
