"""Word vectors and clusters from text: words of one kind are found by their neighbours."""

import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lpcfg import InputError, ModelFileError, WordClusters, load, save
from lpcfg.io.model_file import ModelFile, read_document, write_model_file

#: Kinds of words, and patterns of kinds from which sentences are drawn.
KINDS = {
    "d": ["the", "a", "this"],
    "n": ["dog", "cat", "house", "tree", "river"],
    "v": ["saw", "heard", "liked", "found"],
    "a": ["old", "red", "small", "loud"],
}
PATTERNS = ["dnvdn", "danvdn", "dnvdan", "danvdan"]


def text(sentences=600, seed=0):
    generator = np.random.default_rng(seed)
    for _ in range(sentences):
        pattern = PATTERNS[generator.integers(len(PATTERNS))]
        yield [str(generator.choice(KINDS[kind])) for kind in pattern]


def small(**parameters):
    return WordClusters((4, 5, 6), dimensions=4, min_count=1, **parameters)


@pytest.fixture(scope="module")
def model():
    return small().fit(text())


def test_the_kinds_of_words_are_the_coarse_clusters(model):
    found = {frozenset(model.members(cluster, 0)) for cluster in range(4)}
    assert found == {frozenset(words) for words in KINDS.values()}


def test_clusters_are_nested(model):
    for fine in range(2, 0, -1):
        pairs = np.unique(model.clusters_[:, fine - 1 : fine + 1], axis=0)
        assert len(pairs) == len(np.unique(pairs[:, 1]))


def test_neighbours_are_words_of_the_same_kind(model):
    for words in KINDS.values():
        for word in words:
            found = model.neighbours(word, len(words) - 1)
            assert {neighbour.word for neighbour in found} == set(words) - {word}
            cosines = [neighbour.cosine for neighbour in found]
            assert cosines == sorted(cosines, reverse=True)


def test_words_are_sorted_by_frequency(model):
    assert (np.diff(model.counts_) <= 0).all()
    assert model.counts_.sum() == sum(len(sentence) for sentence in text())


def test_rare_words_and_all_but_the_most_frequent_ones_are_left_out():
    sentences = [*text(), ["hapax"]]
    assert "hapax" in small().fit(sentences).words_
    assert "hapax" not in WordClusters((2, 3, 4), min_count=2).fit(sentences).words_
    assert len(small(max_words=5).fit(sentences).words_) == 5


def test_the_result_does_not_depend_on_the_number_of_threads(model):
    for threads in (1, 2):
        with threadpool_limits(threads):
            again = small().fit(text())
        assert again.words_ == model.words_
        assert np.array_equal(again.vectors_, model.vectors_)
        assert np.array_equal(again.clusters_, model.clusters_)


def test_saved_loaded_and_pickled(model, tmp_path):
    save(model, tmp_path / "words.lpcfg")
    for again in (load(tmp_path / "words.lpcfg"), pickle.loads(pickle.dumps(model))):
        assert again.words_ == model.words_
        assert again.n_clusters == model.n_clusters
        assert np.array_equal(again.clusters_, model.clusters_)
        assert again.neighbours("dog") == model.neighbours("dog")


def test_damaged_files(model, tmp_path):
    path = tmp_path / "words.lpcfg"
    save(model, path)
    file = ModelFile(path)
    arrays = {name: np.array(file.array(name)) for name in file.names()}
    document = read_document(file, {})
    arrays["clusters"][0, 2] = 99
    write_model_file(path, arrays, document)
    with pytest.raises(ModelFileError, match="not below the number of clusters"):
        load(path)


@pytest.mark.parametrize(
    "parameters",
    [{"n_clusters": (4, 2, 8)}, {"n_clusters": (1, 2)}, {"n_clusters": (1, 2, 1 << 17)},
     {"dimensions": 0}, {"min_count": 0}],
)  # fmt: skip
def test_wrong_parameters(parameters):
    with pytest.raises(InputError) as raised:
        WordClusters(**parameters).fit(text(5))
    assert raised.value.argument == next(iter(parameters))


def test_a_sentence_is_a_list_of_words():
    with pytest.raises(InputError, match="must be a list of words"):
        WordClusters().fit(["a string"])


def test_fewer_words_than_clusters():
    model = WordClusters(min_count=1).fit([["only", "two"]])
    assert len({model.clusters("only"), model.clusters("two")}) == 2
    assert model.neighbours("two", 5)[0].word == "only"
