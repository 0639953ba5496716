"""Loading and saving: one function each for models of all kinds."""

import importlib
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import lpcfg
from lpcfg import (
    HMM,
    CRFParser,
    Ensemble,
    Grammar,
    InputError,
    ModelFileError,
    NotAModelError,
    Parser,
    PCFGEstimator,
    Reranker,
    SpectralHMM,
    Tagger,
    Treebank,
    WordClusters,
    embedded_trees,
    load,
    save,
)
from lpcfg.io import examine, models
from lpcfg.io.model_file import ModelFile, read_document, write_model_file
from lpcfg.lm import AggregateBigram
from support.grammars import WEATHER, embedded_grammar

TREEBANK = Treebank.from_trees(embedded_trees(60))
WORDS = TREEBANK.trees()[0].words()
SEQUENCES = [["a", "b", "a", "b"], ["b", "a", "b"], ["a", "a", "b", "c"]]


def fitted(kind):
    """A model of a kind, and a function that uses it."""
    match kind:
        case "grammar":
            return embedded_grammar(), lambda grammar: Parser(grammar).analyze(words=WORDS)
        case "tagger":
            return Tagger().fit(TREEBANK), lambda tagger: tagger.tag(WORDS)
        case "hidden Markov model":
            return HMM(n_states=2).fit(SEQUENCES), lambda hmm: hmm.score(SEQUENCES)
        case "spectral hidden Markov model":
            return SpectralHMM().fit(SEQUENCES), lambda hmm: hmm.score(SEQUENCES)
        case "aggregate bigram model":
            return AggregateBigram(2).fit([WORDS * 2]), lambda model: model.perplexity([WORDS])
        case "word clusters":
            model = WordClusters((1, 2, 3), min_count=1).fit([WORDS])
            return model, lambda model: model.neighbours(WORDS[0])
        case "ensemble":
            model = Ensemble([embedded_grammar(), Grammar.from_string(WEATHER)], weights=[2, 1])
        case "reranker":
            model = Reranker([PCFGEstimator()], folds=2, candidates=4, min_count=1).fit(TREEBANK)
    return model, lambda parser: parser.analyze(words=WORDS, candidates=3)


@pytest.mark.parametrize("kind", models._FORMATS)
def test_every_kind_is_saved_and_loaded(kind, tmp_path):
    model, use = fitted(kind)
    save(model, tmp_path / "model")
    assert examine(tmp_path / "model").kind == kind
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert use(loaded) == use(model)
    assert use(load(tmp_path / "model", type(model))) == use(model)
    if kind not in ("grammar", "ensemble"):
        assert use(type(model).load(tmp_path / "model")) == use(model)


#: Loads a model, empties its files, and saves the model elsewhere, which reads all its arrays.
EMPTIED = """
import pathlib, sys
import lpcfg

path, other = map(pathlib.Path, sys.argv[1:])
model = lpcfg.load(path)
for file in path.rglob("*.lpcfg") if path.is_dir() else [path]:
    with file.open("r+b") as opened:
        opened.truncate(0)
lpcfg.save(model, other)
"""


@pytest.mark.parametrize("kind", models._FORMATS)
def test_a_loaded_model_does_not_depend_on_its_files(kind, tmp_path):
    model, use = fitted(kind)
    save(model, tmp_path / "model")
    command = [sys.executable, "-c", EMPTIED, tmp_path / "model", tmp_path / "other"]
    subprocess.run(command, check=True)
    assert use(load(tmp_path / "other")) == use(model)


@pytest.mark.parametrize("kind", models._FORMATS)
def test_the_table_of_formats_is_right(kind):
    assert models._resolve(models._FORMATS[kind]).kind == kind
    (name,) = [name for name, own in models._KINDS.items() if own == kind]
    module, attribute = name.split(":")
    assert models._kind_of(getattr(importlib.import_module(module), attribute)) == kind


def test_another_kind_than_expected(tmp_path):
    tagger, _ = fitted("tagger")
    save(tagger, tmp_path / "tags.lpcfg")
    for attempt in (
        lambda path: load(path, Grammar),
        HMM.load,
        AggregateBigram.load,
        Reranker.load,
        Parser.load,
    ):
        with pytest.raises(ModelFileError, match=r"holds a tagger, not an? ") as raised:
            attempt(tmp_path / "tags.lpcfg")
        assert raised.value.path == str(tmp_path / "tags.lpcfg")
        assert raised.value.message.startswith("holds a tagger")


def test_what_is_no_model(tmp_path):
    texts = {"text": "(NN rain)", "empty": "", "short": "ab"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(NotAModelError) as raised:
            load(tmp_path / name)
        assert raised.value.path == str(tmp_path / name)
    with pytest.raises(NotAModelError, match="there are no model files in this folder"):
        load(tmp_path)
    for attempt in (load, Parser.load, Tagger.load, Reranker.load):
        with pytest.raises(FileNotFoundError) as raised:
            attempt(tmp_path / "missing")
        assert raised.value.filename == str(tmp_path / "missing")


def test_a_damaged_model_is_not_taken_for_something_else(tmp_path):
    path = tmp_path / "model.lpcfg"
    save(embedded_grammar(), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match="is truncated") as raised:
        load(path)
    assert not isinstance(raised.value, NotAModelError)
    with pytest.raises(ModelFileError, match="is truncated"):
        load(tmp_path)


def test_folders_of_models(tmp_path):
    tagger, _ = fitted("tagger")
    grammar = embedded_grammar()
    save([grammar, tagger], tmp_path / "models")
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == ["1.lpcfg", "2.lpcfg"]
    assert list(map(type, load(tmp_path / "models"))) == [Grammar, Tagger]
    with pytest.raises(ModelFileError, match="holds a tagger, not a grammar") as raised:
        Parser.load(tmp_path / "models")
    assert raised.value.path == str(tmp_path / "models" / "2.lpcfg")
    with pytest.raises(InputError, match="something already") as raised:
        save([grammar], tmp_path / "models")
    assert raised.value.path == str(tmp_path / "models")
    with pytest.raises(InputError, match="a str cannot be saved"):
        save([grammar, "text"], tmp_path / "others")
    assert not (tmp_path / "others").exists()


def test_a_file_of_a_folder_is_not_the_model(tmp_path):
    model, _ = fitted("ensemble")
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="a part of an ensemble; name the folder"):
        load(tmp_path / "model" / "ensemble.lpcfg")
    # Whoever takes a part away hears which one is missing.
    shutil.rmtree(tmp_path / "model" / "2")
    with pytest.raises(FileNotFoundError) as raised:
        load(tmp_path / "model")
    assert raised.value.filename == str(tmp_path / "model" / "2")


def test_parsers_and_estimators_are_saved_as_their_grammars(tmp_path):
    grammar = embedded_grammar()
    latent = [lpcfg.SpectralEstimator(random_state=n).fit(TREEBANK).grammar_ for n in range(2)]
    save(Parser(grammar, decoder="viterbi"), tmp_path / "one.lpcfg")
    save(Parser(latent), tmp_path / "two")
    save(PCFGEstimator().fit(TREEBANK), tmp_path / "estimator.lpcfg")
    save(CRFParser(epochs=1, bits=10).fit(TREEBANK), tmp_path / "crf.lpcfg")
    assert isinstance(load(tmp_path / "one.lpcfg"), Grammar)
    assert load(tmp_path / "estimator.lpcfg").provenance["estimator"] == "pcfg"
    assert load(tmp_path / "crf.lpcfg").crf_weights is not None
    assert len(load(tmp_path / "two")) == 2
    parser = Parser.load(tmp_path / "two", combine="trees", decoder="max-rule", n_jobs=1)
    assert isinstance(parser, Parser)
    assert (parser.combine, parser.decoder, parser.n_jobs) == ("trees", "max-rule", 1)
    expected = Parser(latent, combine="trees", decoder="max-rule").analyze(words=WORDS)
    assert parser.analyze(words=WORDS) == expected


def test_the_english_model_has_a_name(tmp_path, monkeypatch):
    parser = Parser.load("english")
    assert parser.parse(words=WORDS).words() == WORDS
    assert load("english").tags == parser.grammar.tags
    # A path that exists is meant, whatever its name is.
    monkeypatch.chdir(tmp_path)
    save(Grammar.from_string(WEATHER), "english")
    assert len(load("english").symbols) == 3


def test_crf_weights_belong_to_a_version_of_the_templates(tmp_path):
    path = tmp_path / "crf.lpcfg"
    save(CRFParser(epochs=1, bits=10).fit(TREEBANK), path)
    file = ModelFile(path)
    arrays = {name: np.array(file.array(name)) for name in file.names()}
    document = read_document(file, {})
    assert document["crf"]["template_version"] == lpcfg._core.crf_template_version
    document["crf"]["template_version"] += 1
    write_model_file(path, arrays, document)
    with pytest.raises(ModelFileError, match=r"version \d+ of the feature templates") as raised:
        load(path)
    assert "train the model again" in raised.value.message
    assert raised.value.path == str(path)
    del document["crf"]["template_version"]
    write_model_file(path, arrays, document)
    with pytest.raises(ModelFileError, match="template_version"):
        load(path)


def test_pipes_and_devices_in_a_folder_of_models(tmp_path):
    """Opening a pipe would wait for a writer, and reading some devices never ends."""
    save(embedded_grammar(), tmp_path / "1.lpcfg")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert len(load(tmp_path)) == 1
    os.mkfifo(tmp_path / "2.lpcfg")
    with pytest.raises(ModelFileError, match=r"2\.lpcfg: this is no model file; remove it"):
        load(tmp_path)
    with pytest.raises(NotAModelError):
        load(tmp_path / "2.lpcfg")


def test_an_empty_path_is_not_the_working_folder(tmp_path, monkeypatch):
    save(embedded_grammar(), tmp_path / "1.lpcfg")
    monkeypatch.chdir(tmp_path)
    for read in (load, Parser.load, examine):
        with pytest.raises(InputError, match="must not be empty"):
            read("")
