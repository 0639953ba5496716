"""Exceptions: what they are about is an attribute, and they survive pickling."""

import copy
import pickle
from pathlib import Path

import pytest

from lpcfg import errors

CASES = [
    (errors.LpcfgError("wrong"), {}, "wrong"),
    (errors.InternalError("the core panicked"), {}, "the core panicked"),
    (
        errors.TreebankError("a second word", file="a.mrg", line=17, column=200),
        {"file": "a.mrg", "line": 17, "column": 200},
        "a.mrg:17:200: a second word",
    ),
    (
        errors.TreebankError("no trees", file=Path("a.mrg")),
        {"file": "a.mrg", "line": None, "column": None},
        "a.mrg: no trees",
    ),
    (errors.TreebankError("no trees"), {"file": None}, "no trees"),
    (
        errors.GrammarError("NP has no rules", line=2, column=6),
        {"line": 2, "column": 6},
        "line 2, column 6: NP has no rules",
    ),
    (errors.GrammarError("no root"), {"line": None, "column": None}, "no root"),
    (
        errors.ModelFileError("is truncated", path=Path("a.lpcfg")),
        {"path": "a.lpcfg"},
        "a.lpcfg: is truncated",
    ),
    (errors.NotAModelError("is empty", path="a"), {"path": "a"}, "a: is empty"),
    (
        errors.InputError("must be positive, not -1", argument="n_jobs"),
        {"argument": "n_jobs"},
        "n_jobs: must be positive, not -1",
    ),
    (
        errors.MissingPackageError("raw text", package="spacy", extra="text"),
        {"package": "spacy", "extra": "text"},
        "raw text needs spacy: pip install 'lpcfg[text]'",
    ),
    (errors.InputError("words and tags differ"), {"argument": None}, "words and tags differ"),
]


@pytest.mark.parametrize(("error", "attributes", "text"), CASES)
def test_attributes_and_text(error, attributes, text):
    for own in (error, pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(own) is type(error)
        assert str(own) == text
        assert {name: getattr(own, name) for name in attributes} == attributes
        assert text.endswith(own.message)
        assert own.args == (own.message,)


def test_every_error_can_be_caught_as_one():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.LpcfgError)
    for error in (errors.TreebankError, errors.GrammarError, errors.ModelFileError):
        assert issubclass(error, ValueError)


def test_an_argument_is_left_out_only_where_the_message_opens_with_it():
    for message in ("n_jobs must be positive", "HMM: n_jobs must be positive"):
        assert str(errors.InputError(message, argument="n_jobs")) == message
    folder = errors.InputError("this is a file; name a folder for the models", argument="models")
    assert str(folder) == "models: this is a file; name a folder for the models"
