"""Formats of the input and the output of ``parse``, and ``convert``."""

import json

import pytest

from lpcfg import Tree
from lpcfg.formats.tree_formats import TREE_FORMATS, read_formatted
from support.commands import TREES, refused, write

CONLLU = (
    "# sent_id = a\n"
    "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
    "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
    "3\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_\n"
    "4\thim\the\tPRON\tPRP\t_\t3\tobj\t_\t_\n"
    "\n"
    "1\tGo\tgo\tVERB\tNN\t_\t0\troot\t_\t_\n"
    "\n"
)


@pytest.mark.parametrize("form", TREE_FORMATS)
def test_parse_writes_every_format(run, files, form):
    _, plain, _ = run("parse", "model.lpcfg", "-i", "text.txt")
    code, output, _ = run("parse", "model.lpcfg", "-i", "text.txt", "--to", form)
    assert code == 0
    write("out", output)
    read = "brackets" if form == "penn" else form
    assert [str(tree) for tree in read_formatted("out", read)] == plain.splitlines()


def test_conllu_in_keeps_everything_and_gets_trees(run):
    write("in.conllu", CONLLU)
    code, output, _ = run("parse", "model.lpcfg", "-i", "in.conllu", "--to", "conllu")
    assert code == 0
    kept = [line for line in output.splitlines() if not line.startswith("# constituency")]
    assert [line.split("\t")[:4] for line in kept] == [
        line.split("\t")[:4] for line in CONLLU.splitlines()
    ]
    trees = list(read_formatted("in.conllu", "conllu"))
    assert trees == []
    write("out.conllu", output)
    assert [len(tree) for tree in read_formatted("out.conllu", "conllu")] == [4, 1]


def test_tags_of_conllu_are_used_on_request(run):
    outputs = [
        run("parse", "model.lpcfg", "--from", "conllu", *options, stdin=CONLLU.encode())[1]
        for options in ((), ("--tags",))
    ]
    free, tagged = ([Tree.from_string(line) for line in text.splitlines()] for text in outputs)
    assert [tree.words() for tree in free] == [tree.words() for tree in tagged]
    assert tagged[1].tags() == ["NN"]
    given = tagged[0].tags()
    assert [given[0], given[1], given[3]] == ["DT", "NN", "PRP"]


def test_unknown_tags_have_a_place(run):
    arguments = ("parse", "model.lpcfg", "--from", "conllu", "--tags", "--tag-column", "upos")
    message = refused(run(*arguments, stdin=CONLLU.encode()))
    assert message.startswith("<stdin>:1: token 1: the grammar has no tag 'DET'")
    code, output, _ = run(*arguments, "--on-error", "empty", stdin=CONLLU.encode())
    assert (code, output) == (0, "(())\n(())\n")


def test_json_has_the_identity_of_the_sentence(run):
    output = run("parse", "model.lpcfg", "--from", "conllu", "--json", stdin=CONLLU.encode())[1]
    first, second = map(json.loads, output.splitlines())
    assert first["sent_id"] == "a"
    assert "sent_id" not in second


def test_running_text_becomes_conllu(run):
    output = run("parse", "--raw", "--to", "conllu", stdin=b"(The dog ran.)\n")[1]
    rows = [line.split("\t") for line in output.splitlines() if line[:1].isdigit()]
    assert [row[1] for row in rows] == ["(", "The", "dog", "ran", ".", ")"]
    spaces = [row[9] for row in rows]
    assert spaces == ["SpaceAfter=No", "_", "_", "SpaceAfter=No", "SpaceAfter=No", "_"]
    assert "# text = (The dog ran.)\n" in output


def test_contradictions_are_refused(run):
    write("in.conllu", CONLLU)
    assert "parse them apart" in refused(run("parse", "-i", "in.conllu", "text.txt"))
    assert "--raw: CoNLL-U has sentences" in refused(run("parse", "--raw", "-i", "in.conllu"))
    corpus = ("parse", "--corpus", "text.txt", "-o", "out")
    assert "--to: cannot be used with" in refused(run(*corpus, "--to", "export"))
    assert "--from: cannot be used with" in refused(run(*corpus, "--from", "conllu"))
    write("bad.conllu", "1\tThe\n")
    assert "bad.conllu:1: expected 10 columns" in refused(run("parse", "-i", "bad.conllu"))


@pytest.mark.parametrize("form", ["discbracket", "export", "conllu"])
def test_convert_goes_both_ways(run, files, form):
    assert run("convert", "gold.mrg", "--to", form, "-o", "there")[0] == 0
    code, output, _ = run("convert", "there", "--from", form)
    assert code == 0
    assert output.splitlines() == [str(tree) for tree in TREES]


def test_convert_says_what_it_cannot_read(run):
    write("bad.mrg", "(S (A a))\n(())\n(S (B b))\n")
    assert "on-error" in refused(run("convert", "bad.mrg", "-o", "out"))
    code, output, message = run("convert", "bad.mrg", "--to", "discbracket", "--on-error", "skip")
    assert (code, output.count("\n")) == (0, 2)
    assert "1" in message
    crossing = b"(S (A (B 0=b) (C 2=c)) (D 1=d))\n"
    arguments = ("convert", "-", "--from", "discbracket")
    assert "--attach-higher" in refused(run(*arguments, stdin=crossing))
    code, output, _ = run(*arguments, "--attach-higher", stdin=crossing)
    assert (code, output) == (0, "(S (A (B b)) (D d) (C c))\n")
