"""Grammars as files: what is saved is loaded, and nothing else is."""

import random
from dataclasses import fields

import numpy as np
import pytest

from lpcfg import (
    Grammar,
    LexiconOptions,
    ModelFileError,
    NotAModelError,
    Parser,
    PCFGEstimator,
    Transform,
    Tree,
    Treebank,
    embedded_trees,
    load,
    save,
)
from lpcfg.io.model_file import (
    ModelFile,
    is_model_file,
    pack_strings,
    read_document,
    write_model_file,
)
from support.grammars import WEATHER, embedded_grammar

SENTENCES = [
    ["The", "dog", "saw", "a", "bird", "."],
    ["Xerxes", "2000", "blorping", "-LRB-", "\U0001f642"],
]


def learnt(**options):
    trees = embedded_trees(60)
    transform = Transform(**options.pop("transform", {}))
    estimator = PCFGEstimator(lexicon=LexiconOptions(**options))
    return estimator.fit(Treebank.from_trees(trees, transform=transform)).grammar_


@pytest.fixture(
    params=["hand-written", "learnt", "english", "tag", "odd labels", "unary"], scope="module"
)
def grammar(request):
    match request.param:
        case "hand-written":
            return Grammar.from_string(WEATHER)
        case "learnt":
            return embedded_grammar()
        case "english" | "tag":
            return learnt(classes=request.param)
        case "odd labels":
            tree = Tree("Ω|+", [Tree("@A", "ß"), Tree("A^B", [Tree("-LRB-", "(")]), Tree(",", "")])
            return PCFGEstimator().fit(Treebank.from_trees([tree])).grammar_
        case "unary":
            keep = {"collapse_root": False, "collapse_inside": False}
            return learnt(transform=keep | {"collapse_preterminals": False})


def assert_equal(first, second):
    """Compare two grammars field by field, types of arrays included."""
    for field in fields(first):
        mine, other = getattr(first, field.name), getattr(second, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == other.dtype, field.name
            np.testing.assert_array_equal(mine, other, err_msg=field.name)
        elif field.name == "lexicon":
            assert_equal(mine, other)
        else:
            assert mine == other, field.name


def test_what_is_saved_is_loaded(grammar, tmp_path):
    save(grammar, tmp_path / "model.lpcfg")
    loaded = load(tmp_path / "model.lpcfg")
    assert_equal(grammar, loaded)
    for words in SENTENCES:
        parses = [Parser(g).analyze(words=words, candidates=3) for g in (grammar, loaded)]
        assert parses[0] == parses[1]


def test_equal_grammars_give_equal_bytes(grammar, tmp_path):
    first, second = tmp_path / "first.lpcfg", tmp_path / "second.lpcfg"
    save(grammar, first)
    save(load(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_saving_replaces_a_file(tmp_path):
    path = tmp_path / "model.lpcfg"
    save(embedded_grammar(), path)
    save(Grammar.from_string(WEATHER), str(path))
    assert len(load(str(path)).symbols) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["model.lpcfg"]


def test_a_model_file_is_recognised(tmp_path):
    path = tmp_path / "model.lpcfg"
    save(Grammar.from_string(WEATHER), path)
    assert is_model_file(path)
    for content in (b"", b"(NN rain)", b"{}", b"\0" * 20, b"\x1f\x8b" + b"\0" * 20):
        path.write_bytes(content)
        assert not is_model_file(path)
    assert not is_model_file(tmp_path)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.lpcfg")
    with pytest.raises(NotAModelError, match="there are no model files in this folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        save(Grammar.from_string(WEATHER), tmp_path / "missing" / "model.lpcfg")


# Files that are well-formed, but no grammars


@pytest.fixture
def contents(tmp_path):
    """The arrays and the document of a valid file, to be spoilt."""
    path = tmp_path / "valid.lpcfg"
    save(learnt(), path)
    file = ModelFile(path)
    arrays = {}
    for name in file.names():
        for dtype in (np.float64, np.uint32, np.int32, np.int64, np.uint8):
            for shape in ((None,), (None, 2), (None, 3)):
                try:
                    arrays[name] = file.array(name, dtype, shape).copy()
                except ModelFileError:
                    continue
    assert arrays.keys() == set(file.names())
    return arrays, read_document(file, {})


def refused(path, arrays, document):
    """The message with which a file is refused; it begins with the path."""
    write_model_file(path, arrays, document)
    with pytest.raises(ModelFileError) as raised:
        load(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    return message


ARRAYS = [
    "roots",
    "binary_rules",
    "binary_probabilities",
    "unary_rules",
    "unary_probabilities",
    "emission_offsets",
    "emission_symbols",
    "emission_probabilities",
    "words.utf8",
    "words.ends",
    "classes.utf8",
    "classes.ends",
    "weights",
]


@pytest.mark.parametrize("name", ARRAYS)
def test_a_missing_array(contents, tmp_path, name):
    arrays, document = contents
    del arrays[name]
    assert name in refused(tmp_path / "spoilt.lpcfg", arrays, document)


@pytest.mark.parametrize("name", ["kind", "symbols", "word_classes", "provenance"])
@pytest.mark.parametrize("value", [None, 3, "text", [3], {"a": 1}, True])
def test_wrong_types_in_the_document(contents, tmp_path, name, value):
    arrays, document = contents
    if isinstance(value, type(document[name])) and name == "provenance":
        value = [value]
    refused(tmp_path / "spoilt.lpcfg", arrays, document | {name: value})
    del document[name]
    assert name in refused(tmp_path / "spoilt.lpcfg", arrays, document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "lexicon"}, "holds a lexicon, which cannot be loaded"),
        ({"symbols": [["S"]]}, "not a symbol of four parts"),
        ({"symbols": [[[], [], None, False]]}, "a symbol needs a label"),
        ({"symbols": [[[1], [], None, False]]}, "labels must be lists of strings"),
        ({"symbols": [[["S"], [], None, False]]}, "roots"),
        ({"symbols": []}, "roots"),
        ({"word_classes": {"kind": "sorcery"}}, "sorcery"),
        ({"word_classes": {"kind": "learnt"}}, "no word classes can be made of"),
        ({"word_classes": {"kind": "learnt", "suffixes": 3}}, "no word classes can be made of"),
        ({"word_classes": {}}, "no word classes can be made of"),
        ({"lowercase_initial": "yes"}, "lowercase_initial"),
        ({"provenance": {"cleaning": {"function_tags": "none"}}}, "function_tags"),
        ({"provenance": {"cleaning": 3}}, "cannot build Cleaning from 3"),
        ({"provenance": {"cleaning": {"remove_empty": 3}}}, "remove_empty must be True or False"),
        ({"provenance": {"cleaning": {"root_label": 3}}}, "root_label must be a string"),
        ({"provenance": {"cleaning": {"broom": True}}}, "broom"),
    ],
)
def test_wrong_values_in_the_document(contents, tmp_path, change, message):
    arrays, document = contents
    assert message in refused(tmp_path / "spoilt.lpcfg", arrays, document | change)


@pytest.mark.parametrize("name", ["binary_rules", "emission_symbols", "coarse"])
@pytest.mark.parametrize("symbol", [1000, 2**31 - 1, -1])
def test_symbols_out_of_range(contents, tmp_path, name, symbol):
    arrays, document = contents
    arrays[name].flat[-1] = np.array(symbol).astype(arrays[name].dtype)
    refused(tmp_path / "spoilt.lpcfg", arrays, document)


@pytest.mark.parametrize(
    "name", ["roots", "binary_probabilities", "emission_probabilities", "weights"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -0.5])
def test_probabilities_that_are_none(contents, tmp_path, name, value):
    arrays, document = contents
    arrays[name][0] = value
    refused(tmp_path / "spoilt.lpcfg", arrays, document)


@pytest.mark.parametrize("name", ARRAYS)
def test_wrong_shapes_and_types(contents, tmp_path, name):
    arrays, document = contents
    path = tmp_path / "spoilt.lpcfg"
    valid = arrays[name]
    longer = np.concatenate([valid, np.ones((1, *valid.shape[1:]), valid.dtype)])
    refused(path, arrays | {name: longer}, document)
    refused(path, arrays | {name: valid.reshape(*valid.shape, 1)}, document)
    # Single precision is fine for emission probabilities.
    wrong = np.int32 if name == "emission_probabilities" else np.float32
    refused(path, arrays | {name: valid.astype(wrong)}, document)


@pytest.mark.parametrize("offset", [-1, 0, 10**6, 2**62])
def test_offsets_that_do_not_ascend(contents, tmp_path, offset):
    arrays, document = contents
    arrays["emission_offsets"][-1] = offset
    refused(tmp_path / "spoilt.lpcfg", arrays, document)


def test_words_twice(contents, tmp_path):
    arrays, document = contents
    words = ["the"] * len(arrays["words.ends"])
    assert "the" in refused(
        tmp_path / "spoilt.lpcfg", arrays | pack_strings("words", words), document
    )


def test_classes_without_the_last_resort(contents, tmp_path):
    arrays, document = contents
    classes = [f"C{number}" for number in range(len(arrays["classes.ends"]))]
    message = refused(
        tmp_path / "spoilt.lpcfg", arrays | pack_strings("classes", classes), document
    )
    assert "UNK" in message


def test_damaged_bytes_are_refused_or_make_another_grammar(tmp_path):
    """Whatever a file holds, it is a grammar that can be parsed with or a ModelFileError."""
    path = tmp_path / "valid.lpcfg"
    save(learnt(), path)
    valid = path.read_bytes()
    damaged = tmp_path / "damaged.lpcfg"
    draw = random.Random(7)
    # The header is denser in meaning than the arrays behind it.
    header = 8 + int.from_bytes(valid[:8], "little")
    places = [draw.randrange(header) for _ in range(250)]
    places += [draw.randrange(header, len(valid)) for _ in range(250)]
    refusals, loaded = [], 0
    for place in places:
        content = bytearray(valid)
        content[place] = draw.randrange(256)
        damaged.write_bytes(content)
        try:
            grammar = load(damaged)
        except ModelFileError as error:
            refusals.append(str(error))
        else:
            assert Parser(grammar, n_jobs=1).parse(words=SENTENCES[0]).words() == SENTENCES[0]
            loaded += 1
    assert loaded
    assert refusals
    assert all(str(damaged) in message for message in refusals)
