"""The command line, called as a function."""

import gzip
import io
import json
import math
import re
import sys

import pytest

from lpcfg import (
    Ensemble,
    Grammar,
    Parser,
    Tree,
    __version__,
    embedded_trees,
    load,
    save,
)
from lpcfg.cli.main import main
from lpcfg.datasets.embedded import embedded_models
from lpcfg.estimators.registry import ESTIMATORS
from support.grammars import embedded_grammar

TREES = embedded_trees(60, seed=3)
WORDS = [tree.words() for tree in TREES]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder to work in with a treebank, a model of another one, and sentences."""
    monkeypatch.chdir(tmp_path)
    write("gold.mrg", "".join(f"{tree}\n" for tree in TREES))
    write("text.txt", "".join(" ".join(words) + "\n" for words in WORDS[:5]))
    write("empty.mrg", "")
    save(embedded_grammar(), "model.lpcfg")
    return tmp_path


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - in the working directory
        file.write(text)


@pytest.fixture
def run(files, capsys, monkeypatch):
    """Run a command; give its exit code, what it printed and what it said."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return run


def refused(outcome):
    """The one line with which a command fails."""
    code, output, message = outcome
    assert code == 1
    assert output == ""
    *_, last = message.splitlines()
    assert last.startswith("lpcfg: ")
    assert "Traceback" not in message
    return last.removeprefix("lpcfg: ")


def test_version_and_help(capsys):
    for arguments in (["--version"], ["--help"], ["parse", "--help"], ["train", "--help"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
    assert f"lpcfg {__version__}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: command"),
        (["fly"], "invalid choice: 'fly'"),
        (["train", "gold.mrg"], "required: -o/--output"),
        (["parse", "--prune", "much"], "--prune: expected a number, or two .* not 'much'"),
        (["parse", "--prune", "1,2,3"], "not '1,2,3'"),
        (
            ["parse", "-k", "some"],
            "-k/--candidates: expected an integer from 0 to 1000000000, not 'some'",
        ),
        (["parse", "--json", "--pretty"], "not allowed with"),
        (["parse", "--decoder", "best"], "invalid choice: 'best'"),
        (
            ["eval", "m", "t", "--limit", "-1"],
            "--limit: expected an integer from 0 to 1000000000, not '-1'",
        ),
        (
            ["train", "t", "-o", "m", "--horizontal", "two"],
            "integer from 0 to 1000000000, not 'two'",
        ),
        (["train", "t", "-o", "m", "--sigma", "x"], "--sigma: expected a number, not 'x'"),
        (
            ["train", "t", "-o", "m", "--word-smoothing", "a"],
            "--word-smoothing: expected a number from 0, not 'a'",
        ),
        (
            ["train", "t", "-o", "m", "--states", "8,8,8"],
            "--states: expected one or two values, not '8,8,8'",
        ),
        (["train", "t", "-o", "m", "--estimator", "magic"], "invalid choice: 'magic'"),
        (["train", "t", "-o", "m", "--ramp", "5,50"], "unrecognized arguments: --ramp 5,50"),
        (["train", "t", "-o", "m", "--seed", "-1"], "--seed: expected an integer from 0"),
        (["lm", "train", "t", "-o", "m", "--seed", "-1"], "--seed: expected an integer from 0"),
        (
            ["experiment", "size", "t", "d", "-o", "r", "--seed", "-1"],
            "--seed: expected an integer from 0",
        ),
    ],
)
def test_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert re.search(message, capsys.readouterr().err)


# train


def test_train(run):
    code, output, said = run("train", "gold.mrg", "-o", "new.lpcfg")
    assert (code, output) == (0, "")
    assert "60 trees read" in said
    assert "saved to new.lpcfg" in said
    assert Parser(load("new.lpcfg")).parse(words=WORDS[0]).words() == WORDS[0]


def test_train_quietly_and_always_the_same(run, files):
    for name in ("first.lpcfg", "second.lpcfg"):
        assert run("train", "gold.mrg", "-o", name, "-q") == (0, "", "")
    contents = [(files / name).read_bytes() for name in ("first.lpcfg", "second.lpcfg")]
    assert contents[0] == contents[1]


def test_train_from_several_sources_and_standard_input(run):
    trees = (f"{TREES[0]}\n" * 3).encode()
    code, _, said = run("train", "-", "gold.mrg", "-o", "new.lpcfg", stdin=trees)
    assert code == 0
    assert "63 trees read" in said


def test_train_with_options(run):
    options = "--binarize left --vertical 0 --horizontal inf --keep-unary --word-classes english"
    options += " --estimator pcfg --root-label TOP"
    assert run("train", "gold.mrg", "-o", "new.lpcfg", *options.split())[0] == 0
    provenance = load("new.lpcfg").provenance
    assert provenance["transform"]["binarize"] == "left"
    assert provenance["transform"]["vertical"] == 0
    assert provenance["transform"]["horizontal"] is None
    assert provenance["transform"]["collapse_inside"] is False
    assert provenance["lexicon"]["classes"] == "english"
    assert provenance["cleaning"]["root_label"] == "TOP"
    assert len(load("new.lpcfg").unary_rules)


def test_train_with_the_options_of_the_default_estimator(run):
    options = "--states 3 --smoothing 1 --ridge 0.1 --tolerance 0 --min-count 2 --full-count 9"
    options += " --word-smoothing 1 --class-smoothing 4 --seed 5 --rare 7"
    assert run("train", "gold.mrg", "-o", "new.lpcfg", *options.split())[0] == 0
    provenance = load("new.lpcfg").provenance
    expected = {
        "estimator": "spectral",
        "states": [3, 3],
        "smoothing": 1.0,
        "tolerance": 0.0,
        "ridge": 0.1,
        "min_count": 2,
        "full_count": 9,
        "word_smoothing": 1.0,
        "class_smoothing": 4.0,
        "random_state": 5,
    }
    assert {name: provenance[name] for name in expected} == expected
    assert provenance["lexicon"]["rare"] == 7


def printed_help(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--help"])
    assert stopped.value.code == 0
    return " ".join(capsys.readouterr().out.split())


def test_help_of_train_shows_the_options_of_an_estimator_with_its_defaults(capsys):
    general = printed_help(capsys, "train")
    assert "--ridge" not in general
    for name, kind in ESTIMATORS.items():
        assert f"{name} {kind.description}" in general
        text = printed_help(capsys, "train", "--estimator", name)
        for parameter, declared in kind.parameters().items():
            flag = f"--{parameter.replace('_', '-')}"
            if declared.option and not declared.parts:
                assert f"{flag} {declared.metavar} {declared.help}" in text
            for part, own in declared.parts.items():
                default = getattr(declared.default, part)
                assert f"{flag}-{part} {own.metavar} {own.help} (default: {default})" in text
    assert "(default: 24,24)" in printed_help(capsys, "train", "--estimator", "clustering")
    assert "(default with this estimator: 0)" in printed_help(capsys, "train", "--estimator=em")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--estimator pcfg --states 8", "--states: the estimator pcfg has no such option; it is"),
        ("--cycles 2", "--cycles: the estimator spectral has no such option; it is one of split"),
        ("--epochs=2 --estimator em", "--epochs: the estimator em has no such option; .* crf"),
        ("--estimator em --smoothing 1", "--smoothing: the estimator em has no such option"),
    ],
)
def test_train_refuses_options_that_the_estimator_does_not_have(capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "t", "-o", "m", *arguments.split()])
    assert stopped.value.code == 2
    assert re.search(message, capsys.readouterr().err)


def test_train_by_clustering_then_annotate_and_explain(run, files):
    options = "--estimator clustering --states 3,2 --rank 4 --restarts 2 --variance-scale 0.5"
    options += " --min-count 5 --full-count 50 --smoothing 1"
    assert run("train", "gold.mrg", "-o", "new.lpcfg", "--vertical", "1", *options.split())[0] == 0
    provenance = load("new.lpcfg").provenance
    names = ("states", "rank", "restarts", "variance_scale", "smoothing")
    assert [provenance[name] for name in names] == [[3, 2], 4, 2, 0.5, 1.0]
    code, annotated, said = run("annotate", "new.lpcfg", "gold.mrg", "-j", "1")
    assert (code, said) == (0, "60 trees read\n")
    trees = [Tree.from_string(line) for line in annotated.splitlines()]
    assert [tree.words() for tree in trees] == WORDS
    assert all(re.fullmatch(r".+\[\d\]", label) for tree in trees for label in tree.tags())
    write("other.mrg", "(ROOT (XX (NN dog) (NN dog)))\n")
    code, output, said = run("annotate", "new.lpcfg", "other.mrg", "--binary", "-o", "out.mrg")
    assert (code, output) == (0, "")
    assert "1 trees have parts that the model does not know" in said
    assert (files / "out.mrg").read_text() == "(ROOT+XX (NN^XX dog) (NN^XX dog))\n"
    code, explained, _ = run("show", "new.lpcfg", "--symbol", "NP")
    assert code == 0
    assert re.search(r"^NP\^\S+\[\d\]  \d+\.\d %\n  rules     ", explained, re.MULTILINE)
    assert "other symbols with the label NP: NP^" in explained
    unknown = refused(run("show", "new.lpcfg", "--symbol", "XX"))
    assert "no symbol has the name or label XX" in unknown
    assert "no model" in refused(run("show", "gold.mrg", "--symbol", "NP"))
    assert "no latent states" in refused(run("show", "model.lpcfg", "--symbol", "NP"))
    save(Ensemble([load("new.lpcfg")]), "several")
    assert "not this Ensemble" in refused(run("show", "several", "--symbol", "NP"))


def test_train_a_family_of_models_and_parse_with_it(run, files):
    options = "--estimator clustering --noise add,mul --sigma 0.1 --models 3 -j 1"
    options += " --min-count 5 --full-count 50"
    code, _, said = run("train", "gold.mrg", "-o", "family", *options.split())
    assert code == 0
    assert "3 models in family" in said
    names = ["00-add-0.1.lpcfg", "01-mul-0.1.lpcfg", "02-add-0.1.lpcfg"]
    assert sorted(file.name for file in (files / "family").iterdir()) == names
    assert load("family/00-add-0.1.lpcfg").provenance["restarts"] == 1
    assert run("parse", "family", "-i", "text.txt")[0] == 0
    forms = "--binarize left,right --features compact,full"
    code, _, said = run("train", "gold.mrg", "-o", "forms", *options.split(), *forms.split())
    assert code == 0
    assert "3 models have 3 of the 4 pairs of a tree transform and a feature set" in said
    models = [load(file) for file in sorted((files / "forms").iterdir())]
    found = [(own.transform.binarize, len(own.provenance["features"]["inside"])) for own in models]
    assert found == [("left", 3), ("right", 3), ("left", 8)]
    for several in (
        "--binarize left,right",
        "--vertical 0,1",
        "--horizontal 0,inf",
        "--features compact,full",
    ):
        message = refused(run("train", "gold.mrg", "-o", "new.lpcfg", *several.split()))
        assert message.endswith("name one, or add --noise for models that take turns")
    noise = ("--noise", "add")
    message = refused(run("train", "gold.mrg", "-o", "model.lpcfg", *noise))
    assert message == "model.lpcfg: this is a file; name a folder for the models"
    assert "there is no folder no" in refused(run("train", "gold.mrg", "-o", "no/m", *noise))
    other = ("--estimator", "pcfg", *noise)
    assert "spectral, clustering" in refused(run("train", "gold.mrg", "-o", "other", *other))
    salt = ("--noise", "salt", "--estimator", "spectral")
    # All this is noticed before anything is read or made.
    assert "not ['salt']" in refused(run("train", "none.mrg", "-o", "other", *salt))
    none = (*noise, "--estimator", "spectral", "--models", "0")
    assert "models must be an integer from 1" in refused(
        run("train", "none.mrg", "-o", "other", *none)
    )
    assert not (files / "other").exists()
    save(Ensemble([embedded_grammar(), embedded_grammar()]), "ensemble")
    message = refused(run("train", "none.mrg", "-o", "ensemble", *noise))
    assert message.startswith("ensemble: this is the folder of a reranker or an ensemble")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--models 3", "--models does nothing without --noise"),
        ("--sigma 0.1", "--sigma does nothing without --noise"),
        ("--candidates 3", "--candidates does nothing without --rerank"),
        ("--folds 3", "--folds does nothing without --rerank"),
        ("--rerank --noise add", "--rerank and --noise: choose one"),
        ("--rerank --estimator split-merge --keep-cycles", "--rerank and --keep-cycles: choose"),
    ],
)
def test_train_refuses_options_that_do_nothing_or_exclude_each_other(run, options, message):
    assert refused(run("train", "none.mrg", "-o", "m", *options.split())).startswith(message)


def test_train_by_splitting_and_merging_and_go_on_with_em(run, files):
    options = ("--estimator", "split-merge", "--cycles", "2", "--keep-cycles")
    code, _, said = run("train", "gold.mrg", "-o", "new.lpcfg", *options)
    assert code == 0
    assert "saved to new.lpcfg.2" in said
    grammars = [load(name) for name in ("new.lpcfg.1", "new.lpcfg.2", "new.lpcfg")]
    assert [grammar.provenance["cycles"] for grammar in grammars] == [1, 2, 2]
    assert grammars[-1].provenance["transform"]["vertical"] == 0
    more = ("--estimator", "em", "--start", "new.lpcfg.1", "--iterations", "2", "-q")
    assert run("train", "gold.mrg", "-o", "more.lpcfg", *more)[0] == 0
    provenance = load("more.lpcfg").provenance
    assert (provenance["estimator"], provenance["start"]) == ("em", "split-merge")


def test_train_by_pivots_and_go_on_with_em(run, files):
    options = "--estimator pivot --states 3,2 --min-count 5 --full-count 50"
    options += " --smoothing-words 1 --smoothing-classes 4"
    assert run("train", "gold.mrg", "-o", "pivot.lpcfg", *options.split())[0] == 0
    provenance = load("pivot.lpcfg").provenance
    assert (provenance["states"], provenance["transform"]["vertical"]) == ([3, 2], 0)
    smoothing = {"rules": 5.0, "words": 1.0, "classes": 4.0, "rare": 20}
    assert provenance["smoothing"] == smoothing
    more = ("--estimator", "em", "--start", "pivot.lpcfg", "--iterations", "2", "-q")
    assert run("train", "gold.mrg", "-o", "more.lpcfg", *more)[0] == 0
    provenance = load("more.lpcfg").provenance
    assert (provenance["estimator"], provenance["start"]) == ("em", "pivot")
    message = refused(run("train", "gold.mrg", "-o", "m", "--vertical", "1", *more))
    assert "train it on the same trees" in message


def test_train_says_what_is_missing(run, files):
    assert refused(run("train", "none.mrg", "-o", "m")) == "none.mrg: No such file or directory"
    assert refused(run("train", "empty.mrg", "-o", "m")) == "no trees in empty.mrg"
    assert refused(run("train", "*.ptb", "-o", "m")) == "*.ptb: no file matches this pattern"
    message = refused(run("train", "gold.mrg", "-o", "no/m"))
    assert message == "no/m: there is no folder no; make it first"
    message = refused(run("train", "gold.mrg", "-o", str(files)))
    assert message == f"{files}: this is a folder; name a file to write"
    message = refused(run("train", "model.lpcfg", "-o", "m"))
    assert message == "model.lpcfg: this is a model, not bracketed trees in UTF-8"
    message = refused(run("train", "text.txt", "-o", "m"))
    assert message.startswith("text.txt:1:1: text outside brackets")
    assert not (files / "m").exists()


@pytest.mark.parametrize(
    ("estimator", "option"),
    [
        ("clustering", "--smoothing"),
        ("pivot", "--smoothing-rules"),
        ("em", "--smoothing-rules"),
        ("split-merge", "--smoothing-rules"),
    ],
)
def test_train_refuses_negative_smoothing(capsys, estimator, option):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "gold.mrg", "-o", "m", "--estimator", estimator, option, "-1"])
    assert stopped.value.code == 2
    assert f"argument {option}: expected a number from 0, not '-1'" in capsys.readouterr().err


def test_train_refuses_values_that_exclude_each_other_before_it_reads(run):
    message = refused(run("train", "none.mrg", "-o", "m", "--min-count", "9", "--full-count", "3"))
    assert message == "SpectralEstimator: min_count must be at most full_count, 3, not 9"


def test_train_on_malformed_trees(run):
    write("bad.mrg", f"{TREES[0]}\n(NP (NN two words))\n{TREES[1]}\n")
    message = refused(run("train", "bad.mrg", "-o", "new.lpcfg"))
    assert message.startswith("bad.mrg:2:13: a second word in one node: 'words'")
    assert "--on-error skip" in message
    code, _, said = run("train", "bad.mrg", "-o", "new.lpcfg", "--on-error", "skip")
    assert code == 0
    assert "2 trees read, 1 malformed ones skipped; the first: bad.mrg:2:13" in said


# parse


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
    message = refused(run("parse", "model.lpcfg", "--tags", stdin=b"DT NN\n\nDT NX\n"))
    assert message.startswith("sentence 2, token 2: the grammar has no tag 'NX'")
    assert "'NN'" in message


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
    message = refused(run("parse", "model.lpcfg", stdin=b"fine\n\xff\n"))
    assert message.startswith("<stdin>:2: the text is not UTF-8")
    message = refused(run("parse", "model.lpcfg", "-k", "2"))
    assert message == "-k: several trees for a sentence need --json to tell them apart"
    assert "from 1 to" in refused(run("parse", "model.lpcfg", "--json", "-k", "0"))
    assert "threshold" in refused(run("parse", "model.lpcfg", "--prune", "2"))
    assert "memory" in refused(run("parse", "model.lpcfg", "--memory", "0"))
    assert "n_jobs" in refused(run("parse", "model.lpcfg", "-j", "0"))


def test_a_damaged_model(run, files):
    content = (files / "model.lpcfg").read_bytes()
    (files / "short.lpcfg").write_bytes(content[:-100])
    assert refused(run("parse", "short.lpcfg")).startswith("short.lpcfg: ")


# eval


def test_eval(run):
    code, output, said = run("eval", "model.lpcfg", "gold.mrg", "--by-length", "--by-label")
    assert code == 0
    assert said == "60 trees read\n"
    for expected in ("all sentences", "coverage 100.00", "sentences/s", "1-10", "\nNP "):
        assert expected in output


@pytest.mark.parametrize("given", ["words", "tags", "both"])
def test_eval_writes_trees_that_score_the_same(run, given):
    arguments = ["eval", "model.lpcfg", "gold.mrg", "--input", given, "-o", "out.mrg", "--json"]
    code, output, _ = run(*arguments, "-q")
    assert code == 0
    found = json.loads(output)
    assert found["sentences"] == sum(found["statuses"].values()) == 60
    assert found["tokens"] == sum(map(len, WORDS))
    _, output, _ = run("score", "gold.mrg", "out.mrg", "--json")
    scored = json.loads(output)
    assert {name: found[name] for name in scored} == scored
    assert (found["tag_accuracy"] == 100) == (given != "words")


def test_eval_cleans_gold_trees_as_the_model_was_trained(run):
    plain = [str(tree).removeprefix("(ROOT ").removesuffix(")") for tree in TREES]
    write("plain.mrg", "".join(f"( {text.replace('(NP ', '(NP-SBJ ')})\n" for text in plain))
    run("train", "plain.mrg", "-o", "plain.lpcfg")
    results = []
    for gold in ("gold.mrg", "plain.mrg"):
        found = json.loads(run("eval", "plain.lpcfg", gold, "--json")[1])
        results.append((found["f1"], found["gold"]))
    assert results[0] == results[1]


def test_eval_of_some_trees(run):
    found = json.loads(run("eval", "model.lpcfg", "gold.mrg", "--limit", "7", "--json")[1])
    assert found["sentences"] == 7


def test_eval_says_what_it_needs(run):
    message = refused(run("eval", "model.lpcfg", "empty.mrg"))
    assert message == "no trees to evaluate on in empty.mrg"
    assert "no trees" in refused(run("eval", "model.lpcfg", "gold.mrg", "--limit", "0"))
    message = refused(run("eval", "gold.mrg", "gold.mrg"))
    assert message.startswith("gold.mrg: is a text file, not a model file")
    message = refused(run("eval", "model.lpcfg", "model.lpcfg"))
    assert message == "model.lpcfg: this is a model, not bracketed trees in UTF-8"
    message = refused(run("eval", "model.lpcfg", "gold.mrg", "-o", "no/out.mrg"))
    assert message == "no/out.mrg: there is no folder no; make it first"
    write("bad.mrg", f"(NP (NN two words))\n{TREES[0]}\n")
    assert "--on-error skip" in refused(run("eval", "model.lpcfg", "bad.mrg"))
    assert run("eval", "model.lpcfg", "bad.mrg", "--on-error", "skip")[0] == 0


# score


def test_score_itself(run):
    code, output, said = run("score", "gold.mrg", "gold.mrg")
    assert (code, said) == (0, "")
    assert "Bracketing FMeasure" in output
    assert "100.00" in output
    found = json.loads(run("score", "gold.mrg", "gold.mrg", "--json")[1])
    assert (found["f1"], found["exact_match"], found["sentences"]) == (100, 100, 60)


@pytest.mark.parametrize("nothing", ["", "(())"])
def test_score_keeps_sentences_without_a_tree_in_their_place(run, nothing):
    lines = [str(tree) for tree in TREES]
    lines[0] = lines[4] = lines[59] = nothing
    write("out.mrg", "\n".join(lines) + "\n")
    found = json.loads(run("score", "gold.mrg", "out.mrg", "--json")[1])
    assert found["sentences"] == 60
    assert [failure["sentence"] for failure in found["failures"]] == [1, 5, 60]
    assert found["evalb"]["skips"] == 3
    assert found["precision"] == 100


def test_score_trees_over_several_lines_and_blank_lines_between_trees(run):
    write("wide.mrg", "\n".join(str(tree).replace(" (VP", "\n  (VP") + "\n" for tree in TREES))
    write("spaced.mrg", "\n\n".join(map(str, TREES)))
    write("trailing.mrg", "\n".join(map(str, TREES)) + "\n\n\n")
    for name in ("wide.mrg", "spaced.mrg", "trailing.mrg"):
        for pair in (("gold.mrg", name), (name, "gold.mrg")):
            found = json.loads(run("score", *pair, "--json")[1])
            assert (found["f1"], found["sentences"]) == (100, 60)


def test_score_from_standard_input(run):
    trees = "".join(f"{tree}\n" for tree in TREES).encode()
    found = json.loads(run("score", "gold.mrg", "-", "--json", stdin=trees)[1])
    assert found["f1"] == 100


def test_score_with_parameters(run):
    write("none.prm", "DELETE_LABEL ROOT\n")
    for parameters in ("new", "COLLINS", "none.prm"):
        code, output, _ = run("score", "gold.mrg", "gold.mrg", "-p", parameters)
        assert code == 0
        assert "all sentences" in output


def test_score_says_what_it_needs(run):
    write("short.mrg", f"{TREES[0]}\n")
    message = refused(run("score", "gold.mrg", "short.mrg"))
    assert message.startswith("60 gold trees but 1 predicted ones")
    assert "model.lpcfg: this is a model" in refused(run("score", "gold.mrg", "model.lpcfg"))
    assert refused(run("score", "gold.mrg", "none.mrg")).startswith("none.mrg: No such file")
    assert "none.prm" in refused(run("score", "gold.mrg", "gold.mrg", "-p", "none.prm"))
    write("bad.mrg", f"{TREES[0]}\n" * 59 + "(NP (NN two words))\n")
    assert refused(run("score", "gold.mrg", "bad.mrg")).startswith("bad.mrg:60:13: a second word")


# show


def test_show_trees(run):
    code, output, _ = run("show", "gold.mrg", "-n", "2")
    assert code == 0
    assert output == f"{TREES[0].pretty()}\n\n{TREES[1].pretty()}\n\n"
    assert run("show", "-", stdin=str(TREES[0]).encode())[1] == f"{TREES[0].pretty()}\n\n"


def test_show_a_model(run):
    assert run("show", "model.lpcfg")[1] == load("model.lpcfg").summary() + "\n"


def test_show_draws_svg(run, files):
    assert run("show", "gold.mrg", "--svg", "tree.svg") == (0, "", "")
    assert (files / "tree.svg").read_text(encoding="utf-8") == TREES[0].to_svg()


def test_show_says_what_it_needs(run):
    assert refused(run("show", "none.mrg")) == "none.mrg: No such file or directory"
    assert refused(run("show", "empty.mrg", "--svg", "t.svg")) == (
        "empty.mrg: there are no trees to draw"
    )
    message = refused(run("show", "gold.mrg", "--svg", "no/t.svg"))
    assert message == "no/t.svg: there is no folder no; make it first"
    assert "this is a model" in refused(run("show", "model.lpcfg", "--svg", "t.svg"))
    assert refused(run("show", "text.txt")).startswith("text.txt:1:1: text outside brackets")


def test_parse_without_a_model_uses_the_embedded_one(run):
    code, output, said = run("parse", stdin=b"The dog saw him .\n")
    assert (code, said) == (0, "")
    assert Tree.from_string(output).words() == ["The", "dog", "saw", "him", "."]


def test_the_embedded_model_is_small():
    assert embedded_models()["english"].stat().st_size < 5_000_000


def test_no_command_writes_over_its_input(run, files, tmp_path):
    treebank = tmp_path / "precious.mrg"
    treebank.write_text("(S (NP (PRP it)) (VP (VBD rained)))\n", "utf-8")
    before = treebank.read_bytes()
    for arguments in (
        ("train", treebank, "-o", treebank),
        ("eval", embedded_models()["english"], treebank, "-o", treebank),
        ("show", treebank, "--svg", treebank),
    ):
        assert "this is an input" in refused(run(*map(str, arguments)))
    assert treebank.read_bytes() == before


def test_parse_refuses_trees_and_reads_gzip(run, tmp_path):
    trees = tmp_path / "trees.mrg"
    trees.write_text("(S (NP (PRP it)) (VP (VBD rained)))\n", "utf-8")
    assert "these are trees" in refused(run("parse", "-i", str(trees)))
    packed = tmp_path / "sentences.gz"
    packed.write_bytes(gzip.compress(b"It rained .\n"))
    code, output, _ = run("parse", "-i", str(packed))
    assert code == 0
    assert Tree.from_string(output).words() == ["It", "rained", "."]
