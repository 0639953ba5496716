"""A recurrent network that scores the labels of spans."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from lpcfg import (
    Ensemble,
    GrammarError,
    InputError,
    ModelFileError,
    NeuralEstimator,
    Parser,
    PCFGEstimator,
    Transform,
    Tree,
    Treebank,
    WordClusters,
    embedded_trees,
    evaluate,
    load,
    save,
)
from lpcfg.cli.main import main
from lpcfg.estimators.neural._brackets import find_brackets
from lpcfg.io.model_file import write_model_file

# A rule of attachment that no PCFG can know: "with" goes to the noun before "spots", and to the
# verb before "forks".
NOUN = "(S (NP (PRP we)) (VP (VBD saw) (NP (NP (DT the) (NN {})) (PP (IN with) (NP (NNS spots))))))"
VERB = "(S (NP (PRP we)) (VP (VBD saw) (NP (DT the) (NN {})) (PP (IN with) (NP (NNS forks)))))"
ANIMALS = ("cat", "dog", "fox", "owl", "cow", "pig")


def attachments(animals=ANIMALS):
    return [Tree.from_string(text.format(animal)) for animal in animals for text in (NOUN, VERB)]


def small(**options):
    sizes = {"word_size": 16, "character_states": 8, "word_states": 16, "span_size": 16}
    training = {"epochs": 25, "learning_rate": 0.02, "batch_size": 4, "dropout": 0.1, "n_jobs": 1}
    return NeuralEstimator(**{**sizes, **training, **options})


@pytest.fixture(scope="module", params=["crf", "independent"])
def model(request):
    return small(loss=request.param, epochs=50).fit(attachments()).grammar_


def test_learns_a_rule_of_attachment(model):
    # The cat is known, the yak is not.
    gold = list(Treebank.from_trees(attachments(["cat", "yak"])).trees())
    found = list(Parser(model).parse_many(words=[tree.words() for tree in gold]))
    assert evaluate(gold, found).f1 == 100


def test_probabilities_of_trees_and_spans(model):
    sentence = attachments()[0].words()
    parse = Parser(model).analyze(words=sentence, marginals=True)
    assert parse.status == "parsed"
    assert parse.conditional
    table = parse.marginals
    assert np.all((table["probability"] >= 0) & (table["probability"] <= 1 + 1e-6))
    for place in range(len(sentence)):
        tags = table[(table["start"] == place) & table["preterminal"]]
        assert tags["probability"].sum() == pytest.approx(1, abs=1e-2)
    assert min(parse.span_probabilities) > 0.5
    if model.neural_weights.loss == "crf":
        assert parse.sentence_log_probability == 0
        assert np.exp(parse.log_probability) == pytest.approx(1, abs=0.5)
    else:
        assert parse.log_probability is None


def test_recovers_sampled_trees():
    trees = embedded_trees()
    options = {"epochs": 20, "batch_size": 8, "word_states": 32, "span_size": 32, "dropout": 0.2}
    neural = small(learning_rate=0.01, **options).fit(trees[:250])
    assert neural.losses_[-1] < 0.2 * neural.losses_[0]
    assert neural.score(trees[250:]) > 0.88


def test_the_number_of_threads_does_not_matter():
    one, two = (small(epochs=2, n_jobs=n).fit(embedded_trees()[:60]) for n in (1, 2))
    assert np.array_equal(one.grammar_.neural_weights.values, two.grammar_.neural_weights.values)
    other = small(epochs=2, random_state=1).fit(embedded_trees()[:60])
    assert not np.array_equal(
        one.grammar_.neural_weights.values, other.grammar_.neural_weights.values
    )
    words = [tree.words() for tree in embedded_trees()[60:90]]
    parses = [
        list(Parser(one.grammar_, n_jobs=n).analyze_many(words=words, batch_size=size))
        for n, size in ((1, 256), (2, 256))
    ]
    assert parses[0] == parses[1]


def test_save_load_and_pickle(model, tmp_path):
    save(model, tmp_path / "neural.lpcfg")
    sentence = attachments()[1].words()
    expected = Parser(model).analyze(words=sentence)
    for other in (load(tmp_path / "neural.lpcfg"), pickle.loads(pickle.dumps(model))):
        assert Parser(other).analyze(words=sentence) == expected
    parser = pickle.loads(pickle.dumps(Parser.load(tmp_path / "neural.lpcfg")))
    assert parser.analyze(words=sentence) == expected
    save(load(tmp_path / "neural.lpcfg"), tmp_path / "again.lpcfg")
    first, again = (tmp_path / name for name in ("neural.lpcfg", "again.lpcfg"))
    assert first.read_bytes() == again.read_bytes()


def test_impossible_networks_are_refused(model, tmp_path):
    weights = model.neural_weights
    with pytest.raises(GrammarError, match="size words of a neural network"):
        replace(weights, sizes=weights.sizes._replace(words=1 << 70))
    with pytest.raises(GrammarError, match="loss"):
        replace(weights, loss="hinge")
    with pytest.raises(GrammarError, match="no node of the grammar has the label 'XX'"):
        replace(weights, tags=("XX", *weights.tags[1:])).core(model.node_labels)
    path = tmp_path / "neural.lpcfg"
    huge, missing = weights.values.copy(), weights.values.copy()
    huge[5], missing[5] = 1e30, np.nan
    for values in (weights.values[:-1], huge, -huge, missing):
        broken = replace(model, neural_weights=replace(weights, values=values))
        save(broken, path)
        with pytest.raises(ModelFileError, match=r"neural\.lpcfg: .*values"):
            load(path)


def test_damaged_networks_and_those_of_other_versions_are_refused(model, tmp_path):
    from lpcfg.grammar._file import GRAMMAR_FORMAT

    arrays, document = GRAMMAR_FORMAT.pack(model)
    path = tmp_path / "neural.lpcfg"
    half = arrays["neural.half_values"]
    for damaged in (half[:-1], half[:-2], np.full_like(half, 255)):
        changed = {**arrays, "neural.half_values": damaged}
        write_model_file(path, changed, {"kind": "grammar", **document})
        with pytest.raises(ModelFileError, match=r"neural\.lpcfg: .*values"):
            load(path)
    document["neural"]["version"] = 99
    write_model_file(path, arrays, {"kind": "grammar", **document})
    with pytest.raises(ModelFileError, match="version 99"):
        load(path)


def test_given_tags_and_missing_words(model):
    parser = Parser(model)
    sentence = ["we", "saw", "spots"]
    tags = parser.parse([None, "NN", None], words=sentence).tags()
    assert tags[1] == "NN"
    with pytest.raises(InputError, match="needs the words"):
        parser.parse(["PRP", "VBD", "NNS"])
    with pytest.raises(InputError, match="max-f1 and max-recall"):
        Parser(model, decoder="viterbi")
    assert Parser(model, decoder="max-recall").parse(words=sentence).words() == sentence


def test_long_sentences_are_parsed_in_parts(model):
    sentence = attachments()[0].words() * 4
    parse = Parser(model, max_length=10).analyze(words=sentence, marginals=True)
    assert parse.status == "split"
    assert parse.tree.words() == sentence
    assert parse.tree.label == "ROOT"
    assert Parser(model, memory=10_000).analyze(words=sentence).status == "split"
    assert Parser(model, max_length=None).analyze(words=sentence).status == "parsed"


def test_members_of_ensembles(model, tmp_path):
    pcfg = PCFGEstimator().fit(attachments()).grammar_
    sentence = attachments()[0].words()
    expected = Parser(model).parse(words=sentence)
    assert Ensemble([model, pcfg], weights=[3, 1]).parse(words=sentence) == expected
    for name, grammar in (("1.lpcfg", pcfg), ("2.lpcfg", model)):
        save(grammar, tmp_path / name)
    folder = Parser.load(tmp_path)
    assert isinstance(folder, Ensemble)
    assert folder.parse(words=sentence).words() == sentence


def test_trees_with_weights_count_as_often():
    # Two trees of the same sentence: the one with the larger weight wins.
    words = "(S (NP (PRP we)) (VP (VBD saw) (NP (NP (NN cat)) (PP (IN with) (NP (NN dog))))))"
    other = "(S (NP (PRP we)) (VP (VBD saw) (NP (NN cat)) (PP (IN with) (NP (NN dog)))))"
    trees = [Tree.from_string(text) for text in (words, other) * 4]
    bank = Treebank.from_trees(trees)
    for weights, expected in (([5, 1] * 4, 0), ([1, 5] * 4, 1)):
        parser = small(epochs=30).fit(bank.weighted(weights)).parser()
        assert parser.parse(words=trees[0].words()) == bank.trees()[expected]


def test_word_vectors_from_text():
    text = ["we saw the cat with spots .", "they saw the yak with spots ."] * 30
    clusters = WordClusters((2, 3, 4), dimensions=5, min_count=1)
    clusters.fit(sentence.split() for sentence in text)
    estimator = small(epochs=2, word_clusters=clusters).fit(attachments())
    weights = estimator.grammar_.neural_weights
    assert weights.vectors.shape == (len(clusters.words_), 5)
    parser = pickle.loads(pickle.dumps(estimator.grammar_)).neural_weights
    assert np.array_equal(parser.vectors, weights.vectors)
    assert estimator.grammar_.provenance["word_clusters"] is not None
    assert small().fit(attachments()[:2]).grammar_.provenance["word_clusters"] is None


@pytest.mark.parametrize(
    ("text", "root", "chains"),
    [
        (["(ROOT (S (NN a) (NN b)))", "(ROOT (NN a))"], ("ROOT",), {("S",), ()}),
        (["(S (NN a) (NN b))", "(NP (NN a) (NN b))"], (), {("S",), ("NP",)}),
        (["(NN a)"], (), {()}),
    ],
)
def test_roots_of_labels(text, root, chains):
    trees = [Tree.from_string(tree) for tree in text]
    bank = Treebank.from_trees(trees, cleaning=False)
    labels = find_brackets(bank).labels
    assert labels.root == root
    whole = zip(labels.chains, labels.whole, strict=True)
    assert {chain for chain, is_whole in whole if is_whole} == chains
    grammar = small(epochs=1).fit(bank).grammar_
    for tree in trees:
        assert Parser(grammar).parse(words=tree.words()).words() == tree.words()


@pytest.mark.parametrize(
    ("trees", "epochs"),
    [(4, 100), (2048, 50), (10_240, 10), (64_000, 10), (128_000, 5), (200_000, 3), (10**7, 3)],
)
def test_small_treebanks_are_read_more_often(trees, epochs):
    assert small(epochs=None, batch_size=16).epochs_for(trees) == epochs
    assert small(epochs=3).epochs_for(trees) == 3


def test_unary_rules_are_refused():
    bank = Treebank.from_trees(attachments(), transform=Transform(collapse_inside=False))
    bank = bank.transformed(Transform(collapse_root=False))
    with pytest.raises(InputError, match="unary"):
        small(epochs=1).fit(bank)


def test_command_line(tmp_path, capsys):
    trees = tmp_path / "train.mrg"
    trees.write_text("\n".join(map(str, attachments())), encoding="utf-8")
    path = str(tmp_path / "neural.lpcfg")
    options = ["--word-states", "12", "--epochs", "3", "-q", "-j", "1"]
    assert main(["train", str(trees), "-o", path, "--estimator", "neural", *options]) == 0
    assert main(["show", path]) == 0
    assert "neural parameters" in capsys.readouterr().out
    assert main(["eval", path, str(trees), "-q", "-j", "1"]) == 0
