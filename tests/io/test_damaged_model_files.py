"""Model files that are damaged, hostile, foreign or something else altogether."""

from __future__ import annotations

import gzip
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg.errors import ModelFileError
from lpcfg.io.model_file import ModelFile, write_model_file

MARKS = {"format": "lpcfg-model", "version": "1", "json": "{}"}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A path to overwrite; of module scope, since hypothesis runs many examples a test."""
    return tmp_path_factory.mktemp("models") / "model.lpcfg"


def write_raw(path, entries, data=b"", marks=MARKS):
    header = (
        entries
        if isinstance(entries, bytes)
        else json.dumps({"__metadata__": marks, **entries}).encode()
    )
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return path


def entry(dtype, shape, start, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize("padding", range(4))
def test_arrays_of_any_alignment_are_read(tmp_path, padding):
    entries = {"a": entry("U8", [1], 0, 1), "b" + "_" * padding: entry("F32", [2], 1, 9)}
    data = b"x" + np.array([1.5, -2.0], "<f4").tobytes()
    file = ModelFile(write_raw(tmp_path / "model", entries, data))
    array = file.array("b" + "_" * padding)
    np.testing.assert_array_equal(array, [1.5, -2.0])
    assert array.flags.aligned
    assert not array.flags.writeable


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"( (S (NP (PRP they)) (VP (VBP agree))) )\n", "is a text file"),
        ("(S (NN été))".encode() * 200, "is a text file"),
        (gzip.compress(b"(S (NN x))", mtime=0), "gzip"),
        (b"\x10\x00", "only 2 bytes"),
        (b"\x10" + bytes(7), "truncated"),
        (b"\x80\x04\x95" + b"\xff" * 20, "claims a header"),
    ],
)
def test_other_files(tmp_path, content, reason):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=reason) as caught:
        ModelFile(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("marks", "reason"),
    [
        ({}, "not an lpcfg model"),
        (MARKS | {"format": "pt"}, "not an lpcfg model"),
        (MARKS | {"version": "99"}, "newer lpcfg.*upgrade"),
        (MARKS | {"version": "x"}, "not a format version"),
        ({"format": "lpcfg-model", "version": "1"}, "document is missing"),
        (MARKS | {"json": "{"}, "not valid JSON"),
        (MARKS | {"json": "[" * 100_000 + "]" * 100_000}, "not valid JSON"),
        (MARKS | {"json": 1}, "not valid JSON"),
    ],
)
def test_marks(tmp_path, marks, reason):
    with pytest.raises(ModelFileError, match=reason):
        ModelFile(write_raw(tmp_path / "model", {}, marks=marks))


HUGE = 2**63


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"a": entry("U8", [3], 0, 3), "b": entry("U8", [3], 2, 5)}, "overlaps"),
        ({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 0, 4)}, "overlaps"),
        ({"a": entry("U8", [2], 0, 2), "b": entry("U8", [1], 3, 4)}, "overlaps"),
        ({"a": entry("U8", [4], 4, 0)}, "overlaps"),
        ({"a": entry("U8", [4], -4, 0)}, "does not describe"),
        ({"a": entry("U8", [-4], 0, 4)}, "does not describe"),
        ({"a": entry("U8", [2**70], 0, 4)}, "does not describe"),
        ({"a": entry("PICKLE", [4], 0, 4)}, "does not describe"),
        ({"a": entry("U8", [[4]], 0, 4)}, "does not describe"),
        ({"a": {"dtype": "U8"}}, "does not describe"),
        ({"a": entry("F16", [2], 0, 4)}, "models do not use"),
        ({"a": entry("U8", [5], 0, 4)}, "does not match"),
        ({"a": entry("U8", [HUGE, 4], 0, 4)}, "larger than any memory"),
        ({"a": entry("U8", [1] * 64 + [4], 0, 4)}, "impossible shape"),
        ({"a": entry("U8", [9], 0, 9)}, "truncated"),
        ({"a": entry("U8", [3], 0, 3)}, "arrays end at"),
        ({}, "arrays end at"),
    ],
)
def test_hostile_arrays(tmp_path, entries, reason):
    with pytest.raises(ModelFileError, match=reason):
        ModelFile(write_raw(tmp_path / "model", entries, b"abcd"))


@pytest.mark.parametrize("shape", [[0, HUGE], [HUGE, 0], [HUGE // 8, 0, 2]])
def test_a_zero_does_not_hide_an_impossible_length(tmp_path, shape):
    with pytest.raises(ModelFileError, match="impossible shape"):
        ModelFile(write_raw(tmp_path / "model", {"a": entry("F64", shape, 0, 0)}))


@pytest.mark.parametrize(
    "header",
    [b"", b"{", b"[]", b"null", b'{"a":' * 100_000, b"\xff\xfe", b'{"a":1,"a":1}'],
    ids=lambda header: repr(header[:12]),
)
def test_hostile_headers(tmp_path, header):
    with pytest.raises(ModelFileError):
        ModelFile(write_raw(tmp_path / "model", header))


def test_duplicate_names(tmp_path):
    array = json.dumps(entry("U8", [1], 0, 1))
    header = f'{{"__metadata__":{json.dumps(MARKS)},"a":{array},"a":{array}}}'
    with pytest.raises(ModelFileError, match='two entries named "a"'):
        ModelFile(write_raw(tmp_path / "model", header.encode(), b"x"))


@given(st.data())
def test_damage_is_an_error_or_harmless(scratch, data):
    write_model_file(scratch, {"a": np.arange(6.0).reshape(2, 3), "b": np.array([3, -1])}, {})
    content = bytearray(scratch.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    scratch.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        file = ModelFile(scratch)
    except ModelFileError:
        return
    for name in file.names():
        assert file.array(name).nbytes == file.dtype(name).itemsize * np.prod(file.shape(name))
