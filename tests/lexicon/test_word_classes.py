import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lpcfg.errors import InputError
from lpcfg.lexicon.word_classes import (
    UNKNOWN,
    EnglishClasses,
    LearntClasses,
    TagClasses,
    word_classes_from_dict,
)

LEARNT = LearntClasses(frozenset({"UNK-lower", "UNK-lower~ing", "UNK-title", "UNK-lower-dash"}))


@pytest.mark.parametrize(
    ("word", "initial", "known", "expected"),
    [
        ("Blorg", True, False, "UNK-INITC"),
        ("Blorg", True, True, "UNK-INITC-KNOWNLC"),
        ("Blorg", False, True, "UNK-CAPS"),
        ("NASA", True, False, "UNK-CAPS"),
        ("blorgs", False, False, "UNK-LC-s"),
        ("glass", False, False, "UNK-LC"),
        ("virus", False, False, "UNK-LC"),
        ("basis", False, False, "UNK-LC"),
        ("1,234", False, False, "UNK-NUM"),
        ("1990s", False, False, "UNK-LC-NUM-s"),
        ("re-opened", False, False, "UNK-LC-DASH"),
        ("opened", False, False, "UNK-LC-ed"),
        ("red", False, False, "UNK-LC"),
        ("nationality", False, False, "UNK-LC-ity"),
        ("%", False, False, "UNK"),
        ("", True, False, "UNK"),
    ],
)
def test_english_signatures(word, initial, known, expected):
    assert EnglishClasses().class_of(word, initial, known) == expected


@given(st.text(), st.booleans(), st.booleans(), st.sampled_from([None, "NN", "-LRB-", "A-B~c"]))
def test_every_word_has_a_class_that_falls_back_to_unknown(word, initial, known, tag):
    for classes in (EnglishClasses(), LEARNT, TagClasses()):
        name = classes.class_of(word, initial, known, tag)
        chain = (name, *classes.fallbacks(name))
        assert chain[-1] == UNKNOWN
        assert len(set(chain)) == len(chain)
        for general, rest in zip(chain, range(1, len(chain)), strict=False):
            assert classes.fallbacks(general) == chain[rest:]


@pytest.mark.parametrize("classes", [EnglishClasses(), LEARNT, TagClasses()])
def test_classes_survive_json(classes):
    assert word_classes_from_dict(json.loads(json.dumps(classes.to_dict()))) == classes


@pytest.mark.parametrize("data", [{}, {"kind": "french"}, {"kind": "learnt", "names": [1]}])
def test_damaged_classes_are_refused(data):
    with pytest.raises(InputError, match="word classes"):
        word_classes_from_dict(data)


def learn(words, tags, **options):
    counts = sparse.csr_array(np.eye(max(tags) + 1)[tags])
    nothing = [False] * len(words)
    return LearntClasses.learn(words, nothing, nothing, counts, **options)


def test_suffixes_are_learnt_in_any_script():
    nouns = [stem + "ость" for stem in ("нов", "стар", "молод", "прям", "глуп")]
    verbs = [stem + "ать" for stem in ("пис", "чит", "игр", "слуш", "дел")]
    classes = learn(nouns + verbs, [0] * 5 + [1] * 5, support=5)
    assert classes.class_of("слабость") != classes.class_of("бегать")
    assert classes.class_of("слабость") == classes.class_of("новость")


def test_limit_and_support_are_kept():
    words = [stem + end for stem in ("wal", "tal", "bar", "loo") for end in ("ked", "king", "ks")]
    tags = [0, 1, 2] * 4
    assert len(learn(words, tags, support=2, limit=3).names) == 3
    assert learn(words, tags, support=5).names <= {"UNK-lower"}


def test_learning_does_not_depend_on_the_order_of_words():
    words = ["seen", "been", "taken", "fast", "last", "past", "Fast", "7", "8-9"]
    tags = [0, 0, 0, 1, 1, 1, 1, 2, 2]
    forward = learn(words, tags, support=2, limit=4)
    backward = learn(words[::-1], tags[::-1], support=2, limit=4)
    assert forward == backward


def test_shape_is_that_of_unicode():
    names = {"UNK-letters", "UNK-upper", "UNK-title", "UNK-digit", "UNK-lower-dash"}
    classes = LearntClasses(frozenset(names))
    words = ["犬", "ПЁС", "Élan", "٣٤", "peut\u2010être"]
    expected = ["UNK-letters", "UNK-upper", "UNK-title", "UNK-digit", "UNK-lower-dash"]
    assert [classes.class_of(word) for word in words] == expected


def test_japanese_writing_systems_are_told_apart():
    names = {"UNK-letters", "UNK-letters-katakana", "UNK-letters-han", "UNK-letters-han-hiragana"}
    words = ["オードリー", "食べる", "世界", "ใจ", "きょう"]
    expected = [
        "-letters-katakana",
        "-letters-han-hiragana",
        "-letters-han",
        "-letters",
        "-letters",
    ]
    classes = LearntClasses(frozenset(names))
    assert [classes.class_of(word) for word in words] == [f"UNK{name}" for name in expected]
    # A class that was not learnt falls back to a more general one.
    assert LearntClasses(frozenset({"UNK-letters"})).class_of("世界") == "UNK-letters"


def test_models_of_earlier_versions_do_not_tell_scripts_apart():
    stored = {"kind": "learnt", "names": ["UNK-letters~界"], "longest_suffix": 1}
    classes = word_classes_from_dict(stored)
    assert classes.class_of("世界") == "UNK-letters~界"
    assert word_classes_from_dict(classes.to_dict()) == classes
