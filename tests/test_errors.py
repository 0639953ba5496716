"""Exceptions: what they are about is an attribute, and they survive pickling."""

import ast
import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import lpcfg
from lpcfg import errors

PACKAGE = Path(lpcfg.__file__).parent

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
        errors.InputError("unknown parameter", path=Path("new.prm"), line=3),
        {"argument": None, "path": "new.prm", "line": 3},
        "new.prm:3: unknown parameter",
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


#: Where an InputError is raised without its subject, and who names it.
UNNAMED = {
    "corpus/_lines.py": "a line; the part of the corpus that has it names file and line",
    "estimators/base.py": "an estimator that was not fitted, which is no argument",
    "parameters/constraints.py": "a text; argparse names its option",
}

#: The attributes of which an error in a file has at least one.
SUBJECTS = {
    "InputError": {"argument", "path"},
    "ModelFileError": {"path"},
    "NotAModelError": {"path"},
}


def errors_made(name: str) -> Iterator[tuple[str, ast.Call]]:
    """The module and the call of each place in the package that makes such an error."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
                yield path.relative_to(PACKAGE).as_posix(), node


@pytest.mark.parametrize("name", SUBJECTS)
def test_errors_have_their_subject_as_an_attribute(name):
    made = list(errors_made(name))
    unnamed = [
        (module, call.lineno)
        for module, call in made
        if not SUBJECTS[name] & {keyword.arg for keyword in call.keywords}
    ]
    assert made
    assert [place for place in unnamed if place[0] not in UNNAMED] == []


def test_the_list_of_unnamed_subjects_is_needed():
    unnamed = {
        module
        for module, call in errors_made("InputError")
        if not SUBJECTS["InputError"] & {keyword.arg for keyword in call.keywords}
    }
    assert unnamed == set(UNNAMED)


def test_messages_do_not_begin_with_a_file():
    prefixes = []
    for name in ("InputError", "TreebankError", "ModelFileError", "NotAModelError"):
        for module, call in errors_made(name):
            if not call.args or not isinstance(call.args[0], ast.JoinedStr):
                continue
            first, *rest = call.args[0].values
            prefixed = isinstance(first, ast.FormattedValue) and rest
            if prefixed and isinstance(rest[0], ast.Constant) and rest[0].value.startswith(":"):
                prefixes.append((module, ast.unparse(first.value)))
    # A class and a place among the sequences of an argument are no files.
    assert sorted(prefixes) == [
        ("estimators/base.py", "type(self).__name__"),
        ("parameters/parameterized.py", "type(self).__name__"),
        ("sequence/_symbols.py", "sequences.position(index)"),
    ]
