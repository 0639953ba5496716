"""Grammars in the text format of the Berkeley parser."""

import gzip
import math
from pathlib import Path

import pytest

from lpcfg import Parser, evaluate, import_berkeley, load, read_trees, save
from lpcfg.errors import InputError

# Two states of NP; S -> VP -> VB is written as a closed rule of its own, as is each identity.
RULES = """TOP_0 -> TOP_0 1.0
TOP_0 -> S_0 1.0
TOP_0 -> VP_0 0.3
S_0 -> NP_0 VP_0 0.4
S_0 -> NP_1 @S_0 0.3
S_0 -> VP_0 0.3
S_0 -> VB_0 0.12
@S_0 -> VP_0 NP_0 1.0
VP_0 -> VB_0 0.4
VP_0 -> VB_0 NP_0 0.6
NP_0 -> NN_0 1.0
NP_1 -> NN_0 0.5
NP_1 -> DT_0 NN_0 0.5
"""
WORDS = """NN dogs [0.6]
NN UNK-LC [0.4]
VB saw [0.5]
VB UNK-LC-ed [0.5]
DT the [1.0]
"""
BERKELEY = Path(__file__).parents[3] / "shared" / "peers" / "berkeley"


def written(folder, rules=RULES, words=WORDS):
    (folder / "small.grammar").write_text(rules, "utf-8")
    (folder / "small.lexicon.gz").write_bytes(gzip.compress(words.encode()))
    return folder / "small.grammar", folder / "small.lexicon.gz"


def test_rules_are_recovered_from_their_closure(tmp_path):
    grammar = import_berkeley(*written(tmp_path))
    names = [str(symbol) for symbol in grammar.symbols]
    unary = {tuple(names[symbol] for symbol in rule) for rule in grammar.unary_rules.tolist()}
    assert unary == {("TOP", "S"), ("S", "VP"), ("VP", "VB"), ("NP", "NN")}
    assert grammar.latent.states[names.index("NP")] == 2
    assert grammar.latent.unary.sum() == pytest.approx(1.0 + 0.3 + 0.4 + 1.5)


def test_it_parses_and_is_saved(tmp_path):
    save(import_berkeley(*written(tmp_path)), tmp_path / "small.lpcfg")
    parser = Parser(load(tmp_path / "small.lpcfg"), decoder="max-rule", prune=None)
    parse = parser.analyze(words=["dogs", "walked", "cats"])
    assert str(parse.tree) == "(TOP (S (NP (NN dogs)) (VP (VB walked) (NP (NN cats)))))"
    assert str(parser.parse(words=["saw"])) == "(TOP (S (VP (VB saw))))"
    assert math.exp(parse.log_probability) == pytest.approx(0.4 * 0.6 * 0.6 * 0.5 * 0.4, rel=1e-4)


@pytest.mark.parametrize("line", ["S_0 -> NP_0 VP_0", "S_0 NP_0 VP_0 0.5", "S -> NP VP 0.5"])
def test_other_lines_are_refused(tmp_path, line):
    with pytest.raises(InputError, match=r"small\.grammar:1: not a rule"):
        import_berkeley(*written(tmp_path, rules=f"{line}\n"))
    with pytest.raises(InputError, match=r"small\.lexicon\.gz:1: not an entry"):
        import_berkeley(*written(tmp_path, words="NN dogs\n"))


@pytest.mark.skipif(not BERKELEY.is_dir(), reason="needs ../shared/peers/berkeley")
def test_agreement_with_the_trees_of_the_berkeley_parser():
    files = (BERKELEY / f"gum-sm3.{name}.gz" for name in ("grammar", "lexicon"))
    theirs = list(read_trees(BERKELEY / "gum-sm3.dev500.mrg.gz"))
    parser = Parser(import_berkeley(*files), decoder="max-rule")
    ours = list(parser.parse_many(words=[tree.words() for tree in theirs]))
    assert evaluate(theirs, ours).f1 > 95
