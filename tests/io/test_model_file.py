"""Model files: round trips, and paths and arguments that are wrong."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from lpcfg import _core
from lpcfg.errors import InputError, ModelFileError
from lpcfg.io.model_file import (
    ModelFile,
    pack_strings,
    read_document,
    unpack_strings,
    write_model_file,
)

DTYPES = ["uint8", "int32", "uint32", "int64", "uint64", "float32", "float64"]
ARRAYS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "ids": np.array([3, -1], "i4")}

arrays_of_models = st.dictionaries(
    st.text(max_size=8),
    st.builds(
        lambda dtype, shape, data: np.resize(np.frombuffer(data, dtype), shape),
        st.sampled_from(DTYPES),
        npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        st.binary(min_size=32, max_size=32),
    ),
    max_size=5,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A path to overwrite; of module scope, since hypothesis runs many examples a test."""
    return tmp_path_factory.mktemp("models") / "model.lpcfg"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.lpcfg"
    write_model_file(path, ARRAYS, {"estimator": "pcfg"})
    return path


@given(
    arrays=arrays_of_models, document=st.dictionaries(st.text(max_size=5), json_values, max_size=4)
)
def test_round_trip(scratch, arrays, document):
    write_model_file(scratch, arrays, document)
    file = ModelFile(scratch)
    assert file.names() == sorted(arrays)
    assert read_document(file, {}) == document
    for name, expected in arrays.items():
        found = file.array(name)
        assert found.dtype == expected.dtype == file.dtype(name)
        assert found.shape == expected.shape == file.shape(name)
        assert found.tobytes() == expected.tobytes()


def test_equal_contents_give_equal_bytes(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    write_model_file(first, ARRAYS, {"b": 1, "a": 2})
    write_model_file(second, dict(reversed(ARRAYS.items())), {"a": 2, "b": 1})
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(4, 6)[::2, ::-3],
        np.broadcast_to(np.float32(1.5), (2, 2)),
    ],
    ids=["column-major", "strided", "broadcast"],
)
def test_arrays_of_any_layout_are_written_in_row_major_order(tmp_path, array):
    path = tmp_path / "model"
    write_model_file(path, {"a": array}, {})
    found = ModelFile(path).array("a")
    np.testing.assert_array_equal(found, array)
    assert found.flags.c_contiguous


def test_arrays_borrow_from_the_bytes_and_keep_them_alive(model):
    file = ModelFile(model)
    array = file.array("weights")
    again = file.array("weights")
    assert array.base is file
    assert np.shares_memory(array, again)
    del file, again
    gc.collect()
    np.testing.assert_array_equal(array, ARRAYS["weights"])


def test_arrays_cannot_be_made_writable(model):
    array = ModelFile(model).array("weights")
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True


def test_an_open_file_can_be_replaced(model):
    old = ModelFile(model).array("weights")
    write_model_file(model, {"weights": old * 2}, {})
    np.testing.assert_array_equal(old, ARRAYS["weights"])
    np.testing.assert_array_equal(ModelFile(model).array("weights"), ARRAYS["weights"] * 2)


def test_two_processes_read_one_file(model):
    file = ModelFile(model)
    code = (
        "import sys; from lpcfg.io.model_file import ModelFile;"
        "print(ModelFile(sys.argv[1]).array('weights').sum())"
    )
    command = [sys.executable, "-c", code, str(model)]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [reader.communicate()[0].strip() for reader in readers]
    assert answers == ["15.0", "15.0"]
    assert file.array("weights").sum() == 15.0


def test_what_a_reader_expects_is_checked(model):
    file = ModelFile(model)
    file.array("weights", dtype="f4", shape=(2, None))
    with pytest.raises(ModelFileError, match="type float32, expected float64"):
        file.array("weights", dtype=np.float64)
    with pytest.raises(ModelFileError, match=r"shape \[2, 3\], expected \[any, 4\]"):
        file.array("weights", shape=(None, 4))
    for ask in (file.array, file.shape, file.dtype):
        with pytest.raises(ModelFileError, match='no array "wieghts"; it has: ids, weights'):
            ask("wieghts")


def test_path_and_repr(model):
    file = ModelFile(model)
    assert file.path == str(model)
    assert repr(file) == f"ModelFile({str(model)!r})"


# Paths that are no files.


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ModelFile(tmp_path / "absent")
    assert caught.value.filename == str(tmp_path / "absent")


def test_directory(tmp_path):
    with pytest.raises(IsADirectoryError):
        ModelFile(tmp_path)
    with pytest.raises(IsADirectoryError):
        write_model_file(tmp_path, {}, {})


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user"
)
def test_permissions(model):
    before = model.read_bytes()
    model.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write_model_file(model, {}, {})
        assert model.read_bytes() == before
    finally:
        model.parent.chmod(0o700)
    model.chmod(0)
    with pytest.raises(PermissionError) as caught:
        ModelFile(model)
    assert caught.value.filename == str(model)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="pipe"):
        ModelFile(tmp_path / "pipe")


# Files that cannot be written.


@pytest.mark.parametrize(
    ("arrays", "text", "error"),
    [
        ({}, b"{}", TypeError),
        ({}, "{", ModelFileError),
        ({}, "NaN", ModelFileError),
        ({"a": [1, 2]}, "{}", TypeError),
        ({1: np.zeros(1)}, "{}", TypeError),
        ({"a": np.zeros(1, "f2")}, "{}", ModelFileError),
        ({"a": np.zeros(1, ">f4")}, "{}", ModelFileError),
        ({"a": np.array(["x"])}, "{}", ModelFileError),
        ({"a": np.array([None])}, "{}", ModelFileError),
        ({"__metadata__": np.zeros(1)}, "{}", ModelFileError),
    ],
)
def test_a_failed_write_leaves_the_old_file(model, arrays, text, error):
    before = model.read_bytes()
    with pytest.raises(error):
        _core.write_model_file(model, arrays, text)
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_full_disk_leaves_the_old_file(model):
    before = model.read_bytes()
    code = (
        "import resource, sys, numpy; from lpcfg.io.model_file import write_model_file;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "write_model_file(sys.argv[1], {'a': numpy.zeros(10_000_000)}, {})"
    )
    # Byte code caches would meet the limit too.
    command = [sys.executable, "-B", "-c", code, str(model)]
    writer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"OSError: [Errno {errno.EFBIG}]" in writer.stderr
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


def test_missing_directory(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_model_file(tmp_path / "absent" / "model", {}, {})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), "\ud800", {1, 2}])
def test_documents_that_are_not_json(tmp_path, value):
    with pytest.raises(InputError, match="cannot be written as JSON"):
        write_model_file(tmp_path / "model", {}, {"value": value})
    assert not list(tmp_path.iterdir())


def test_a_relative_path_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_model_file("model.lpcfg", {}, {})
    assert ModelFile(Path("model.lpcfg")).names() == []


# Documents and strings.


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        (1, int, True),
        (True, int, False),
        (True, bool, True),
        (1, float, True),
        (1.5, float, True),
        (1.5, int, False),
        ("x", str, True),
        ([], list, True),
        ({}, list, False),
        (None, str, False),
    ],
)
def test_required_types(tmp_path, value, kind, fits):
    path = tmp_path / "model"
    write_model_file(path, {}, {"value": value})
    if fits:
        assert read_document(ModelFile(path), {"value": kind}) == {"value": value}
    else:
        with pytest.raises(ModelFileError, match=f"'value'.*expected {kind.__name__}"):
            read_document(ModelFile(path), {"value": kind})


def test_required_keys(model):
    with pytest.raises(ModelFileError, match="lacks 'seed', 'symbols'") as caught:
        read_document(ModelFile(model), {"estimator": str, "seed": int, "symbols": list})
    assert str(model) in str(caught.value)


def test_a_document_must_be_an_object(tmp_path):
    _core.write_model_file(tmp_path / "model", {}, "[1]")
    with pytest.raises(ModelFileError, match="not an object"):
        read_document(ModelFile(tmp_path / "model"), {})


@given(st.lists(st.text(max_size=6)))
@example([])
@example([""])
@example(["", "a\0b", "", "Ünï", "語", "🌲", ""])
def test_strings_survive(scratch, strings):
    write_model_file(scratch, pack_strings("words", strings), {})
    file = ModelFile(scratch)
    assert unpack_strings(file, "words") == tuple(strings)
    assert unpack_strings(file, "words", count=len(strings)) == tuple(strings)
    with pytest.raises(ModelFileError, match="expected"):
        unpack_strings(file, "words", count=len(strings) + 1)


@pytest.mark.parametrize(
    ("utf8", "ends", "reason"),
    [
        (b"abc", [2, 1, 3], "follow each other"),
        (b"abc", [1, 2], "do not fill"),
        (b"abc", [1, 4], "do not fill"),
        (b"abc", [], "do not fill"),
        (b"", [2**32 - 1], "do not fill"),
        ("é".encode(), [1, 2], "not UTF-8"),
        (b"\xff", [1], "not UTF-8"),
    ],
)
def test_damaged_strings(tmp_path, utf8, ends, reason):
    arrays = {
        "words.utf8": np.frombuffer(utf8, np.uint8),
        "words.ends": np.array(ends, np.uint32),
    }
    write_model_file(tmp_path / "model", arrays, {})
    with pytest.raises(ModelFileError, match=reason):
        unpack_strings(ModelFile(tmp_path / "model"), "words")


def test_strings_that_cannot_be_packed():
    with pytest.raises(InputError, match=r"words: .*ud800.* cannot be written as UTF-8"):
        pack_strings("words", ["fine", "\ud800"])
    with pytest.raises(InputError, match="not one string"):
        pack_strings("words", "abc")
