"""Words get the emissions and classes that the documentation promises."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpcfg import _core
from lpcfg.errors import GrammarError, InputError
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.word_classes import EnglishClasses, LearntClasses, TagClasses

WORDS = st.text("aAbBéÉΣß9½-\u2013'.食べオ्", max_size=6)
TAGS = st.sampled_from([None, "NN", "-LRB-"])
LEARNT = LearntClasses(
    frozenset(
        {"UNK-lower", "UNK-lower~a", "UNK-title", "UNK-initial", "UNK-lower-dash", "UNK-digit"}
    )
)
CLASSIFIERS = st.sampled_from([EnglishClasses(), LEARNT, TagClasses()])
CLASSES = ("UNK-lower", "UNK-NN", "UNK", "UNK-LC", "UNK-CAPS", "UNK-INITC-KNOWNLC", "UNK-title")


def lexicon(words, classifier, lowercase_initial=False):
    size = len(words) + len(CLASSES)
    return Lexicon(
        words=words,
        classes=CLASSES,
        classifier=classifier,
        offsets=np.zeros(size + 1, dtype=np.int64),
        symbols=np.zeros(0, dtype=np.int32),
        probabilities=np.zeros(0),
        lowercase_initial=lowercase_initial,
    )


def expected_class(word, initial, tag, words, classifier):
    """The number of the first class of the lexicon among the one of the word and its fallbacks."""
    name = classifier.class_of(word, initial, word.lower() in words, tag)
    found = next(name for name in (name, *classifier.fallbacks(name)) if name in CLASSES)
    return len(words) + CLASSES.index(found)


def expected_emission(word, initial, tag, words, classifier, lowercase_initial):
    if word in words:
        return words.index(word)
    if initial and lowercase_initial and word.lower() in words:
        return words.index(word.lower())
    return expected_class(word, initial, tag, words, classifier)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.tuples(WORDS, TAGS), max_size=5), max_size=4),
    st.lists(WORDS, unique=True, max_size=6).map(tuple),
    CLASSIFIERS,
    st.booleans(),
)
def test_sentences_are_encoded_word_by_word(sentences, words, classifier, lowercase_initial):
    model = lexicon(words, classifier, lowercase_initial)
    expected, initials = [], []
    for sentence in sentences:
        initial = True
        for word, tag in sentence:
            arguments = word, initial, tag
            known = words, classifier
            expected.append(expected_emission(*arguments, *known, lowercase_initial))
            initials.append(initial)
            assert model.emission(*arguments) == expected[-1]
            assert model.class_emission(*arguments) == expected_class(*arguments, *known)
            initial = initial and not any(map(str.isalnum, word))
    flat = [word for sentence in sentences for word, _ in sentence]
    tags = [tag for sentence in sentences for _, tag in sentence]
    offsets = np.cumsum([0, *map(len, sentences)])
    assert model.encode_all(flat, offsets, tags).tolist() == expected
    one_by_one = [model.encode(*zip(*sentence, strict=True)) for sentence in sentences if sentence]
    assert [number for found in one_by_one for number in found] == expected
    emissions, classes = model.emissions(flat, np.array(initials, dtype=bool), tags)
    assert emissions.tolist() == expected
    assert classes.tolist() == [
        expected_class(*row, words, classifier) for row in zip(flat, initials, tags, strict=True)
    ]


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, st.booleans(), st.booleans(), TAGS)), CLASSIFIERS)
def test_classes_of_many_words_are_those_of_each(rows, classifier):
    words, initial, known, tags = (
        (list(column) for column in zip(*rows, strict=True)) if rows else [[]] * 4
    )
    names, numbers = classifier.classes_of(words, initial, known, tags)
    assert [names[number] for number in numbers] == [classifier.class_of(*row) for row in rows]
    assert len(set(names)) == len(names)


@settings(deadline=None)
@given(WORDS, st.booleans(), st.booleans(), st.integers(0, 5))
def test_learnt_classes_say_what_the_word_looks_like(word, initial, known, longest):
    """A class that is learnt from a word alone has all features of its shape, and its suffix."""
    names, parents, [member] = _core.class_tree(
        [word], np.array([initial]), np.array([known]), longest
    )
    assert names[0] == "UNK"
    classes = LearntClasses(frozenset(names[1:]), longest)
    name = classes.class_of(word, initial, known)
    assert name == names[member]
    chain = [name]
    while chain[-1] != "UNK":
        chain.append(names[parents[names.index(chain[-1])]])
    assert tuple(chain) == (name, *classes.fallbacks(name))

    shape, _, suffix = name.partition("~")
    kinds = _core.character_kinds(word)
    letters = re.search("[Ulachk]*$", kinds)[0]
    length = max(min(len(letters), longest, len(word) - 1), 0)
    assert suffix == (word[-length:].lower() if length else "")
    features = set(shape.split("-")[1:])
    assert ("digit" in features, "dash" in features, "symbol" in features) == (
        "9" in kinds,
        "-" in kinds,
        "." in kinds,
    )
    capitals = [position for position, kind in enumerate(kinds) if kind == "U"]
    one = capitals == [0]
    assert ("title" in features) == (one and not initial)
    assert ("initial" in features) == (one and initial)
    assert ("known" in features) == (one and initial and known)
    assert ("upper" in features) == (bool(capitals) and not one and "l" not in kinds)
    assert ("mixed" in features) == (bool(capitals) and not one and "l" in kinds)
    assert ("lower" in features) == (not capitals and "l" in kinds)
    without_case = not capitals and "l" not in kinds and bool(set("achk") & set(kinds))
    assert ("letters" in features) == without_case
    for feature, kind in (("han", "c"), ("hiragana", "h"), ("katakana", "k")):
        assert (feature in features) == (without_case and kind in kinds)


def test_copies_of_a_lexicon_encode_the_same():
    model = lexicon(("a", "b"), LEARNT)
    words = ["a", "A", "bb", "7", "b"]
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other.classifier == model.classifier
        assert other.encode(words).tolist() == model.encode(words).tolist()
        assert "b" in other
        assert "c" not in other
        assert 7 not in other


def test_halves_of_surrogate_pairs_are_unknown_characters():
    model = lexicon(("a",), LEARNT, lowercase_initial=True)
    assert model.encode(["\ud800", "a\udfff", "a"]).tolist() == [3, 1, 0]
    assert "\ud800" not in model
    assert LEARNT.class_of("a\ud800") == "UNK-lower"
    assert _core.character_kinds("a\ud800")[:2] == "l."


def test_repeated_names_are_refused():
    with pytest.raises(GrammarError, match='a lexicon has "a" more than once'):
        lexicon(("a", "b", "a"), LEARNT)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda model, no: model.encode_all(["a"], np.array([0, 2])), "offsets"),
        (lambda model, no: model.encode_all(["a"], np.array([0, 1]), ["A", "B"]), "tags"),
        (lambda model, no: model.emissions(["a", "b"], no), "initial"),
        (lambda model, no: model.classifier.classes_of(["a", "b"], no, [True, False]), "initial"),
        (lambda model, no: model.classifier.classes_of(["a"], no, []), "known_lowercase"),
        (lambda model, no: _core.known_in_lowercase(["a", "b"], no), "known"),
    ],
)
def test_columns_of_other_lengths_are_refused(call, argument):
    with pytest.raises(InputError) as caught:
        call(lexicon(("a",), TagClasses()), np.array([False]))
    assert caught.value.argument == argument
