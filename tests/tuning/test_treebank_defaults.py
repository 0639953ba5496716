"""The choice of transforms, word classes and states for a treebank."""

import itertools

import numpy as np
import pytest

from lpcfg import InputError, Parser, SpectralEstimator, Transform, Tree, Treebank, evaluate_parser
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.tuning import treebank_defaults
from lpcfg.tuning.treebank_defaults import TreebankDefaults, choose_defaults


def noun_phrases(parents_matter, number=60):
    """Sentences "a b c" whose attachment depends on the parent of the phrase, or on nothing."""
    generator = np.random.default_rng(0)
    flat, deep = "(X (A a) (B b) (C c))", "(X (X (A a) (B b)) (C c))"
    trees = []
    for _ in range(number):
        parent = generator.choice(["S", "Q"])
        inner = (deep if parent == "S" else flat) if parents_matter else deep
        trees.append(Tree.from_string(f"({parent} ({parent.lower()} {parent}) (P {inner}))"))
    return Treebank.from_trees(trees)


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setattr(treebank_defaults, "MIN_TREES", 1)
    # Margins are for as many held-out trees.
    monkeypatch.setattr(treebank_defaults, "_HELD_OUT", 6)


def test_trials_stop_when_the_time_is_up(few_trees, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(treebank_defaults.time, "process_time", lambda: float(next(clock)))
    trials = []
    chosen = choose_defaults(noun_phrases(False), seconds=3, n_jobs=1, report=trials.append)
    assert chosen == TreebankDefaults()
    assert [trial.settings for trial in trials] == [TreebankDefaults()]
    assert str(trials[0]).startswith("vertical 1, horizontal 1, up to 200 word classes: F1 ")


def test_no_trials_without_time_or_trees(monkeypatch):
    trials = []
    treebank = noun_phrases(True)
    small = TreebankDefaults(0, 0, unknown_words="log-linear")
    assert choose_defaults(treebank, report=trials.append) == small
    tags = LexiconOptions(classes="tag")
    assert choose_defaults(treebank, lexicon=tags) == TreebankDefaults(0, 0)
    monkeypatch.setattr(treebank_defaults, "MIN_TREES", 1)
    assert choose_defaults(treebank, seconds=0, report=trials.append) == TreebankDefaults()
    assert not trials
    with pytest.raises(InputError, match="seconds"):
        choose_defaults(treebank, seconds=float("nan"))


def test_the_defaults_stay_if_nothing_is_better(few_trees):
    treebank = noun_phrases(False)
    first = choose_defaults(treebank, n_jobs=1)
    assert first == choose_defaults(treebank.weighted(np.ones(len(treebank))), n_jobs=1)
    assert first == TreebankDefaults()


class MockTrials:
    """Trials whose F1 is a function of the settings, in place of training and parsing."""

    class Counts:
        """Stands for the counts of brackets of folds."""

        def __init__(self, *values):
            self.values = values

        def __add__(self, other):
            return MockTrials.Counts(*self.values, *other.values)

        @property
        def f1(self):
            return sum(self.values) / len(self.values)

    def __init__(self, f1):
        self.f1 = f1
        self.run = []

    def __call__(self, search, settings, fold):
        self.run.append((settings, fold))
        search.counts[settings, fold] = self.Counts(self.f1(settings))


@pytest.fixture
def mock_trials(few_trees, monkeypatch):
    def replaced(f1):
        trials = MockTrials(f1)
        # A function, so that it is bound to the search.
        monkeypatch.setattr(
            treebank_defaults._Search,
            "_run",
            lambda search, settings, fold: trials(search, settings, fold),
        )
        return trials

    return replaced


def test_better_settings_are_chosen(mock_trials):
    f1 = {(1, 1): 70.0, (0, 0): 71.0, (1, 0): 70.5, (0, 1): 60.0}
    gain = 1.0

    def value(settings):
        return (
            f1[settings.vertical, settings.horizontal]
            + (settings.class_limit == 1000)
            + gain * (settings.unknown_words == "log-linear")
        )

    trials = mock_trials(value)
    chosen = choose_defaults(noun_phrases(True))
    assert chosen == TreebankDefaults(0, 0, 1000, 10, "log-linear")
    assert str(chosen).endswith("up to 1000 word classes, log-linear unknown words")
    # Hopeless settings are tried once, and no trial is run twice.
    assert [fold for settings, fold in trials.run if settings[:2] == (0, 1)] == [0]
    assert len(set(trials.run)) == len(trials.run)
    gain = 0.1  # this may be chance
    assert choose_defaults(noun_phrases(True)) == TreebankDefaults(0, 0, 1000, 10)
    # What the lexicon has is the first choice, and tags as classes need no model.
    given = LexiconOptions(unknown_words="log-linear")
    assert choose_defaults(noun_phrases(True), lexicon=given).unknown_words == "log-linear"
    gain = 1.0
    tags = LexiconOptions(classes="tag")
    assert choose_defaults(noun_phrases(True), lexicon=tags).unknown_words == "classes"


def test_states_and_shrinkage_are_chosen_after_transforms(mock_trials):
    trials = mock_trials(
        lambda settings: (
            70.0
            + (settings.states == 16)
            + (settings.ridge == 0.5)
            + 2 * (settings.smoothing == 10.0)
        )
    )
    chosen = choose_defaults(noun_phrases(True))
    assert chosen == TreebankDefaults(states=16, smoothing=10.0)
    assert str(chosen).endswith("up to 200 word classes, states 16, smoothing 10")
    assert chosen.spectral() == {"states": (16, 16), "smoothing": 10.0, "ridge": 0.7}
    changed = [settings.spectral() != TreebankDefaults().spectral() for settings, _ in trials.run]
    assert changed == sorted(changed)


def test_other_numbers_of_states_have_to_gain_more(mock_trials):
    gain = 0.4
    mock_trials(lambda settings: 70.0 + gain * (settings.states == 24))
    assert choose_defaults(noun_phrases(True)) == TreebankDefaults()
    gain = 0.6
    assert choose_defaults(noun_phrases(True)) == TreebankDefaults(states=24)


def test_margins_grow_with_chance(mock_trials, monkeypatch):
    mock_trials(lambda settings: 70.0 + (settings.states == 24))
    assert choose_defaults(noun_phrases(True)) == TreebankDefaults(states=24)
    # Four times fewer held-out trees than the margins are for, and twice the margin.
    monkeypatch.setattr(treebank_defaults, "_HELD_OUT", 60)
    assert choose_defaults(noun_phrases(True)) == TreebankDefaults()


def test_the_side_of_binarisation_is_chosen_if_it_is_asked_for(mock_trials):
    mock_trials(lambda settings: 70.0 + (settings.binarize == "left"))
    assert choose_defaults(noun_phrases(True)).binarize == "right"
    chosen = choose_defaults(noun_phrases(True), binarize=True)
    assert chosen.binarize == "left"
    assert "binarised to the left" in str(chosen)


def test_trials_are_trained_with_their_settings(few_trees):
    search = treebank_defaults._Search(
        noun_phrases(True), 1e9, LexiconOptions(), 1, lambda trial: None
    )
    start, held_out = search._held_out(0)
    rest = search.trees[:start] + search.trees[start + len(held_out) :]
    # The third differs from the second only after the decomposition, which is used again.
    for settings in (
        TreebankDefaults(vertical=0, binarize="left"),
        TreebankDefaults(horizontal=0, states=8),
        TreebankDefaults(horizontal=0, states=16, ridge=0.0, smoothing=0.0),
    ):
        transform = settings.transform(Transform(binarize=settings.binarize))
        treebank = Treebank.from_trees(rest, cleaning=False, transform=transform)
        estimator = SpectralEstimator(**settings.spectral()).fit(treebank)
        expected = evaluate_parser(Parser(estimator.grammar_, n_jobs=1), held_out)
        search._run(settings, 0)
        assert search.counts[settings, 0] == expected.scores.total


def test_settings_limit_markovisation():
    settings = TreebankDefaults(1, 0, class_limit=7, class_support=2, unknown_words="log-linear")
    assert settings.transform(Transform(vertical=0, binarize="left")) == Transform(
        vertical=0, horizontal=0, binarize="left"
    )
    assert settings.transform(Transform(horizontal=None)).horizontal == 0
    lexicon = settings.lexicon(LexiconOptions(rare=3))
    assert (lexicon.rare, lexicon.class_limit, lexicon.class_support) == (3, 7, 2)
    assert lexicon.unknown_words == "log-linear"
    assert TreebankDefaults.from_dict(settings._asdict()) == settings
