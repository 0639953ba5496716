"""Words in Unicode normal forms: an option of treebanks that grammars follow."""

import json
import subprocess
import sys

import pytest

from lpcfg import (
    CRFEstimator,
    InputError,
    Parser,
    PCFGEstimator,
    Tagger,
    Transform,
    Tree,
    Treebank,
    load,
    save,
)

# The same words with combining accents, in full width, and composed.
TREES = [
    Tree.from_string("(S (NP (DT el) (NN cafe\u0301)) (VP (VB \uff41bre)))"),
    Tree.from_string("(S (NP (DT el) (NN caf\u00e9)) (VP (VB abre)))"),
    Tree.from_string("(S (NP (DT la) (NN casa)) (VP (VB cierra)))"),
]
WORDS = ["el", "cafe\u0301", "\uff41bre"]


def bank(form, trees=TREES):
    return Treebank.from_trees(trees).normalized(form)


def test_words_of_treebanks():
    assert len(bank(None).words) == len(set(bank(None).words)) == 8
    assert sorted(bank("NFC").words) == sorted(
        ["el", "caf\u00e9", "\uff41bre", "abre", "la", "casa", "cierra"]
    )
    assert "\uff41bre" not in bank("NFKC").words
    assert bank("NFKC").transformed(Transform(binarize="left")).normalization == "NFKC"
    assert [tree.words() for tree in bank("NFKC").trees()][:2] == [["el", "caf\u00e9", "abre"]] * 2
    with pytest.raises(InputError, match="must be NFC or NFKC") as raised:
        bank("NFD")
    assert raised.value.argument == "normalize"


@pytest.mark.parametrize("kind", [PCFGEstimator, lambda: CRFEstimator(bits=12, epochs=2)])
def test_parsers_follow_the_treebank(kind, tmp_path):
    """A sentence in any form has the parse of its normal form, with its own words."""
    grammar = kind().fit(bank("NFKC", TREES[1:])).grammar_
    save(grammar, tmp_path / "model.lpcfg")
    for model in (grammar, load(tmp_path / "model.lpcfg")):
        assert model.normalization == "NFKC"
        found = Parser(model).analyze(words=WORDS)
        plain = Parser(model).analyze(words=["el", "caf\u00e9", "abre"])
        assert found.tree.words() == WORDS
        assert found.log_probability == plain.log_probability
    silent = kind().fit(bank(None, TREES[1:])).grammar_
    assert silent.normalization is None
    assert "cafe\u0301" not in silent.lexicon


def test_taggers_follow_the_treebank():
    tagger = Tagger().fit(bank("NFKC", TREES[1:]))
    assert tagger.tag(WORDS) == tagger.tag(["el", "caf\u00e9", "abre"])


def test_command_line(tmp_path):
    path, model = tmp_path / "trees.mrg", tmp_path / "model.lpcfg"
    path.write_text("".join(f"{tree}\n" for tree in TREES), encoding="utf-8")
    command = [sys.executable, "-m", "lpcfg", "train", path, "-o", model, "--estimator", "pcfg"]
    subprocess.run([*command, "--normalize", "NFC", "-q"], check=True)
    grammar = load(model)
    assert grammar.normalization == "NFC"
    assert json.loads(json.dumps(grammar.provenance))["normalization"] == "NFC"
