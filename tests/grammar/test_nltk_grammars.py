"""Grammars of NLTK."""

import nltk
import pytest

from lpcfg import Parser, import_nltk
from lpcfg.errors import InputError

TOY = """
S -> NP VP [1.0]
NP -> Det N [0.5] | NP PP [0.25] | 'John' [0.1] | 'I' [0.15]
Det -> 'the' [0.8] | 'my' [0.2]
N -> 'man' [0.5] | 'telescope' [0.5]
VP -> VP PP [0.1] | V NP [0.7] | V [0.2]
V -> 'ate' [0.35] | 'saw' [0.65]
PP -> P NP [1.0]
P -> 'with' [0.61] | 'under' [0.39]
"""
WORDS = ["I", "saw", "the", "man", "with", "my", "telescope"]


def test_the_most_probable_tree_is_that_of_nltk(tmp_path):
    theirs = nltk.PCFG.fromstring(TOY)
    (tmp_path / "toy.pcfg").write_text(TOY, "utf-8")
    best = next(iter(nltk.ViterbiParser(theirs).parse(WORDS)))
    for source in (theirs, tmp_path / "toy.pcfg", str(tmp_path / "toy.pcfg")):
        parse = Parser(import_nltk(source), decoder="viterbi").analyze(words=WORDS)
        assert str(parse.tree) == " ".join(str(nltk.Tree.convert(best)).split())
        assert parse.log_probability == pytest.approx(best.logprob() * 0.6931471805599453)


def test_a_grammar_without_probabilities_has_equal_ones():
    grammar = import_nltk(nltk.CFG.fromstring("S -> A A | A B | B B \n A -> 'a' \n B -> 'b'"))
    assert grammar.binary_probabilities.tolist() == pytest.approx([1 / 3] * 3)


def test_feature_structures_are_refused(tmp_path):
    with pytest.raises(InputError, match="feature structure"):
        import_nltk(nltk.grammar.FeatureGrammar.fromstring("S -> NP[NUM=sg]\nNP[NUM=sg] -> 'it'"))
    (tmp_path / "toy.fcfg").write_text("S -> NP[NUM=sg]\nNP[NUM=sg] -> 'it'\n", "utf-8")
    with pytest.raises(InputError, match=r"toy\.fcfg:\d+:\d+: .*feature structures of NLTK"):
        import_nltk(tmp_path / "toy.fcfg")


def test_empty_right_sides_and_other_objects_are_refused():
    with pytest.raises(Exception, match="empty"):
        import_nltk(nltk.CFG.fromstring("S -> 'a' | "))
    with pytest.raises(InputError, match="must be a path"):
        import_nltk(42)
