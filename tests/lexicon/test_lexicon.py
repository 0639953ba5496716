from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpcfg.errors import GrammarError, InputError
from lpcfg.lexicon.estimation import estimate_from_columns, estimate_lexicon
from lpcfg.lexicon.lexicon import Lexicon, lexicon_from_entries
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.lexicon.word_classes import TagClasses
from lpcfg.lexicon.word_table import initial_words
from lpcfg.treebank.symbol import Symbol

NN = Symbol(("NN",), preterminal=True)
NP_NN = Symbol(("NP", "NN"), preterminal=True)
VB = Symbol(("VB",), preterminal=True)
SYMBOLS = [Symbol(("NP",)), NN, NP_NN, VB]
KINDS = ["english", "learnt", "tag"]


def estimate(pairs, options, initial=None):
    """A lexicon from (symbol, word) pairs."""
    words = list(dict.fromkeys(word for _, word in pairs))
    return estimate_from_columns(
        SYMBOLS,
        words,
        np.array([SYMBOLS.index(symbol) for symbol, _ in pairs]),
        np.array([words.index(word) for _, word in pairs]),
        np.zeros(len(pairs), bool) if initial is None else np.array(initial),
        options,
    )


def table(lexicon):
    """Probabilities as {emission name: {symbol: probability}}."""
    names = lexicon.words + lexicon.classes
    return {
        name: {
            SYMBOLS[symbol]: probability
            for symbol, probability in zip(
                lexicon.symbols[begin:end], lexicon.probabilities[begin:end], strict=True
            )
        }
        for name, begin, end in zip(names, lexicon.offsets, lexicon.offsets[1:], strict=False)
    }


PAIRS = st.lists(
    st.tuples(st.sampled_from([NN, NP_NN, VB]), st.text("abAZ1-", max_size=3)), min_size=1
)
OPTIONS = st.builds(
    LexiconOptions,
    classes=st.sampled_from(KINDS),
    rare=st.integers(0, 4),
    replace=st.booleans(),
    word_smoothing=st.sampled_from([0.0, 0.4]),
    class_smoothing=st.sampled_from([0.0, 30.0]),
    chain_smoothing=st.sampled_from([0.0, 5.0]),
    prune=st.sampled_from([0.0, 1e-4, 0.3]),
    class_support=st.integers(1, 3),
)


@given(PAIRS, OPTIONS)
@settings(deadline=None)
def test_probabilities_of_every_seen_symbol_sum_to_one(pairs, options):
    lexicon = estimate(pairs, options)
    sums = np.bincount(lexicon.symbols, lexicon.probabilities, minlength=len(SYMBOLS))
    seen = np.array([symbol in {symbol for symbol, _ in pairs} for symbol in SYMBOLS])
    np.testing.assert_allclose(sums, seen, atol=1e-12)
    assert np.all(lexicon.probabilities > 0)
    for begin, end in zip(lexicon.offsets, lexicon.offsets[1:], strict=False):
        assert np.all(np.diff(lexicon.symbols[begin:end]) > 0)
    # Every training token, and any unknown word, can be emitted by some symbol.
    for _, word in [*pairs, (None, "Zz-9"), (None, "")]:
        emission = lexicon.emission(word)
        assert lexicon.offsets[emission] < lexicon.offsets[emission + 1]
    for symbol, word in pairs:
        emission = lexicon.emission(word, tag=symbol.labels[-1])
        assert SYMBOLS.index(symbol) in lexicon.symbols[slice(*lexicon.offsets[emission:][:2])]


@given(st.lists(st.text()), st.sampled_from(KINDS))
@settings(deadline=None)
def test_any_sentence_can_be_encoded(words, kind):
    lexicon = estimate([(NN, "dog"), (VB, "runs"), (VB, "Ran")], LexiconOptions(kind))
    ids = lexicon.encode(words)
    assert ids.dtype == np.int32
    assert len(ids) == len(words)
    assert np.all((ids >= 0) & (ids < len(lexicon.words) + len(lexicon.classes)))
    initial = initial_words(words, np.arange(len(words)), np.arange(len(words)))
    assert ids.tolist() == [lexicon.emission(*pair) for pair in zip(words, initial, strict=True)]


def test_plain_variant_is_relative_frequency_with_rare_words_replaced():
    pairs = [(NN, "dog")] * 3 + [(NN, "cats"), (NN, "cows"), (VB, "walked"), (NP_NN, "dog")]
    found = table(estimate(pairs, LexiconOptions.plain(rare=1)))
    assert found["dog"][NN] == pytest.approx(3 / 5, abs=1e-5)
    assert found["dog"][NP_NN] == pytest.approx(1, abs=1e-5)
    assert found["UNK-LC-s"] == {NN: pytest.approx(2 / 5, abs=1e-5)}
    assert found["UNK-LC-ed"] == {VB: pytest.approx(1, abs=1e-5)}
    assert set(found) >= {"dog", "UNK-LC-s", "UNK-LC-ed", "UNK-LC", "UNK"}
    assert "cats" not in found


def test_large_samples_recover_the_emission_probabilities():
    generator = np.random.default_rng(5)
    words = [f"w{letter}" for letter in "abcdefgh"]
    truth = generator.dirichlet(np.ones(8), size=3)
    pairs = [
        (symbol, words[word])
        for symbol, row in zip((NN, NP_NN, VB), truth, strict=True)
        for word in generator.choice(8, size=4000, p=row)
    ]
    for options in (LexiconOptions("english"), LexiconOptions.plain()):
        found = table(estimate(pairs, options))
        for symbol, row in zip((NN, NP_NN, VB), truth, strict=True):
            estimated = [found[word].get(symbol, 0.0) for word in words]
            np.testing.assert_allclose(estimated, row, atol=0.03)


def test_unknown_words_have_the_tags_of_rare_words_of_their_class():
    pairs = [(VB, "jumped"), (VB, "walked"), (NN, "table"), (NN, "cable")] + [(NN, "seed")] * 50
    lexicon = estimate(pairs, LexiconOptions("english", rare=5, class_smoothing=0.1))
    verb, noun = (
        dict(zip(lexicon.symbols[begin:end], lexicon.probabilities[begin:end], strict=True))
        for begin, end in (
            lexicon.offsets[lexicon.emission(word) :][:2] for word in ("hopped", "gable")
        )
    )
    nouns, verbs = 52, 2  # Bayes' rule: times the prior, up to a constant
    assert verb[3] * verbs > 2 * verb.get(1, 0) * nouns
    assert noun[1] * nouns > 2 * noun.get(3, 0) * verbs


def test_chains_share_the_words_of_their_tag():
    pairs = [(NN, "dog")] * 9 + [(NN, "cat")] * 9 + [(NP_NN, "dog")]
    smooth = table(estimate(pairs, LexiconOptions("english", chain_smoothing=5)))
    assert smooth["cat"][NP_NN] > 0
    sharp = table(estimate(pairs, LexiconOptions("english", chain_smoothing=0)))
    assert NP_NN not in sharp["cat"]


def test_known_words_lean_on_their_class_less_the_more_they_are_seen():
    others = [(VB, stem + "ing") for stem in ("walk", "talk", "jump", "bark")]
    odds = []
    for times in (1, 10):
        pairs = [*others, *[(NN, "building")] * times, *[(NN, "house")] * (20 - times)]
        found = table(estimate(pairs, LexiconOptions("english", rare=1, word_smoothing=1)))
        odds.append(found["building"][VB] / found["building"][NN])
    assert odds[0] > 5 * odds[1] > 0


def test_tag_classes_use_the_tags_they_are_given():
    pairs = [(NN, "dog"), (VB, "run"), (VB, "sit")]
    lexicon = estimate(pairs, LexiconOptions("tag"))
    names = lexicon.words + lexicon.classes
    ids = lexicon.encode(["blorg", "blorg", "blorg"], ["NN", "VB", "XX"])
    assert [names[emission] for emission in ids] == ["UNK-NN", "UNK-VB", "UNK"]
    assert set(table(lexicon)["UNK-NN"]) == {NN}
    with pytest.raises(InputError, match="2 words but 1 tags"):
        lexicon.encode(["a", "b"], ["NN"])


def test_initial_capitals():
    lexicon = estimate([(NN, "dogs"), (NN, "Rover")], LexiconOptions("english"))
    ids = lexicon.encode(["``", "Dogs", "Dogs"])
    names = lexicon.words + lexicon.classes
    assert names[ids[1]] == "dogs"
    assert names[ids[2]].startswith("UNK")


def test_words_without_tokens_are_not_known():
    one = np.array([1])
    lexicon = estimate_from_columns(SYMBOLS, ["ghost", "dog"], one, one, one == 0)
    assert lexicon.words == ("dog",)
    with pytest.raises(InputError, match="treebank: there are no words"):
        estimate_from_columns(SYMBOLS, [], one[:0], one[:0], one[:0] == 0)


def test_entries_are_kept_as_they_are():
    lexicon = lexicon_from_entries([(2, "run", 0.25), (1, "run", 0.5), (1, "dog", 0.1)])
    assert table(lexicon) == {"run": {NN: 0.5, NP_NN: 0.25}, "dog": {NN: 0.1}, "UNK": {}}


@pytest.mark.parametrize(
    ("classes", "offsets", "message"),
    [(("X",), [0, 1, 1], "UNK"), (("UNK",), [0, 1], "3 offsets"), (("UNK",), [0, 2, 1], "rise")],
)
def test_inconsistent_lexicons_are_refused(classes, offsets, message):
    with pytest.raises(GrammarError, match=message):
        Lexicon(
            words=("dog",),
            classes=classes,
            classifier=TagClasses(),
            offsets=np.array(offsets, np.int64),
            symbols=np.array([1], np.int32),
            probabilities=np.ones(1),
        )


def test_treebanks_are_read_by_their_preterminal_nodes():
    columns = {
        "symbol": np.array([1, 3, 0, 1, 2, 0]),
        "word": np.array([0, 1, -1, 2, 3, -1]),
        "start": np.array([0, 1, 0, 0, 1, 0]),
    }
    words = ["``", "Runs", "Dogs", "dog"]
    treebank = SimpleNamespace(**columns, symbols=SYMBOLS, words=words)
    lexicon = estimate_lexicon(treebank, LexiconOptions("english", rare=1))
    assert lexicon.words == tuple(words)
    # Both capitals open a sentence, one of them after a quotation mark.
    assert "UNK-INITC-s" in lexicon.classes
    assert "UNK-CAPS-s" not in lexicon.classes
