"""The choice of Markovisation and word classes for a treebank."""

import itertools

import numpy as np
import pytest

from lpcfg import InputError, Transform, Tree, Treebank
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
    assert choose_defaults(treebank, report=trials.append) == TreebankDefaults()
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


def test_better_settings_are_chosen(few_trees, monkeypatch):
    f1 = {(1, 1): 70.0, (0, 0): 71.0, (1, 0): 70.5, (0, 1): 60.0}
    run = []

    class Counts:
        def __init__(self, *values):
            self.values = values

        def __add__(self, other):
            return Counts(*self.values, *other.values)

        @property
        def f1(self):
            return sum(self.values) / len(self.values)

    gain = 1.0

    def trial(search, settings, fold):
        run.append((settings, fold))
        value = f1[settings.vertical, settings.horizontal] + (settings.class_limit == 1000)
        value += gain * (settings.unknown_words == "log-linear")
        search.counts[settings, fold] = Counts(value)

    monkeypatch.setattr(treebank_defaults._Search, "_run", trial)
    chosen = choose_defaults(noun_phrases(True))
    assert chosen == TreebankDefaults(0, 0, 1000, 10, "log-linear")
    assert str(chosen).endswith("up to 1000 word classes, log-linear unknown words")
    # Hopeless settings are tried once, and no trial is run twice.
    assert [fold for settings, fold in run if settings[:2] == (0, 1)] == [0]
    assert len(set(run)) == len(run)
    gain = 0.1  # this may be chance
    assert choose_defaults(noun_phrases(True)) == TreebankDefaults(0, 0, 1000, 10)
    # What the lexicon has is the first choice, and tags as classes need no model.
    given = LexiconOptions(unknown_words="log-linear")
    assert choose_defaults(noun_phrases(True), lexicon=given).unknown_words == "log-linear"
    gain = 1.0
    tags = LexiconOptions(classes="tag")
    assert choose_defaults(noun_phrases(True), lexicon=tags).unknown_words == "classes"


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
