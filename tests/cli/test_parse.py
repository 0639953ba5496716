"""lpcfg parse, called as a function."""

import argparse
import gzip
import json
import math

import pytest

from lpcfg import (
    Grammar,
    Parser,
    Pruning,
    Tree,
    load,
    save,
)
from lpcfg.cli._common import add_parsing
from lpcfg.datasets.embedded import embedded_models
from lpcfg.parsing.options import checked_pruning
from support.commands import WORDS, refused, write


def test_parse_standard_input_line_by_line(run):
    text = "\n".join([*(" ".join(words) for words in WORDS[:2]), "", " ".join(WORDS[2]), ""])
    code, output, said = run("parse", "model.lpcfg", stdin=text.encode())
    assert (code, said) == (0, "")
    lines = output.splitlines()
    assert lines[2] == "(())"
    assert [Tree.from_string(lines[line]).words() for line in (0, 1, 3)] == WORDS[:3]


@pytest.mark.parametrize("form", [[], ["--json"], ["--pretty"]])
def test_nothing_in_nothing_out(run, form):
    assert run("parse", "model.lpcfg", *form) == (0, "", "")


def test_blank_lines_keep_their_place_at_the_ends_too(run):
    _, output, _ = run("parse", "model.lpcfg", stdin=b"\n \nthe dog\n\n\t\n")
    lines = output.splitlines()
    assert [line == "(())" for line in lines] == [True, True, False, True, True]


def test_parse_a_file_as_the_library_does(run):
    _, output, _ = run("parse", "model.lpcfg", "-i", "text.txt", "--decoder", "viterbi", "-j", "1")
    parser = Parser(load("model.lpcfg"), decoder="viterbi")
    assert output == "".join(f"{tree}\n" for tree in parser.parse_many(words=WORDS[:5]))


def test_more_lines_than_a_batch(run):
    text = "".join(" ".join(WORDS[number % 7]) + "\n" for number in range(300))
    _, output, _ = run("parse", "model.lpcfg", "-q", stdin=text.encode())
    found = [Tree.from_string(line).words() for line in output.splitlines()]
    assert found == [WORDS[number % 7] for number in range(300)]


def test_parse_tags(run):
    _, output, _ = run("parse", "model.lpcfg", "--tags", stdin=b"DT NN VBD PRP .\n")
    assert Tree.from_string(output).tags() == ["DT", "NN", "VBD", "PRP", "."]
    code, output, message = run("parse", "model.lpcfg", "--tags", stdin=b"DT NN\n\nDT NX\n")
    assert code == 1
    assert message.startswith("lpcfg: <stdin>:3: token 2: the grammar has no tag 'NX'")
    assert "'NN'" in message
    assert [line == "(())" for line in output.splitlines()] == [False, True]


def test_words_in_the_place_of_tags_get_a_hint_for_the_command_line(run):
    words = b"The dog saw him .\n"
    hint = "a model knows the tags of its treebank alone; if these are words, leave out --tags"
    _, _, message = run("parse", "model.lpcfg", "--tags", stdin=words)
    assert message == f"lpcfg: <stdin>:1: token 1: the grammar has no tag 'The'; {hint}\n"
    _, _, message = run("parse", "model.lpcfg", "--tags", "--on-error", "skip", stdin=words)
    assert hint in message
    write("words.txt", words.decode())
    arguments = ("--tags", "--corpus", "words.txt", "-o", "out")
    assert hint in refused(run("parse", "model.lpcfg", *arguments))
    write("other.mrg", "(S (X the) (Y dog) (Z slept))\n")
    message = refused(run("eval", "model.lpcfg", "other.mrg", "--input", "tags"))
    assert message.endswith("give it words, with --input words")


def test_refused_options_are_named(run):
    code, output, message = run("parse", "--tags", stdin=b"DT NN\n")
    assert (code, output) == (1, "")
    assert message.startswith("lpcfg: --tags: this model needs the words of the sentences")
    assert "spectral" in message
    code, _, message = run("parse", "--timeout", "0", stdin=b"It rained .\n")
    assert code == 1
    assert message == "lpcfg: --timeout: must be a positive number of seconds, not 0.0\n"


def test_parse_as_json(run):
    save(Grammar.from_string("S -> S S [0.4] | 'é' [0.6]"), "small.lpcfg")
    arguments = ["parse", "small.lpcfg", "--json", "-k", "3", "--prune", "0"]
    _, output, _ = run(*arguments, stdin="é é é\n\né\n".encode())
    three, blank, one = map(json.loads, output.splitlines())
    assert blank is None
    assert len(three["candidates"]) == 2
    assert three["candidates"][0]["tree"] == three["tree"]
    assert three["status"] == "parsed"
    assert math.exp(three["log_probability"]) == pytest.approx(0.4**2 * 0.6**3)
    assert math.exp(three["sentence_log_probability"]) == pytest.approx(2 * 0.4**2 * 0.6**3)
    assert one["spans"] == [{"label": "S", "start": 0, "end": 1, "probability": 1.0}]
    assert "é" in output


def test_json_has_no_infinities(run):
    save(Grammar.from_string("S -> A B \n A -> 'a' \n B -> 'b'"), "small.lpcfg")
    _, output, _ = run("parse", "small.lpcfg", "--json", stdin=b"a\n")
    found = json.loads(output, parse_constant=pytest.fail)
    assert (found["status"], found["log_probability"]) == ("fragments", None)


def test_pretty_trees(run):
    save(Grammar.from_string("S -> A B \n A -> 'a' \n B -> 'b'"), "small.lpcfg")
    _, output, _ = run("parse", "small.lpcfg", "--pretty", stdin=b"a b\n")
    assert output == Tree.from_string("(S (A a) (B b))").pretty() + "\n\n"


def test_odd_text_is_parsed(run):
    odd = ["(x)", "\U0001f642", "10\u00a0000", "a" * 1000, "\0"]
    _, output, _ = run("parse", "model.lpcfg", stdin=("\ufeff" + " ".join(odd) + "\r\n").encode())
    words = Tree.from_string(output, unescape=True).words()
    assert words == odd


def test_parse_says_what_it_needs(run):
    assert refused(run("parse", "none.lpcfg")) == "none.lpcfg: No such file or directory"
    message = refused(run("parse", "text.txt"))
    expected = "text.txt: not a model file; to parse its sentences: lpcfg parse -i text.txt"
    assert message == expected
    message = refused(run("parse", "model.lpcfg", "-i", "model.lpcfg"))
    assert message == "model.lpcfg: a model file, where sentences were expected"
    message = refused(run("parse", "model.lpcfg", "-i", "none.txt"))
    assert message == "none.txt: No such file or directory"
    message = refused(run("parse", "model.lpcfg", "-o", "new.mrg", stdin=b"fine\n\xff\n"))
    assert message.startswith("<stdin>:2: the text is not UTF-8")
    message = refused(run("parse", "model.lpcfg", "-k", "2"))
    assert message == "-k: several trees for a sentence can only be written with --json"
    # With the names of options, not of Python parameters.
    message = refused(run("parse", "model.lpcfg", "--json", "-k", "0", stdin=b"fine\n"))
    assert message.startswith("-k: must be an integer from 1 to")
    assert "threshold" in refused(run("parse", "model.lpcfg", "--prune", "2"))
    message = refused(run("parse", "model.lpcfg", "--memory", "0"))
    assert message.startswith("--memory: must be a positive number")
    message = refused(run("parse", "model.lpcfg", "-j", "0"))
    assert message.startswith("-j: must be a number of threads")


def test_a_damaged_model(run, files):
    content = (files / "model.lpcfg").read_bytes()
    (files / "short.lpcfg").write_bytes(content[:-100])
    assert refused(run("parse", "short.lpcfg")).startswith("short.lpcfg: ")


# eval


def test_parse_without_a_model_uses_the_embedded_one(run):
    code, output, said = run("parse", stdin=b"The dog saw him .\n")
    assert (code, said) == (0, "")
    assert Tree.from_string(output).words() == ["The", "dog", "saw", "him", "."]


def test_the_embedded_model_is_small():
    assert embedded_models()["english"].stat().st_size < 8_000_000


def test_parse_reads_gzip(run, tmp_path):
    packed = tmp_path / "sentences.gz"
    packed.write_bytes(gzip.compress(b"It rained .\n"))
    code, output, _ = run("parse", "-i", str(packed))
    assert code == 0
    assert Tree.from_string(output).words() == ["It", "rained", "."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{Pruning().coarse},{Pruning().fine}", Pruning()),
        ("1e-6", Pruning(1e-6, 1e-6)),
        ("0,1e-3", Pruning(0.0, 1e-3)),
        ("0", checked_pruning(None)),
        ("0,0", checked_pruning(None)),
    ],
)
def test_thresholds_leave_the_rest_of_pruning_as_it_is(text, expected):
    parser = argparse.ArgumentParser()
    add_parsing(parser)
    assert parser.parse_args(["--prune", text]).prune == expected
