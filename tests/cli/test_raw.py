"""Running text on the command line."""

import json
import sys

from lpcfg.text import segmentation
from support.commands import refused, write

TEXT = "The dog saw him (and ran). It's late!\n\nGo.\n"


def test_sentences_come_out_one_per_line(run):
    code, output, _ = run("parse", "--raw", "-q", stdin=TEXT.encode())
    assert code == 0
    assert [line.count("(ROOT ") for line in output.splitlines()] == [1, 1, 1]
    assert "(-LRB- -LRB-)" in output


def test_json_has_the_offsets_of_sentences_and_tokens(run):
    # A byte order mark is no character of the text.
    write("raw.txt", "\ufeff" + TEXT)
    code, output, _ = run("parse", "--raw", "--json", "-k", "2", "-i", "raw.txt")
    assert code == 0
    parsed = [json.loads(line) for line in output.splitlines()]
    assert [sentence["text"] for sentence in parsed] == [
        "The dog saw him (and ran).",
        "It's late!",
        "Go.",
    ]
    for sentence in parsed:
        assert TEXT[sentence["start"] : sentence["end"]] == sentence["text"]
        assert len(sentence["candidates"]) == 2
    assert [TEXT[slice(*token)] for token in parsed[1]["tokens"]] == ["It", "'s", "late", "!"]


def test_paragraphs_may_have_line_breaks(run):
    _, output, _ = run("parse", "--raw", "--paragraphs", "blank-lines", stdin=b"The dog\nran.\n")
    assert output.count("\n") == 1


def test_untokenised_lines_get_one_hint(run):
    code, output, message = run("parse", stdin=b"Go !\nThe dog saw him.\nIt ran.\n")
    assert code == 0
    assert output.count("\n") == 3
    assert message.count("--raw") == 1
    assert ":2 has 'him.' as one word" in message
    assert run("parse", "-q", stdin=b"The dog saw him.\n")[2] == ""
    assert run("parse", stdin=b"The dog saw him .\n")[2] == ""


def test_what_cannot_be_raw_text_is_refused(run):
    assert "no tags" in refused(run("parse", "--raw", "--tags"))
    assert refused(run("parse", "--raw", stdin=b"\xff")).startswith(
        "<stdin>: the text is not UTF-8"
    )
    assert "no tokeniser" in refused(run("parse", "--raw", "--language", "xyz", stdin=b"a"))
    assert refused(run("parse", "--language", "de")) == "--language: does nothing without --raw"


def test_without_the_extra_the_command_says_what_to_install(run, monkeypatch):
    segmentation._tokeniser.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert "pip install 'lpcfg[text]'" in refused(run("parse", "--raw", stdin=b"a"))


def test_missing_files(run):
    assert refused(run("parse", "--raw", "-i", "no.txt")) == "no.txt: No such file or directory"
