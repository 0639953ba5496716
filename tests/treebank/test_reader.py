"""Reading: every kind of source, every kind of mistake, lazily and all at once."""

import _thread
import errno
import gzip
import io
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg._core import BracketReader
from lpcfg.errors import InputError, TreebankError
from lpcfg.treebank import reader, sources
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.forest import Forest
from lpcfg.treebank.reader import (
    ReadReport,
    TreebankWarning,
    read_forest,
    read_table,
    read_trees,
)
from lpcfg.treebank.sources import read_chunks
from lpcfg.treebank.transform import Transform
from lpcfg.treebank.tree import Tree
from support.treebank_trees import names, trees

RAIN = "(NP (DT the) (NN rain))"
SUN = "(NP (DT the) (NN sun))"


def texts(sources, **options):
    return [tree and str(tree) for tree in read_trees(sources, **options)]


def stream(text):
    return io.BytesIO(text.encode())


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time and counts how often it was asked."""

    def __init__(self, content, step):
        self.content, self.step, self.reads = content, step, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        self.reads += 1
        size = min(self.step, len(buffer))
        piece, self.content = self.content[:size], self.content[size:]
        buffer[: len(piece)] = piece
        return len(piece)


@given(st.lists(trees(), max_size=5), st.integers(1, 20), st.booleans())
def test_any_pieces_of_any_file_are_read(forest, step, compress):
    content = "\n".join(map(str, forest)).encode()
    if compress:
        content = gzip.compress(content)
    assert list(read_trees(Trickle(content, step))) == forest


@given(st.lists(trees(), max_size=5))
def test_columns_hold_the_same_trees(forest):
    read = read_forest(stream("\n".join(map(str, forest))))
    assert list(read.trees()) == forest
    assert names(read) == names(Forest.from_trees(forest))


def test_reading_is_lazy():
    content = "\n".join([RAIN] * 1000).encode()
    source = Trickle(content, 100)
    assert str(next(read_trees(source))) == RAIN
    assert source.reads < 5


def test_files_folders_and_patterns(tmp_path):
    (tmp_path / "a.mrg").write_text(RAIN)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.mrg.gz").write_bytes(gzip.compress(SUN.encode()))
    (tmp_path / "b" / "notes.md").write_text("no trees here")
    (tmp_path / "b" / "folder.mrg").mkdir()
    (tmp_path / "b" / "D.PTB").write_text(RAIN)
    # Compressed without saying so.
    (tmp_path / "z.txt").write_bytes(gzip.compress(SUN.encode()) + gzip.compress(RAIN.encode()))
    assert texts(tmp_path / "a.mrg") == [RAIN]
    assert texts(str(tmp_path)) == [RAIN, RAIN, SUN, SUN, RAIN]
    assert texts(str(tmp_path / "**" / "*.mrg*")) == [RAIN, SUN]
    assert texts([tmp_path / "b", stream(RAIN), str(tmp_path / "[a].mrg")]) == [
        RAIN,
        SUN,
        RAIN,
        RAIN,
    ]
    with (tmp_path / "z.txt").open("rb") as opened:
        assert texts(opened) == [SUN, RAIN]


def test_a_file_whose_name_is_a_pattern_is_a_file(tmp_path):
    (tmp_path / "[odd].mrg").write_text(SUN)
    assert texts(str(tmp_path / "[odd].mrg")) == [SUN]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream(f"{RAIN} {SUN}")))
    assert texts("-") == [RAIN, SUN]


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.mrg", "No such file or directory"), ("*.missing", "no file matches this pattern")],
)
def test_a_missing_file_is_named_at_once(tmp_path, name, message):
    path = str(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=message) as caught:
        read_trees(path)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, path)


def test_a_name_that_no_file_can_have_is_a_missing_file():
    with pytest.raises(FileNotFoundError) as caught:
        list(read_chunks("a\0b"))
    assert caught.value.filename == "a\0b"


def test_a_folder_without_trees_is_named_at_once(tmp_path):
    message = re.escape(f"{tmp_path}: no files of trees in this folder (*.mrg, ")
    with pytest.raises(TreebankError, match=message) as caught:
        read_trees(tmp_path)
    assert caught.value.file == str(tmp_path)


def test_what_the_system_refuses_stays_an_error_of_the_system():
    class Broken(io.RawIOBase):
        name = "broken.mrg"

        def read(self, size=-1):
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output error") as caught:
        texts(Broken())
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, "broken.mrg")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"\ufeff{RAIN}".encode("utf-16-le"), 'UTF-16 text; read it with encoding="utf-16"'),
        (RAIN.encode("utf-16-be"), "UTF-16 text"),
        ("(NN é)".encode("latin-1"), ":1:5: the text is not UTF-8; convert it first"),
        (b"\x40\0\0\0\0\0\0\0" + b'{"__metadata__":{}}', "this is a model, not bracketed trees"),
        (b"\x7fELF\0\0\0\0\0\0\0\0", "this is a binary file, not bracketed trees"),
        (gzip.compress(RAIN.encode(), mtime=0)[:-9], "the gzip file is cut short"),
        (gzip.compress(RAIN.encode(), mtime=0)[:-8] + b"checksum", "damaged gzip file"),
        (b"Just some text.", ":1:1: text outside brackets: 'Just'"),
    ],
    ids=["utf-16", "utf-16-be", "latin-1", "model", "binary", "cut", "damaged", "text"],
)
def test_what_is_not_trees_is_named(tmp_path, content, message):
    path = tmp_path / "odd.mrg"
    path.write_bytes(content)
    with pytest.raises(TreebankError, match=re.escape(message)) as caught:
        texts(path)
    assert str(caught.value).startswith(f"{path}:")
    assert caught.value.file == str(path)


def test_text_streams_are_refused():
    with pytest.raises(InputError, match="<stream>: open the file in binary mode"):
        texts(io.StringIO(RAIN))


@pytest.mark.parametrize(
    ("text", "where_and_why"),
    [
        (f"{RAIN}\n{RAIN})", "2:24: a ')' that closes nothing"),
        ("(A a)\n é", "2:2: text outside brackets: 'é'"),
        ("(A a)\n\n (B (C c)", "3:2: a tree that is never closed"),
        ("(ü (Ä ö) (NP))", "1:10: a node without a word or children: '(NP)'"),
        ("(NN two words)", "1:9: a second word in one node: 'words'"),
        ("(NP (DT the) rain)", "1:14: a node with both a word and subtrees"),
        ("(S ((A a)))", "1:4: a node without a label"),
        ("(())", "1:1: an empty tree"),
    ],
)
def test_mistakes_are_named_with_their_place(text, where_and_why):
    with pytest.raises(TreebankError, match=re.escape(f"<stream>:{where_and_why}")) as caught:
        texts(stream(text))
    error = caught.value
    assert f"{error.file}:{error.line}:{error.column}:" == f"<stream>:{where_and_why.split()[0]}"


def test_errors_in_files_say_how_to_leave_malformed_trees_out(tmp_path):
    path = tmp_path / "odd.mrg"
    path.write_text("(A a)\n(B)")
    with pytest.raises(TreebankError, match=r'; on_error="skip" leaves malformed') as caught:
        texts(path)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 2, 1)


def test_a_bracket_missing_in_an_earlier_line_is_hinted_at():
    with pytest.raises(TreebankError, match=r"2:1: .*in the tree that opens at 1:1: is it closed"):
        texts(stream("(S (A a)\n((B b))"))


def test_an_empty_path_is_not_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees.mrg").write_text("(A a)")
    with pytest.raises(InputError, match="a path must not be empty"):
        texts("")


def test_trees_before_a_mistake_are_read():
    reading = read_trees(stream("(A a)(B b))"))
    assert [str(next(reading)), str(next(reading))] == ["(A a)", "(B b)"]
    with pytest.raises(TreebankError, match=":1:11: "):
        next(reading)


def test_malformed_trees_are_skipped_and_reported(tmp_path):
    one, two = tmp_path / "1.mrg", tmp_path / "2.mrg"
    one.write_text(f"{RAIN} (NP)\n{SUN}")
    two.write_text(f"(S (A a)\n{RAIN}")
    report = ReadReport()
    assert texts([one, two], on_error="skip", report=report) == [RAIN, SUN, RAIN]
    assert (report.trees, report.skipped, report.empty) == (3, 2, 0)
    assert [error.partition(" ")[0] for error in report.errors] == [f"{one}:1:25:", f"{two}:1:1:"]
    assert str(report).startswith("3 trees read, 2 malformed ones skipped; the first: ")


def test_skipping_warns_without_a_report():
    with pytest.warns(TreebankWarning, match="1 trees read, 1 malformed ones skipped"):
        assert texts(stream("(A) (B b)"), on_error="skip") == ["(B b)"]
    with pytest.warns(TreebankWarning, match="1:1: a node without a word"):
        assert len(read_forest(stream("(A) (B b)"), on_error="skip")) == 1


def test_only_the_first_errors_are_kept():
    report = ReadReport()
    assert texts(stream("(A) " * 500), on_error="skip", report=report) == []
    assert (report.skipped, len(report.errors)) == (500, 20)


def test_empty_trees_are_kept_when_asked():
    report = ReadReport()
    found = texts(stream(f"(()) {RAIN} ()"), keep_empty=True, report=report)
    assert found == [None, RAIN, None]
    assert str(report) == "3 trees read, 2 empty"


def test_tokens_are_unescaped_when_asked():
    text = "(PRN (-LRB- -LRB-) (X x))"
    assert Tree.from_string(text).words() == ["-LRB-", "x"]
    assert next(read_trees(stream(text), unescape=True)).words() == ["(", "x"]


def test_wrong_options_are_named():
    with pytest.raises(InputError, match="on_error must be 'raise' or 'skip', not 'stop'"):
        read_trees(stream(RAIN), on_error="stop")


@given(st.binary(max_size=200) | st.text(alphabet="() ab\n", max_size=80).map(str.encode))
def test_garbage_is_skipped_or_refused_in_good_order(content):
    report = ReadReport()
    try:
        found = list(read_trees(io.BytesIO(content), on_error="skip", report=report))
    except TreebankError as error:
        assert "\0" in content.decode("latin-1") or "UTF-16" in str(error) or "gzip" in str(error)  # noqa: PT017
    else:
        assert report.trees == len(found)
        assert bool(report.errors) == bool(report.skipped)


class CountingCore:
    """Counts the calls into the core that read, clean and transform trees."""

    def __init__(self, *arguments):
        self._core = BracketReader(*arguments)
        self.calls = []

    def __getattr__(self, name):
        self.calls.append(name)
        return getattr(self._core, name)


def read_counting_calls(monkeypatch, places, **options):
    """The columns of a table, and the names of the calls into the core."""
    cores = []

    def make(*arguments):
        cores.append(CountingCore(*arguments))
        return cores[-1]

    monkeypatch.setattr(reader, "BracketReader", make)
    columns, symbols, words = read_table(places, Cleaning(), Transform(), **options)
    return ([*map(np.ndarray.tolist, columns)], symbols, words), cores[0].calls


def test_files_are_read_cleaned_and_transformed_by_one_call(tmp_path, monkeypatch):
    text = f"{RAIN}\n(())\n{SUN}\n" * 9
    (tmp_path / "a.mrg").write_text(text)
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress(text.encode()))
    files = [tmp_path / "a.mrg", str(tmp_path / "b.mrg.gz")]
    report, other = ReadReport(), ReadReport()
    # Chunks that end anywhere.
    monkeypatch.setattr(sources, "_CHUNK", 11)
    table, calls = read_counting_calls(monkeypatch, files, report=report, style="auto")
    assert calls == ["read_table"]
    streams = [io.BytesIO(text.encode()), io.BytesIO(text.encode())]
    expected, _ = read_counting_calls(monkeypatch, streams, report=other)
    assert table == expected
    assert report == other
    assert (report.trees, report.empty) == (54, 18)


def test_malformed_trees_of_several_files_are_counted_once(tmp_path):
    for name in ("a.mrg", "b.mrg"):
        (tmp_path / name).write_text(f"{RAIN}\n(NN)\n{SUN}\n(NN")
    report = ReadReport()
    columns, _, _ = read_table(tmp_path, Cleaning(), Transform(), on_error="skip", report=report)
    assert (report.trees, report.skipped, len(columns[-1])) == (4, 4, 5)
    positions = [error.rpartition("/")[2].split(": ")[0] for error in report.errors]
    assert positions == ["a.mrg:2:1", "a.mrg:4:1", "b.mrg:2:1", "b.mrg:4:1"]


def test_errors_while_files_are_read_name_the_file(tmp_path):
    good, bad = tmp_path / "a.mrg", tmp_path / "b.mrg"
    good.write_text(RAIN)
    bad.write_text(f"{SUN}\n(NN)")
    damaged = tmp_path / "c.mrg.gz"
    damaged.write_bytes(gzip.compress(RAIN.encode())[:-9])
    with pytest.raises(TreebankError, match='on_error="skip" leaves malformed') as malformed:
        read_table([good, bad], Cleaning(), Transform())
    assert (malformed.value.file, malformed.value.line) == (str(bad), 2)
    with pytest.raises(TreebankError, match=r"the gzip file is cut short$") as short:
        read_table([good, damaged], Cleaning(), Transform())
    assert short.value.file == str(damaged)


def test_an_interrupt_ends_the_reading_of_files(tmp_path, monkeypatch):
    (tmp_path / "a.mrg").write_text(RAIN)

    def endless(*_, **__):
        _thread.interrupt_main()
        while True:
            yield RAIN.encode()

    monkeypatch.setattr(reader, "read_chunks", endless)
    with pytest.raises(KeyboardInterrupt):
        read_table(tmp_path / "a.mrg", Cleaning(), Transform())
