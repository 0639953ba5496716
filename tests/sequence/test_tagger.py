"""Taggers: what they count, what they can tell apart, files, and the command line."""

import io
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from lpcfg import (
    Dependencies,
    DependencyTree,
    Grammar,
    InputError,
    LexiconOptions,
    ModelFileError,
    Parser,
    PCFGEstimator,
    Tagger,
    Tree,
    Treebank,
    embedded_trees,
    save,
    with_tagged_text,
)
from lpcfg.cli.main import main
from lpcfg.evaluation.tag_scores import evaluate_tagger
from lpcfg.io.model_file import ModelFile, read_document, write_model_file


def tagged(*sentences):
    """A treebank of sentences written as tag:word."""
    trees = []
    for sentence in sentences:
        pairs = [token.split(":") for token in sentence.split()]
        trees.append(Tree("S", [Tree(tag, word) for tag, word in pairs]))
    return Treebank.from_trees(trees)


@pytest.fixture(scope="module")
def treebank():
    return Treebank.from_trees(embedded_trees())


@pytest.fixture(scope="module")
def tagger(treebank):
    return Tagger().fit(treebank)


@given(st.lists(st.lists(st.sampled_from("ABC"), min_size=1, max_size=5), min_size=1, max_size=5))
def test_trigrams_are_counted_within_sentences(sentences):
    tagger = Tagger().fit(tagged(*(" ".join(f"{tag}:x" for tag in tags) for tags in sentences)))
    expected = Counter()
    for tags in sentences:
        padded = [None, None, *tags, None]
        expected.update(zip(padded, padded[1:], padded[2:], strict=False))
    names = [*tagger.tags_, None]
    rows = zip(tagger.trigrams_.tolist(), tagger.counts_.tolist(), strict=True)
    assert {tuple(names[tag] for tag in row): count for row, count in rows} == expected


def test_tags_depend_on_two_before_them():
    """All words are alike, and tags come in pairs: one tag before does not tell the next."""
    sentences = [" ".join(f"{tag}:x" for tag in start) for start in ("AABBAABB", "BBAABBAA") * 30]
    sentences += ["A:x A:y", "B:x B:z"] * 10
    tagger = Tagger(trigram_smoothing=1, bigram_smoothing=1).fit(tagged(*sentences))
    assert tagger.tag(["x"] * 6 + ["x", "z"]) == list("AABBAABB")
    assert tagger.tag(["x"] * 6 + ["x", "y"])[-1] == "A"


def test_tags_of_the_embedded_trees(tagger, treebank):
    scores = evaluate_tagger(tagger, treebank)
    assert scores.accuracy > 97
    assert scores.unknown == 0
    assert scores.sentences == len(treebank)
    odd = evaluate_tagger(tagger, tagged("DT:The NN:blorp", "DT:The NN:dog"))
    assert (odd.tokens, odd.unknown) == (4, 1)


def test_posteriors_agree_with_tags(tagger, treebank):
    for words, _ in treebank.sentences()[:20]:
        table = tagger.posteriors(words)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        assert [tagger.tags_[column] for column in table.argmax(axis=1)] == tagger.tag(words)
        sure = next(tagger.sure_tags([words], probability=0.8))
        assert sure == [
            tag if best >= 0.8 else None
            for tag, best in zip(tagger.tag(words), table.max(axis=1), strict=True)
        ]


def test_threads_and_batches_change_nothing(tagger, treebank):
    sentences = [words for words, _ in treebank.sentences()]
    expected = [tagger.tag(words) for words in sentences]
    other = Tagger(n_jobs=3).fit(treebank)
    assert list(other.tag_many(sentences)) == expected
    assert list(tagger.tag_many(iter(sentences), batch_size=7)) == expected


def test_batches_must_have_sentences(tagger):
    for several in (tagger.tag_many, tagger.sure_tags):
        with pytest.raises(InputError, match="batch_size: must be"):
            next(several([["rain"]], batch_size=0))


def test_any_string_is_a_word(tagger):
    odd = ["", " ", "\U0001f642", "blorping", "1984", "X" * 1000]
    assert set(tagger.tag(odd)) <= set(tagger.tags_)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [([], "sentence 1 is empty"), ("one string", "sentence 1 must be a list")],
)
def test_no_sentences(tagger, sentence, message):
    with pytest.raises(InputError, match=message):
        tagger.tag(sentence)


def test_smoothing_must_be_positive(treebank):
    with pytest.raises(InputError, match="Tagger: bigram_smoothing must be a number above 0"):
        Tagger(bigram_smoothing=0).fit(treebank)


# Beside a parser


def test_tags_may_be_given_for_some_words(tagger, treebank):
    parser = Parser(PCFGEstimator().fit(treebank).grammar_, n_jobs=1)
    words = [words for words, _ in treebank.sentences()[:30]]
    none = [[None] * len(sentence) for sentence in words]
    assert list(parser.analyze_many(none, words=words)) == list(parser.analyze_many(words=words))
    mixed = list(tagger.sure_tags(words, probability=0.9))
    assert any(None in tags for tags in mixed)
    for tree, tags in zip(parser.parse_many(mixed, words=words), mixed, strict=True):
        found = zip(tree.tags(), tags, strict=True)
        assert all(tag in (None, given) for given, tag in found)


def test_tags_without_words_must_be_there():
    parser = Parser(Grammar.from_string("S -> A A \n A -> 'a'"))
    with pytest.raises(InputError, match="tags: sentence 1, token 2 must be a string, not None"):
        parser.parse(["A", None])
    with pytest.raises(InputError, match="the grammar has no tag 'B'"):
        parser.parse(["B", None], words=["a", "a"])
    assert parser.parse([None, "A"], words=["b", "b"]).tags() == ["A", "A"]


# Files


def test_what_is_saved_is_loaded(tagger, treebank, tmp_path):
    path, again = tmp_path / "tags.lpcfg", tmp_path / "again.lpcfg"
    tagger.save(path)
    loaded = Tagger.load(path)
    for words, _ in treebank.sentences()[:10]:
        np.testing.assert_array_equal(loaded.posteriors(words), tagger.posteriors(words))
    loaded.save(again)
    assert path.read_bytes() == again.read_bytes()


def test_parameters_are_saved_with_the_treebank(treebank, tmp_path):
    path = tmp_path / "tags.lpcfg"
    tagger = Tagger(bigram_smoothing=3, lexicon=LexiconOptions(rare=3)).fit(treebank)
    tagger.save(path)
    loaded = Tagger.load(path)
    assert loaded.get_params() == tagger.get_params()
    assert loaded.provenance_ == tagger.provenance_
    assert loaded.provenance_["lexicon"]["rare"] == 3
    assert loaded.provenance_["treebank"] == treebank.digest


def test_taggers_follow_scikit_learn():
    trees = embedded_trees()
    tagger = Tagger(trigram_smoothing=50.0)
    assert repr(tagger) == "Tagger(trigram_smoothing=50.0)"
    assert clone(tagger).set_params(lexicon__rare=3) == tagger.with_params(lexicon__rare=3)
    with pytest.raises(InputError, match="Tagger has no parameter 'smoothing'"):
        tagger.set_params(smoothing=1)
    search = GridSearchCV(tagger, {"bigram_smoothing": [1.0, 20.0]}, cv=2).fit(trees)
    assert 0.8 < search.best_score_ < 1
    fitted = tagger.fit(trees[:300])
    accuracy = evaluate_tagger(fitted, Treebank.from_trees(trees[300:])).accuracy
    assert fitted.score(trees[300:]) == pytest.approx(accuracy / 100)


def test_other_models_are_no_taggers(treebank, tmp_path):
    save(PCFGEstimator().fit(treebank).grammar_, tmp_path / "grammar.lpcfg")
    with pytest.raises(ModelFileError, match="holds a grammar, not a tagger"):
        Tagger.load(tmp_path / "grammar.lpcfg")


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("trigrams", lambda trigrams: trigrams + 1),
        ("trigrams", lambda trigrams: trigrams[:, :2].copy()),
        ("counts", lambda counts: counts * -1000),
        ("counts", lambda counts: counts * np.nan),
        ("counts", lambda counts: counts[1:]),
        ("emission_symbols", lambda symbols: symbols + 100),
        ("emission_probabilities", lambda probabilities: probabilities * 0),
        ("tags.ends", lambda ends: ends[:-1]),
    ],
)
def test_damaged_files_are_refused(tagger, tmp_path, array, change):
    path = tmp_path / "tags.lpcfg"
    tagger.save(path)
    file = ModelFile(path)
    arrays = {name: file.array(name).copy() for name in file.names()}
    arrays[array] = change(arrays[array])
    write_model_file(path, arrays, read_document(file, {}))
    with pytest.raises(ModelFileError, match=r"tags\.lpcfg: "):
        Tagger.load(path)


def test_damaged_smoothing_is_refused(tagger, tmp_path):
    path = tmp_path / "tags.lpcfg"
    tagger.save(path)
    file = ModelFile(path)
    arrays = {name: file.array(name).copy() for name in file.names()}
    document = read_document(file, {})
    document["provenance"]["bigram_smoothing"] = -5.0
    write_model_file(path, arrays, document)
    with pytest.raises(ModelFileError, match="bigram_smoothing must be a number above 0"):
        Tagger.load(path)


# The command line


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "trees.mrg").write_text("".join(f"{tree}\n" for tree in embedded_trees()), "utf-8")
    (folder / "sentences.txt").write_text("The dog saw ( him ) .\n\nA bird sang .\n", "utf-8")
    assert main(["tag", "train", str(folder / "trees.mrg"), "-o", str(folder / "tags"), "-q"]) == 0
    return folder


def test_sentences_are_tagged_line_by_line(folder, capsys):
    command = ["tag", "apply", str(folder / "tags"), "-i", str(folder / "sentences.txt")]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("The_DT dog_NN saw_VBD (_")
    assert lines[1:] == ["", "A_DT bird_NN sang_VBD ._."]
    assert main([*command, "--tags"]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "DT NN VBD ."


def test_standard_input(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n\nA bird sang .\n\n")))
    assert main(["tag", "apply", str(folder / "tags")]) == 0
    assert capsys.readouterr().out == "\n\nA_DT bird_NN sang_VBD ._.\n\n"


def test_scores(folder, capsys):
    command = ["tag", "eval", str(folder / "tags"), str(folder / "trees.mrg"), "-q"]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("accuracy 9")
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] > 97


def test_a_tagger_is_learnt_with_a_grammar_and_helps_it(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["train", "trees.mrg", "-o", "model", "--tagger", "with", "-q"]) == 0
    assert Path("with").read_bytes() == Path("tags").read_bytes()
    # As a tagger would have it that is always sure, and wrong.
    monkeypatch.setattr(Tagger, "sure_tags", lambda _, many, **__: (["UH"] * len(s) for s in many))
    command = ["parse", "model", "-i", "sentences.txt"]
    trees = []
    for options in ([], ["--tagger", "with"]):
        assert main([*command, *options]) == 0
        trees.append(capsys.readouterr().out.splitlines())
    assert Tree.from_string(trees[0][2]).tags() == ["DT", "NN", "VBD", "."]
    assert Tree.from_string(trees[1][2]).tags() == ["UH"] * 4
    assert main(["train", "trees.mrg", "-o", "new", "--tagger", "./new"]) == 1
    assert "need a file each" in capsys.readouterr().err


def test_gold_trees_are_cleaned_as_the_tagger_s_own(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    Path("hyphens.mrg").write_text("(S (X-1 go) (Y-2 on))\n" * 3, "utf-8")
    options = ["-o", "model", "--tagger", "cut", "--function-tags", "all", "-q"]
    assert main(["train", "hyphens.mrg", *options]) == 0
    assert main(["tag", "eval", "cut", "hyphens.mrg", "-q"]) == 0
    assert capsys.readouterr().out.startswith("accuracy 100.00")


def test_tags_that_a_grammar_lacks_are_left_to_it(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    Path("other.mrg").write_text("(S (X The) (Y dog))\n(S (X A) (Y bird))\n", "utf-8")
    assert main(["train", "other.mrg", "-o", "other", "-q"]) == 0
    assert main(["parse", "other", "-i", "sentences.txt", "--tagger", "tags"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["apply", "missing"], "No such file"),
        (["apply", "trees.mrg"], "trees.mrg: "),
        (["eval", "tags", "missing.mrg"], "missing.mrg"),
        (["train", "trees.mrg", "-o", "trees.mrg"], "this is an input"),
    ],
)
def test_mistakes_are_explained(folder, capsys, monkeypatch, command, message):
    monkeypatch.chdir(folder)
    assert main(["tag", *command]) == 1
    assert message in capsys.readouterr().err


def test_trees_are_tagged_with_a_warning(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["tag", "apply", "tags", "-i", "trees.mrg"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("lpcfg: trees.mrg: the first line looks like a tree")
    assert printed.out.count("\n") == Path("trees.mrg").read_text("utf-8").count("\n")


def test_brackets_are_words_that_the_tagger_knows():
    tree = Tree.from_string("(S (-LRB- -LRB-) (NN dog) (-RRB- -RRB-))")
    tagger = Tagger().fit([tree] * 3 + [Tree.from_string("(S (NN cat) (NN dog) (NN sun))")])
    assert tagger.tag(["(", "dog", ")"]) == tagger.tag(tree.words()) == tree.tags()
    assert np.array_equal(tagger.posteriors(["("]), tagger.posteriors(["-LRB-"]))


def test_an_error_of_the_input_arrives_after_the_tags_before_it():
    tagger = Tagger().fit([Tree.from_string("(S (NN rain))")])

    def sentences():
        yield from [["rain"], ["rain", "rain"]]
        raise LookupError

    found = []
    with pytest.raises(LookupError):
        found.extend(tagger.tag_many(sentences()))
    assert found == [["NN"], ["NN", "NN"]]


def test_tagged_text_teaches_words_that_the_trees_lack(treebank):
    known = DependencyTree(("DT", "NN", "VBD"), (1, 1, 0), ("det", "nsubj", "root"))
    missing = known._replace(tags=("DT", None, "VBD"))
    words, brackets = ["the", "wug", "blicked"], ["the", "(", "blicked"]
    text = Dependencies([(words, known), (["a", "x", "y"], missing), (brackets, known)])
    both = with_tagged_text(treebank, text)
    assert both.sentences()[: len(treebank)] == treebank.sentences()
    assert [words for words, _ in both.sentences()[len(treebank) :]] == [
        ["the", "wug", "blicked"], ["the", "-LRB-", "blicked"],
    ]  # fmt: skip
    assert {"wug", "blicked"} <= set(Tagger().fit(both).lexicon_.words)
    with pytest.raises(InputError, match="no sentence has a tag for each of its words"):
        with_tagged_text(treebank, Dependencies([(["a", "x", "y"], missing)]))
