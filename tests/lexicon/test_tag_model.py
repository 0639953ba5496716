"""The log-linear model of the tags of unknown words."""

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpcfg import (
    Grammar,
    LexiconOptions,
    Parser,
    PCFGEstimator,
    SpectralEstimator,
    Tagger,
    Treebank,
    WordClusters,
    embedded_trees,
    load,
    save,
)
from lpcfg.errors import GrammarError, InputError, ModelFileError
from lpcfg.lexicon.clustered_words import ClusteredWords
from lpcfg.lexicon.lexicon import Lexicon
from lpcfg.lexicon.spelling_features import SpeltWord, spelling_features
from lpcfg.lexicon.tag_model import TagModel, fit_tag_model
from lpcfg.parsing._sentences import Sentence, encode_sentences

#: P(tag | suffix) of an invented language.
SUFFIXES = {"ka": (0.9, 0.1, 0.0), "mo": (0.0, 0.2, 0.8), "tiri": (0.3, 0.3, 0.4)}
LOG_LINEAR = LexiconOptions(unknown_words="log-linear")
WORDS = ["The", "blorped", "grommets", "vexly", "sang", "to", "Xerxes", "in", "1984", "."]


def spelt(word):
    return SpeltWord(word, initial=False, known_lowercase=False)


def invented(number, seed):
    """Words of random stems, and their suffixes."""
    draw = random.Random(seed)
    suffixes = draw.choices(list(SUFFIXES), k=number)
    stems = ("".join(draw.choices("bcdfghjlnpqrsvwxyz", k=draw.randint(2, 6))) for _ in suffixes)
    return [spelt(stem + suffix) for stem, suffix in zip(stems, suffixes, strict=True)], suffixes


def fitted(number=3000, seed=0):
    words, suffixes = invented(number, seed)
    generator = np.random.default_rng(seed)
    counts = np.array([generator.multinomial(1, SUFFIXES[suffix]) for suffix in suffixes])
    average = counts.mean(axis=0, keepdims=True)
    return fit_tag_model("ABC", words, counts, np.zeros(number, dtype=int), average)


def with_clusters(bank):
    """Options of a lexicon with clusters of the words of a treebank and of some more."""
    text = [tree.words() for tree in bank.trees()] + [WORDS] * 3
    clusters = WordClusters((2, 4, 8), dimensions=5, min_count=2).fit(text)
    return replace(LOG_LINEAR, word_clusters=clusters)


@pytest.fixture(scope="module")
def grammars():
    """A PCFG and a latent-variable grammar with models of unknown words."""
    bank = Treebank.from_trees(embedded_trees(300))
    return [
        estimator.fit(bank).grammar_
        for estimator in (
            PCFGEstimator(lexicon=LOG_LINEAR),
            SpectralEstimator(states=(4, 4), lexicon=with_clusters(bank)),
        )
    ]


def test_suffix_rules_are_recovered_from_sampled_words():
    model = fitted()
    words, suffixes = invented(500, seed=1)
    found = model.tag_probabilities(words, [0] * len(words))
    truth = np.array([SUFFIXES[suffix] for suffix in suffixes])
    assert np.abs(found - truth).mean() < 0.05
    # The class alone knows only the average.
    assert np.abs(model.class_tags - truth).mean() > 0.2


def test_clusters_tell_the_tags_of_words_whose_spelling_does_not():
    draw = random.Random(0)
    forms = sorted({"".join(draw.choices("bcdfghjklm", k=7)) for _ in range(4000)})
    cluster = np.array([[draw.randrange(2)] for _ in forms], dtype=np.uint16)
    draw.shuffle(forms)
    truth = np.eye(2)[cluster[:, 0]]
    seen = 3000
    model = fit_tag_model(
        "AB",
        [spelt(form) for form in forms[:seen]],
        truth[:seen],
        np.zeros(seen, dtype=int),
        np.array([[0.5, 0.5]]),
        ClusteredWords(tuple(forms), cluster),
    )
    # A word that is not there as it is written has the clusters of its lower-case form.
    others = [spelt(form.upper()) for form in forms[seen:]]

    def correct(model):
        found = model.tag_probabilities(others, [0] * len(others))
        return (found.argmax(axis=1) == cluster[seen:, 0]).mean()

    without = replace(model, clustered=None)
    assert without != model
    assert correct(model) > 0.95
    assert correct(without) < 0.6


def test_the_same_words_give_the_same_model():
    assert fitted(400) == fitted(400)
    assert fitted(400) != fitted(400, seed=1)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=8), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_probabilities_of_any_word_sum_to_one(text, initial, known, seed):
    generator = np.random.default_rng(seed)
    word = SpeltWord(text, initial, known)
    features = tuple(spelling_features(word))
    assert len(set(features)) == len(features)
    weights = generator.normal(0, 10, (len(features), 4)).astype(np.float32)
    priors = generator.dirichlet([0.3] * 4, size=2).astype(np.float32)
    model = TagModel(("A", "B", "C", "D"), features, weights, priors)
    found = model.tag_probabilities([word], [1])
    assert found.sum() == pytest.approx(1, abs=1e-5)
    exact = priors[1] * np.exp(weights.sum(axis=0, dtype=np.float64))
    assert found[0] == pytest.approx(exact / exact.sum(), abs=1e-4)
    kept = (model.factors([word], [1]) * priors[1])[0]
    assert kept == pytest.approx(found[0], abs=1.1e-4)


def test_words_without_known_features_have_the_tags_of_their_class():
    model = TagModel(("A", "B"), ("sxyz",), np.ones((1, 2)), np.array([[0.3, 0.7], [1, 0]]))
    assert model.factors([spelt("rain")] * 2, [0, 1]) == pytest.approx(np.array([[1, 1], [1, 0]]))


def test_unknown_words_are_parsed_as_if_the_lexicon_had_them(grammars):
    for grammar in grammars:
        expected = Parser(with_entries(grammar, WORDS)).analyze(words=WORDS, marginals=True)
        found = Parser(grammar).analyze(words=WORDS, marginals=True)
        assert found.tree == expected.tree
        assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-5)
        plain = replace(grammar, lexicon=replace(grammar.lexicon, tag_model=None))
        other = Parser(plain).analyze(words=WORDS, marginals=True)
        assert other.log_probability != pytest.approx(found.log_probability, rel=1e-5)


def with_entries(grammar, words):
    """A grammar whose classes have the probabilities of these words, one class for each word."""
    lexicon, model = grammar.lexicon, grammar.lexicon.tag_model
    probabilities = lexicon.probabilities.copy()
    seen = set()
    for _, word, number in lexicon.unknown_words(words, lexicon.encode(words)):
        assert number not in seen, "choose words of different classes"
        seen.add(number)
        begin, end = lexicon.offsets[len(lexicon.words) + number :][:2]
        tags = [grammar.symbols[symbol].labels[-1] for symbol in lexicon.symbols[begin:end]]
        factors = dict(zip(model.tags, model.factors([word], [number])[0], strict=True))
        probabilities[begin:end] *= [factors[tag] for tag in tags]
    assert len(seen) > 2
    # An entry may exceed one, which a lexicon of its own could not.
    assert probabilities.max() <= 1
    return replace(grammar, lexicon=replace(lexicon, probabilities=probabilities, tag_model=None))


def test_the_number_of_threads_changes_nothing(grammars):
    sentences = [tree.words() for tree in embedded_trees(60, seed=5)] + [WORDS]
    one, two = (
        [str(parse.tree) for parse in Parser(grammars[1], n_jobs=n).analyze_many(words=sentences)]
        for n in (1, 2)
    )
    assert one == two


def test_model_files_and_pickles_keep_the_model(grammars, tmp_path):
    save(grammars[1], tmp_path / "model.lpcfg")
    for copy in (load(tmp_path / "model.lpcfg", Grammar), pickle.loads(pickle.dumps(grammars[1]))):
        assert copy.lexicon.tag_model == grammars[1].lexicon.tag_model
        assert copy.lexicon.tag_model.clustered.features("blorped")
        clusters = copy.provenance["lexicon"]["word_clusters"]
        assert clusters["n_clusters"] == [2, 4, 8]
        assert Parser(copy).parse(words=WORDS) == Parser(grammars[1]).parse(words=WORDS)


def test_clusters_are_read_from_a_path(grammars, tmp_path):
    bank = Treebank.from_trees(embedded_trees(300))
    options = with_clusters(bank)
    path = tmp_path / "words.lpcfg"
    options.word_clusters.save(path)
    for source in (path, str(path)):
        estimator = PCFGEstimator(lexicon=replace(LOG_LINEAR, word_clusters=source))
        from_file, same = (
            each.fit(bank).grammar_ for each in (estimator, PCFGEstimator(lexicon=options))
        )
        assert from_file.lexicon.tag_model == same.lexicon.tag_model
        assert from_file.provenance == same.provenance
    with pytest.raises(FileNotFoundError):
        replace(LOG_LINEAR, word_clusters=tmp_path / "none.lpcfg")


@pytest.mark.parametrize(
    "damage",
    [
        {"weights": lambda weights: weights + np.inf},
        {"class_tags": lambda tags: tags * 2},
        {"class_tags": lambda tags: tags * np.nan},
        {"class_tags": lambda tags: tags - 1},
        {"tags": lambda tags: ("no such tag", *tags[1:])},
        {"features": lambda features: (features[1], *features[1:])},
        {"class_tags": lambda tags: tags[1:]},
    ],
)
def test_damaged_files_are_refused(grammars, tmp_path, damage):
    model = grammars[0].lexicon.tag_model
    for name, change in damage.items():
        # Around the checks of the constructors.
        changed = pickle.loads(pickle.dumps(model))
        object.__setattr__(changed, name, change(getattr(model, name)))
    lexicon = pickle.loads(pickle.dumps(grammars[0].lexicon))
    object.__setattr__(lexicon, "tag_model", changed)
    save(replace(grammars[0], lexicon=lexicon), tmp_path / "damaged.lpcfg")
    with pytest.raises(ModelFileError):
        load(tmp_path / "damaged.lpcfg", Grammar)


def test_what_does_not_fit_is_refused(grammars):
    with pytest.raises(InputError, match="unknown_words must be one of classes, log-linear"):
        LexiconOptions(unknown_words="guesses")
    with pytest.raises(InputError, match="no use where the classes are tags"):
        LexiconOptions(classes="tag", unknown_words="log-linear")
    with pytest.raises(InputError, match="only a log-linear model has features of word clusters"):
        LexiconOptions(word_clusters=WordClusters())
    with pytest.raises(InputError, match="word_clusters: they are not fitted; call fit first"):
        replace(LOG_LINEAR, word_clusters=WordClusters())
    with pytest.raises(InputError, match="word_clusters: must be a WordClusters or the path"):
        replace(LOG_LINEAR, word_clusters=64)
    with pytest.raises(GrammarError, match="a row of clusters for each word"):
        ClusteredWords(("a", "b"), np.zeros((1, 3), dtype=np.uint16))
    with pytest.raises(GrammarError, match="a word more than once"):
        ClusteredWords(("a", "a"), np.zeros((2, 3), dtype=np.uint16))
    with pytest.raises(GrammarError, match="a weight for each feature and tag"):
        TagModel(("A",), ("x",), np.zeros((2, 1)), np.ones((1, 1)))
    with pytest.raises(InputError, match="a tagger knows unknown words by their classes alone"):
        Tagger(lexicon=LOG_LINEAR).fit(embedded_trees(5))
    lexicon = grammars[0].lexicon
    with pytest.raises(GrammarError, match="the tags of each of its classes"):
        replace(lexicon, tag_model=TagModel(("A",), (), np.zeros((0, 1)), np.ones((1, 1))))
    assert isinstance(lexicon, Lexicon)


def test_factors_are_given_to_unknown_words_alone(grammars):
    sentence = Sentence(tags=None, words=["The", "blorped", "."])
    rows, table = encode_sentences(grammars[0], [sentence]).tag_factors
    assert (rows == np.iinfo(np.uint32).max).tolist() == [True, False, True]
    assert table.shape == (1, len(grammars[0].tags))
