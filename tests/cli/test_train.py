"""lpcfg train, called as a function."""

import re

import pytest

from lpcfg import (
    Ensemble,
    Parser,
    Tree,
    load,
    save,
)
from lpcfg.cli import _presets as presets
from lpcfg.cli.main import main
from lpcfg.estimators.presets import Preset, PresetMember
from lpcfg.estimators.registry import ESTIMATORS
from lpcfg.tuning.treebank_defaults import TreebankDefaults
from support.commands import TREES, WORDS, refused, write
from support.grammars import embedded_grammar


def printed_help(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--help"])
    assert stopped.value.code == 0
    return " ".join(capsys.readouterr().out.split())


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


def test_train_with_a_log_linear_model_of_unknown_words(run):
    options = ["--estimator", "pcfg", "--unknown-words", "log-linear"]
    code, _, _ = run("train", "gold.mrg", "-o", "new.lpcfg", *options)
    assert code == 0
    assert load("new.lpcfg").provenance["lexicon"]["unknown_words"] == "log-linear"
    assert "weights of their spelling" in str(load("new.lpcfg"))
    assert run("eval", "new.lpcfg", "gold.mrg")[0] == 0
    message = refused(run("train", "gold.mrg", "-o", "x", "--word-classes", "tag", *options))
    assert message.startswith("--unknown-words: a log-linear model has no use where the classes")


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
    assert "1 trees have symbols, rules or words unknown to the model" in said
    assert (files / "out.mrg").read_text() == "(ROOT+XX (NN^XX dog) (NN^XX dog))\n"
    code, explained, _ = run("show", "new.lpcfg", "--symbol", "NP")
    assert code == 0
    assert re.search(r"^NP\^\S+\[\d\]  \d+\.\d %\n  rules     ", explained, re.MULTILINE)
    assert "other symbols with the label NP: NP^" in explained
    unknown = refused(run("show", "new.lpcfg", "--symbol", "XX"))
    assert unknown.startswith("--symbol: none has the name or label XX; there are ")
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
        assert message.endswith("several values need --noise; models cycle through them")
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
    assert (provenance["estimator"], provenance["start"]["estimator"]) == ("em", "split-merge")


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
    assert (provenance["estimator"], provenance["start"]["estimator"]) == ("em", "pivot")
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
    assert message == "--min-count must be at most --full-count, 3, not 9"


def test_train_on_malformed_trees(run):
    write("bad.mrg", f"{TREES[0]}\n(NP (NN two words))\n{TREES[1]}\n")
    message = refused(run("train", "bad.mrg", "-o", "new.lpcfg"))
    assert message.startswith("bad.mrg:2:13: a second word in one node: 'words'")
    assert "--on-error skip" in message
    code, _, said = run("train", "bad.mrg", "-o", "new.lpcfg", "--on-error", "skip")
    assert code == 0
    assert "2 trees read, 1 malformed ones skipped; the first: bad.mrg:2:13" in said


# parse


# presets


def test_a_preset_trains_an_ensemble_and_goes_on_where_it_was(run, files, monkeypatch):
    small = Preset("two", (PresetMember("spectral", "right"), PresetMember("spectral", "left")))
    monkeypatch.setattr(presets, "PRESETS", {"accurate": small})
    code, _, said = run("train", "gold.mrg", "-o", "many", "--preset", "accurate")
    assert code == 0
    assert said.count("saved to") == 2
    assert "CPU seconds" in said
    (files / "many" / "2-spectral-left.lpcfg").unlink()
    code, _, said = run("train", "gold.mrg", "-o", "many", "--preset", "accurate")
    assert said.count("saved to") == 1
    assert "1-spectral-right.lpcfg is there already" in said
    assert run("eval", "many", "gold.mrg", "-q")[0] == 0
    write("other.mrg", f"{TREES[0]}\n")
    message = refused(run("train", "other.mrg", "-o", "many", "--preset", "accurate"))
    assert "other trees or with other options" in message


def test_a_preset_chooses_settings_once(run, files, monkeypatch):
    small = Preset("two", (PresetMember("spectral", "right"), PresetMember("spectral", "left")))
    monkeypatch.setattr(presets, "PRESETS", {"accurate": small})
    chosen = TreebankDefaults(0, 0, 50, 2)
    monkeypatch.setattr(presets, "choose_defaults", lambda *_, **__: chosen)
    code, _, said = run("train", "gold.mrg", "-o", "many", "--preset", "accurate", "--search", "9")
    assert code == 0
    assert "chosen: vertical 0, horizontal 0, up to 50 word classes" in said
    (files / "many" / "2-spectral-left.lpcfg").unlink()
    monkeypatch.setattr(presets, "choose_defaults", None)  # what was chosen is stored
    assert run("train", "gold.mrg", "-o", "many", "--preset", "accurate")[0] == 0
    for name in ("1-spectral-right", "2-spectral-left"):
        grammar = load(files / "many" / f"{name}.lpcfg")
        assert (grammar.transform.vertical, grammar.transform.horizontal) == (0, 0)
    message = refused(run("train", "gold.mrg", "-o", "one.lpcfg", "--search", "9"))
    assert "--search: it does nothing without --preset" in message


def test_the_fast_preset_writes_one_file(run, files):
    assert run("train", "gold.mrg", "-o", "fast.lpcfg", "--preset", "fast", "-q")[0] == 0
    assert load("fast.lpcfg").provenance["estimator"] == "spectral"


def test_the_fast_preset_has_the_side_and_the_states_that_are_chosen(run, files, monkeypatch):
    chosen = TreebankDefaults(binarize="left", states=3, ridge=0.5)
    monkeypatch.setattr(presets, "choose_defaults", lambda *_, **__: chosen)
    code, _, said = run("train", "gold.mrg", "-o", "fast.lpcfg", "--preset", "fast")
    assert code == 0
    assert "binarised to the left, states 3, ridge 0.5" in said
    grammar = load("fast.lpcfg")
    assert grammar.transform.binarize == "left"
    assert (grammar.provenance["states"], grammar.provenance["ridge"]) == ([3, 3], 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rerank", "--preset and --rerank: choose one"),
        ("--noise add", "--preset and --noise: choose one"),
        ("--states 4", "--preset and --states: choose one"),
        ("--estimator em", "it decides the estimators and the tree transforms"),
        ("--binarize left", "it decides the estimators and the tree transforms"),
    ],
)
def test_a_preset_decides_estimators_and_transforms(run, options, message):
    arguments = ("train", "gold.mrg", "-o", "m", "--preset", "fast", *options.split())
    assert message in refused(run(*arguments))
