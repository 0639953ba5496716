"""The lines that lpcfg parse reads, and the lines that it writes for them."""

import gzip
import os
import re
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lpcfg import Grammar, Tree, save
from lpcfg.cli._sentences import read_line_groups
from support.commands import WORDS, refused, write

GRAMMAR = "S -> S S [0.4] | 'a' [0.3] | 'b' [0.3]"


@pytest.fixture
def small(files):
    save(Grammar.from_string(GRAMMAR), "small.lpcfg")
    return "small.lpcfg"


def number_of_lines(content):
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")


BAD = b"a b\n\n\xff\na\n\xc3\x28 b\n\nb"


def test_a_bad_line_loses_no_finished_work_and_is_named(run, small):
    code, output, said = run("parse", small, stdin=BAD)
    assert code == 1
    assert output == "(S (S a) (S b))\n(())\n"
    assert said.startswith("lpcfg: <stdin>:3: the text is not UTF-8")


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("empty", ["(S (S a) (S b))", "(())", "(())", "(S a)", "(())", "(())", "(S b)"]),
        ("skip", ["(S (S a) (S b))", "(())", "(S a)", "(())", "(S b)"]),
    ],
)
def test_bad_lines_can_be_skipped_or_answered_by_empty_trees(run, small, choice, expected):
    code, output, said = run("parse", small, "--on-error", choice, stdin=BAD)
    assert (code, output.splitlines()) == (0, expected)
    assert said.startswith("lpcfg: 7 lines read, 2 of them bad and ")
    assert "<stdin>:3: the text is not UTF-8" in said
    _, output, said = run("parse", small, "--on-error", choice, "-q", stdin=BAD)
    assert (output.splitlines(), said) == (expected, "")


def test_lines_with_unknown_tags_are_bad_lines(run, small):
    arguments = ("parse", small, "--tags", "--on-error", "empty")
    code, output, said = run(*arguments, stdin=b"S\nX S\n\nS S\n")
    assert (code, output.splitlines()) == (0, ["(S S)", "(())", "(())", "(S (S S) (S S))"])
    assert "4 lines read, 1 of them bad" in said
    assert "<stdin>:2: token 1: the grammar has no tag 'X'" in said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(
            st.sampled_from(
                b"a|b| |\n|\r|\0|\xff|\x1f\x8b|\xc2\xa0|(|)|\xe2\x80\xa8|\x0b|"
                b"\xef\xbb\xbf|\xed\xa0\x80|-U+00A0-".split(b"|")
            )
        ).map(b"".join),
    )
)
@example(b"\xef\xbb\xbf\n\xef\xbb\xbf")
@example(b"\r\r\na\rb")
def test_any_bytes_give_one_line_for_each_line_or_a_message(run, small, content):
    for form in ([], ["--json"]):
        code, output, said = run("parse", small, "--on-error", "empty", *form, stdin=content)
        lines = output.removesuffix("\n").split("\n") if output else []
        if content.startswith(b"\x1f\x8b"):
            assert (code, said.startswith("lpcfg: <stdin>: damaged gzip file")) == (1, True)
            continue
        assert code == 0
        assert len(lines) == number_of_lines(content)
        code, output, said = run("parse", small, *form, stdin=content)
        bad = re.search(r"^lpcfg: <stdin>:(\d+): the text is not UTF-8", said, re.MULTILINE)
        assert code == (bad is not None)
        assert output.count("\n") == (int(bad[1]) - 1 if bad else number_of_lines(content))


def test_a_sentence_that_looks_like_a_tree_is_parsed_with_a_warning(run):
    code, output, said = run("parse", "model.lpcfg", stdin=b"(Smith (ibid. 2003))\nit rained\n")
    assert code == 0
    words = Tree.from_string(output.splitlines()[0]).words()
    assert words == ["-LRB-Smith", "-LRB-ibid.", "2003-RRB--RRB-"]
    assert said.startswith("lpcfg: <stdin>: the first line looks like a tree")
    assert said.count("\n") == 1
    assert run("parse", "model.lpcfg", "-q", stdin=b"(Smith (ibid. 2003))\n")[2] == ""


@pytest.mark.parametrize(
    "line", [b"( see ( below ) )", b"(a) (b)", b"(see below (or not))x", b"it"]
)
def test_other_sentences_give_no_warning(run, line):
    assert run("parse", "model.lpcfg", stdin=line + b"\n")[2] == ""


def test_long_lines_of_brackets_take_linear_time(tmp_path):
    """A quadratic test of the first line would take hours for these."""
    path = tmp_path / "brackets.txt"
    for line in (b"(" * 2_000_000, b"(a " * 1_000_000, b"( " * 1_000_000 + b"))"):
        path.write_bytes(line)
        ((found,),) = read_line_groups([str(path)], quiet=True)
        assert found.problem is None


def test_many_inputs_are_parsed_in_order(run, small):
    write("one.txt", "a\n\n")
    write("two.txt", "b")
    with gzip.open("three.gz", "wb") as file:
        file.write(b"a b\n")
    code, output, _ = run("parse", small, "-i", "one.txt", "two.txt", "three.gz", "-")
    assert (code, output.splitlines()) == (0, ["(S a)", "(())", "(S b)", "(S (S a) (S b))"])


def test_errors_name_the_file_and_the_line(run, small, files):
    write("one.txt", "a\n")
    (files / "bad.txt").write_bytes(b"\n\n\xff\n")
    code, output, said = run("parse", small, "-i", "one.txt", "bad.txt")
    assert (code, output.count("\n")) == (1, 3)
    assert said.startswith("lpcfg: bad.txt:3: the text is not UTF-8")
    (files / "short.gz").write_bytes(gzip.compress(b"a\n" * 1000)[:-9])
    code, _, said = run("parse", small, "-i", "short.gz")
    assert (code, said.startswith("lpcfg: short.gz: damaged gzip file")) == (1, True)


def test_output_appears_when_it_is_complete(run, small, files):
    assert run("parse", small, "-o", "out.mrg", stdin=b"a\n\nb\n") == (0, "", "")
    assert (files / "out.mrg").read_text() == "(S a)\n(())\n(S b)\n"
    before = {file.name for file in files.iterdir()}
    assert refused(run("parse", small, "-o", "out.mrg", stdin=b"b\n\xff\n")).startswith(
        "<stdin>:2: "
    )
    assert (files / "out.mrg").read_text() == "(S a)\n(())\n(S b)\n"
    assert (files / "out.mrg.partial").read_text() == "(S b)\n"
    assert {file.name for file in files.iterdir()} == before | {"out.mrg.partial"}


def test_output_never_replaces_an_input(run, small):
    write("one.txt", "a\n")
    for output in ("one.txt", small):
        assert "this is an input" in refused(run("parse", small, "-i", "one.txt", "-o", output))


@pytest.mark.parametrize("arguments", [[""], ["-i", ""], ["-o", ""], ["--tagger", ""]])
def test_empty_paths_are_refused(run, capsys, arguments):
    with pytest.raises(SystemExit, match=r"^2$"):
        run("parse", *arguments)
    assert "a path must not be empty" in capsys.readouterr().err


def test_a_named_pipe_is_read_once(run, small, files):
    """Opening it a second time, to see whether it is gzipped, would wait forever."""
    os.mkfifo(files / "pipe")
    with subprocess.Popen(["sh", "-c", "echo a b > pipe"]):
        assert run("parse", small, "-i", "pipe")[1] == "(S (S a) (S b))\n"


def test_lines_are_answered_as_the_library_does(run):
    text = "".join(" ".join(words) + "\n\n" for words in WORDS)
    write("all.txt", text)
    from_file = run("parse", "model.lpcfg", "-i", "all.txt")
    assert from_file == run("parse", "model.lpcfg", stdin=text.encode())
    assert from_file[1].count("\n") == text.count("\n")
